"""The closed loop's figures, by kind, and where docs/decision.md has them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tests.closed_loop.loop import MOST_STEPS, WITHIN, Life

PAGE: Final = Path(__file__).parents[2] / "docs" / "decision.md"
HEAD: Final = (
    f"| workload | volumes | within {WITHIN} times their ceiling | of these settled in {MOST_STEPS} steps | most steps "
    "| reversed twice | throttled by a reduction | buckets of those | saved a volume-week |"
)
BEGIN, END = "<!-- closed loop: begin -->\n", "<!-- closed loop: end -->\n"


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


def write(lives: Iterable[Life], page: Path = PAGE) -> None:
    """Puts the table into the page, between its two marks. ValueError where it has none."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no {BEGIN.strip()} and {END.strip()}: add both where the table is to stand.")
    page.write_text(f"{before}{begin}{table(list(lives))}{end}{after}", encoding="utf-8")
