"""Markdown as long as GitHub takes it, which is 65,536 characters: what does not fit is counted."""

from typing import Final

MOST: Final = 65_536
"""The characters that GitHub takes."""

LAST: Final = 200
"""What is kept free for saying how much was left out."""


def fitting(parts: list[str]) -> str:
    """The parts as one text, without the last lines of one that GitHub would not take, and saying so."""
    whole = "\n".join(part for part in parts if part)
    if length([whole]) <= MOST:
        return whole
    lines = whole.splitlines(keepends=True)
    while length(lines) > MOST - LAST:
        lines.pop()
    return "".join(lines) + "\nThe rest did not fit; report.html and recommendations.csv have all of it.\n"


def length(texts: list[str]) -> int:
    """Characters as GitHub may count them: those beyond the first 65,536 signs of Unicode as two."""
    return sum(len(text.encode("utf-16-le")) // 2 + 1 for text in texts)
