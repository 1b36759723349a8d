"""The terminal report: a run's totals, its best savings, and what could not be read."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from plimsoll.domain.kinds import COSTS, KINDS
from plimsoll.reports.costs import CostTable, cost_tables
from plimsoll.reports.fleet_risk import outlook
from plimsoll.reports.printable import printable, printable_values
from plimsoll.reports.record import RecommendationRecord, SpecRecord
from plimsoll.reports.run_files import UNANSWERED
from plimsoll.reports.run_record import PartSummary, RunRecord, VolumeCounts
from plimsoll.reports.steps import STEP_TITLES, Step
from plimsoll.reports.summary import changes_since, failed_places, failed_volumes, group_notices, money_of
from plimsoll.reports.template_text import TITLE, template_texts
from plimsoll.reports.wording import (
    RANKED,
    calls_in,
    clouds_of,
    count_of,
    join_words,
    kind_words,
    risk_text,
    spec_text,
    usd,
    words_of,
)

_NAMED = 50
_ID_WIDTH = len("vol-0123456789abcdef0")
_GRADE_WIDTH = 2
_SPEC_WIDTH = 14
"""Characters of a configuration that leave room for everything else in 80 columns."""
_STYLES = {"red": "bold red"}
"""The styles of colors that are more than the color."""


def show_run(console: Console, run: RunRecord, best: Sequence[RecommendationRecord]) -> None:
    """Prints a run: totals, actions, best savings, notices, failures, and where the files are."""
    run = _printable_run(run)
    console.print(_totals(run))
    since = changes_since(run)
    for sentence in filter(None, (since, outlook(run.risk))):
        console.print(Text(f"{sentence}\n"))
    if run.steps:
        console.print(_steps(run.steps))
    if run.templates:
        console.print(_templates(run))
    for table in cost_tables(run):
        console.print(_costs_table(table))
    if best:
        console.print(savings_table(best, console.width))
    for places, text in group_notices(run):
        console.print(Text.assemble(("note ", "yellow"), (f"{places}: ", "bold"), text))
    show_failures(console, run)


def show_failures(console: Console, run: RunRecord) -> None:
    """Prints what of a run could not be read, and why; nothing where all was."""
    lines = list(_failures(_printable_run(run)))
    if lines:
        console.print(Group(*lines))


def _steps(steps: Mapping[str, PartSummary]) -> Group:
    """The steps that hold volumes, in the order in which to act."""
    table = Table(title="What to do first", title_justify="left", box=None, pad_edge=False, show_header=False)
    for justify in ("right", "left", "right", "left"):
        table.add_column(justify=justify, overflow="fold")
    for number, (step, summary) in enumerate(steps.items(), start=1):
        cells = count_of(summary.volumes, "volume"), Text(money_of(summary.monthly_usd), style="dim")
        table.add_row(f"{number}", STEP_TITLES[Step(step)], *cells)
    return Group(table, Text(""))


def _templates(run: RunRecord) -> Group:
    """The changes of templates, those that save most first."""
    table = Table(title=TITLE, title_justify="left", box=None, pad_edge=False, show_header=False)
    for _ in range(4):
        table.add_column(overflow="fold")
    for template in template_texts(run):
        table.add_row(
            f"{template.made_by}\n{template.where}",
            template.volumes,
            template.change,
            Text(template.saves, style="dim"),
        )
    return Group(table, Text(""))


def _costs_table(costs: CostTable) -> Group:
    """The volumes that are paid for nothing by owner and year."""
    table = Table(title=costs.title, title_justify="left", box=None, pad_edge=False, show_header=False)
    for justify in ("left", "left", "right", "right"):
        table.add_column(justify=justify, overflow="fold")
    for row in costs.rows:
        table.add_row(*map(Text, row))
    return Group(table, Text(""))


def show_plan(console: Console, plan: Mapping[str, Any], failed: Mapping[str, str], clouds: Sequence[str]) -> None:
    """Prints what an audit of some clouds is expected to take, and which targets could not be listed."""
    words = [words_of(cloud) for cloud in clouds]
    low, high = plan["least_datapoints"], plan["most_datapoints"]
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column(style="dim", overflow="fold")
    table.add_row("volumes", f"{plan['volumes']:,}", "whose metrics are read")
    table.add_row("calls", f"{plan['calls']:,}", f"of {calls_in(clouds)}")
    table.add_row(
        "metrics", f"{plan['metrics']:,}", f"billed by {join_words(cloud_words.cloud for cloud_words in words)}"
    )
    table.add_row("datapoints", f"{plan['datapoints']:,}", f"at least {low:,}, all would be {high:,}")
    table.add_row(
        "seconds", f"{plan['seconds']:,.0f}", f"by the quotas {join_words(cloud_words.quotas for cloud_words in words)}"
    )
    table.add_row(
        "USD", f"{plan['estimated_usd']:,.2f}", f"at {join_words(cloud_words.price for cloud_words in words)}"
    )
    console.print(Text("What this audit is expected to take (nothing has been read but the inventory):", style="bold"))
    console.print(table)
    for places, reason in failed_places(failed):
        console.print(Text(printable(f"failed {', '.join(places)}: {reason}"), style="red"))


def savings_table(records: Sequence[RecommendationRecord], width: int) -> Table:
    """The savings as a table that fits 80 columns, where losses stand below the volume, and uses 160."""
    wide = width >= 120
    table = Table(
        title="Best savings, USD a month", title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    table.add_column("volume", overflow="fold", min_width=_ID_WIDTH)
    for head in ("where", "from", "to") if wide else ("from", "to"):
        table.add_column(head, overflow="fold")
    for head in ("saves", "same limits", "risk") if wide else ("saves", "risk"):
        table.add_column(head, justify="right", no_wrap=head != "risk")
    table.add_column("evidence" if wide else "ev", no_wrap=True, min_width=_GRADE_WIDTH)
    for head in ("gives up", "blocked by") if wide else ():
        table.add_column(head, overflow="fold")
    shown = spec_text if wide else _narrow
    for record in map(printable_record, records):
        whole = f" with all of {record.stripe_set.name}" if record.stripe_set else ""
        whole += f" with its pool of {len(record.pool) + 1:,} volumes" if record.pool else ""
        name = f" {record.name or ''}".rstrip()
        blockers = Text(", ".join(blocker.code for blocker in record.blockers))
        losses = ", ".join(loss.code for loss in record.losses)
        below = f"\ngives up {losses}" if losses and not wide else ""
        table.add_row(
            Text.assemble(record.volume_id, "\n", action_text(record.action), name, whole, below),
            *([f"{record.account}\n{record.zone}"] if wide else []),
            shown(record.current),
            shown(record.target),
            usd(record.monthly_usd_saved),
            *([usd(record.monthly_usd_saved_drop_in)] if wide else []),
            risk_text(record),
            record.evidence.grade if record.evidence else "",
            *((losses, blockers) if wide else ()),
        )
    return table


def _narrow(spec: SpecRecord | None) -> str:
    """A configuration in lines of few characters; a long type is broken behind a hyphen, and its size stands alone."""
    first, *figures = spec_text(spec, between="\n").split("\n")
    if len(first) <= _SPEC_WIDTH:
        return "\n".join([first, *figures])
    kind, size = first.split(" ", 1)
    return "\n".join([*wrap(kind, _SPEC_WIDTH), size, *figures])


def _printable_run(run: RunRecord) -> RunRecord:
    """A run in which no text is obeyed by a terminal."""
    return RunRecord.model_validate(printable_values(run.plain))


def printable_record(record: RecommendationRecord) -> RecommendationRecord:
    """A recommendation in which no text is obeyed by a terminal."""
    return RecommendationRecord.model_validate(printable_values(record.model_dump()))


def action_text(action: str) -> Text:
    """An action in its color."""
    color = KINDS[action].color
    return Text(action, style=_STYLES.get(color, color))


def _totals(run: RunRecord) -> Group:
    volumes, money = run.volumes, run.monthly_usd
    share = f" ({money.saved / money.now:.0%} of {usd(money.now)})" if money.now else ""
    saved = (
        ("  same limits", "saved_drop_in", "if the IOPS and MiB/s of today were kept"),
        ("  beyond that", "saved_on_proof", "rests on the measured demand"),
    )
    others = (
        ("  blocked today", "saved_but_blocked", "of the saving"),
        *((f"{kind.name} volumes", kind.name, kind_words(kind)) for kind in COSTS),
        ("upgrades cost", "more_for_upgrades", "more, for throttled volumes"),
        ("too risky", "too_risky", "more, but not recommended; not counted as a saving"),
        ("may follow", "waiting", "on volumes that wait; not counted as a saving"),
    )
    lines = [
        Text.assemble(("Plimsoll ", "bold"), f"run {run.id}: {run.status}"),
        Text.assemble(("can be saved      ", "dim"), (f"{usd(money.saved):>12} a month", "bold green"), share),
        *(
            Text.assemble((f"{label:<18}", "dim"), f"{usd(money.amount(key)):>12}  {meaning}")
            for label, key, meaning in (*saved, *(row for row in others if money.amount(row[1])))
        ),
        *_template_lines(run),
        *_cloud_lines(run),
        Text(""),
    ]
    counts = Table(box=None, pad_edge=False, show_header=False)
    counts.add_column(justify="right")
    counts.add_column()
    counts.add_column(style="dim", overflow="fold")
    for kind in RANKED:
        if volumes_of := run.actions.get(kind.name):
            counts.add_row(f"{volumes_of:,}", action_text(kind.name), kind_words(kind))
    for reason, count in volumes.skipped.items():
        counts.add_row(f"{count:,}", "skipped", Text(reason))
    if volumes.failed:
        counts.add_row(f"{volumes.failed:,}", Text("failed", style="bold red"), "see below")
    counts.add_row(f"{volumes.seen:,}", Text("volumes seen", style="bold"), _balance_words(volumes))
    usage, most = run.usage, run.plan.most_datapoints
    part = usage.datapoints / most if most else 0
    of_all = f" ({part:.1%} of every minute's)" if 0 < part < 1 else ""
    asked = Text(
        f"{usage.calls:,} {calls_in(clouds_of(run))} calls, {usage.metrics:,} metrics, "
        f"{usage.datapoints:,} datapoints{of_all}, about {usd(usage.estimated_usd)}; "
        f"{run.seconds['elapsed']:,.1f} s",
        style="dim",
    )
    return Group(*lines, counts, asked, Text(""))


def _template_lines(run: RunRecord) -> Iterator[Text]:
    """The saving of templates' changes beyond what volumes save alone."""
    if run.templates:
        words = f"more, by one change each of {count_of(len(run.templates), 'template')}"
        saved = run.monthly_usd.saved_by_templates
        yield Text.assemble((f"{'with templates':<18}", "dim"), f"{usd(saved):>12}  {words}")


def _cloud_lines(run: RunRecord) -> Iterator[Text]:
    if len(run.clouds) > 1:
        for provider, part in run.clouds.items():
            name, money = f"  in {words_of(provider).cloud}", part.monthly_usd
            volumes = count_of(part.volumes, "volume")
            saved, now = usd(money.saved), usd(money.now)
            yield Text.assemble((f"{name:<18}", "dim"), f"{saved:>12}  of {now}, {volumes}")


def _balance_words(volumes: VolumeCounts) -> str:
    return "each has exactly one outcome" if volumes.reconciled else "the outcomes do not add up: please report this"


def _failures(run: RunRecord) -> list[Text]:
    lines = [f"failed {', '.join(places)}: {reason}" for places, reason in failed_places(run.failures.targets)]
    for place, reason, ids in failed_volumes(run):
        tail = f" and {len(ids) - _NAMED:,} more, which {UNANSWERED} names" if len(ids) > _NAMED else ""
        lines.append(f"failed {place} {', '.join(ids[:_NAMED])}{tail}: {reason}")
    return [Text(line, style="red") for line in lines]
