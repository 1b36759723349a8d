"""Reading: the output of fio or sysbench, whichever format it is in, into results."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from plimsoll.domain.errors import BadInput
from plimsoll.envelopes import fio_json, fio_terse, fio_text, sysbench
from plimsoll.envelopes.results import Broken, Output, Result


@dataclass(frozen=True, slots=True)
class _Format:
    name: str
    looks_like: Callable[[str], bool]
    read: Callable[[str], Output]


_FIO: Final = (
    _Format("fio's JSON", fio_json.looks_like, fio_json.read),
    _Format("fio's normal output", fio_text.looks_like, fio_text.read),
    _Format("fio's terse output", fio_terse.looks_like, fio_terse.read),
)
"""Most precise first: fio can print one run in several formats, and then the first of these is read."""

_SYSBENCH: Final = _Format("sysbench's output", sysbench.looks_like, sysbench.read)
_EXPECTED: Final = "fio (json, json+, normal or terse) or sysbench (fileio, cpu, memory, mutex)"

_QUOTED: Final = re.compile(r"^[ \t]{0,3}>(?!=)[ \t>]*", re.MULTILINE)
"""What Markdown and mail put before each line of a quotation; fio's own lines begin with >= at most."""

_LEAST_QUOTED: Final = 5
_QUOTES: Final = str.maketrans({"\u201c": '"', "\u201d": '"', "\u00a0": " "})
"""What web pages make of straight quotes and of spaces."""

_FAILED: Final = re.compile(r"\bfio: pid=\d+, err=\d+/[^\n]*?error=([^\n]+)|^fio: ([^\n]{3,200})$", re.MULTILINE)
"""What fio says where a job fails before any I/O."""


def read_output(text: str, *, name: str) -> Output:
    """Everything that an output says; BadInput names the file, the format it looked like, the line and the reason."""
    text = plain(text)
    found = [one for one in _FIO if one.looks_like(text)][:1]
    found += [_SYSBENCH] if _SYSBENCH.looks_like(text) else []
    if not found:
        failed = _FAILED.search(text)
        if failed is not None:
            raise BadInput(
                f"{name} is of a run of fio that failed before any I/O ({(failed[1] or failed[2]).strip()}): find the "
                "cause, and measure again."
            )
        what = "is empty" if not text.strip() else "is no result of a benchmark"
        raise BadInput(f"{name} {what}: expected is what {_EXPECTED} printed.")
    return sum((_read(one, text, name) for one in found), Output())


def plain(text: str) -> str:
    """A text without what Markdown, mail and web pages put around and into an output."""
    if "&gt;" in text or "&quot;" in text or "&#" in text:
        text = html.unescape(text)
    if len(_QUOTED.findall(text)) >= _LEAST_QUOTED:
        text = _QUOTED.sub("", text)
    return text.translate(_QUOTES)


def read_results(text: str, *, name: str) -> list[Result]:
    """The storage results in an output, at least one. BadInput where it has none.

    A result that is no measurement says so in its `fault`.
    """
    found = read_output(text, name=name)
    if not found.results:
        kinds = ", ".join(dict.fromkeys(profile.kind for profile in found.profiles))
        raise BadInput(f"{name} holds no result of storage, only a profile of its host (sysbench {kinds}).")
    return list(found.results)


def _read(form: _Format, text: str, name: str) -> Output:
    try:
        return form.read(text)
    except Broken as error:
        reason = " ".join(error.reason.split())
        raise BadInput(f"{name} looks like {form.name}, but from line {error.line} {reason}.") from error
