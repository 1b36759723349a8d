"""Text in Markdown: names, sentences and stories that GitHub shows as they are, and no more of them than it takes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, assert_never

from plimsoll.reports.printable import printable
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

MOST_ON_GITHUB: Final = 65_000
"""The characters that GitHub takes are 65,536. The rest is for what is posted with a report, such as a mark."""

ROOM_FOR_THE_REST: Final = 200
"""What is kept free for saying how much was left out."""

MOST_PROSE: Final = 1_000
MOST_NAME: Final = 120
MOST_FENCED: Final = 16_000
"""Characters shown of a sentence, a name and a text to copy; the rest is in recommendations.json."""

_UNSEEN: Final = "&#8203;"
"""A space without width: GitHub makes links of users, issues and addresses in what is already rendered, where no
backslash is left to stop it."""

_MARKS: Final = re.compile(r"[\\`*_{}\[\]<>#|~&!^]")
_LEADING: Final = re.compile(r"^(?=[-+=])|^\d+(?=[.)])")
_LINKS: Final = re.compile(r"@|#|:(?=//|[\w+-]+:)|(?<![a-z])(?:www|gh|ftp|mailto|xmpp)(?=[.:-])", re.IGNORECASE)
_MATHS: Final = re.compile(r"\$(?!\d)")
_PIPE: Final = "\\|"
"""A pipe in a cell, in code as well: one backslash before it is the table's."""


def prose(text: str) -> str:
    """A sentence within a paragraph, a list's item or a table's cell: on one line, and nothing in it but text."""
    line = _one_line(text, MOST_PROSE)
    parts = []
    at = 0
    for link in _LINKS.finditer(line):
        parts.append(_escape_marks(line[at : link.end()]) + _UNSEEN)
        at = link.end()
    return _LEADING.sub(r"\g<0>\\", "".join(parts) + _escape_marks(line[at:]))


def name(text: str) -> str:
    """A name in the font of code, in which nothing is a mention, a link or a tag."""
    line = _one_line(text, MOST_NAME)
    if not line:
        return ""
    ticks = "`" * (_longest_run("`", line) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def fence(text: str) -> str:
    """Text to copy, line by line as it is, in a fence longer than any in it."""
    lines = "\n".join(map(printable, text.splitlines()))
    if len(lines) > MOST_FENCED:
        lines = f"{lines[:MOST_FENCED]}\n... cut here: the whole text is in recommendations.json"
    ticks = "`" * max(3, _longest_run("`", lines) + 1)
    return f"{ticks}text\n{lines}\n{ticks}\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The lines of a table of names and sentences; columns whose head ends in a colon hold figures, at the right."""
    rule = ["---:" if column.endswith(":") else "---" for column in head]
    lines = [[column.removesuffix(":") for column in head], rule, *rows]
    return "".join(f"| {' | '.join(cell.replace('|', _PIPE) for cell in cells)} |\n" for cells in lines)


def fitting(parts: list[str]) -> str:
    """The parts as one text, without the last lines of one that GitHub would not take, and saying so."""
    whole = "\n".join(part for part in parts if part)
    if length([whole]) <= MOST_ON_GITHUB:
        return whole
    lines = whole.splitlines(keepends=True)
    while length(lines) > MOST_ON_GITHUB - ROOM_FOR_THE_REST:
        lines.pop()
    return "".join(lines) + "\nThe rest did not fit; report.html and recommendations.csv have all of it.\n"


def length(texts: list[str]) -> int:
    """Characters as GitHub may count them: those beyond the first 65,536 signs of Unicode as two."""
    return sum(len(text.encode("utf-16-le")) // 2 + 1 for text in texts)


def _one_line(text: str, most: int) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _escape_marks(text: str) -> str:
    return _MATHS.sub("&#36;", _MARKS.sub(r"\\\g<0>", text))


def _longest_run(sign: str, text: str) -> int:
    return max((len(run) for run in re.findall(f"{re.escape(sign)}+", text)), default=0)


# ---- the blocks of a story

_UNREAD: Final = 20
"""Lines of what is missing."""

_NAMES: Final = frozenset({Topic.COSTS})
"""Tables whose rows begin with a name."""


def story_markdown(story: Story) -> Iterator[str]:
    """The blocks of a story as Markdown, in their order."""
    for block in story:
        yield from _lines(block)


def bullet_list(texts: tuple[str, ...] | list[str]) -> str:
    """A list of sentences."""
    return "".join(f"- {prose(text)}\n" for text in texts)


def _lines(block: StoryBlock) -> Iterator[str]:
    match block:
        case Headline():
            yield f"**{prose(block.text)}**\n"
        case Figures():
            yield from _figures(block)
        case StepList():
            yield from _steps(block)
        case Changes():
            yield from _changes(block)
        case Note():
            yield from _note(block)
        case Missing():
            yield from _missing(block)
        case _:
            assert_never(block)


def _figures(figures: Figures) -> Iterator[str]:
    """Money as a list; anything else as a table."""
    if figures.topic is Topic.MONEY:
        yield "".join(f"- {amount} {label}. {prose(meaning)}\n" for amount, label, meaning in figures.rows)
        yield f"{prose(figures.why)}\n" if figures.why else ""
        return
    first = name if figures.topic in _NAMES else prose
    yield f"## {prose(figures.title)}\n"
    if figures.why:
        yield f"{prose(figures.why)}\n"
    yield table(figures.heads, [(first(row[0]), *map(prose, row[1:])) for row in figures.rows])


def _steps(steps: StepList) -> Iterator[str]:
    yield f"## {prose(steps.title)}\n"
    yield table(
        ("step", "volumes:", "money", "why"),
        [
            (f"{number}. {prose(line.words.title)}", prose(line.volumes), prose(line.money), prose(line.words.why))
            for number, line in enumerate(steps.steps, start=1)
        ],
    )


def _changes(changes: Changes) -> Iterator[str]:
    yield f"## {prose(changes.title)}\n"
    yield f"{prose(changes.why)}\n"
    rows = [
        (name(change.made_by), name(change.where), prose(change.volumes), prose(change.change), prose(change.saves))
        for change in changes.changes
    ]
    yield table(("made by", "where", "volumes", "change", "money"), rows)
    yield fence("\n".join(change.how for change in changes.changes))


def _note(note: Note) -> Iterator[str]:
    """A note; what is missing in short refers to where it is said in full."""
    if note.topic is Topic.NOTICES:
        yield f"**{name(note.title)}**: {prose(' '.join(note.lines))}\n"
        return
    text = " ".join(note.lines)
    is_short = note.topic is Topic.INCOMPLETE and not note.copy
    yield f"{prose(text.removesuffix('.'))}; see the end.\n" if is_short else f"{prose(text)}\n"
    if note.copy:
        yield fence(note.copy)


def _missing(missing: Missing) -> Iterator[str]:
    yield f"## {missing.title}\n"
    if missing.unread:
        rows = [(name(place), prose(what), prose(why)) for place, what, why in missing.unread[:_UNREAD]]
        yield table(("where", "what", "why"), rows)
    if len(missing.unread) > _UNREAD:
        yield f"{len(missing.unread) - _UNREAD:,} more: run.json names all of them.\n"
    if missing.left_out:
        yield bullet_list(missing.left_out[:_UNREAD])
