"""The trend of a volume's days: the growth of its weekly work, and the days on which it did nothing.

(docs/decision.md, section 8.) The slope is that of Theil and Sen: the median over all pairs of weeks, which no single
week decides (Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63, 1968). Weeks are held
against one another only where the volume and its hosts were the same, but for what speaks against a reduction.

A day counts as idle if the cloud has points of it, and they are zero. What was not received proves nothing.
"""

import math
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final

import numpy as np

from plimsoll.domain.arrays import FloatArray, IntArray
from plimsoll.domain.demand.days import DaySums
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.epochs import epochs_of
from plimsoll.domain.demand.rates import IOPS
from plimsoll.domain.headroom import MOST_GROWTH_TIMES, Growth
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import Idleness
from plimsoll.domain.units import DAY_S
from plimsoll.domain.volume import Volume, VolumeState

WEEKS: Final = 8
"""The last weeks that are held against one another."""

WEEK_DAYS: Final = 7

LEAST_WEEK_DAYS: Final = 6
"""A week with fewer known days does not count."""

LEAST_PAIRS: Final = 6
"""The pairs inside epochs that are looked at, as many as four weeks of one epoch have."""

LEAST_RISING_PAIRS: Final = 4

RISING_SHARE: Final = 0.8
"""Demand grows where so many pairs rise, and that share of those that rise or fall."""

RELIEF: Final = 1 / 3
"""The part of the days that relief keeps room for: it is asked for again in a week, while an outgrown reduction
throttles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weeks:
    """The weeks that count, oldest first: operations and bytes a day of each (two rows), its epoch and its number."""

    a_day: FloatArray
    epoch: IntArray
    number: IntArray


def find_weeks(days: DaySums, volume: Volume) -> Weeks:
    """Finds the last weeks, counted back from the last day.

    A week counts if one epoch has all of it, and it is known what the volume was in that.
    """
    window = Window(start_s=days.end_s - WEEKS * WEEK_DAYS * DAY_S, end_s=days.end_s)
    epochs = epochs_of(volume, window)
    weeks: list[tuple[FloatArray, int, int]] = []
    for number in range(WEEKS):
        start_s = window.start_s + number * WEEK_DAYS * DAY_S
        week = Window(start_s=start_s, end_s=start_s + WEEK_DAYS * DAY_S)
        inside = days.whole_in(week)
        for place, epoch in enumerate(epochs):
            holds = epoch.window.start_s <= week.start_s and week.end_s <= epoch.window.end_s
            if holds and epoch.spec is not None and inside.sum() >= LEAST_WEEK_DAYS:
                weeks.append((days.totals[:, inside].mean(axis=1), place, number))
    return Weeks(
        a_day=np.array([a_day for a_day, _, _ in weeks]).reshape(-1, 2).T,
        epoch=np.array([place for _, place, _ in weeks], dtype=np.int64),
        number=np.array([number for _, _, number in weeks], dtype=np.int64),
    )


def find_growth(days: DaySums, volume: Volume, policy: Policy, *, reduces: bool = False) -> Growth | None:
    """Measures the growth of what a volume does; None if it does not grow, or the policy keeps no room for it.

    If it `reduces`, weeks of different epochs are held against one another too. What a raised limit has let through
    since counts as growth then, so that this may speak against less, and for nothing else.
    """
    weeks, ahead = find_weeks(days, volume), policy.growth_days * (1 if reduces else RELIEF)
    if reduces:
        weeks = replace(weeks, epoch=np.zeros_like(weeks.epoch))
    iops, throughput = (_slope_a_day(row, weeks) for row in weeks.a_day)
    fastest = max(iops, throughput)
    if not fastest or not policy.growth_days:
        return None
    return Growth(
        iops_pct_a_day=100 * math.expm1(iops),
        throughput_pct_a_day=100 * math.expm1(throughput),
        weeks=len(weeks.number),
        days=ahead,
        times=min(MOST_GROWTH_TIMES, math.exp(min(MOST_GROWTH_TIMES, fastest * ahead))),
    )


def _slope_a_day(a_day: FloatArray, weeks: Weeks) -> float:
    """The slope a day of a figure's logarithm; 0 if it does not grow."""
    positive = np.flatnonzero(a_day > 0)
    earlier, later = (positive[at] for at in np.triu_indices(len(positive), 1))
    same = weeks.epoch[earlier] == weeks.epoch[later]
    earlier, later = earlier[same], later[same]
    change = np.log(a_day[later] / a_day[earlier])
    rising, falling = int((change > 0).sum()), int((change < 0).sum())
    if len(change) < LEAST_PAIRS or rising < LEAST_RISING_PAIRS or rising < RISING_SHARE * (rising + falling):
        return 0.0
    return max(0.0, float(np.median(change / (WEEK_DAYS * (weeks.number[later] - weeks.number[earlier])))))


AROUND: Final = timedelta(days=5)
"""How long before and after the end of a quarter its work may be done."""


def may_be_idle(volume: Volume, demand: Demand) -> bool:
    """A volume is attached, was observed in its window, and surely did nothing in it."""
    is_attached = volume.state is VolumeState.IN_USE and bool(volume.attachments)
    return is_attached and bool(demand.observed.any()) and not demand.most[IOPS].any()


def days_to_know(window: Window, policy: Policy) -> Window:
    """The days before a window that have to be known: those of the policy, and the end of the last quarter."""
    end_s = window.end_s // DAY_S * DAY_S
    since_s = min(end_s - round(policy.idle_days) * DAY_S, _seconds(_last_quarter(end_s) - AROUND))
    return Window(start_s=min(since_s, window.start_s), end_s=window.start_s)


def find_idleness(volume: Volume, days: DaySums, window: Window, policy: Policy) -> Idleness | None:
    """Measures how long a volume has done nothing, the window included; None if less than the policy asks for.

    Days before those that have to be known count for nothing: they may be known by chance.
    """
    nothing = days.totals[0] == 0
    asked = (days.end_s - days_to_know(window, policy).start_s) // DAY_S
    count = min(asked, len(nothing) if nothing.all() else int(np.argmin(nothing[::-1])))
    if not count or count < policy.idle_days:
        return None
    quarter = _last_quarter(days.end_s)
    if volume.created.date() > quarter:
        return Idleness(days=count, quarter=None)
    around = (days.starts_s >= _seconds(quarter - AROUND)) & (days.starts_s <= _seconds(quarter + AROUND))
    whole = int(around.sum()) == 2 * AROUND.days + 1 or days.end_s <= _seconds(quarter + AROUND)
    made = days.starts_s + DAY_S > volume.created.timestamp()
    return Idleness(days=count, quarter=quarter) if whole and nothing[around & made].all() else None


def _last_quarter(end_s: int) -> date:
    """The last day of the last quarter that was over at a time."""
    today = datetime.fromtimestamp(end_s, UTC).date()
    return date(today.year, (today.month - 1) // 3 * 3 + 1, 1) - timedelta(days=1)


def _seconds(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
