"""Text for Slack: names that anybody may give are shown as they are, and neither break a message nor forge one."""

import re
from typing import Final

from plimsoll.reports.printable import printable

NAME: Final = 60
SENTENCE: Final = 300
"""Characters shown of a name, and of a reason that somebody else wrote."""

_FALLBACK: Final = 600
"""Characters of a notification before they are escaped, which makes at most five of each."""

_TURNS: Final = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""What turns the writing's direction, so that it moves what stands beside it, or is not seen at all."""

_LOOSE_ENDS: Final = " \n:;,."
"""What says nothing at the end of what was cut."""

_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def long(text: str) -> int:
    """How long a text is in UTF-16, which is no less than Slack counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def line(text: str, most: int = NAME) -> str:
    """A text on one line, no longer than `most`, with nothing in it that cannot be seen."""
    return cut(" ".join(shown(text[: 4 * most]).split()), most)


def shown(text: str) -> str:
    """A text without what is not seen or moves what stands beside it; lines stay lines."""
    return _TURNS.sub("", printable(text))


def cut(text: str, most: int) -> str:
    """A text no longer than `most`, with an ellipsis where it was."""
    if long(text) <= most:
        return text
    kept = text[: most - 1]
    while long(kept) > most - 1:
        kept = kept[:-1]
    return f"{kept.rstrip(_LOOSE_ENDS)}…"


def escaped(text: str) -> str:
    """A text as Slack's markup shows it, so that nothing in it is a mention, a channel or a link."""
    return text.translate(_ENTITIES)


def fallback(text: str) -> str:
    """What a notification says where blocks are not shown: on one line, escaped, at most 3,000 characters."""
    return escaped(line(text, _FALLBACK)) or "…"
