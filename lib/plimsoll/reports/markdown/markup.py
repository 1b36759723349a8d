"""Text in Markdown: names and sentences that GitHub shows as they are, and no more of them than GitHub takes."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from plimsoll.reports.printable import printable

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
