"""The unread past: which answers it could still change, and how high a bucket of it may be without changing them."""

from collections.abc import Sequence

from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.offers.offer import Offer
from plimsoll.domain.offers.remembered import UNLIMITED, Limits, limits_of, reduces
from plimsoll.domain.recommendation import Change, Keep, Recommendation, Wait


def reduced_to(answer: Recommendation | None, present: Ceiling) -> Offer | None:
    """The offer that lowers a limit, now, after a wait or with all of its template; None where the answer lowers
    none."""
    offer: Offer | None = None
    if isinstance(answer, Change):
        offer = answer.target
    elif isinstance(answer, Wait):
        offer = answer.expected
    elif isinstance(answer, Keep):
        offer = answer.beneath
    return offer if offer is not None and reduces(offer, present) else None


def weighed_reduction(answer: Recommendation | None, present: Ceiling) -> Offer | None:
    """The same, or what is left out for its risk or its trend so far: with more history it may not be."""
    if isinstance(answer, Change | Keep):
        if answer.too_risky is not None:
            return answer.too_risky.offer
        if answer.comparison.lowering is not None:
            return answer.comparison.lowering
    return reduced_to(answer, present)


def limits_of_answer(case: Case, answer: Recommendation) -> Limits:
    """What a bucket may have had without speaking against what an answer rests on: the reduction that is weighed, and
    the cheapest offer that carries the past so far."""
    if not isinstance(answer, Keep | Change | Wait):
        return UNLIMITED
    best, chosen = answer.comparison.offers[0], weighed_reduction(answer, case.usable)
    offers = [offer for offer in (chosen, best if best.feasible else None) if offer is not None]
    return strictest([limits_of(offer, case.reducing, case.hosts, case.present) for offer in offers])


def strictest(limits: Sequence[Limits]) -> Limits:
    """The least of some limits on each side."""
    return (
        min((limit[0] for limit in limits), default=UNLIMITED[0]),
        min((limit[1] for limit in limits), default=UNLIMITED[1]),
    )
