"""Savings by account, region, owner and type, and by cloud where there are several: the largest shown, the long tail
folded, and sums that reconcile."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from plimsoll.reports.totals import Totals
from plimsoll.reports.wording import count_of, words_of

SHOWN: Final = 6
FOLDED: Final = 60

_DIMENSIONS: Final = ("cloud", "account", "region", "owner", "type")
_PRESENT: Final = {"type": "present type"}
"""Dimensions that have a name of their own in a head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One value's volumes and money. `link` filters the table to them; shares are percent of the largest saving."""

    label: str
    link: str | None
    totals: Totals
    drop_in_pct: float
    proof_pct: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """The savings by one dimension."""

    dimension: str
    column: str
    shown: list[Line]
    folded: list[Line]


def breakdowns(totals: Totals, account: str) -> Iterator[Breakdown]:
    """Every dimension's savings, those that save most first; `account` is what the run's clouds call one."""
    columns = {**_PRESENT, "account": account}
    for dimension in _DIMENSIONS:
        groups = totals.by[dimension]
        if dimension == "cloud":
            if len(groups) < 2:
                continue
            groups = {words_of(provider).cloud: part for provider, part in groups.items()}
        lines = list(_lines(dimension, groups))
        yield Breakdown(
            dimension=dimension, column=columns.get(dimension, dimension), shown=lines[:SHOWN], folded=lines[SHOWN:]
        )


def _lines(dimension: str, groups: Mapping[str, Totals]) -> Iterator[Line]:
    ordered = sorted(groups.items(), key=lambda item: (-item[1].usd_saved, -item[1].usd_now, item[0]))
    most = max((group.usd_saved for group in groups.values()), default=0.0)
    for value, group in ordered[: SHOWN + FOLDED]:
        yield _line(value, "#" + urlencode({dimension: value}), group, most)
    tail = ordered[SHOWN + FOLDED :]
    if tail:
        rest = Totals(by={})
        for _, group in tail:
            rest.merge(group)
        yield _line(f"{count_of(len(tail), 'other')}", None, rest, most)


def _line(label: str, link: str | None, group: Totals, most: float) -> Line:
    def pct(amount: float) -> float:
        return round(min(100.0, amount / most * 100), 2) if most > 0 else 0.0

    return Line(
        label=label,
        link=link,
        totals=group,
        drop_in_pct=pct(group.usd_saved_drop_in),
        proof_pct=pct(group.usd_saved_on_proof),
    )
