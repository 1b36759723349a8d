"""Text that a terminal or a page shows and does not obey. Names come from tags, and tags from anybody."""

import os
import re
import sys
from collections.abc import Iterable
from typing import Any, Final

_OBEYED: Final = re.compile(
    r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff"
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0001-\U000e007f]"
)
"""What a terminal takes for an order, what cannot be written at all, and what is not seen but turns or hides the text
beside it (Unicode's categories Cf, Zl and Zp). Blanks and line ends are none of these."""


def printable(text: str) -> str:
    """The text with an escape like \\u202e for each sign that is hidden or obeyed."""
    return _OBEYED.sub(_escape, text)


def printable_json(text: str) -> str:
    """JSON whose strings are printable; what JSON escapes by itself stays as it is."""
    return _OBEYED.sub(lambda sign: f"\\{_escape(sign)}", text)


def _escape(sign: re.Match[str]) -> str:
    return sign[0].encode("unicode_escape").decode("ascii")


def printable_values(data: Any) -> Any:
    """The same of every text in what JSON can hold."""
    match data:
        case str():
            return printable(data)
        case dict():
            return {printable_values(key): printable_values(value) for key, value in data.items()}
        case list():
            return [printable_values(value) for value in data]
        case _:
            return data


def put_out(lines: Iterable[str]) -> None:
    """Writes data to standard output: as it is for the next program, and harmless where it is a terminal.

    Where the next program has read enough (`| head -1`), the rest is dropped in silence.
    """
    try:
        sys.stdout.writelines(map(printable, lines) if sys.stdout.isatty() else lines)
        sys.stdout.flush()
    except BrokenPipeError:
        speak_to_nobody()


def speak_to_nobody() -> None:
    """Puts nothing in the place of a standard output whose reader has gone, so that nothing written to it fails."""
    nobody = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nobody, sys.stdout.fileno())
