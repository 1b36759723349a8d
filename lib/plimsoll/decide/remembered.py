"""The remembered past of a volume under decision, and the minutes of it that could still change the answer."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from plimsoll.decide.offers import Offer, find_shortfalls
from plimsoll.model.ceiling import NOTHING, Ceiling, Need
from plimsoll.model.policy import Headroom, OfferPurpose
from plimsoll.past.memory import ROUNDING_TOLERANCE, Event, Past, find_busiest_minute, find_event
from plimsoll.risk.histories import PastPeaks

Limits = tuple[float, float]
"""IOPS and MiB/s that a bucket may have had without speaking against an offer."""

UNLIMITED: Limits = (np.inf, np.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A past beside `instead_of`, the offer that the window alone asks for.

    Offers must carry `least` for its sake for sure, and `at_most` at most. No bucket within `limits` speaks against
    `instead_of`. `busiest` carries its highest minutes with headroom; they count (`by_minutes`) where headroom is
    learned, since that is of them. `peaks` are what can be learned of it.
    """

    past: Past
    instead_of: Offer
    limits: Limits
    least: Need
    at_most: Need
    busiest: Need
    by_minutes: bool
    peaks: PastPeaks

    @property
    def event(self) -> Event | None:
        """The event of the past against the offer that the window alone asks for; None if there is none."""
        event = find_event(self.past, self.limits)
        return find_busiest_minute(self.past, self.limits) if event is None and self.by_minutes else event


def weigh_past(
    past: Past,
    instead_of: Offer,
    headroom: Headroom,
    hosts: Ceiling,
    peaks: PastPeaks,
    *,
    budget_min: float,
    present: Ceiling,
    by_minutes: bool,
) -> Remembered:
    """Weighs a past with a headroom against an offer, on hosts with a ceiling (`hosts`).

    `present` is the ceiling now. `by_minutes`: the highest single minutes count as well.
    """
    least, at_most = past.find_needs(headroom, hosts, budget_min)
    busiest = past.busiest(headroom, hosts)
    if by_minutes:
        least, at_most = least.no_less_than(busiest), at_most.no_less_than(busiest)
    return Remembered(
        past=past,
        instead_of=instead_of,
        limits=uneventful_limits(instead_of, headroom, hosts, present),
        least=least,
        at_most=at_most,
        busiest=busiest,
        by_minutes=by_minutes,
        peaks=peaks,
    )


def uneventful_limits(offer: Offer, headroom: Headroom, hosts: Ceiling, present: Ceiling) -> Limits:
    """The IOPS and MiB/s of the past that an offer carries with headroom; infinite if the hosts carry no more.

    Relief, and a change that throttles no more than today, only have to carry what the present volume does.
    """
    most = Need.from_ceiling(hosts)
    if offer.purpose is not OfferPurpose.REDUCE:
        most = most.no_more_than(Need.from_ceiling(present))
    pairs = (
        (offer.judged_ceiling.iops, most.iops),
        (offer.judged_ceiling.throughput_mib_s, most.throughput_mib_s),
    )
    iops, throughput_mib_s = (
        np.inf if most <= carried + ROUNDING_TOLERANCE else (carried + ROUNDING_TOLERANCE) / headroom.factor
        for carried, most in pairs
    )
    return iops, throughput_mib_s


def is_reduction(offer: Offer, present: Ceiling) -> bool:
    """The offer carries less than the present ceiling on any side."""
    return any(find_shortfalls("", offer.ceiling, Need.from_ceiling(present.counted_as(offer.ceiling.accounting))))


def combine_past_needs(pasts: Iterable[Remembered | None]) -> tuple[Need, Need]:
    """The needs that volumes that change together must each carry for the past of any: for sure, and at most."""
    least, at_most = NOTHING, NOTHING
    for past in pasts:
        if past is not None:
            least, at_most = least.no_less_than(past.least), at_most.no_less_than(past.at_most)
    return least, at_most
