"""The token bucket behind a series: its burst rate, what it carried when its credits were spent, and their number.

A load that asks for all it gets shows a bucket as levels: a volume carries its burst rate until its credits are spent,
and less from then on; a host does likewise, later. The levels are found by binary segmentation: of all places the one
where two means explain most of what one mean does not, as long as that is more than noise (E. Vostrikova, "Detecting
disorder in multivariate random processes", 1981). Noise is measured by the differences of neighboring steps, which a
level does not change.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from plimsoll.model.arrays import FloatArray

LEAST_CHANGE: Final = 0.05
"""Levels that differ by a smaller share of the higher one are the same."""

LEAST_LEVEL_S: Final = 20.0
"""What is shorter is a hiccup and no level."""

LEAST_POINTS: Final = 5
"""A level of fewer points is not told from noise."""

FEW_POINTS: Final = 20
"""Of fewer, the median of their differences does not tell how noisy they are."""

SURELY: Final = 16.0
"""A change squared must be so many times the variance of its means and the logarithm of the points. Chance is less."""

EDGE_POINTS: Final = 2
"""So many points at an edge are of neither level for sure."""

RAMP_SHARE: Final = 0.05
"""A load may take so much of a run until it has its rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLevel:
    """The span of one rate in a series, in seconds from its start, and its mean rate."""

    start_s: float
    end_s: float
    rate: float

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFit:
    """The levels of a series, each lower than the one before.

    `steady` is False if the rate rose again: no bucket does so under a load that asks for all it gets.
    """

    levels: tuple[RateLevel, ...]
    steady: bool

    @property
    def burst_rate(self) -> float:
        """The rate before any credits were spent."""
        return self.levels[0].rate

    @property
    def last(self) -> RateLevel:
        return self.levels[-1]

    @property
    def spent_at_s(self) -> float | None:
        """The second at which the last credits were spent; None if no change was seen."""
        return self.last.start_s if len(self.levels) > 1 else None

    @property
    def capacity(self) -> float | None:
        """The credits that were spent: all work above the last level's rate; None if no change was seen.

        A bucket that was full at the start has as many.
        """
        if len(self.levels) == 1:
            return None
        return sum((level.rate - self.last.rate) * level.length_s for level in self.levels[:-1])


def fit_levels(rates: Sequence[float], step_s: float) -> TokenFit | None:
    """Fits levels to a series of mean rates; None if it is too short."""
    series = np.asarray(rates, dtype=np.float64)
    least = max(LEAST_POINTS, math.ceil(LEAST_LEVEL_S / step_s))
    if len(series) < least or not series.any():
        return None
    levels = list(_merge_equal(_levels(series, [0, *sorted(_edges(series, least)), len(series)], step_s)))
    levels = _refine_levels(series, _drop_transitions(levels, 2 * least * step_s), step_s)
    if len(levels) > 1 and levels[0].rate < levels[1].rate and levels[0].end_s <= RAMP_SHARE * len(series) * step_s:
        levels = levels[1:]
    falling = all(level.rate > other.rate for level, other in pairwise(levels))
    return TokenFit(levels=tuple(levels), steady=falling)


def _edges(rates: FloatArray, least: int) -> list[int]:
    """Finds the places where a level ends and another begins."""
    spans, edges = [(0, len(rates))], []
    while spans:
        start, end = spans.pop()
        at = _edge(rates[start:end], least)
        if at is not None:
            edges.append(start + at)
            spans += [(start, start + at), (start + at, end)]
    return edges


def _edge(rates: FloatArray, least: int) -> int | None:
    """Finds the place in a span at which two means explain most; None if that is no more than noise."""
    count = len(rates)
    places = np.arange(least, count - least + 1)
    if not len(places):
        return None
    sums = np.cumsum(rates)
    before, after = sums[places - 1] / places, (sums[-1] - sums[places - 1]) / (count - places)
    best = int(np.argmax((before - after) ** 2 * places * (count - places)))
    at, change = int(places[best]), abs(float(before[best] - after[best]))
    noise = _noise(rates[: at - 1]), _noise(rates[at + 1 :])  # The credits may end within the step beside the edge.
    doubt = _doubt(rates[:at], rates[at:], *noise) + _doubt(rates[at:], rates[:at], *reversed(noise))
    if change < LEAST_CHANGE * max(before[best], after[best]) or change**2 <= SURELY * math.log(count) * doubt:
        return None
    return at


def _doubt(rates: FloatArray, others: FloatArray, noise: float, noise_of_others: float) -> float:
    """The variance of a mean. Few points are at least as noisy, for their size, as what is beside them."""
    if len(rates) < FEW_POINTS and others.mean() > 0:
        noise = max(noise, noise_of_others * float(rates.mean() / others.mean()))
    return noise**2 / len(rates)


def _noise(rates: FloatArray) -> float:
    """The standard deviation within a level, by the median of the differences, which single hiccups do not move.

    A median of few points says little: then all of them count, hiccups too.
    """
    if len(rates) < FEW_POINTS:
        return float(rates.std(ddof=1))
    return float(np.median(np.abs(np.diff(rates)))) / (0.6745 * math.sqrt(2))


def _levels(rates: FloatArray, edges: Sequence[int], step_s: float) -> list[RateLevel]:
    return [
        RateLevel(start_s=float(start * step_s), end_s=float(end * step_s), rate=float(rates[start:end].mean()))
        for start, end in pairwise(edges)
    ]


def _merge_equal(levels: Sequence[RateLevel]) -> Iterator[RateLevel]:
    """Yields the levels; neighbors of the same rate become one."""
    held = levels[0]
    for level in levels[1:]:
        if abs(level.rate - held.rate) >= LEAST_CHANGE * max(level.rate, held.rate):
            yield held
            held = level
            continue
        length_s = held.length_s + level.length_s
        rate = (held.rate * held.length_s + level.rate * level.length_s) / length_s
        held = RateLevel(start_s=held.start_s, end_s=level.end_s, rate=rate)
    yield held


def _drop_transitions(levels: Sequence[RateLevel], longest_s: float) -> list[RateLevel]:
    """The levels without short ones on the way from one to the next.

    The step in which the credits ended has some of both rates. It ends where that keeps the work that was done.
    """
    kept = [levels[0]]
    for at, level in enumerate(levels[1:], start=1):
        after = levels[at + 1] if at + 1 < len(levels) else None
        before = kept[-1]
        if after is None or level.length_s > longest_s or not before.rate > level.rate > after.rate:
            kept.append(replace(level, start_s=before.end_s))
            continue
        share = (level.rate - after.rate) / (before.rate - after.rate)
        kept[-1] = replace(before, end_s=level.start_s + share * level.length_s)
    return kept


def _refine_levels(rates: FloatArray, levels: Sequence[RateLevel], step_s: float) -> list[RateLevel]:
    """Takes each level's rate from the points that are surely its own, and moves its end accordingly.

    The end keeps the work that was done around the edge.
    """
    means = [_inner_mean(rates, level, step_s) for level in levels]
    ends_s = [level.end_s for level in levels]
    for at, (level, other) in enumerate(pairwise(means)):
        low = max(0, math.floor(ends_s[at] / step_s) - EDGE_POINTS)
        high = min(len(rates), math.ceil(ends_s[at] / step_s) + EDGE_POINTS)
        share = (float(rates[low:high].mean()) - other) / (level - other) if level != other else 0.5
        ends_s[at] = (low + min(1.0, max(0.0, share)) * (high - low)) * step_s
    starts_s = [levels[0].start_s, *ends_s[:-1]]
    return [
        RateLevel(start_s=start_s, end_s=end_s, rate=mean)
        for start_s, end_s, mean in zip(starts_s, ends_s, means, strict=True)
    ]


def _inner_mean(rates: FloatArray, level: RateLevel, step_s: float) -> float:
    """The mean of a level without the points at its edges."""
    first = math.ceil(level.start_s / step_s) + (EDGE_POINTS if level.start_s > 0 else 0)
    last = math.floor(level.end_s / step_s) - (EDGE_POINTS if level.end_s < len(rates) * step_s else 0)
    return float(rates[first:last].mean()) if last > first else level.rate
