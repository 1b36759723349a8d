"""The figures of both closed loops, and where the README of this folder has them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.closed_loop.hosts import Housed
from tests.closed_loop.loop import MOST_STEPS, WITHIN, Life

PAGE: Final = Path(__file__).with_name("README.md")
HEAD: Final = (
    f"| workload | volumes | within {WITHIN} times their ceiling | of these settled in {MOST_STEPS} steps | most steps "
    "| reversed twice | throttled by a reduction | buckets of those | saved a volume-week |"
)
BEGIN, END = "<!-- closed loop: begin -->\n", "<!-- closed loop: end -->\n"
OF_HOSTS: Final = BEGIN.replace("loop", "loop of hosts"), END.replace("loop", "loop of hosts")
HEAD_OF_HOSTS: Final = (
    "| host | hosts | volumes | relieved | reliefs | relieved again without a rise of work | most steps "
    "| throttled by a reduction | buckets of those |"
)


def table(lives: Sequence[Life]) -> str:
    """One row a kind, in Markdown."""
    kinds = list(dict.fromkeys(life.kind for life in lives))
    rows = [
        HEAD,
        "|---|---|---|---|---|---|---|---|---|",
        *(_row(kind, [life for life in lives if life.kind == kind]) for kind in kinds),
        _row("all", lives),
    ]
    return "".join(f"{row}\n" for row in rows)


def _row(kind: str, lives: Sequence[Life]) -> str:
    near = [life for life in lives if life.ratio <= WITHIN]
    cells = (
        kind,
        len(lives),
        len(near),
        sum(life.settled for life in near),
        max(len(life.steps) for life in lives),
        sum(life.reversals >= 2 for life in lives),
        sum(life.hurt > 0 for life in lives),
        sum(life.hurt for life in lives),
        f"${saved_usd_month(lives):,.2f}",
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def saved_usd_month(lives: Sequence[Life]) -> float:
    """What reductions save a month, in the mean of all weeks in which volumes were audited."""
    weeks = [usd for life in lives for usd in life.saved_usd_month]
    return sum(weeks) / max(1, len(weeks))


def table_of_hosts(hosts: Sequence[Housed]) -> str:
    """One row a type of host, in Markdown."""
    types = list(dict.fromkeys(one.host.type for one in hosts))
    rows = [
        HEAD_OF_HOSTS,
        "|---|---|---|---|---|---|---|---|---|",
        *(_row_of_hosts(name, [one for one in hosts if one.host.type == name]) for name in types),
        _row_of_hosts("all", hosts),
    ]
    return "".join(f"{row}\n" for row in rows)


def _row_of_hosts(name: str, hosts: Sequence[Housed]) -> str:
    lodgers = [lodger for one in hosts for lodger in one.lodgers]
    cells = (
        name,
        len(hosts),
        len(lodgers),
        sum(bool(one.relieved) for one in lodgers),
        sum(len(one.relieved) for one in lodgers),
        sum(one.relieved_in_vain for one in lodgers),
        max(len(one.steps) for one in lodgers),
        sum(one.hurt > 0 for one in lodgers),
        sum(one.hurt for one in lodgers),
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def write(text: str, page: Path = PAGE, marks: tuple[str, str] = (BEGIN, END)) -> None:
    """Puts a table into the page, between its two marks. ValueError where it has none."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise ValueError(f"{page} has no {marks[0].strip()} and {marks[1].strip()}: add both where the table stands.")
    page.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")
