"""What is learned for a cut: from earlier cuts alone, of volumes that are not judged by it."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.backtesting.rules import LEARNED, ONE_FACTOR
from plimsoll.backtesting.scenario import Cut
from plimsoll.domain.metrics.knowledge import IntArray
from plimsoll.domain.risk.calibration import Calibrated, calibrated
from plimsoll.domain.risk.scores import Scores

BY_SHAPE: Final = {LEARNED: True, ONE_FACTOR: False}
"""The learned rules, and whether each has a factor by shape."""

LEAST_CUTS: Final = 2
"""From fewer cuts nothing is learned: one does not tell what strikes a whole fleet from what is usual."""


def folds_of(names: Sequence[str], folds: int) -> IntArray:
    """The part of the fleet that each volume is in, by its name: always the same."""
    return np.array([zlib.crc32(name.encode()) % folds for name in names], dtype=np.int64)


def learned_from(cut: Cut, cuts: Sequence[Cut]) -> list[Cut]:
    """The cuts that another is learned from: the earlier ones of its memory; if there are none, of the next shorter.

    A shorter memory has seen no more, so that its factors are no less than they have to be.
    """
    earlier = [one for one in cuts if one.day < cut.day and one.memory_days <= cut.memory_days]
    longest = max((one.memory_days for one in earlier), default=None)
    return [one for one in earlier if one.memory_days == longest]


@dataclass
class Lessons:
    """Calibrations by cut, fold and rule, each made once from the `scores` of all cuts by memory."""

    scores: Mapping[float, Scores]
    cuts: Sequence[Cut]
    folds: IntArray
    levels_pct: Sequence[float]
    _made: dict[tuple[Cut, int, str], Calibrated] = field(default_factory=dict)

    def of(self, cut: Cut, fold: int, rule: str) -> Calibrated:
        """What a rule knows at a cut of the volumes of a fold, none of which it has seen."""
        key = cut, fold, rule
        if key not in self._made:
            source = learned_from(cut, self.cuts)
            scores = self.scores[source[0].memory_days]
            others = (self.folds[scores.volume] != fold) & np.isin(scores.cut, [one.number for one in source])
            self._made[key] = calibrated(scores.only(others), self.levels_pct, by_shape=BY_SHAPE[rule])
        return self._made[key]
