"""Reading: the output of fio or sysbench, whichever format it is in, into results."""

import codecs
import html
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from plimsoll.model.errors import BadInput
from plimsoll_measure.readers import fio_json, fio_terse, fio_text, sysbench
from plimsoll_measure.readers.results import BenchResult, Broken, Output, without_repeats


@dataclass(frozen=True, slots=True)
class _Format:
    name: str
    looks_like: Callable[[str], bool]
    read: Callable[[str], Output]


_FIO: Final = (
    _Format("fio's JSON", fio_json.is_fio_json, fio_json.read_fio_json),
    _Format("fio's normal output", fio_text.is_fio_text, fio_text.read_fio_text),
    _Format("fio's terse output", fio_terse.is_fio_terse, fio_terse.read_fio_terse),
)
"""The most precise format comes first: of a run that fio printed in several, only that one is read."""

_SYSBENCH: Final = _Format("sysbench's output", sysbench.is_sysbench, sysbench.read_sysbench)
_EXPECTED: Final = "fio (json, json+, normal or terse) or sysbench (fileio, cpu, memory, mutex)"

_QUOTED: Final = re.compile(r"^[ \t]{0,3}>(?!=)[ \t>]*", re.MULTILINE)
"""The mark of Markdown and mail before each quoted line. fio's own lines begin with >= at most."""

_LEAST_QUOTED: Final = 5
_QUOTES: Final = str.maketrans({"\u201c": '"', "\u201d": '"', "\u00a0": " "})
"""Typographic quotes and spaces of web pages, and the plain characters that they replaced."""

_BOLD: Final = re.compile(r"\*\*|\b__|__\b|</?(?:b|strong)>|\x1b\[[\d;]*m")
"""Marks of bold text and of colors that surround figures."""

_ESCAPED: Final = re.compile(r"\\(?=[\[\]()_*=<>#|~-])")
_FATAL: Final = re.compile(r"^\s*FATAL:\s*([^\n]{3,300})$", re.MULTILINE)
"""sysbench's message when it cannot go on."""

_FAILED: Final = re.compile(r"\bfio: pid=\d+, err=\d+/[^\n]*?error=([^\n]+)|^fio: ([^\n]{3,200})$", re.MULTILINE)
"""fio's message when a job fails before any I/O."""


def decode_text(raw: bytes) -> str:
    """The text of a file in UTF-8, or in UTF-16 and UTF-32 as PowerShell writes it."""
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
    """The content of a benchmark's output.

    Raises BadInput, which names the file, the likely format, the line and the reason, if it cannot be read.
    """
    text = strip_markup(text)
    forms = [form for form in _FIO if form.looks_like(text)][:1]
    forms += [_SYSBENCH] if _SYSBENCH.looks_like(text) else []
    if not forms:
        _refuse_failed_run(text, name)
        what = "is empty" if not text.strip() else "is no result of a benchmark"
        raise BadInput(f"{name} {what}: expected is what {_EXPECTED} printed.")
    output = sum((_read(form, text, name) for form in forms), Output())
    if output.databases and not output.results and not output.profiles:
        _refuse_failed_run(text, name)
        raise BadInput(
            f"{name} is of sysbench's OLTP, which measures a database and no volume: measure the volume with fio or "
            "sysbench fileio."
        )
    return replace(output, results=without_repeats(output.results))


def _refuse_failed_run(text: str, name: str) -> None:
    """Raises BadInput with the benchmark's own reason if its run failed."""
    fatal, failed = _FATAL.search(text), _FAILED.search(text)
    if fatal is not None:
        reason = " ".join(fatal[1].split()).rstrip(".")
        raise BadInput(f"{name} is of a run that failed ({reason}): find the cause, and measure again.")
    if failed is not None:
        raise BadInput(
            f"{name} is of a run of fio that failed before any I/O ({(failed[1] or failed[2]).strip()}): find the "
            "cause, and measure again."
        )


def strip_markup(text: str) -> str:
    """A text without the marks that Markdown, mail and web pages add to an output."""
    if "&gt;" in text or "&quot;" in text or "&#" in text:
        text = html.unescape(text)
    if len(_QUOTED.findall(text)) >= _LEAST_QUOTED:
        text = _QUOTED.sub("", text)
    if not fio_json.is_fio_json(text):
        text = _ESCAPED.sub("", _BOLD.sub("", text))
    return text.translate(_QUOTES)


def read_results(text: str, *, name: str) -> list[BenchResult]:
    """The storage results in an output. Raises BadInput if it has none.

    A result that is no measurement says so in its `fault`.
    """
    output = read_output(text, name=name)
    if not output.results:
        kinds = ", ".join(dict.fromkeys(profile.kind for profile in output.profiles))
        raise BadInput(f"{name} holds no result of storage, only a profile of its host (sysbench {kinds}).")
    return list(output.results)


def _read(form: _Format, text: str, name: str) -> Output:
    try:
        return form.read(text)
    except Broken as error:
        _refuse_failed_run(text, name)
        reason = " ".join(error.reason.split())
        raise BadInput(f"{name} looks like {form.name}, but from line {error.line} {reason}.") from error
