"""A backtest from a fleet's file to its outcome: scores first, then judgments, batch by batch, each kept when done."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import numpy as np

from plimsoll.files import atomic_path
from plimsoll.model.errors import BadInput
from plimsoll.model.units import DAY_S
from plimsoll.risk.learn import Scores, join_scores
from plimsoll_backtest.cuts import Known, clip_rates, knowledge_at, scores_at, without_initial_load
from plimsoll_backtest.fleet import Batch, Fleet, keep_arrays
from plimsoll_backtest.judging import Tally, TallyKey, judge_cut, judged_cuts
from plimsoll_backtest.other_cuts import LEAST_CUTS, CutLessons, folds_of
from plimsoll_backtest.outcome import OUTCOME_FORMAT, BacktestOutcome, outcome_of
from plimsoll_backtest.rules import Shop
from plimsoll_backtest.scenario import Cut, Scenario

BatchProgress = Callable[[int, int], None]
"""Called with how many volumes are done, of how many: each counts twice, since it is scored and then judged."""

_SCENARIO: Final = "scenario.json"


def run_backtest(
    fleet: Fleet, scenario: Scenario, folder: Path, progress: BatchProgress = lambda _done, _all: None
) -> BacktestOutcome:
    """The outcome of a scenario on a fleet. What is done is kept in `folder`, and not done again."""
    cuts, volumes = _cuts(fleet, scenario), len(fleet.shape.names)
    about = facts_of(fleet, scenario, cuts)
    scores = learned_scores(fleet, scenario, folder, lambda done: progress(done, 2 * volumes))
    lessons = CutLessons(
        scores=scores,
        cuts=cuts,
        days=scenario.days,
        folds=folds_of(fleet.shape.names, scenario.folds),
        levels_pct=scenario.levels_pct,
        owners=fleet.shape.owners,
    )
    parts = _judgments(fleet, scenario, folder, lessons, lambda done: progress(volumes + done, 2 * volumes))
    return outcome_of(about, fleet.shape.names, parts)


def learned_scores(
    fleet: Fleet, scenario: Scenario, folder: Path, done: Callable[[int], None] = lambda _volumes: None
) -> dict[float, Scores]:
    """The scores of all cuts, by memory. BadInput where the folder has those of something else."""
    _same_scenario(folder, facts_of(fleet, scenario, scenario.cuts(_days(fleet))))
    parts: dict[float, list[Scores]] = {memory: [] for memory in scenario.scored_days}
    for batch in fleet.batches():
        kept = folder / f"scores-{batch.first}.npz"
        if not kept.exists():
            keep_arrays(kept, _score_batch(batch, fleet, scenario))
        with np.load(kept) as arrays:
            for place, memory in enumerate(scenario.scored_days):
                columns = {name: arrays[f"{place}-{name}"] for name in Scores.__slots__}
                parts[memory].append(Scores(**columns))
        done(batch.first + len(batch.rates))
    return {memory: join_scores(scores) for memory, scores in parts.items() if scores}


def facts_of(fleet: Fleet, scenario: Scenario, cuts: list[Cut]) -> dict[str, Any]:
    """The facts of a backtest in plain values."""
    judge_cut = judged_cuts(cuts, scenario)
    counts = {f"{memory:g}": sum(cut.memory_days == memory for cut in judge_cut) for memory in scenario.memories_days}
    return {
        "format": OUTCOME_FORMAT,
        "fleet": fleet.path.name,
        "volumes": len(fleet.shape.names),
        "days": round(_days(fleet), 1),
        "period_s": fleet.shape.period_s,
        "operations": "counted" if fleet.counts_operations else f"taken to be of {scenario.io_kib:g} KiB",
        "times": list(scenario.times),
        "present": str(scenario.present),
        "to": scenario.to,
        "region": scenario.market.book.region,
        "promise_days": scenario.days,
        "every_days": scenario.every_days,
        "budget_min": scenario.budget_min,
        "levels_pct": list(scenario.levels_pct),
        "folds": scenario.folds,
        "cuts_judged": counts,
    }


def _cuts(fleet: Fleet, scenario: Scenario) -> list[Cut]:
    """The cuts of a fleet; BadInput where it is too short for any that can be judged."""
    total_days = _days(fleet)
    cuts = scenario.cuts(total_days)
    if not judged_cuts(cuts, scenario):
        shortest = min(scenario.memories_days)
        least = max(shortest, shortest / 2 + LEAST_CUTS * scenario.every_days) + scenario.days
        raise BadInput(
            f"{fleet.path} has {total_days:.1f} days. A backtest with {shortest:g} days of memory that judges "
            f"{scenario.days:g} days needs {least:g}, since it learns from {LEAST_CUTS} other cuts. "
            "Give less with --memory, --days and --every, or a longer fleet."
        )
    return cuts


def _days(fleet: Fleet) -> float:
    return fleet.shape.buckets * fleet.shape.period_s / DAY_S


def _score_batch(batch: Batch, fleet: Fleet, scenario: Scenario) -> dict[str, np.ndarray[Any, Any]]:
    """The scores of a batch at every cut, as arrays by length of memory."""
    by_memory: dict[float, list[Scores]] = {memory: [] for memory in scenario.scored_days}
    volumes, period_s = np.arange(batch.first, batch.first + len(batch.rates)), fleet.shape.period_s
    for cut, _, known in _walk_cuts(batch, fleet, scenario):
        by_memory[cut.memory_days].append(scores_at(cut, known, volumes, scenario, period_s))
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for place, memory in enumerate(scenario.scored_days):
        scores = join_scores(by_memory[memory]) if by_memory[memory] else _nothing()
        arrays |= {f"{place}-{name}": getattr(scores, name) for name in Scores.__slots__}
    return arrays


def _judgments(
    fleet: Fleet, scenario: Scenario, folder: Path, lessons: CutLessons, done: Callable[[int], None]
) -> Iterator[dict[TallyKey, Tally]]:
    """Yields the tallies of each batch; a batch that was judged before is read from its file."""
    shop = Shop(scenario)
    for batch in fleet.batches():
        kept = folder / f"judged-{batch.first}.npz"
        if not kept.exists():
            keep_arrays(kept, _to_arrays(_judge_batch(batch, fleet, scenario, lessons, shop)))
        with np.load(kept) as arrays:
            yield _from_arrays(arrays)
        done(batch.first + len(batch.rates))


def _judge_batch(
    batch: Batch, fleet: Fleet, scenario: Scenario, lessons: CutLessons, shop: Shop
) -> dict[TallyKey, Tally]:
    """The tallies of a batch by rule, level and memory, at every cut that can be judged."""
    tallies: dict[TallyKey, Tally] = {}
    volumes, period_s = np.arange(batch.first, batch.first + len(batch.rates)), fleet.shape.period_s
    can_be = set(judged_cuts(lessons.cuts, scenario))
    for cut, times, known in _walk_cuts(batch, fleet, scenario):
        if cut in can_be:
            for key, tally in judge_cut(cut, known, volumes, lessons, shop, times=times, period_s=period_s):
                tallies[key] = tallies[key] + tally if key in tallies else tally
    return tallies


def _walk_cuts(batch: Batch, fleet: Fleet, scenario: Scenario) -> Iterator[tuple[Cut, float, Known]]:
    """The observations of a batch at each cut, at each scale of its demand."""
    period_s = fleet.shape.period_s
    for times in scenario.times:
        rates = clip_rates(batch.rates * times, scenario)
        history = without_initial_load(rates, scenario.policy, period_s)
        for cut in scenario.cuts(_days(fleet)):
            yield cut, times, knowledge_at(cut, rates, history, scenario, period_s)


def _nothing() -> Scores:
    none, rates = np.zeros(0, dtype=np.int64), np.zeros(0)
    return Scores(volume=none, cut=none, usual=rates, above_free=rates, of_present=rates, score=rates, ratio=rates)


def _to_arrays(tallies: Mapping[TallyKey, Tally]) -> dict[str, np.ndarray[Any, Any]]:
    names = [column.name for column in fields(Tally)]
    arrays: dict[str, np.ndarray[Any, Any]] = {"keys": np.array(json.dumps([list(key) for key in tallies]))}
    return arrays | {name: np.array([getattr(tally, name) for tally in tallies.values()]) for name in names}


def _from_arrays(arrays: Mapping[str, np.ndarray[Any, Any]]) -> dict[TallyKey, Tally]:
    keys = [TallyKey(*key) for key in json.loads(str(arrays["keys"]))]
    columns = {column.name: arrays[column.name] for column in fields(Tally)}
    return {key: Tally(**{name: column[at] for name, column in columns.items()}) for at, key in enumerate(keys)}


def _same_scenario(folder: Path, about: Mapping[str, Any]) -> None:
    """Notes what a folder's parts are of; BadInput where they are of something else."""
    written, path = json.dumps(about, indent=2) + "\n", folder / _SCENARIO
    if path.exists() and path.read_text(encoding="utf-8") != written:
        raise BadInput(f"{folder} has a backtest of something else: give another folder with --out.")
    if not path.exists():
        with atomic_path(path) as beside:
            beside.write_text(written, encoding="utf-8")
