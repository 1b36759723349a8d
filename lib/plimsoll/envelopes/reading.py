"""Reading: the output of fio or sysbench, whichever format it is in, into results."""

import codecs
import html
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from plimsoll.domain.errors import BadInput
from plimsoll.envelopes import fio_json, fio_terse, fio_text, sysbench
from plimsoll.envelopes.results import Broken, Output, Result, without_repeats


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

_BOLD: Final = re.compile(r"\*\*|\b__|__\b|</?(?:b|strong)>|\x1b\[[\d;]*m")
"""Marks of bold text and of colors that surround figures."""

_ESCAPED: Final = re.compile(r"\\(?=[\[\]()_*=<>#|~-])")
_FATAL: Final = re.compile(r"^\s*FATAL:\s*([^\n]{3,300})$", re.MULTILINE)
"""What sysbench says where it cannot go on."""

_FAILED: Final = re.compile(r"\bfio: pid=\d+, err=\d+/[^\n]*?error=([^\n]+)|^fio: ([^\n]{3,200})$", re.MULTILINE)
"""What fio says where a job fails before any I/O."""


def decoded(raw: bytes) -> str:
    """The text of a file: UTF-8, or UTF-16 and UTF-32 as PowerShell redirects it, with or without a byte order mark."""
    for mark, encoding in _MARKS.items():
        if raw.startswith(mark):
            return raw.decode(encoding, errors="replace")
    sample = raw[:_SAMPLE]
    if sample.count(0) > len(sample) // 4:
        odd = sample[1::2].count(0) >= sample[::2].count(0)
        return raw.decode("utf-16-le" if odd else "utf-16-be", errors="replace")
    return raw.decode("utf-8", errors="replace")


_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks; that of UTF-32 begins like that of UTF-16, and goes before it."""

_SAMPLE: Final = 4_096


def read_output(text: str, *, name: str) -> Output:
    """Everything that an output says; BadInput names the file, the format it looked like, the line and the reason."""
    text = plain(text)
    forms = [one for one in _FIO if one.looks_like(text)][:1]
    forms += [_SYSBENCH] if _SYSBENCH.looks_like(text) else []
    if not forms:
        _refuse_failed(text, name)
        what = "is empty" if not text.strip() else "is no result of a benchmark"
        raise BadInput(f"{name} {what}: expected is what {_EXPECTED} printed.")
    found = sum((_read(one, text, name) for one in forms), Output())
    if found.databases and not found.results and not found.profiles:
        _refuse_failed(text, name)
        raise BadInput(
            f"{name} is of sysbench's OLTP, which measures a database and no volume: measure the volume with fio or "
            "sysbench fileio."
        )
    return replace(found, results=without_repeats(found.results))


def _refuse_failed(text: str, name: str) -> None:
    """BadInput with the reason that a run gave where it could not go on."""
    fatal, failed = _FATAL.search(text), _FAILED.search(text)
    if fatal is not None:
        reason = " ".join(fatal[1].split()).rstrip(".")
        raise BadInput(f"{name} is of a run that failed ({reason}): find the cause, and measure again.")
    if failed is not None:
        raise BadInput(
            f"{name} is of a run of fio that failed before any I/O ({(failed[1] or failed[2]).strip()}): find the "
            "cause, and measure again."
        )


def plain(text: str) -> str:
    """A text without what Markdown, mail and web pages put around and into an output."""
    if "&gt;" in text or "&quot;" in text or "&#" in text:
        text = html.unescape(text)
    if len(_QUOTED.findall(text)) >= _LEAST_QUOTED:
        text = _QUOTED.sub("", text)
    if not fio_json.looks_like(text):
        text = _ESCAPED.sub("", _BOLD.sub("", text))
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
        _refuse_failed(text, name)
        reason = " ".join(error.reason.split())
        raise BadInput(f"{name} looks like {form.name}, but from line {error.line} {reason}.") from error
