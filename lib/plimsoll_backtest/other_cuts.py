"""The lessons for a cut, from other cuts of volumes that are not judged by it: earlier ones where they suffice."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.model.arrays import FloatArray, IntArray
from plimsoll.risk.learn import Calibrated, Scores, calibrate
from plimsoll_backtest.rules import LEARNED, ONE_FACTOR
from plimsoll_backtest.scenario import Cut

BY_HISTORY: Final = {LEARNED: True, ONE_FACTOR: False}
"""The learned rules, and whether each goes by what is usual for a volume."""

LEAST_CUTS: Final = 2
"""From fewer cuts nothing is learned: one does not tell what strikes a whole fleet from what is usual."""


def folds_of(names: Sequence[str], folds: int) -> IntArray:
    """The part of the fleet that each volume is in, by its name: always the same."""
    return np.array([zlib.crc32(name.encode()) % folds for name in names], dtype=np.int64)


def source_cuts(cut: Cut, cuts: Sequence[Cut], days: float) -> list[Cut]:
    """The cuts that another is learned from: those of the same memory that were over by then, if not all overlap.

    Otherwise all other cuts of the longest memory, no longer than its own, that has enough, though some are later. None
    where no memory has. A cut is over when its `days` are. A shorter memory has seen no more, so that its factors are
    no less than they have to be.
    """
    over = [other for other in cuts if other.memory_days == cut.memory_days and other.day + days <= cut.day]
    if over and max(other.day for other in over) - min(other.day for other in over) >= days:
        return over
    others = [other for other in cuts if other.memory_days <= cut.memory_days and other.day != cut.day]
    by_memory = [
        [other for other in others if other.memory_days == memory] for memory in {other.memory_days for other in others}
    ]
    enough = (same_memory for same_memory in by_memory if len(same_memory) >= LEAST_CUTS)
    return max(enough, key=lambda same_memory: same_memory[0].memory_days, default=[])


@dataclass
class CutLessons:
    """Calibrations by cut, fold and rule, each `made` once from the `scores` of all cuts by memory.

    `owners` are the kinds of the volumes' owners, where they are known.
    """

    scores: Mapping[float, Scores]
    cuts: Sequence[Cut]
    days: float
    folds: IntArray
    levels_pct: Sequence[float]
    owners: Sequence[str] = ()
    made: dict[tuple[Cut, int, str], Calibrated] = field(default_factory=dict)

    def calibration_at(self, cut: Cut, fold: int, rule: str) -> Calibrated:
        """The calibration of a rule at a cut for the volumes of a fold, learned without any of them."""
        key = cut, fold, rule
        if key not in self.made:
            source = source_cuts(cut, self.cuts, self.days)
            scores = self.scores[source[0].memory_days]
            others = (self.folds[scores.volume] != fold) & np.isin(scores.cut, [other.number for other in source])
            by_history = BY_HISTORY[rule]
            self.made[key] = calibrate(
                scores.pick(others),
                self.levels_pct,
                by_history=by_history,
                owners=self.owners if by_history else (),
            )
        return self.made[key]

    def factors(self, cut: Cut, rule: str, level_pct: float, volumes: IntArray, usual: FloatArray) -> FloatArray:
        """The factor of some volumes for a promise at a cut, by which share is `usual` for each; NaN where nothing is
        promised."""
        factors, folds = np.full(len(volumes), np.nan), self.folds[volumes]
        share = usual if BY_HISTORY[rule] else np.ones(len(volumes))
        for fold in np.unique(folds):
            learned = self.calibration_at(cut, int(fold), rule)
            factor, here = learned.factors[level_pct], np.flatnonzero(folds == fold)
            if factor is not None:
                owners = [self.owners[volume] for volume in volumes[here]] if self.owners else []
                factors[here] = factor * learned.scale(share[here], owners)
        return factors
