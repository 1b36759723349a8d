"""Scores of past cuts: the headroom that each would have needed.

At a *cut* one knows what a volume did before it. The score is the least factor f for which the line max(what is free, f
times the most required before) would have passed the days after within the budget of throttled minutes. It is infinite
where what came after was itself held back, since nobody knows how much more was wanted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.risk.constant_limits import count_throttled, highest_but, highest_rates
from plimsoll.domain.risk.histories import Histories
from plimsoll.domain.units import MINUTE_S

PROMISED_MINUTES: Final = 15.0
"""More throttled minutes than these in the days after a cut are a broken promise."""

_STEPS: Final = 24
"""Halvings of the span in which a score lies: far under a thousandth of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Scores of cuts, one row each, and what decides whether a cut counts.

    `volume` names the volume by a number, so that one counts once a cut, and `cut` the cut. `usual` is which share of
    its most required is usual for it. `above_free` is how many times what is free the most required was, `of_present`
    how many times what the present configuration carries, both on the resource that is nearest. `ratio` is what was
    needed after, over the most before, without regard to what is free.
    """

    volume: IntArray
    cut: IntArray
    usual: FloatArray
    above_free: FloatArray
    of_present: FloatArray
    score: FloatArray
    ratio: FloatArray

    def only(self, where: BoolArray) -> "Scores":
        return Scores(**{name: getattr(self, name)[where] for name in self.__slots__})


def join_scores(parts: Sequence[Scores]) -> Scores:
    return Scores(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in Scores.__slots__})


def score_cut(
    volume: IntArray,
    before: Histories,
    after: FloatArray,
    *,
    cut: int,
    free: FloatArray,
    present: FloatArray,
    censored: BoolArray,
    period_s: int,
    budget_min: float = PROMISED_MINUTES,
) -> Scores:
    """Scores a cut (by its number) of many volumes.

    `after` are the rates of the days after it, (volumes, 2, buckets), `free` and `present` the limits that cost nothing
    and that there are. `censored` says where what came after was held back.
    """
    above_free, of_present = required_ratios(before.most, free, present)
    return Scores(
        volume=volume,
        cut=np.full(len(volume), cut),
        usual=before.usual,
        above_free=above_free,
        of_present=of_present,
        score=np.where(censored, np.inf, least_factors(before.most, after, free, period_s, budget_min)),
        ratio=_ratio(highest_but(after, int(budget_min * MINUTE_S / period_s)), before.most),
    )


def required_ratios(most: FloatArray, free: FloatArray, present: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The ratios of the most required to what is free, and to what the present configuration carries."""
    times_free = np.divide(most, free, out=np.full_like(most, np.inf), where=free > 0).max(axis=1)
    return times_free, (most / present).max(axis=1)


def least_factors(
    most: FloatArray, after: FloatArray, free: FloatArray, period_s: int, budget_min: float
) -> FloatArray:
    """The least factor of each volume whose line passes; 0 if what is free does, infinite if none does."""
    lines = np.broadcast_to(free, most.shape)
    minutes, _ = count_throttled(after, lines, period_s)
    factors = np.zeros(len(most))
    needs = np.flatnonzero(minutes > budget_min)
    if not len(needs):
        return factors
    base, rates = most[needs], after[needs]
    top = highest_rates(rates)
    # A line at the highest rate of what is not carried for nothing passes.
    high = _ratio(np.where(top > free, top, 0.0), base)
    low = np.zeros(len(needs))
    for _ in range(_STEPS):
        middle = np.where(np.isfinite(high), (low + high) / 2, 0.0)
        minutes, _ = count_throttled(rates, np.maximum(free, middle[:, None] * base), period_s)
        passes = minutes <= budget_min
        high, low = np.where(passes & np.isfinite(high), middle, high), np.where(passes, low, middle)
    factors[needs] = high
    return factors


def _ratio(figures: FloatArray, base: FloatArray) -> FloatArray:
    """The highest ratio of two figures to their bases; infinite over nothing, 0 if there is nothing to carry."""
    none = np.where(figures > 0, np.inf, 0.0)
    ratio: FloatArray = np.divide(figures, base, out=none, where=base > 0).max(axis=1)
    return ratio
