"""The screen: text that a terminal shows and does not obey. Names come from tags, and tags from anybody."""

import re
import sys
from collections.abc import Iterable
from typing import Any, Final

_OBEYED: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]|\r(?!\n)")
"""What a terminal takes for an order, or cannot be written at all; blanks and line ends are neither."""

_SHOWN: Final = "\ufffd"


def printable(text: str) -> str:
    """The text with a sign that harms nobody for each one that a terminal would obey."""
    return _OBEYED.sub(_SHOWN, text)


def printable_values(found: Any) -> Any:
    """The same of every text in what JSON can hold."""
    match found:
        case str():
            return printable(found)
        case dict():
            return {printable_values(key): printable_values(value) for key, value in found.items()}
        case list():
            return [printable_values(value) for value in found]
        case _:
            return found


def put_out(lines: Iterable[str]) -> None:
    """Writes data to standard output: as it is for the next program, and harmless where it is a terminal."""
    sys.stdout.writelines(map(printable, lines) if sys.stdout.isatty() else lines)
