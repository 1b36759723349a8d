"""Random splits: learned from one half of the volumes, judged by the other, to see how much is chance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from plimsoll.backtesting.earlier_cuts import BY_HISTORY, Lessons
from plimsoll.backtesting.scenario import Cut
from plimsoll.domain.risk.calibration import by_volume, is_counted
from plimsoll.domain.risk.scores import together

SPLITS: Final = 10
"""How often a fleet is halved. Each half is judged by what the other showed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What was observed of a promise over the splits, in percent: the least, the mean and the most."""

    rule: str
    promised_pct: float
    memory_days: float
    least_pct: float
    mean_pct: float
    most_pct: float


def spreads(lessons: Lessons, judged: Sequence[Cut], levels_pct: Sequence[float]) -> list[Spread]:
    """The spread of each rule's promises, by memory; without those that are not made."""
    halves = [np.random.default_rng(seed).permutation(len(lessons.folds)) % 2 for seed in range(SPLITS)]
    splits = [replace(lessons, folds=folds, made={}) for folds in halves]
    found = []
    for rule in BY_HISTORY:
        for memory_days in sorted({cut.memory_days for cut in judged}):
            cuts = [cut for cut in judged if cut.memory_days == memory_days]
            for level_pct in levels_pct:
                seen = [_observed_pct(one, cuts, rule, level_pct) for one in splits]
                made = [one for one in seen if one is not None]
                if made:
                    figures = (round(float(figure), 2) for figure in (min(made), np.mean(made), max(made)))
                    least, mean, most = figures
                    found.append(
                        Spread(
                            rule=rule,
                            promised_pct=level_pct,
                            memory_days=memory_days,
                            least_pct=least,
                            mean_pct=mean,
                            most_pct=most,
                        )
                    )
    return found


def _observed_pct(lessons: Lessons, cuts: Sequence[Cut], rule: str, level_pct: float) -> float | None:
    """What share of the volumes outgrew a promise, each judged by the other half; None where none was made."""
    parts, factors = [], []
    for cut in cuts:
        scores = lessons.scores[cut.memory_days]
        here = scores.only(scores.cut == cut.number)
        parts.append(here)
        factors.append(lessons.factors(cut, rule, level_pct, here.volume, here.usual))
    rows, factor = together(parts), np.nan_to_num(np.concatenate(factors))
    counted = is_counted(rows.above_free, rows.of_present, factor)
    missed, volumes = by_volume(rows.volume[counted], (rows.score > factor)[counted])
    return 100 * missed / volumes if volumes else None
