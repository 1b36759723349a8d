"""Texts as a screen shows them."""

from rich.cells import cell_len

TWO_SCREENS = 48


def screen_lines(text: str, width: int = 80) -> int:
    """The lines that a text takes on a screen, which breaks those that are too wide."""
    return sum(max(1, -(-cell_len(line) // width)) for line in text.splitlines())
