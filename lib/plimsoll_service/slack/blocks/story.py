"""Stories in Slack: each kind of block has its layout, a run's report with its digest in it."""

from collections.abc import Iterator
from typing import Final, assert_never

from plimsoll.reports.steps import CENT, EVIDENCE, Step
from plimsoll.reports.story import Changes, Figures, Headline, Missing, Note, StepList, Story, StoryBlock, Topic
from plimsoll.reports.totals import RunTotals
from plimsoll.reports.wording import count_of, usd
from plimsoll_service.slack.blocks.digest import OTHERS, OWNER_BY_HAND, DigestSums, ListedVolume
from plimsoll_service.slack.blocks.elements import (
    Block,
    RichText,
    bold,
    bullets,
    header_block,
    line,
    link,
    marked_name,
    paragraph,
    preformatted_text,
)

_MOST: Final = 3
_MOST_UNREAD: Final = 2
"""The most templates and groups of blocked volumes that are named, and places that could not be read."""

_WHY: Final = 200
_MOST_SENTENCE: Final = 500
_NOTHING_TO_DO: Final = frozenset({Step.KEEP, Step.UNKNOWN})

_FORBIDS: Final = {
    EVIDENCE: "to be measured first",
    "operator-managed": "whose operator refuses changes by others",
    "modification-in-progress": "in the middle of another change",
    "modifications-used-up": "changed as often today as is allowed",
    "shrink": "which cannot shrink",
    "impossible": "which cannot be made so where they are",
    "multi-attach": "with Multi-Attach enabled",
}
"""The reasons that forbid a change, by the code of the blocker."""

_Row = tuple[str | RichText, ...]


def story_blocks(story: Story, sums: DigestSums | None = None) -> Iterator[Block]:
    """The blocks of a story for Slack, in their order; `sums` name the worst throttled volume and what is blocked."""
    for block in story:
        yield from _blocks(block, sums)


def _blocks(block: StoryBlock, sums: DigestSums | None) -> Iterator[Block]:
    match block:
        case Headline():
            yield header_block(block.text.removesuffix("."))
        case Figures():
            yield from _figures(block)
        case StepList():
            yield from bullets(_step_rows(block, sums))
        case Changes():
            yield from bullets(_template_rows(block))
        case Note():
            yield from _note(block)
        case Missing():
            yield from _missing(block)
        case _:
            assert_never(block)


def _figures(figures: Figures) -> Iterator[Block]:
    """Money, and the picture of what is paid, in a paragraph; of anything else a line for each row, with its heads."""
    if figures.topic is Topic.PAID:
        yield paragraph(bold(f"{figures.title}. "), figures.why)
        return
    if figures.title:
        yield paragraph(bold(figures.title))
    if figures.topic is Topic.MONEY:
        sums = "; ".join(f"{amount} {label}" for amount, label, _ in figures.rows)
        yield paragraph(f"{sums}. {figures.why}")
        return
    yield from bullets((bold(row[0]), *_cells(figures.heads, row)) for row in figures.rows)


def _cells(heads: tuple[str, ...], row: tuple[str, ...]) -> Iterator[str]:
    """The cells behind the first one, each after its head."""
    for head, cell in zip(heads[1:], row[1:], strict=True):
        if cell:
            yield f"; {head.removesuffix(':')} {cell}" if head.strip(":") else f"; {cell}"


def _step_rows(steps: StepList, sums: DigestSums | None) -> Iterator[_Row]:
    for step_line in steps.steps:
        if step_line.step not in _NOTHING_TO_DO:
            worst = sums.throttled.items[:1] if sums is not None and step_line.step is Step.THROTTLED else []
            words = f": {step_line.volumes}, {step_line.money}."
            yield (bold(step_line.words.title), words, *(part for volume in worst for part in _worst_words(volume)))
    if sums is not None and sums.blocked:
        yield from _blocked_rows(sums)


def _worst_words(volume: ListedVolume) -> Iterator[str | RichText]:
    yield " Worst is "
    yield marked_name(volume.name)
    yield f" in {volume.place()}: {volume.change}, {volume.outcome}. {volume.risk}"


def _blocked_rows(sums: DigestSums) -> Iterator[_Row]:
    """The groups of blocked volumes with the most money, by owner and by what forbids their change."""
    groups = sorted(sums.blocked.items(), key=_weight)
    phrases = [part for (who, code), group in groups[:_MOST] for part in _group_words(who, code, group)][:-1]
    left = sum(group.answered_count for _, group in groups[_MOST:])
    yield (bold("Blocked today:"), *phrases, f"; {count_of(left, 'volume')} more." if left else ".")


def _group_words(who: str, code: str, group: RunTotals) -> Iterator[str | RichText]:
    money = f" {usd(group.usd_saved)} on" if group.usd_saved >= CENT else ""
    yield f"{money} {count_of(group.answered_count, 'volume')} {_FORBIDS.get(code, line(code))} ("
    yield who if who in {OWNER_BY_HAND, OTHERS} else marked_name(who)
    yield ")"
    yield ";"


def _weight(group: tuple[tuple[str, str], RunTotals]) -> tuple[int, int, tuple[str, str]]:
    key, totals = group
    return -totals.saved_cents, -totals.answered_count, key


def _template_rows(changes: Changes) -> Iterator[_Row]:
    """The changes of templates that save most, one for all the volumes of a template."""
    for change in changes.changes[:_MOST]:
        words = f": {change.volumes}, {change.change}, {change.saves}."
        yield bold("One change for all of "), marked_name(line(change.made_by)), words
    left = len(changes.changes) - _MOST
    if left > 0:
        yield (f"{count_of(left, 'more template')} can be changed so: see the report.",)


def _note(note: Note) -> Iterator[Block]:
    if note.url:
        yield from link(note.url, note.title)
        return
    if note.title:
        yield paragraph(bold(note.title))
    if len(note.lines) == 1:
        text = line(note.lines[0], _MOST_SENTENCE)
        yield paragraph(bold(text) if note.topic is Topic.INCOMPLETE else text)
    else:
        yield from bullets((text,) for text in note.lines)
    if note.copy:
        yield from preformatted_text(note.copy)


def _missing(missing: Missing) -> Iterator[Block]:
    parts = [part for place, what, why in missing.unread[:_MOST_UNREAD] for part in _gap_words(place, what, why)]
    if len(missing.unread) > _MOST_UNREAD:
        parts.append(f"{len(missing.unread) - _MOST_UNREAD:,} more such lines are in run.json.")
    if parts:
        yield paragraph(*parts)


def _gap_words(place: str, what: str, why: str) -> Iterator[str | RichText]:
    yield "In "
    yield marked_name(line(place))
    yield f", {line(what)}: {line(why, _WHY)} "
