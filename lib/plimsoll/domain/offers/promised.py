"""The risk that is promised of volumes that become an offer, and whether their policies allow it."""

import math
from collections.abc import Sequence

from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import Ceiling, Need
from plimsoll.domain.offers.bundles import Bundle
from plimsoll.domain.offers.losses import find_cuts
from plimsoll.domain.offers.offer import Offer
from plimsoll.domain.offers.remembered import is_reduction
from plimsoll.domain.risk.promise import Risk


def find_risks(cases: Sequence[Case], bundle: Bundle) -> list[Risk | None]:
    """The risk of each volume if all become what a bundle offers; None if nothing was learned."""
    return [risk_of_offer(offer, case) for case, offer in zip(cases, bundle.offers, strict=True)]


def risk_of_offer(offer: Offer, case: Case) -> Risk | None:
    """The risk of a volume that becomes an offer; None if nothing was learned."""
    return case.risk(times_carried(offer, case), offer.purpose)


def is_allowed(cases: Sequence[Case], bundle: Bundle) -> bool:
    """Each policy allows the risk of its volume.

    A volume whose limits are not lowered has no risk. An unknown risk is too high for all policies but those that take
    any.
    """
    risks = find_risks(cases, bundle)
    return all(
        case.allows(risk)
        for case, offer, risk in zip(cases, bundle.offers, risks, strict=True)
        if is_reduction(offer, case.usable)
    )


def times_carried(offer: Offer, case: Case, need: Need | None = None) -> float:
    """The factor of the required demand that an offer carries without credits, on the tightest side that it lowers.

    At least 1 for the window; the highest minutes of the past may lower it. `need` stands in for the offer's.
    """
    most, sides = None if case.history is None else case.history.most, lowered_sides(offer, case.usable)
    factor = max(1.0, _carried_factor(need or offer.need, offer.ceiling, sides))
    if most is None:
        return factor
    before = most.times(case.headrooms.of(offer.purpose).factor)
    return min(factor, _carried_factor(before, offer.ceiling, sides))


def lowered_sides(offer: Offer, usable: Ceiling) -> tuple[bool, bool]:
    """The sides, (IOPS, MiB/s), on which an offer is lower than what can be used today.

    Demand that outgrows a limit that stays would do so today.
    """
    cuts = find_cuts(offer.ceiling, usable)
    return "IOPS" in cuts, "MiB/s" in cuts


def _carried_factor(need: Need, ceiling: Ceiling, sides: tuple[bool, bool]) -> float:
    pairs = ((ceiling.sustained_iops, need.iops), (ceiling.sustained_throughput_mib_s, need.throughput_mib_s))
    factors = [carried / wanted for (carried, wanted), lower in zip(pairs, sides, strict=True) if lower and wanted > 0]
    return min(factors, default=math.inf)
