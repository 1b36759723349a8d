"""Scores of past cuts: how much headroom each would have needed.

At a *cut* one knows what a volume did before it. The score is the least factor f for which the line max(what is free,
f times the most required before) would have passed the days after within the budget of throttled minutes. It is
infinite where what came after was itself held back, since nobody knows how much more was wanted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.risk.constant_limits import highest_but, peaks, throttled
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
        """Some of the rows."""
        return Scores(**{name: getattr(self, name)[where] for name in self.__slots__})


def together(parts: Sequence[Scores]) -> Scores:
    """All rows of some scores."""
    return Scores(**{name: np.concatenate([getattr(one, name) for one in parts]) for name in Scores.__slots__})


def scores_of(
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
    """The scores of a cut (by its number) of many volumes.

    `after` are the rates of the days after it, (volumes, 2, buckets), `free` and `present` the limits that cost nothing
    and that there are. `censored` says where what came after was held back.
    """
    above_free, of_present = standing(before.most, free, present)
    return Scores(
        volume=volume,
        cut=np.full(len(volume), cut),
        usual=before.usual,
        above_free=above_free,
        of_present=of_present,
        score=np.where(censored, np.inf, least_factors(before.most, after, free, period_s, budget_min)),
        ratio=_ratio(highest_but(after, int(budget_min * MINUTE_S / period_s)), before.most),
    )


def standing(most: FloatArray, free: FloatArray, present: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How many times what is free, and what the present configuration carries, the most required was."""
    times_free = np.divide(most, free, out=np.full_like(most, np.inf), where=free > 0).max(axis=1)
    return times_free, (most / present).max(axis=1)


def least_factors(
    most: FloatArray, after: FloatArray, free: FloatArray, period_s: int, budget_min: float
) -> FloatArray:
    """For each volume the least factor whose line passes; 0 where what is free does, infinite where none does."""
    lines = np.broadcast_to(free, most.shape)
    minutes, _ = throttled(after, lines, period_s)
    found = np.zeros(len(most))
    needs = np.flatnonzero(minutes > budget_min)
    if not len(needs):
        return found
    base, rates = most[needs], after[needs]
    top = peaks(rates)
    # A line at the highest rate of what is not carried for nothing passes.
    high = _ratio(np.where(top > free, top, 0.0), base)
    low = np.zeros(len(needs))
    for _ in range(_STEPS):
        middle = np.where(np.isfinite(high), (low + high) / 2, 0.0)
        minutes, _ = throttled(rates, np.maximum(free, middle[:, None] * base), period_s)
        passes = minutes <= budget_min
        high, low = np.where(passes & np.isfinite(high), middle, high), np.where(passes, low, middle)
    found[needs] = high
    return found


def _ratio(figures: FloatArray, base: FloatArray) -> FloatArray:
    """The highest of two figures over their bases; infinite over nothing, 0 where there is nothing to carry."""
    none = np.where(figures > 0, np.inf, 0.0)
    found: FloatArray = np.divide(figures, base, out=none, where=base > 0).max(axis=1)
    return found
