"""The overview: what a report says of all its volumes, from one pass over their records."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from plimsoll.reports.largest import Largest
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import Matched
from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.totals import DIMENSIONS, Totals

FIRST: Final = 3
"""How many volumes of a step are named."""


@dataclass(slots=True)
class Overview:
    """The totals of some volumes by every dimension, and the first volumes of each step."""

    totals: Totals = field(default_factory=lambda: Totals.of((), by=DIMENSIONS))
    first: dict[Step, Largest[RecommendationRecord]] = field(
        default_factory=lambda: defaultdict(lambda: Largest(most=FIRST))
    )

    def add(self, record: RecommendationRecord) -> None:
        """Counts a recommendation."""
        self.totals.add(record)
        self.first[step_of(record)].add(_weight(record), record.volume_id, record)


def counted(volumes: Iterable[Matched], overview: Overview) -> Iterator[Matched]:
    """The same volumes, each counted as it goes by."""
    for volume in volumes:
        overview.add(volume[0])
        yield volume


def _weight(record: RecommendationRecord) -> float:
    """By what a volume comes first in its step: the minutes it was throttled, what it costs, or what it saves."""
    if record.action == "upgrade":
        return record.demand.throttled_minutes if record.demand else 0.0
    return (record.monthly_usd_now or 0.0) if record.action == "detached" else record.monthly_usd_saved
