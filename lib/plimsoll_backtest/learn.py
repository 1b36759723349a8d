"""Learning a table from fleets: all volumes and all cuts of each, for the promises of the future."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from plimsoll.model.errors import BadInput
from plimsoll.risk.learn import Band, Calibrated, LearnedTable, Scores, TableSource, calibrate, join_scores
from plimsoll_backtest.fleet import Fleet
from plimsoll_backtest.other_cuts import LEAST_CUTS
from plimsoll_backtest.run import BatchProgress, learned_scores
from plimsoll_backtest.scenario import Scenario

_DIGITS: Final = 3


def learn(
    fleets: Sequence[Fleet],
    scenario: Scenario,
    folder: Path,
    *,
    on: str,
    public: bool,
    progress: BatchProgress = lambda _done, _all: None,
) -> LearnedTable:
    """The table of some fleets, learned on the day `on`; BadInput where they are too short for any memory."""
    whole, before = sum(len(fleet.shape.names) for fleet in fleets), 0
    owners = [owner for fleet in fleets for owner in fleet.shape.owners or [""] * len(fleet.shape.names)]
    parts: dict[float, list[Scores]] = {}
    for number, fleet in enumerate(fleets):
        report = partial(_report_done, progress, before, whole)
        for memory, scores in learned_scores(fleet, scenario, folder / fleet.path.stem, report).items():
            parts.setdefault(memory, []).append(_number_scores(scores, number, before))
        before += len(fleet.shape.names)
    bands = [_band(memory, join_scores(parts[memory]), owners) for memory in scenario.memories_days if memory in parts]
    if not any(band is not None for band in bands):
        raise BadInput("these fleets are too short to learn from: give --memory and --days less.")
    counted = all(fleet.counts_operations for fleet in fleets)
    return LearnedTable(
        days=scenario.days,
        budget_min=scenario.budget_min,
        period_s=max(fleet.shape.period_s for fleet in fleets),
        source=TableSource(
            on=on,
            fleets=tuple(fleet.path.name for fleet in fleets),
            volumes=whole,
            public=public,
            assumed="" if counted else f"operations of {scenario.io_kib:g} KiB, demand times {_times(scenario)}",
        ),
        bands=tuple(band for band in bands if band is not None),
    )


def _report_done(progress: BatchProgress, before: int, whole: int, done: int) -> None:
    progress(before + done, whole)


def _number_scores(scores: Scores, number: int, first: int) -> Scores:
    """Scores with volumes and cuts that are no other fleet's."""
    columns = {name: getattr(scores, name) for name in Scores.__slots__}
    return Scores(**columns | {"volume": scores.volume + first, "cut": scores.cut + 1_000_000 * number})


def _band(memory_days: float, scores: Scores, owners: Sequence[str]) -> Band | None:
    """The table of one length of memory; None with fewer than `LEAST_CUTS` cuts."""
    cuts = len(np.unique(scores.cut))
    if cuts < LEAST_CUTS:
        return None
    return Band(memory_days=memory_days, cuts=cuts, learned=_round_factors(calibrate(scores, owners=owners)))


def _round_factors(learned: Calibrated) -> Calibrated:
    return Calibrated(
        factors={
            level: None if factor is None else round(factor, _DIGITS) for level, factor in learned.factors.items()
        },
        volumes=learned.volumes,
        scales={owner: round(scale, _DIGITS) for owner, scale in learned.scales.items()},
    )


def _times(scenario: Scenario) -> str:
    return " and ".join(f"{times:g}" for times in scenario.times)
