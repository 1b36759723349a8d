"""The scoreboard: what became of every volume, by what went wrong, in README.md beside it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from .injector import INSIDE, PAGING
from .law import BROKEN, IDENTICAL, LIFE, NAMED, NOTED
from .on_disk import ON_DISK
from .refusals import REFUSED, WIRE

PAGE: Final = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- figures: make faults -->", "<!-- end of figures -->"
_OUTCOMES: Final = (IDENTICAL, NOTED, NAMED, LIFE, BROKEN)
_LAWS: Final = {
    "traceback": "tracebacks",
    "endless": "endless runs",
    "lost": "volumes lost without a name",
    "smaller": "answers that became cheaper or smaller",
    "changed": "other changed answers",
    "invented": "answers where there was none",
    "disk": "broken files",
    "silent": "damaged files that were read in silence",
    "exit": "exit codes outside the table",
}
_FAMILIES: Final = {
    **dict.fromkeys((*REFUSED, *WIRE), "on the way"),
    **dict.fromkeys(INSIDE, "in an answer"),
    **dict.fromkeys(PAGING, "of pages"),
    **dict.fromkeys(ON_DISK, "of files on disk"),
}
SEVERAL: Final = "two faults at once"
NONE: Final = "none met a call"

Line = Mapping[str, Any]
"""A run, as `line_of` has it."""


def scoreboard(lines: Iterable[Line]) -> str:
    """The table of the runs, and before it how many there were and which laws were broken how often."""
    runs, volumes = Counter[str](), defaultdict[str, Counter[str]](Counter)
    injected, broken, kills, total = Counter[str](), Counter[str](), 0, 0
    for line in lines:
        kind = kind_of(line)
        runs[kind] += 1
        volumes[kind].update(line["outcomes"])
        injected[kind] += line["injected"]
        broken.update(one["kind"] for one in line["breaches"])
        kills += line["kills"]
        total += 1
    told = "".join(f"- {broken[kind]:,} {name}\n" for kind, name in _LAWS.items())
    head = (
        f"{total:,} runs, {sum(injected.values()):,} faults, {kills:,} times killed and resumed or begun again:\n\n"
        f"{told}\n"
        "| fault | runs | faults | identical | noted | named | as in life | broken |\n"
        "|---|---|---|---|---|---|---|---|\n"
    )
    rows = [
        f"| {kind} | {runs[kind]:,} | {injected[kind]:,} | "
        + " | ".join(f"{volumes[kind][outcome]:,}" for outcome in _OUTCOMES)
        + " |\n"
        for kind in sorted(runs)
    ]
    whole = Counter[str]()
    for one in volumes.values():
        whole.update(one)
    last = f"| **all** | {total:,} | {sum(injected.values()):,} | " + " | ".join(f"{whole[one]:,}" for one in _OUTCOMES)
    return head + "".join(rows) + last + " |\n"


def kind_of(line: Line) -> str:
    """Of which kind the fault was that a run was under, where there was one alone."""
    met = set(line["met"])
    return NONE if not met else _FAMILIES[met.pop()] if len(met) == 1 else SEVERAL


def write(text: str, page: Path = PAGE) -> None:
    """Puts the scoreboard in its place on the page."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n{text}{END}{after}", encoding="utf-8")
