"""What is learned for a cut: from other cuts of volumes that are not judged by it, earlier ones where they suffice."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.backtesting.rules import LEARNED, ONE_FACTOR
from plimsoll.backtesting.scenario import Cut
from plimsoll.domain.metrics.knowledge import IntArray
from plimsoll.domain.metrics.period import FloatArray
from plimsoll.domain.risk.calibration import Calibrated, calibrated
from plimsoll.domain.risk.scores import Scores

BY_HISTORY: Final = {LEARNED: True, ONE_FACTOR: False}
"""The learned rules, and whether each goes by what is usual for a volume."""

LEAST_CUTS: Final = 2
"""From fewer cuts nothing is learned: one does not tell what strikes a whole fleet from what is usual."""


def folds_of(names: Sequence[str], folds: int) -> IntArray:
    """The part of the fleet that each volume is in, by its name: always the same."""
    return np.array([zlib.crc32(name.encode()) % folds for name in names], dtype=np.int64)


def learned_from(cut: Cut, cuts: Sequence[Cut], days: float) -> list[Cut]:
    """The cuts that another is learned from: those of as long a memory whose `days` were over by then, if not all of
    them overlap.

    Otherwise all other cuts of the longest memory, no longer than its own, that has enough, though some are later. None
    where no memory has. A shorter memory has seen no more, so that its factors are no less than they have to be.
    """
    over = [one for one in cuts if one.memory_days == cut.memory_days and one.day + days <= cut.day]
    if over and max(one.day for one in over) - min(one.day for one in over) >= days:
        return over
    others = [one for one in cuts if one.memory_days <= cut.memory_days and one.day != cut.day]
    by_memory = [[one for one in others if one.memory_days == memory] for memory in {one.memory_days for one in others}]
    enough = (found for found in by_memory if len(found) >= LEAST_CUTS)
    return max(enough, key=lambda found: found[0].memory_days, default=[])


@dataclass
class Lessons:
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

    def of(self, cut: Cut, fold: int, rule: str) -> Calibrated:
        """What a rule knows at a cut of the volumes of a fold, none of which it has seen."""
        key = cut, fold, rule
        if key not in self.made:
            source = learned_from(cut, self.cuts, self.days)
            scores = self.scores[source[0].memory_days]
            others = (self.folds[scores.volume] != fold) & np.isin(scores.cut, [one.number for one in source])
            by_history = BY_HISTORY[rule]
            self.made[key] = calibrated(
                scores.only(others),
                self.levels_pct,
                by_history=by_history,
                owners=self.owners if by_history else (),
            )
        return self.made[key]

    def factors(self, cut: Cut, rule: str, level_pct: float, volumes: IntArray, usual: FloatArray) -> FloatArray:
        """The factor of some volumes for a promise at a cut, by which share is `usual` for each; NaN where nothing is
        promised."""
        found, folds = np.full(len(volumes), np.nan), self.folds[volumes]
        share = usual if BY_HISTORY[rule] else np.ones(len(volumes))
        for fold in np.unique(folds):
            learned = self.of(cut, int(fold), rule)
            factor, here = learned.factors[level_pct], np.flatnonzero(folds == fold)
            if factor is not None:
                owners = [self.owners[volume] for volume in volumes[here]] if self.owners else []
                found[here] = factor * learned.scale(share[here], owners)
        return found
