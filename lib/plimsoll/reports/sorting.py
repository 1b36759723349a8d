"""Sorting: what the volumes of a list may be ordered by, the highest first."""

from collections.abc import Callable, Mapping
from typing import Final

from plimsoll.domain.errors import BadInput
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.wording import risk_level, risk_pct

Weight = Callable[[RecommendationRecord], float]
"""What a volume weighs in a list."""

MONEY: Final = "money"

_UNKNOWN_PCT: Final = 101.0
"""A risk that is not known stands above every known one."""


def weigh_risk(record: RecommendationRecord) -> float:
    """The risk of a change; that of none is the least."""
    if risk_level(record) == "unknown":
        return _UNKNOWN_PCT
    pct = risk_pct(record)
    return -1.0 if pct is None else pct


SORTS: Final[Mapping[str, Weight]] = {
    MONEY: lambda record: record.monthly_usd_saved,
    "risk": weigh_risk,
    "losses": lambda record: float(len(record.losses)),
}
"""What a list may be sorted by."""


def find_sort(name: str) -> Weight:
    """The weight of that name; BadInput where there is none."""
    if name not in SORTS:
        raise BadInput(f"--sort {name}: it must be one of {', '.join(SORTS)}.")
    return SORTS[name]
