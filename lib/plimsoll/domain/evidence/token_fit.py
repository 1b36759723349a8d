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

from plimsoll.domain.arrays import FloatArray

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
class Level:
    """A span of a series, in seconds from its start, and the mean rate in it."""

    start_s: float
    end_s: float
    rate: float

    @property
    def length_s(self) -> float:
        """How long it lasted."""
        return self.end_s - self.start_s


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFit:
    """The levels of a series, each with less than the one before; `steady` is False where the rate rose again, which no
    bucket does under a load that asks for all it gets."""

    levels: tuple[Level, ...]
    steady: bool

    @property
    def burst_rate(self) -> float:
        """The rate before any credits were spent."""
        return self.levels[0].rate

    @property
    def last(self) -> Level:
        """What was carried in the end."""
        return self.levels[-1]

    @property
    def spent_at_s(self) -> float | None:
        """When the last credits were spent; None where no change was seen."""
        return self.last.start_s if len(self.levels) > 1 else None

    @property
    def capacity(self) -> float | None:
        """The credits that were spent: all work above the last level's rate. None where no change was seen. It is what
        was there at the start, which a full bucket has."""
        if len(self.levels) == 1:
            return None
        return sum((one.rate - self.last.rate) * one.length_s for one in self.levels[:-1])


def fit(rates: Sequence[float], step_s: float) -> TokenFit | None:
    """The levels of a series of mean rates; None where it is too short for any."""
    found = np.asarray(rates, dtype=np.float64)
    least = max(LEAST_POINTS, math.ceil(LEAST_LEVEL_S / step_s))
    if len(found) < least or not found.any():
        return None
    levels = list(_merged(_levels(found, [0, *sorted(_edges(found, least)), len(found)], step_s)))
    levels = _refined(found, _sharp(levels, 2 * least * step_s), step_s)
    if len(levels) > 1 and levels[0].rate < levels[1].rate and levels[0].end_s <= RAMP_SHARE * len(found) * step_s:
        levels = levels[1:]
    falling = all(one.rate > other.rate for one, other in pairwise(levels))
    return TokenFit(levels=tuple(levels), steady=falling)


def _edges(rates: FloatArray, least: int) -> list[int]:
    """Where a level ends and another begins."""
    spans, edges = [(0, len(rates))], []
    while spans:
        start, end = spans.pop()
        at = _edge(rates[start:end], least)
        if at is not None:
            edges.append(start + at)
            spans += [(start, start + at), (start + at, end)]
    return edges


def _edge(rates: FloatArray, least: int) -> int | None:
    """The place in a span at which two means explain most; None where that is no more than noise."""
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
    """The variance of a mean; what has few points is at least as noisy, for its size, as what is beside it."""
    if len(rates) < FEW_POINTS and others.mean() > 0:
        noise = max(noise, noise_of_others * float(rates.mean() / others.mean()))
    return noise**2 / len(rates)


def _noise(rates: FloatArray) -> float:
    """The standard deviation within a level: by the median of the differences, which single hiccups do not move. Of a
    few points a median says little, so that all of them count, hiccups too."""
    if len(rates) < FEW_POINTS:
        return float(rates.std(ddof=1))
    return float(np.median(np.abs(np.diff(rates)))) / (0.6745 * math.sqrt(2))


def _levels(rates: FloatArray, edges: Sequence[int], step_s: float) -> list[Level]:
    return [
        Level(start_s=float(start * step_s), end_s=float(end * step_s), rate=float(rates[start:end].mean()))
        for start, end in pairwise(edges)
    ]


def _merged(levels: Sequence[Level]) -> Iterator[Level]:
    """The levels, of which neighbors that are the same are one."""
    held = levels[0]
    for one in levels[1:]:
        if abs(one.rate - held.rate) >= LEAST_CHANGE * max(one.rate, held.rate):
            yield held
            held = one
            continue
        length_s = held.length_s + one.length_s
        rate = (held.rate * held.length_s + one.rate * one.length_s) / length_s
        held = Level(start_s=held.start_s, end_s=one.end_s, rate=rate)
    yield held


def _sharp(levels: Sequence[Level], longest_s: float) -> list[Level]:
    """The levels without short ones on the way from one to the next: the step in which the credits ended is some of
    both, and ends where it leaves the work that was done as it is."""
    found = [levels[0]]
    for at, one in enumerate(levels[1:], start=1):
        after = levels[at + 1] if at + 1 < len(levels) else None
        before = found[-1]
        if after is None or one.length_s > longest_s or not before.rate > one.rate > after.rate:
            found.append(replace(one, start_s=before.end_s))
            continue
        share = (one.rate - after.rate) / (before.rate - after.rate)
        found[-1] = replace(before, end_s=one.start_s + share * one.length_s)
    return found


def _refined(rates: FloatArray, levels: Sequence[Level], step_s: float) -> list[Level]:
    """The levels by what is surely theirs, each ending where the work that was done around its edge says."""
    means = [_inside(rates, one, step_s) for one in levels]
    ends_s = [one.end_s for one in levels]
    for at, (one, other) in enumerate(pairwise(means)):
        low = max(0, math.floor(ends_s[at] / step_s) - EDGE_POINTS)
        high = min(len(rates), math.ceil(ends_s[at] / step_s) + EDGE_POINTS)
        share = (float(rates[low:high].mean()) - other) / (one - other) if one != other else 0.5
        ends_s[at] = (low + min(1.0, max(0.0, share)) * (high - low)) * step_s
    starts_s = [levels[0].start_s, *ends_s[:-1]]
    return [
        Level(start_s=start_s, end_s=end_s, rate=mean)
        for start_s, end_s, mean in zip(starts_s, ends_s, means, strict=True)
    ]


def _inside(rates: FloatArray, one: Level, step_s: float) -> float:
    """The mean of a level without the points at its edges."""
    first = math.ceil(one.start_s / step_s) + (EDGE_POINTS if one.start_s > 0 else 0)
    last = math.floor(one.end_s / step_s) - (EDGE_POINTS if one.end_s < len(rates) * step_s else 0)
    return float(rates[first:last].mean()) if last > first else one.rate
