"""A run on the terminal: its story, with its best savings as a table, and how each kind of block is laid out."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final, assert_never

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from plimsoll.model.kinds import KINDS
from plimsoll.policy_file import parse_policy
from plimsoll.reports.printable import printable, printable_values
from plimsoll.reports.record import RecommendationRecord, SpecRecord
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.story import (
    Changes,
    Figures,
    Headline,
    Missing,
    Note,
    StepList,
    Story,
    StoryBlock,
    Topic,
)
from plimsoll.reports.story.run import blocks_about, failed_places, tell_missing, tell_run
from plimsoll.reports.wording import calls_in, join_words, risk_text, spec_text, usd, words_of

_ID_WIDTH = len("vol-0123456789abcdef0")
_GRADE_WIDTH = 2
_SPEC_WIDTH = 14
"""Characters of a configuration that leave room for everything else in 80 columns."""

_BEFORE = (Topic.HEADLINE, Topic.INCOMPLETE, Topic.MONEY, Topic.COUNTS)
_AFTER = (Topic.SINCE, Topic.OUTLOOK, Topic.STEPS, Topic.TEMPLATES, Topic.PAID, Topic.STATES, Topic.COSTS)
_LAST = (Topic.NOTICES, Topic.MISSING, Topic.ABOUT)
"""The blocks of a run in the terminal's order: the first of all are its sums, the last ones stand below the table."""


def show_run(console: Console, run: RunRecord, best: Sequence[RecommendationRecord]) -> None:
    """Prints a run: its story with the best savings in it."""
    story = tell_run(run, parse_policy(run.policy))
    console.print(Text.assemble(("Plimsoll ", "bold"), printable(f"run {run.id}: {run.status}")))
    for topic in _BEFORE + _AFTER:
        show_story(console, blocks_about(story, topic))
    if best:
        console.print(savings_table(best, console.width))
    for topic in _LAST:
        show_story(console, blocks_about(story, topic))


def show_failures(console: Console, run: RunRecord) -> None:
    """Prints what of a run could not be read, and why; nothing where all was."""
    show_story(console, (tell_missing(run),))


def show_plan(
    console: Console, plan: Mapping[str, Any], failed: Mapping[str, str], usd_query: Mapping[str, float]
) -> None:
    """Prints the expected cost of an audit, and the targets that failed to list.

    `usd_query` has the price of a query by cloud.
    """
    words = {cloud: words_of(cloud) for cloud in usd_query}
    billed_by = join_words(cloud_words.cloud for cloud_words in words.values())
    quotas = join_words(cloud_words.quotas for cloud_words in words.values())
    prices = join_words(f"${1000 * usd:g} per 1,000 ({words[cloud].price})" for cloud, usd in usd_query.items())
    low, high = plan["least_datapoints"], plan["most_datapoints"]
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column(style="dim", overflow="fold")
    table.add_row("volumes", f"{plan['volumes']:,}", "whose metrics are read")
    table.add_row("calls", f"{plan['calls']:,}", f"of {calls_in(list(words))}")
    table.add_row("metrics", f"{plan['metrics']:,}", f"billed by {billed_by}")
    expected = f"{plan['datapoints']:,}"
    table.add_row("datapoints", f"{low:,} to {expected}" if low < plan["datapoints"] else expected, f"of {high:,}")
    table.add_row("seconds", f"{plan['seconds']:,.0f}", f"by the quotas {quotas}")
    table.add_row("USD", f"{plan['estimated_usd']:,.2f}", f"at {prices}")
    console.print(Text("Estimated cost of this audit (only the volume list was read):", style="bold"))
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


def printable_record(record: RecommendationRecord) -> RecommendationRecord:
    """A recommendation in which no text is obeyed by a terminal."""
    return RecommendationRecord.model_validate(printable_values(record.model_dump()))


# ---- blocks


_STYLES: Final = {"red": "bold red"}
"""The styles of colors that are more than the color."""

_PLAIN: Final = frozenset({Topic.MONEY, Topic.COUNTS, Topic.ABOUT, Topic.COSTS, Topic.GROUP})
"""Tables whose columns need no heads."""

_BULLETS: Final = frozenset({Topic.WHY, Topic.MORE, Topic.SECONDS})
_RED: Final = frozenset({Topic.INCOMPLETE})


def show_story(console: Console, story: Story) -> None:
    """Prints the blocks of a story, one after the other."""
    for block in story:
        for part in lay_out(block):
            if isinstance(part, str):
                console.print(part, soft_wrap=True, markup=False, emoji=False, highlight=False)
            else:
                console.print(part)
        if isinstance(block, Figures | StepList | Changes):
            console.print()


def lay_out(block: StoryBlock) -> Iterator[RenderableType | str]:
    """A block as the terminal prints it. A text that is to be copied, which is never broken, is a plain string."""
    match block:
        case Headline():
            yield Text(printable(block.text), style="bold")
        case Figures():
            yield _figures_table(block)
            if block.topic in {Topic.MONEY, Topic.PAID} and block.why:
                yield Text(block.why, style="dim")
        case StepList():
            yield _steps_table(block)
        case Changes():
            yield _changes_table(block)
        case Note():
            yield from _note(block)
        case Missing():
            for place, what, why in block.unread:
                yield Text(printable(f"failed {place}, {what}: {why}"), style="red")
        case _:
            assert_never(block)


def action_text(action: str) -> Text:
    """An action in its color."""
    color = KINDS[action].color
    return Text(action, style=_STYLES.get(color, color))


def plain_grid(title: str) -> Table:
    """A table without lines and heads."""
    return Table(
        title=Text(printable(title)) if title else None,
        title_justify="left",
        box=None,
        pad_edge=False,
        show_header=False,
    )


def _figures_table(figures: Figures) -> Table:
    """The table of a block of figures, as the terminal shows it.

    A head that ends in a colon is that of a column of figures, aligned to the right. Plain topics have no heads, and a
    dim last column. A cell with a kind of answer has that kind's color.
    """
    table = plain_grid(figures.title)
    table.show_header, table.header_style = figures.topic not in _PLAIN, "dim"
    last = len(figures.heads) - 1
    for place, head in enumerate(figures.heads):
        style = "dim" if place == last and figures.topic in _PLAIN else ""
        if head.endswith(":"):
            table.add_column(head.removesuffix(":"), justify="right", no_wrap=True, style=style)
        else:
            table.add_column(head, overflow="fold", style=style)
    for row in figures.rows:
        table.add_row(*(action_text(cell) if cell in KINDS else Text(printable(cell)) for cell in row))
    return table


def _steps_table(steps: StepList) -> Table:
    """The table of the steps, numbered: title, volumes and money."""
    table = plain_grid(steps.title)
    for _ in range(2):
        table.add_column(justify="right", overflow="fold")
        table.add_column(overflow="fold")
    for number, line in enumerate(steps.steps, start=1):
        table.add_row(f"{number}", line.words.title, line.volumes, Text(line.money, style="dim"))
    return table


def _changes_table(changes: Changes) -> Table:
    """The table of changes of templates: what makes the volumes, how many, and what to change."""
    table = plain_grid(changes.title)
    for _ in range(4):
        table.add_column(overflow="fold")
    for change in changes.changes:
        table.add_row(
            Text(printable(f"{change.made_by}\n{change.where}")),
            change.volumes,
            Text(printable(change.change)),
            Text(change.saves, style="dim"),
        )
    return table


def _note(note: Note) -> Iterator[RenderableType | str]:
    """A note: of a place after its name, and of anything else below its title."""
    if note.topic is Topic.NOTICES:
        where, words = (f"{printable(note.title)}: ", "bold"), printable(" ".join(note.lines))
        yield Text.assemble(("note ", "yellow"), where, words)
        return
    if note.title:
        yield Rule(printable(note.title), align="left", style="dim")
    mark = "- " if note.topic in _BULLETS else ""
    for line in note.lines:
        yield Text(printable(f"{mark}{line}"), style="red" if note.topic in _RED else "")
    for text in filter(None, (note.copy, note.url)):
        yield "\n".join(map(printable, text.splitlines()))
