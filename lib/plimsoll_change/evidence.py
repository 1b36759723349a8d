"""Evidence: how much slower each hour was than the same hour of past weeks, less what unchanged siblings did.

    y = log(latency) - median over the past weeks of the same hour of the week
    e = y - median of the siblings' y (0 with fewer than 3)
    d = e - half the median of e over the 7 days before the change

All functions work on many volumes at once. The last axis is time in hours: six past weeks, then the watch.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll_change.watch import PAST_H, PAST_WEEKS, WEEK_H, ChangeWatch, HourlySignal

LEAST_OPERATIONS: Final = 1000.0
"""Fewer operations in an hour are no evidence."""
LEAST_SIBLINGS: Final = 3
FACTOR_3: Final = math.log(3)
QUIET_SPREAD: Final = 0.25
LEAST_SPREAD: Final = 0.03
BUSY_HOURS: Final = 17
"""A tenth of the week."""
JOB_SHARE: Final = 0.25
"""A job that takes what it gets was stopped before as well: by how much longer it may run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviations:
    """The slowdown of each hour as a logarithm, [volume, hour]. NaN where an hour is no evidence.

    The first week is the one before the change; the watch begins after it.
    """

    mean: FloatArray
    highest: FloatArray
    is_busy: BoolArray  # the busiest hours of the week

    @property
    def watched_means(self) -> FloatArray:
        """The hourly means of the watch."""
        return self.mean[..., WEEK_H:]


def own_spread(mean: FloatArray) -> FloatArray:
    """The root mean square of a volume's deviations in the week before its change, [volume, 1]; 0.3 without evidence.

    An hour counts for no more than a factor of three.
    """
    week = np.clip(mean[..., :WEEK_H], -FACTOR_3, FACTOR_3)
    known = ~np.isnan(week)
    squares = np.where(known, week**2, 0.0).sum(axis=-1, keepdims=True)
    count = known.sum(axis=-1, keepdims=True)
    spread = np.where(count > 0, np.sqrt(squares / np.maximum(1, count)), 0.3)
    return np.asarray(np.maximum(LEAST_SPREAD, spread))


def weigh_restless(deviations: Deviations) -> Deviations:
    """The deviations as bets see them: those of a volume that varies by more than 0.25 by itself count for less."""
    weight = np.minimum(1.0, QUIET_SPREAD / np.maximum(own_spread(deviations.mean), QUIET_SPREAD))
    return replace(deviations, mean=deviations.mean * weight, highest=deviations.highest * weight)


def median_of_known(values: FloatArray, axis: int) -> FloatArray:
    """The median along an axis of what is not NaN; NaN where nothing is known."""
    ordered = np.sort(values, axis=axis)
    known = np.sum(~np.isnan(values), axis=axis, keepdims=True)
    lower = np.take_along_axis(ordered, np.maximum(0, (known - 1) // 2), axis=axis)
    upper = np.take_along_axis(ordered, np.minimum(known // 2, values.shape[axis] - 1), axis=axis)
    median: FloatArray = np.squeeze((lower + upper) / 2, axis=axis)
    return median


def running_mean(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """The mean and number so far of what is not NaN, along the last axis; 0 where nothing is."""
    known = ~np.isnan(values)
    count = np.cumsum(known, axis=-1)
    return np.cumsum(np.where(known, values, 0.0), axis=-1) / np.maximum(1, count), count


def excess_over_past(latency_us: FloatArray, operations: FloatArray) -> FloatArray:
    """The excess of each hour over the same hour of past weeks, as a logarithm.

    It begins a week before the change, which is held against the five weeks before it. Arrays are [..., hour] from
    six weeks before the change.
    """
    is_evidence = (operations >= LEAST_OPERATIONS) & (latency_us > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(is_evidence, np.log(latency_us), np.nan)
    past = logs[..., :PAST_H].reshape(*logs.shape[:-1], PAST_WEEKS, WEEK_H)
    before = past[..., -1, :] - median_of_known(past[..., :-1, :], -2)
    watch = logs[..., PAST_H:]
    usual = median_of_known(past, -2)[..., np.arange(watch.shape[-1]) % WEEK_H]
    return np.concatenate([before, watch - usual], axis=-1)


def subtract_siblings(excess: FloatArray, siblings: FloatArray) -> FloatArray:
    """The excess less the median of siblings, [..., sibling, hour]; as it is in hours with fewer than three."""
    if siblings.shape[-2] < LEAST_SIBLINGS:
        return excess
    known = np.sum(~np.isnan(siblings), axis=-2)
    median = median_of_known(siblings, -2)
    return excess - np.where(known >= LEAST_SIBLINGS, median, 0.0)


def center_on_week_before(excess: FloatArray) -> FloatArray:
    """The excess less half of its median in the week before the change: a volume that had shifted stays shifted."""
    median = median_of_known(excess[..., :WEEK_H], -1)[..., np.newaxis]
    return excess - np.where(np.isnan(median), 0.0, median) / 2


def mark_busy_hours(operations: FloatArray) -> BoolArray:
    """Marks, from a week before the change on, the hours of the week that were busiest before it."""
    past = np.nan_to_num(operations[..., :PAST_H])
    weekly = past.reshape(*past.shape[:-1], PAST_WEEKS, WEEK_H).mean(axis=-2)
    least = np.maximum(LEAST_OPERATIONS, np.sort(weekly, axis=-1)[..., -BUSY_HOURS, np.newaxis])
    hours = operations.shape[-1] - PAST_H + WEEK_H
    return np.asarray((weekly >= least)[..., np.arange(hours) % WEEK_H])


def cut_placebos(signals: Sequence[HourlySignal], siblings: Sequence[Sequence[int]]) -> Deviations:
    """The weeks of unchanged volumes after their first six, each as the watch of a change that nobody made.

    `siblings` are the places of each volume's among the signals, which are of the same hours.
    """
    weeks = []
    for begin in range(0, len(signals[0].operations) - PAST_H - WEEK_H + 1, WEEK_H):
        at = slice(begin, begin + PAST_H + WEEK_H)
        cuts = [signal.cut(at) for signal in signals]
        excess = np.stack([excess_over_past(each.latency_us, each.operations) for each in cuts], axis=1)
        less = [subtract_siblings(excess[:, place], excess[:, others]) for place, others in enumerate(siblings)]
        weeks.append(center_on_week_before(np.stack(less, axis=1)))
    mean, highest = np.concatenate(weeks, axis=1)
    return Deviations(mean=mean, highest=highest, is_busy=np.zeros_like(mean, dtype=np.bool_))


def count_stopped_beyond_past(stopped: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Counts the minutes so far beyond the same hours of past weeks, and what a job may add to those.

    `stopped` is [..., hour] from six weeks before the change. Weeks of which less than half is known are left out.
    """
    past, watch = stopped[..., :PAST_H].reshape(*stopped.shape[:-1], PAST_WEEKS, WEEK_H), stopped[..., PAST_H:]
    is_known = np.mean(~np.isnan(past), axis=-1, keepdims=True) >= 0.5
    at = np.arange(watch.shape[-1]) % WEEK_H
    weekly = np.cumsum(np.where(np.isnan(past), 0.0, past)[..., at], axis=-1)
    usual = np.where(is_known.any(axis=-2), np.nan_to_num(median_of_known(np.where(is_known, weekly, np.nan), -2)), 0.0)
    return np.cumsum(np.nan_to_num(watch), axis=-1) - usual, JOB_SHARE * usual


def comparable_hours(watch: ChangeWatch, after: int) -> tuple[Deviations, int]:
    """The deviations of a watch until a week after its change arrived, [1, hour], and the hours since its request.

    Hours before that, and those before `after`, are no evidence.
    """
    completed = watch.end_hour if watch.completed_hour is None else watch.completed_hour
    begins = max(completed, after, watch.requested_hour) - watch.requested_hour
    until = min(watch.end_hour, max(completed, after) + WEEK_H) - watch.requested_hour
    excess = excess_over_past(watch.signal.latency_us, watch.signal.operations)
    if watch.siblings:
        siblings = [excess_over_past(sibling.latency_us, sibling.operations) for sibling in watch.siblings]
        excess = subtract_siblings(excess, np.stack(siblings, axis=-2))
    known = center_on_week_before(excess)[:, np.newaxis, : WEEK_H + until]
    known[..., WEEK_H : WEEK_H + begins] = np.nan
    is_busy = mark_busy_hours(watch.signal.operations)[np.newaxis, : WEEK_H + until]
    return Deviations(mean=known[0], highest=known[1], is_busy=is_busy), max(0, until)
