"""The unread past: which answers it could still change, how high a bucket of it may be without changing them, and what
of it is read in which order.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from plimsoll.domain.arrays import IntArray
from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.memory.memory import LEAST_MEMORY_PERIOD_S, ROUNDING_TOLERANCE, Past, make_column
from plimsoll.domain.metrics.series import BYTES, OPERATIONS, PAST_RATES
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.metrics.track import Look
from plimsoll.domain.offers.offer import Offer
from plimsoll.domain.offers.remembered import UNLIMITED, Limits, is_reduction, uneventful_limits
from plimsoll.domain.recommendation import Change, Keep, Recommendation, Wait
from plimsoll.domain.refine.query_cost import QueryCost
from plimsoll.domain.units import DAY_S, HOUR_S


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
    return offer if offer is not None and is_reduction(offer, present) else None


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
    return strictest([uneventful_limits(offer, case.headrooms.reducing, case.hosts, case.present) for offer in offers])


def strictest(limits: Sequence[Limits]) -> Limits:
    """The least of some limits on each side."""
    return (
        min((limit[0] for limit in limits), default=UNLIMITED[0]),
        min((limit[1] for limit in limits), default=UNLIMITED[1]),
    )


FIRST_DAYS: Final = 8
"""The days that are read by the hour first."""

_WORK: Final = (OPERATIONS, BYTES)


def look_at_everything(past: Past) -> list[Look]:
    """All of it, as finely as it is kept, and the highest minute of each day."""
    whole = (Look(window=one.window, period_s=one.period_s, groups=_WORK) for one in past.segments)
    return [*look_at_highest(past), *whole]


def look_at_days(window: Window) -> list[Look]:
    """What was done on each of some days."""
    return [Look(window=window, period_s=DAY_S, groups=_WORK)] if window.start_s < window.end_s else []


def look_at_hours(window: Window) -> list[Look]:
    """What was done in each hour of some days."""
    return [Look(window=window, period_s=HOUR_S, groups=_WORK)] if window.start_s < window.end_s else []


def look_at_highest(past: Past) -> list[Look]:
    """The highest minute of each day, and what was done on it: what one says the other has to bear out."""
    return [Look(window=past.counted_window, period_s=DAY_S, groups=(PAST_RATES, *_WORK))]


def look_at_latest(window: Window) -> list[Look]:
    """The highest minute of each whole day of a window: the same figure however finely its counters are read."""
    days = Window(start_s=-(-window.start_s // DAY_S) * DAY_S, end_s=window.end_s // DAY_S * DAY_S)
    return [Look(window=days, period_s=DAY_S, groups=(PAST_RATES,))] if days.start_s < days.end_s else []


def looks(past: Past, limits: Sequence[float], query_cost: QueryCost) -> list[Look]:
    """What to read next: the buckets that may have had more than the `limits` (IOPS and MiB/s).

    Days by the hour, hours as finely as they are kept. The highest days are read before the others: what they had may
    speak against so much that few others can more.
    """
    over = (past.most / np.maximum(make_column(limits), ROUNDING_TOLERANCE)).max(axis=0)
    wanted = (past.lengths_s > past.finest_s) & (over > 1)
    if (past.lengths_s == DAY_S).all():
        wanted[np.argsort(-over, kind="stable")[FIRST_DAYS:]] = False
    found: list[Look] = []
    for length_s, period_s in ((DAY_S, HOUR_S), (HOUR_S, LEAST_MEMORY_PERIOD_S)):
        at = wanted & (past.lengths_s == length_s)
        for finest_s in np.unique(past.finest_s[at]).tolist():
            starts_s = past.starts_s[at & (past.finest_s == finest_s)]
            found += _runs(starts_s, length_s, max(period_s, finest_s), query_cost.datapoints_a_query)
    return found


def _runs(starts_s: IntArray, length_s: int, period_s: int, spare: float) -> list[Look]:
    """Looks at buckets of one length; neighbors, and what lies between them, are one where that costs less than a
    query."""
    apart = np.flatnonzero((np.diff(starts_s) - length_s) / period_s > spare) + 1
    return [
        Look(
            window=Window(start_s=int(run[0]), end_s=int(run[-1]) + length_s),
            period_s=period_s,
            groups=_WORK,
        )
        for run in np.split(starts_s, apart)
        if len(run)
    ]
