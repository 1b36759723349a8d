"""Savings by account, region, owner and type, and by cloud where there are several: the largest shown, the long tail
folded, and sums that reconcile."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from plimsoll.reports.summary.fleet import Fleet, Group
from plimsoll.reports.wording import count_of

SHOWN: Final = 6
FOLDED: Final = 60

_PRESENT: Final = {"type": "present type"}
"""Dimensions that have a name of their own in a head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One value's volumes and money. `link` filters the table to them; shares are percent of the largest saving."""

    label: str
    link: str | None
    group: Group
    drop_in_pct: float
    proof_pct: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """The savings by one dimension."""

    dimension: str
    column: str
    shown: list[Line]
    folded: list[Line]


def breakdowns(fleet: Fleet, account: str) -> Iterator[Breakdown]:
    """Every dimension's savings, those that save most first; `account` is what the run's clouds call one."""
    columns = {**_PRESENT, "account": account}
    for dimension, groups in fleet.groups.items():
        if dimension == "cloud" and len(groups) < 2:
            continue
        lines = list(_lines(dimension, groups))
        yield Breakdown(
            dimension=dimension, column=columns.get(dimension, dimension), shown=lines[:SHOWN], folded=lines[SHOWN:]
        )


def _lines(dimension: str, groups: Mapping[str, Group]) -> Iterator[Line]:
    ordered = sorted(groups.items(), key=lambda item: (-item[1].money.usd_saved, -item[1].money.usd_now, item[0]))
    most = max((group.money.usd_saved for group in groups.values()), default=0.0)
    for value, group in ordered[: SHOWN + FOLDED]:
        yield _line(value, "#" + urlencode({dimension: value}), group, most)
    tail = ordered[SHOWN + FOLDED :]
    if tail:
        rest = Group()
        for _, group in tail:
            rest.add(group.money, group.volumes)
        yield _line(f"{count_of(len(tail), 'other')}", None, rest, most)


def _line(label: str, link: str | None, group: Group, most: float) -> Line:
    def pct(amount: float) -> float:
        return round(min(100.0, amount / most * 100), 2) if most > 0 else 0.0

    return Line(
        label=label,
        link=link,
        group=group,
        drop_in_pct=pct(group.money.usd_saved_drop_in),
        proof_pct=pct(group.money.usd_saved_on_proof),
    )
