"""Reasons about the past: events, growth and idle days that speak against an offer."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.ceiling import Resource
from plimsoll.domain.headroom import MOST_GROWTH_TIMES
from plimsoll.domain.memory.memory import Event, ThrottledMinute, find_throttled_minute
from plimsoll.domain.offers.offer import Offer
from plimsoll.domain.offers.remembered import Remembered, is_reduction
from plimsoll.domain.reason import Reason
from plimsoll.domain.recommendation import GrowthSummary, MemorySummary
from plimsoll.domain.units import DAY_S, HOUR_S, MINUTE_S, day_of, lasting
from plimsoll.domain.volume import VolumeSpec

if TYPE_CHECKING:
    from plimsoll.domain.case import Case

OFTEN: Final = 3
"""As many days on one weekday are a rhythm."""

ORDINARY: Final = 0.5
"""What was done on that share of the days was ordinary work, and no event."""

_SIDES: Final = {Resource.IOPS: "IOPS", Resource.THROUGHPUT: "throughput"}
_QUARTERS: Final = (3, 6, 9, 12)


def memory_summary(found: Remembered | None, chosen: VolumeSpec) -> MemorySummary | None:
    """The memory that an answer rests on, and what spoke against a cheaper one; None where nobody asked."""
    if found is None:
        return None
    event = found.event if chosen != found.instead_of.spec else None
    return MemorySummary(
        window=found.past.counted_window,
        days=found.past.days,
        instead_of=None if event is None else found.instead_of.spec,
        event=event,
        rhythm=None if event is None else rhythm(event.days),
        peaks=found.peaks,
    )


def spoken_against(case: "Case", chosen: VolumeSpec) -> Iterator[Reason]:
    """Why it is not what the window alone asks for."""
    summary = memory_summary(case.remembered, chosen)
    if summary is None or summary.event is None or summary.instead_of is None:
        return
    event, times = summary.event, case.headrooms.reducing.factor
    yield Reason(
        "past-event",
        f"{summary.instead_of} would carry the last {case.window_s / DAY_S:,.0f} days, but not "
        f"{_did(event, summary.days)}: up to {event.rate:,.0f} {event.side} within {lasting(event.minutes)}. With "
        f"headroom that needs {event.rate * times:,.0f}.",
    )
    if summary.rhythm is not None:
        yield Reason(
            "past-rhythm", f"{'All such days are' if len(event.days) > 1 else 'That day is'} {summary.rhythm}."
        )
    yield Reason(
        "set-memory-days",
        "If you know that this will not come again, set `memory_days` for this volume by an override, and audit again.",
    )


def _did(event: Event, days: int) -> str:
    """What an offer would not have carried: on one day, on some of the `days` that are remembered, or on most."""
    day, count = day_of(event.start_s), len(event.days)
    if count == 1:
        return f"what the volume did on {day}"
    if count < ORDINARY * days:
        return f"what it did on {count} of the {days} days before that. The most was on {day}"
    span = lasting((event.days[-1] + DAY_S - event.days[0]) / MINUTE_S)
    return f"its ordinary work before that, on {count} of {days} days in {span}. The most was on {day}"


def unproved_minutes(case: "Case", chosen: Offer) -> Iterator[Reason]:
    """The minutes of the past that a reduction would have throttled, or likely would have."""
    if case.remembered is None or not is_reduction(chosen, case.usable):
        return
    found = find_throttled_minute(case.remembered.past, chosen.ceiling, case.present, _ratios(case))
    if found is not None:
        yield _event_text(found, chosen)


def growth_summary(case: "Case") -> GrowthSummary | None:
    """The growth that an answer keeps room for; None where it keeps none."""
    growth = case.headrooms.growth
    if growth is None:
        return None
    return GrowthSummary(
        iops_pct_a_day=growth.iops_pct_a_day,
        throughput_pct_a_day=growth.throughput_pct_a_day,
        weeks=growth.weeks,
        headroom=case.headrooms.relief if case.frequent else case.headrooms.reducing,
    )


def room_for_growth(case: "Case") -> Iterator[Reason]:
    """How fast demand grows, and what room is kept for that."""
    growth, found = growth_summary(case), case.headrooms.growth
    if growth is None or found is None:
        return
    rates = ((growth.iops_pct_a_day, "operations"), (growth.throughput_pct_a_day, "bytes"))
    grown = " and ".join(f"{pct:.2g} % more {what} a day" for pct, what in rates if pct)
    yield Reason(
        "grows",
        f"Demand grows: {grown}, over {growth.weeks} weeks. With room for {found.days:g} more days "
        f"(growth_days), headroom is {growth.headroom.pct:g} % instead of {growth.headroom.usual_pct:g} %."
        + (
            f" Room is kept for at most {MOST_GROWTH_TIMES:g} times the demand."
            if found.times >= MOST_GROWTH_TIMES
            else ""
        ),
    )


def batch_job_reason(case: "Case") -> Iterator[Reason]:
    """Why a volume that stands at its ceiling is not given more."""
    for resource in sorted(case.lifted.deferred):
        yield Reason(
            "takes-what-it-gets",
            f"It stands at its {_SIDES[resource]} limit, but does no more work a day since that limit was raised. More "
            "speed would only end the work earlier.",
        )


def _event_text(found: ThrottledMinute, chosen: Offer) -> Reason:
    carried = chosen.ceiling.iops if found.side == "IOPS" else chosen.ceiling.throughput_mib_s
    did = f"{found.rate:,.0f} {found.side} on {day_of(found.day_s)}"
    if found.likely:
        return Reason(
            "past-minute-likely",
            f"Risk: single minutes likely reached {did}, above the offer's {carried:,.0f}. They have expired, so "
            "this is estimated from longer averages.",
        )
    return Reason(
        "past-minute",
        f"Risk: its busiest minute had {did}, above the offer's {carried:,.0f}. Such a minute would be throttled.",
    )


def rhythm(days_s: Sequence[int]) -> str | None:
    """What days (epoch seconds) have in common: the end of a quarter or of a month, or their weekday; else None."""
    days = [datetime.fromtimestamp(day_s, UTC).date() for day_s in days_s]
    ends = [_month_that_ends(day) for day in days]
    if all(month in _QUARTERS for month in ends):
        return "at the end of a quarter"
    if all(month is not None for month in ends):
        return "at the end of a month"
    if len(days) >= OFTEN and len({day.weekday() for day in days}) == 1:
        return f"a {days[0]:%A}"
    return None


def _month_that_ends(day: date) -> int | None:
    """The month that ends on a day or ended on the one before it; None for other days."""
    for last in (day, day - timedelta(days=1)):
        if (last + timedelta(days=1)).day == 1:
            return last.month
    return None


def _ratios(case: "Case") -> tuple[float, float]:
    """How much higher the window's highest minute is than its busiest hour: IOPS, and MiB/s."""
    demand, summary = case.demand, case.summary
    lengths_s = np.broadcast_to(np.asarray(demand.lengths_s), demand.iops.shape)
    hour = (demand.starts_s - demand.start_s) // HOUR_S
    firsts = np.flatnonzero(np.diff(hour, prepend=-1))

    def ratio(rate: FloatArray, peak: float) -> float:
        mean = np.add.reduceat(rate * lengths_s, firsts) / np.maximum(np.add.reduceat(lengths_s, firsts), HOUR_S)
        busiest = float(mean.max(initial=0.0))
        return max(1.0, peak / busiest) if busiest else 1.0

    return (
        ratio(demand.iops, summary.least_peak_iops),
        ratio(demand.throughput_mib_s, summary.least_peak_throughput_mib_s),
    )
