"""Lists: the orders that volumes may have, and the first of them in memory that does not grow with all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from heapq import heappush, heappushpop
from typing import Final, Generic, TypeVar

from plimsoll.model.errors import BadInput
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.wording import risk_level, risk_pct

_Item = TypeVar("_Item")

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


@dataclass(slots=True, kw_only=True)
class Largest(Generic[_Item]):
    """Of all that was added, how many they were, and the `most` that weigh most."""

    most: int
    total: int = 0
    _heap: list[tuple[float, str, int, _Item]] = field(default_factory=list)

    def add(self, weight: float, name: str, item: _Item) -> None:
        """Adds an item; of those of one weight, the last by name comes first."""
        entry = (weight, name, self.total, item)
        self.total += 1
        if self.most:
            (heappush if len(self._heap) < self.most else heappushpop)(self._heap, entry)

    def merge(self, other: "Largest[_Item]") -> None:
        """Adds what another part has kept."""
        total = self.total + other.total
        for weight, name, _, item in other._heap:
            self.add(weight, name, item)
        self.total = total

    @property
    def items(self) -> list[_Item]:
        """The items that weigh most, the heaviest first."""
        return [item for *_, item in sorted(self._heap, key=lambda entry: entry[:3], reverse=True)]
