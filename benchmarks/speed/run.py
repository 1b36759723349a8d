"""Measures what README.md beside it answers, and writes each answer's figures between their marks.

make bench                  all five questions
make bench QUESTIONS="a d"  some of them, by their letters; the figures of others stay
"""

import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Final

import costs
import growth
import report
import sizes
import starts
import waiting
from figures import CACHE, ROOT, Row
from versions import commit_of

PAGE: Final = ROOT / "benchmarks" / "speed" / "README.md"

QUESTIONS: Final[Mapping[str, tuple[Callable[[], Iterable[Row]], ...]]] = {
    "a": (waiting.measure, report.measure),
    "b": (growth.measure,),
    "c": (costs.measure,),
    "d": (starts.measure,),
    "e": (sizes.measure,),
}
"""Measurements by the question of the page that they answer."""


def main(letters: Sequence[str]) -> None:
    """Measures and writes; a bound that is missed is a result, not a failure."""
    CACHE.mkdir(exist_ok=True)
    for letter in letters or QUESTIONS:
        sys.stderr.write(f"{datetime.now(UTC):%H:%M:%S} measuring {letter}\n")
        rows = list(chain.from_iterable(measure() for measure in QUESTIONS[letter]))
        write(PAGE, letter, text_of(rows, _made()))
        for row in rows:
            sys.stdout.write(f"{row.what}: {row.measured} {row.bound} {row.verdict}\n")


def _made() -> str:
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"Measured on {datetime.now(UTC):%Y-%m-%d} at commit {commit_of('HEAD')[:8]} ({machine})."


def text_of(rows: Iterable[Row], made: str) -> str:
    """The figures of a question as the page has them."""
    return "\n".join(("| what | measured | bound | |", "|---|---|---|---|", *_lines(rows), "", made, ""))


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    yield from (f"| {row.what} | {row.measured} | {row.bound} | {row.verdict} |" for row in rows)


def write(page: Path, letter: str, text: str) -> None:
    """Puts the figures of a question between its marks."""
    begin, end = f"<!-- figures: make bench, {letter} -->\n", f"<!-- end of {letter} -->"
    before, behind = page.read_text(encoding="utf-8").split(begin)
    _, after = behind.split(end)
    page.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
