"""Validations on the terminal: what would be run and what it costs, the verdicts, and what was swept."""

from collections.abc import Iterable, Sequence

from rich.console import Console

from plimsoll.model.volume import VolumeSpec
from plimsoll.reports.printable import printable
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.terminal.plot import plain_table
from plimsoll.reports.wording import count_of, duration, outcome_text, spec_text, usd
from plimsoll_measure.runs import MeasuringRun, PlannedRun


def show_runs(console: Console, planned: Sequence[PlannedRun], left: Sequence[MeasuringRun]) -> None:
    """Prints what would be measured, for how many recommendations, for how long and at what cost."""
    table = plain_table(["measure", "in"], ["serves", "a month", "time", "cost"])
    for planned_run in planned:
        run = planned_run.run
        table.add_row(
            f"{run.spec}",
            f"{run.wants[0].account} {run.wants[0].region}",
            count_of(len(run.wants), "volume"),
            usd(run.saved_usd_month),
            duration(planned_run.seconds),
            "?" if planned_run.usd is None else f"${planned_run.usd:,.3f}",
        )
    console.print(table)
    cost_usd = sum(planned_run.usd or 0.0 for planned_run in planned)
    total = duration(sum(planned_run.seconds for planned_run in planned))
    console.print(f"{count_of(len(planned), 'run')}, about {total}, about ${cost_usd:,.3f} for scratch volumes")
    if left:
        served = sum(len(run.wants) for run in left)
        console.print(f"{count_of(len(left), 'run')} for {served:,} more stay outside --max-usd and --max-runs")


def show_verdict(
    console: Console, change: str, *, passed: bool, reasons: Sequence[str], simulated: bool, campaign: str
) -> None:
    """Prints the verdict on a change, in words, with its figures."""
    word, style = ("passed", "green") if passed else ("failed", "red")
    console.print(f"[{style}]{word}[/{style}]  {change}", highlight=False)
    for reason in reasons:
        console.print(printable(f"  {reason}"), markup=False, highlight=False)
    if simulated:
        console.print("  simulated: no device was measured, only fio's own rate limits", style="yellow")
    console.print(f"  kept as {campaign}: plimsoll envelopes show {campaign}", style="dim", soft_wrap=True)


def show_change_of_mind(
    console: Console, before: RecommendationRecord, after: RecommendationRecord, asked: VolumeSpec | None
) -> None:
    """Prints how a recommendation changed by what was measured; `asked` is what was validated in its place."""
    console.print(f"asked   {asked}" if asked else f"before  {_summary(before)}", highlight=False)
    console.print(f"now     {_summary(after)}", highlight=False)
    if after.evidence is not None:
        console.print(printable(f"        {after.evidence.text}"), markup=False, highlight=False)
    for reason in after.reasons:
        if reason not in before.reasons:
            console.print(printable(f"        {reason}"), markup=False, highlight=False)


def _summary(record: RecommendationRecord) -> str:
    """The answer of a record in one line: action, target, saving and grade."""
    grade = f", evidence {record.evidence.grade}" if record.evidence else ""
    target = f" to {spec_text(record.target)}" if record.target and record.target != record.current else ""
    saved = f", {outcome_text(record)}" if record.monthly_usd_saved else ""
    return f"{record.action}{target}{saved}{grade}"


def show_lines(console: Console, texts: Iterable[str], style: str | None = None) -> None:
    """Prints sentences, one a line."""
    for text in texts:
        console.print(printable(text), markup=False, highlight=False, soft_wrap=not console.is_terminal, style=style)
