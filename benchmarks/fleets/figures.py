"""Backtests the shipped fleets: prints what was found, and writes it into README.md beside it (`make backtest`)."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console

from plimsoll.risk.learn import LEVELS_PCT
from plimsoll_backtest.aims import Aim, AimOutcome
from plimsoll_backtest.api import backtest
from plimsoll_backtest.findings import Reliability, SameSaving
from plimsoll_backtest.outcome import BacktestOutcome
from plimsoll_backtest.rules import LEARNED, MAX_AND_20
from plimsoll_backtest.shown import show_outcome

HERE: Final = Path(__file__).parent
PAGE: Final = HERE / "README.md"
BEGIN, END = "<!-- figures: make backtest -->\n", "<!-- end of figures -->"


def backtests(folder: Path) -> tuple[BacktestOutcome, BacktestOutcome]:
    """The backtests of the machines and of the virtual disks."""
    machines = backtest(
        HERE / "bitbrains-rnd-250.npz", times=(10, 40), memories_days=(14, 30, 60), out=folder / "machines"
    )
    disks = backtest(
        HERE / "cloudphysics-53.npz", memories_days=(2,), days=2, every_days=0.25, budget_min=30, out=folder / "disks"
    )
    return machines, disks


def figures(machines: BacktestOutcome, disks: BacktestOutcome) -> str:
    """The tables of the page, in Markdown."""
    lines = [*_promises(machines, disks), "", *_curve(machines), "", *_sums((machines, disks)), _price(machines)]
    return "\n".join(lines) + "\n"


def _promises(machines: BacktestOutcome, disks: BacktestOutcome) -> Iterator[str]:
    """One row a promise, one column a memory."""
    columns = [(machines, memory) for memory in machines.about["cuts_judged"]]
    columns += [(disks, memory) for memory in disks.about["cuts_judged"]]
    yield "| promised | " + " | ".join(_column(*one) for one in columns) + " |"
    yield "|---|" + "---|" * len(columns)
    for level_pct in LEVELS_PCT:
        cells = (_promise(outcome, float(memory), level_pct) for outcome, memory in columns)
        yield f"| {level_pct:g} % | " + " | ".join(cells) + " |"


def _column(outcome: BacktestOutcome, memory: str) -> str:
    cuts = outcome.about["cuts_judged"][memory]
    whose = "disks, " if outcome.about["operations"] == "counted" else ""
    return f"{whose}{memory} days, {cuts} {'cut' if cuts == 1 else 'cuts'}"


def _promise(outcome: BacktestOutcome, memory_days: float, level_pct: float) -> str:
    target = next(
        one
        for one in outcome.targets
        if (one.aim, one.memory_days, one.against) == (Aim.KEPT, memory_days, f"{level_pct:g} %")
    )
    found = next(one for one in shown(outcome) if (one.memory_days, one.promised_pct) == (memory_days, level_pct))
    if found.observed_pct is None:
        return target.verdict
    spread = f"{found.low_pct:.1f} to {found.high_pct:.1f}"
    return f"{found.observed_pct:.1f} % of {found.volumes} ({spread}){_mark(target)}"


def _mark(target: AimOutcome) -> str:
    """The words for a target that is not reached."""
    return "" if target.is_reached else f", **{target.verdict}**"


def shown(outcome: BacktestOutcome) -> Sequence[Reliability]:
    """The promises of the learned rule, over all scales of demand."""
    learned = [one for one in outcome.reliability if one.rule == LEARNED]
    return [one for one in learned if one.times is None] or learned


def _curve(machines: BacktestOutcome) -> Iterator[str]:
    """One row a memory and scale: minutes and volumes beside those of the common rule."""
    rows = [one for one in machines.same_saving if (one.rule, one.other) == (LEARNED, MAX_AND_20)]
    heads = ("memory", "demand", "saving", "throttled minutes", "more of them", "of the worst machine", "too long")
    yield f"| {' | '.join(heads)} | more of them |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in sorted(rows, key=lambda row: (row.memory_days, row.times)):
        marks = {target.aim: _mark(target) for target in machines.targets if _is_of(target, one)}
        yield (
            f"| {one.memory_days:g} days | times {one.times:g} | {one.saving_pct:.1f} % "
            f"| {one.throttled_minutes:,} for {one.other_throttled_minutes:,.0f} "
            f"| {one.minutes_low:,} to {one.minutes_high:,}{marks[Aim.MINUTES]} "
            f"| {one.worst}: {one.worst_minutes:,} for {one.other_worst_minutes:,.0f} "
            f"| {one.over_budget_volumes:.0f} for {one.other_over_budget_volumes} "
            f"| {one.volumes_low:.0f} to {one.volumes_high:.0f}{marks[Aim.VOLUMES]} |"
        )


def _is_of(target: AimOutcome, one: SameSaving) -> bool:
    return (target.against, target.memory_days, target.times) == (one.other, one.memory_days, one.times)


def _sums(outcomes: Sequence[BacktestOutcome]) -> Iterator[str]:
    """The number of targets reached."""
    targets = [one for outcome in outcomes for one in outcome.targets if one.found is not None]
    words = {True: "reached", False: "missed", None: "not decided, of too few volumes"}
    counts = (f"{sum(one.is_reached is value for one in targets)} {word}" for value, word in words.items())
    yield f"Of {len(targets)} targets: {', '.join(counts)}."


def _price(machines: BacktestOutcome) -> str:
    """The cost of a 5 % promise at the higher scale."""
    times = max(machines.about["times"])
    here = [one for one in machines.rules if (one.memory_days, one.times) == (30, times)]
    kept = next(one for one in here if (one.rule, one.promised_pct) == (LEARNED, 5))
    other = next(one for one in here if one.rule == MAX_AND_20)
    return (
        f"5 % with 30 days saves {kept.saving_pct:.1f} % of the bill instead of {other.saving_pct:.1f} % "
        f"(times {times:g}), and leaves {kept.over_budget_volumes} volumes too long instead of "
        f"{other.over_budget_volumes}."
    )


def written(text: str, page: Path = PAGE) -> None:
    """Puts the figures between their marks. ValueError where the page has none."""
    before, begin, after = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, rest = after.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no {BEGIN.strip()} and {END}: add both where the figures are to stand.")
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest}", encoding="utf-8")


def main() -> None:
    """Tries both fleets anew."""
    with TemporaryDirectory() as folder:
        found = backtests(Path(folder))
    for outcome in found:
        show_outcome(Console(width=150), outcome)
        sys.stdout.write("\n")
    written(figures(*found))


if __name__ == "__main__":
    main()
