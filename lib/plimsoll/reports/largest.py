"""The largest: the items that weigh most of all that were added, in memory that does not grow with these."""

from dataclasses import dataclass, field
from heapq import heappush, heappushpop
from typing import Generic, TypeVar

_Item = TypeVar("_Item")


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
