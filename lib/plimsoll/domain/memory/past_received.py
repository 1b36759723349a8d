"""The past as it was received: doubts about series that lack points or disagree.

Reads and writes have a count in every bucket in which a volume was attached. Operations move bytes. A highest minute is
not below the mean of its day, nor nothing where something was done. What is read finely adds up to what was read
coarsely before. What disagrees, or is absent, is asked once more, and is disputed where it still disagrees: it may be
what speaks against a reduction.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.ceiling import RESOURCES
from plimsoll.domain.metrics.series import BYTES, NAMES, OPERATIONS, PAST_RATES, PER_UNIT, RATE_ROUNDING, WORK_OF
from plimsoll.domain.metrics.sums import Doubt
from plimsoll.domain.metrics.track import EXACT, FEW_IOPS, Look, buckets_without_series, find_spans, zero_if_absent
from plimsoll.domain.units import DAY_S, MINUTE_S


@dataclass(frozen=True, slots=True)
class Side:
    """The counters (`group`) of a rate, the `unit` that one of them is, and the `rounding` of its highest minute."""

    group: str
    unit: float
    rounding: float


SIDES: Final = tuple(Side(WORK_OF[side], 1 / PER_UNIT[side], RATE_ROUNDING[side]) for side in RESOURCES)
"""IOPS, and MiB/s."""

LEAST_PART: Final = 0.5
"""A highest minute that begins in one bucket and ends in the next has at least this part in one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """The earlier knowledge of the buckets of a look.

    `highest` is the highest minute of each one's day, IOPS and MiB/s (NaN: not known). `counts` says which are asked
    for. `holder` is the bucket so far that each lies in, `held_s` how long that is, and `mean` what was read in it
    (NaN: nothing was).
    """

    highest: FloatArray
    counts: BoolArray
    holder: IntArray
    held_s: IntArray
    mean: FloatArray


def is_whole(series: Mapping[str, FloatArray], witness: Witness) -> bool:
    """No bucket that counts lacks a point of a series that is published."""
    return not any(bool((np.isnan(values) & witness.counts).any()) for values in series.values())


def find_past_doubts(look: Look, by_name: Mapping[str, FloatArray], witness: Witness) -> Iterator[Doubt]:
    """Yields the spans in which the series of a look disagree or lack points."""
    highest = witness.highest
    if PAST_RATES in look.groups:
        rates = [by_name.get(name, np.full(highest.shape[1], np.nan)) for name in NAMES[PAST_RATES]]
        for name, rate, other in zip(NAMES[PAST_RATES], rates, reversed(rates), strict=True):
            yield from _spans(name, look, np.isnan(rate) & ~np.isnan(other) & witness.counts)
        highest = np.stack(rates)
    if OPERATIONS not in look.groups:
        return
    yield from _absent(look, by_name, witness)
    for row, side in enumerate(SIDES):
        series = [by_name[name] for name in NAMES[side.group] if name in by_name]
        if not series:
            continue
        mean = np.sum([zero_if_absent(values) for values in series], axis=0) * side.unit / look.period_s
        above = mean > highest[row] * (1 + EXACT) + side.rounding
        yield from _spans(NAMES[PAST_RATES][row], look, above & witness.counts)
        finer = witness.held_s > look.period_s
        differs = np.abs(_within_holder(np.add, mean, witness) - witness.mean[row]) > EXACT * (1 + witness.mean[row])
        minutes = look.period_s / MINUTE_S * _within_holder(np.maximum, mean, witness)
        lost = (witness.held_s >= DAY_S) & (minutes < LEAST_PART * highest[row] - side.rounding)
        yield from _spans(NAMES[side.group][0], look, ((finer & differs) | lost) & witness.counts)


def _absent(look: Look, series: Mapping[str, FloatArray], witness: Witness) -> Iterator[Doubt]:
    """Yields the spans in which a count is absent beside the other one, or operations and bytes disagree."""
    none = np.full(len(witness.counts), np.nan)
    counts = [series.get(name, none) for name in NAMES[OPERATIONS]]
    sizes = [series.get(name, none) for name in NAMES[BYTES]]
    for place, (name, bytes_name) in enumerate(zip(NAMES[OPERATIONS], NAMES[BYTES], strict=True)):
        ops, size = zero_if_absent(counts[place]), zero_if_absent(sizes[place])
        lone = np.isnan(counts[place]) & ~np.isnan(counts[1 - place])
        yield from _spans(name, look, (lone | ((size > 0) & (ops == 0))) & witness.counts)
        yield from _spans(bytes_name, look, (size == 0) & (ops > FEW_IOPS * look.period_s) & witness.counts)


def _within_holder(add_up: np.ufunc, mean: FloatArray, witness: Witness) -> FloatArray:
    """The mean (np.add) or the highest (np.maximum) of all buckets that lie in the same bucket so far."""
    at = np.flatnonzero(np.diff(witness.holder, prepend=-1))
    counts = np.diff(np.append(at, len(mean)))
    totals = add_up.reduceat(mean, at)
    return np.repeat(totals / counts if add_up is np.add else totals, counts)


def _spans(series: str, look: Look, where: BoolArray) -> Iterator[Doubt]:
    starts_s = np.arange(look.window.start_s, look.window.end_s, look.period_s, dtype=np.int64)
    return find_spans(series, buckets_without_series(starts_s, np.full(len(starts_s), look.period_s)), where)
