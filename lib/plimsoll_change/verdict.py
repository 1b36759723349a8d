"""The verdict on one changed volume: the rule, for all hours of many volumes at once.

    stopped minutes above the budget                 worse, at once and without statistics
    statistic >= T(1 %)                              worse: the way back
    statistic >= T(5 %)                              hold the wave, and keep watching
    statistic of faster >= T(1 %), mean < -margin/2  better
    mean + slack < margin, no band of the day above it, busy hours seen and not above it, statistic under T(20 %),
      stopped minutes under half the budget          no slower
    168 hours without any of these                   cannot tell, with the reason

The margin is 25 %. The statistic and its thresholds: `plimsoll_change.bets`, `plimsoll_change.thresholds`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll_change.bets import split_bands
from plimsoll_change.evidence import (
    FACTOR_3,
    Deviations,
    comparable_hours,
    count_stopped_beyond_past,
    own_spread,
    running_mean,
)
from plimsoll_change.thresholds import DAYS, Thresholds, negate
from plimsoll_change.verdict_words import describe_after_void, describe_stops, describe_verdict
from plimsoll_change.watch import WEEK_H, ChangeVerdict, ChangeWatch, VerdictCode

SLOWER_MARGIN: Final = math.log(1.25)
LEAST_EVIDENCE_H: Final = 24
LEAST_BUSY_HOURS: Final = 6
BAND_HOURS: Final = 4
"""A band of the day with fewer hours of evidence says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HourlyVerdicts:
    """The verdicts after each hour of the watch, [volume, hour]. `why` are the reasons against no slower."""

    statistic: FloatArray  # the highest so far
    mean: FloatArray
    hours: IntArray  # with evidence
    busy_seen: IntArray
    busy_hours: IntArray  # of the week, [volume]
    is_direct: BoolArray
    is_worse: BoolArray  # direct or by comparison
    is_held: BoolArray
    is_better: BoolArray
    is_no_slower: BoolArray
    why: Mapping[str, BoolArray]


def judge_hours(
    deviations: Deviations, stopped: FloatArray, budget: FloatArray, first_hour: int, thresholds: Thresholds
) -> HourlyVerdicts:
    """The verdicts on many volumes after each hour.

    `stopped` are the minutes so far beyond those of past weeks, and `budget` those allowed, [volume, hour].
    `first_hour` (since the epoch) is that of the first deviation, a week before the watch.
    """
    slower = np.maximum.accumulate(thresholds.slower.play(deviations, first_hour), axis=-1)
    faster = np.maximum.accumulate(thresholds.faster.play(negate(deviations), first_hour), axis=-1)
    clipped = np.clip(deviations.watched_means, -FACTOR_3, FACTOR_3)
    mean, hours = running_mean(clipped)
    busy, busy_seen = running_mean(np.where(deviations.is_busy[..., WEEK_H:], clipped, np.nan))
    band, band_hours = running_mean(split_bands(clipped, first_hour + WEEK_H))
    slack = np.append(np.inf, thresholds.slack)[np.minimum(hours // 24, DAYS)] * own_spread(deviations.mean)
    why: dict[str, BoolArray] = {
        "no-evidence": hours < LEAST_EVIDENCE_H,
        "half-the-budget-stopped": stopped > budget / 2,
        "raised": slower >= thresholds.slower.levels[0.2],
        "slower-in-a-band": np.asarray(((band > SLOWER_MARGIN) & (band_hours >= BAND_HOURS)).any(axis=-2)),
        "busy-hours-not-seen": busy_seen < LEAST_BUSY_HOURS,
        "slower-when-busy": busy > SLOWER_MARGIN,
        "spread-too-wide": mean + slack >= SLOWER_MARGIN,
    }
    is_direct = stopped > budget
    is_worse = is_direct | (slower >= thresholds.slower.levels[0.01])
    is_held = ~is_worse & (slower >= thresholds.slower.levels[0.05])
    is_better = ~is_worse & ~is_held & (faster >= thresholds.faster.levels[0.01]) & (mean < -SLOWER_MARGIN / 2)
    is_no_slower = ~is_worse & ~np.logical_or.reduce(list(why.values()))
    return HourlyVerdicts(
        statistic=slower,
        mean=mean,
        hours=hours,
        busy_seen=busy_seen,
        busy_hours=deviations.is_busy[..., :WEEK_H].sum(axis=-1),
        is_direct=is_direct,
        is_worse=is_worse,
        is_held=is_held,
        is_better=is_better,
        is_no_slower=is_no_slower,
        why=why,
    )


def judge_change(watch: ChangeWatch, thresholds: Thresholds) -> ChangeVerdict:
    """The verdict on a volume by all of its watch so far.

    A direct one counts from the request on, all others once the change is completed. Where something else changed in
    the watch, comparison begins anew from there and calls nothing back by itself.
    """
    stopped, allowed = count_stopped_beyond_past(watch.stopped_minutes)
    if not len(stopped):
        return ChangeVerdict(code=VerdictCode.WATCHING, reason="just-requested", text="No hour of its watch is over.")
    budget = np.maximum(watch.budget_minutes, allowed)
    voids = [void for void in watch.voids if void.hour >= watch.requested_hour]
    last = max(voids, key=lambda void: void.hour, default=None)
    deviations, hours = comparable_hours(watch, last.hour + 1 if last else 0)
    first_hour = watch.requested_hour - WEEK_H
    hourly = judge_hours(deviations, stopped[np.newaxis, :hours], budget[np.newaxis, :hours], first_hour, thresholds)
    is_direct = bool(stopped[-1] > budget[-1])
    code = _code_of(hourly, watch, is_direct=is_direct)
    verdict = describe_verdict(code, hourly, watch, thresholds, stopped=float(stopped[-1]))
    if is_direct:
        return describe_stops(verdict, watch.budget_minutes)
    return verdict if last is None else describe_after_void(verdict, last)


def _code_of(hourly: HourlyVerdicts, watch: ChangeWatch, *, is_direct: bool) -> VerdictCode:
    """The code after the last hour: the first that holds."""
    completed = watch.completed_hour
    is_over = completed is not None and watch.end_hour - completed >= WEEK_H
    codes = (
        (is_direct, VerdictCode.WORSE),
        (completed is None, VerdictCode.WATCHING),
        (bool(hourly.is_worse[0, -1]), VerdictCode.WORSE),
        (bool(hourly.is_better[0, -1]), VerdictCode.BETTER),
        (bool(hourly.is_no_slower[0, -1]), VerdictCode.NO_SLOWER),
        (is_over, VerdictCode.CANNOT_TELL),
        (bool(hourly.is_held[0, -1]), VerdictCode.HOLD),
    )
    return next((code for holds, code in codes if holds), VerdictCode.WATCHING)
