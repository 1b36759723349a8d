"""What is remembered of a volume when it is decided on, and what of its past could still change the answer."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from plimsoll.domain.ceiling import NOTHING, Ceiling, Need
from plimsoll.domain.headroom import Headroom, OfferPurpose
from plimsoll.domain.memory.memory import TOLERANCE, Event, Past, busiest_minute, event_of
from plimsoll.domain.offers.offer import Offer, too_small
from plimsoll.domain.risk.histories import PastPeaks

Limits = tuple[float, float]
"""IOPS and MiB/s that a bucket may have had without speaking against an offer."""

UNLIMITED: Limits = (np.inf, np.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A past beside what the window alone asks for (`instead_of`): what offers must carry for its sake, for sure and
    `at_most`. No bucket within `limits` speaks against what the window alone asks for. `busiest` is what carries its
    highest minutes with headroom; they count (`by_minutes`) where headroom is learned, since that is of them. `peaks`
    are what can be learned of it."""

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
        """What speaks against what the window alone asks for."""
        found = event_of(self.past, self.limits)
        return busiest_minute(self.past, self.limits) if found is None and self.by_minutes else found


def remembered(
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
    """A past as it counts with a headroom, on hosts that carry so much."""
    least, at_most = past.needs(headroom, hosts, budget_min)
    busiest = past.busiest(headroom, hosts)
    if by_minutes:
        least, at_most = least.no_less_than(busiest), at_most.no_less_than(busiest)
    return Remembered(
        past=past,
        instead_of=instead_of,
        limits=limits_of(instead_of, headroom, hosts, present),
        least=least,
        at_most=at_most,
        busiest=busiest,
        by_minutes=by_minutes,
        peaks=peaks,
    )


def limits_of(offer: Offer, headroom: Headroom, hosts: Ceiling, present: Ceiling) -> Limits:
    """What an offer carries, less headroom; nothing limits it where the hosts carry no more. Relief, and what throttles
    no more than today, have to carry no more of the past than the volume carries at present."""
    most = Need.of_ceiling(hosts)
    if offer.purpose is not OfferPurpose.REDUCE:
        most = most.no_more_than(Need.of_ceiling(present))
    pairs = (
        (offer.judged.iops, most.iops),
        (offer.judged.throughput_mib_s, most.throughput_mib_s),
    )
    iops, throughput_mib_s = (
        np.inf if most <= carried + TOLERANCE else (carried + TOLERANCE) / headroom.factor for carried, most in pairs
    )
    return iops, throughput_mib_s


def reduces(offer: Offer, present: Ceiling) -> bool:
    """Whether an offer carries less than the present ceiling on any side."""
    return any(too_small("", offer.ceiling, Need.of_ceiling(present.counted_as(offer.ceiling.accounting))))


def least_of_all(found: Iterable[Remembered | None]) -> tuple[Need, Need]:
    """What each of several that change together must carry for the past of any, for sure and at most."""
    least, at_most = NOTHING, NOTHING
    for one in found:
        if one is not None:
            least, at_most = least.no_less_than(one.least), at_most.no_less_than(one.at_most)
    return least, at_most
