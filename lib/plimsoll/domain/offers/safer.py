"""The price of the next level of safety for volumes that change together.

Everything that has to be carried is raised by the ratio of the two headrooms, what was held back included. So the price
is the most that it can be.
"""

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.domain.case import Case
from plimsoll.domain.demand.load import scale_load
from plimsoll.domain.headroom import OfferPurpose
from plimsoll.domain.offers.bundles import Makers
from plimsoll.domain.offers.choice import Choice, ChoiceVerdict, Why
from plimsoll.domain.offers.promised import find_risks
from plimsoll.domain.offers.remembered import combine_past_needs, is_reduction
from plimsoll.domain.risk.promise import Risk, Safer, SafetyLevel, safer_level


def risks_of(cases: Sequence[Case], choice: Choice) -> Sequence[Risk | None]:
    """The risk of each volume whose limits a change lowers. None if nothing was learned, or nothing is given up.

    The promise of a reduction comes with the next level of safety if one is known for all, unless the choice is a
    draft.
    """
    if choice.target is None or choice.target is choice.drop_in:
        return [None] * len(cases)
    risks = find_risks(cases, choice.target)
    if choice.verdict is ChoiceVerdict.RELIEVE:
        pairs = zip(cases, choice.target.offers, risks, strict=True)
        return [risk if is_reduction(offer, case.usable) else None for case, offer, risk in pairs]
    if choice.verdict is not ChoiceVerdict.CHANGE:
        return [None] * len(cases)
    levels = [safer_level(risk, case.context.learned) for case, risk in zip(cases, risks, strict=True)]
    known = [(risk, level) for risk, level in zip(risks, levels, strict=True) if risk is not None and level is not None]
    if len(known) < len(cases) or any(case.context.draft for case in cases):
        return risks
    prices = _usd_month(cases, [_headroom_ratio(risk, level) for risk, level in known], choice)
    return [
        replace(risk, safer=Safer(level=level, usd_month=usd)) for (risk, level), usd in zip(known, prices, strict=True)
    ]


def _headroom_ratio(risk: Risk, level: SafetyLevel) -> float:
    """The ratio of the headroom at a level to that of the risk."""
    return level.headroom.factor / risk.headroom.factor


def _usd_month(cases: Sequence[Case], times: Sequence[float], choice: Choice) -> Sequence[float]:
    """The monthly cost of each volume if the demand was `times` as high, as far as that is sold.

    The present configuration and a drop-in replacement carry all that was ever carried.
    """
    budget_min = min(case.policy.throttle_budget_min for case in cases)
    past = combine_past_needs(case.remembered for case in cases)[1]
    for case in cases:
        past = past if case.remembered is None else past.no_less_than(case.remembered.busiest)
    past = past.times(max(times))
    raised_cases = [_raise_demand(case, by) for case, by in zip(cases, times, strict=True)]
    makers = Makers(
        raised_cases,
        OfferPurpose.HOLD if choice.why is Why.THROTTLES_NO_MORE else OfferPurpose.REDUCE,
        budget_min,
        lambda case: past.no_less_than(case.asked_by_peer),
        harmful=True,
        raises_nothing=True,
    )
    bundles = [bundle for bundle in (makers.cheapest(budget_min), choice.drop_in) if bundle is not None]
    best = min(bundles, key=lambda one: one.usd_month, default=None)
    if best is None or best.usd_month >= choice.usd_month_now:
        return [case.usd_month or 0.0 for case in cases]
    return [offer.usd_month or 0.0 for offer in best.offers]


def _raise_demand(case: Case, times: float) -> Case:
    shared = {
        name: [replace(one, load=scale_load(one.load, times)) for one in found] for name, found in case.shared.items()
    }
    return replace(case, load=scale_load(case.load, times), shared=shared)
