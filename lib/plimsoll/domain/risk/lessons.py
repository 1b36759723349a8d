"""Lessons: the headroom that volumes of an audit's own account needed, in sums that do not grow with the fleet.

Each audit reads the highest minute of each past day of the volumes that it would reduce. So every block of days is a
cut: the blocks before it are the memory, and the next is what came after. A line that carries the highest minute after
the cut throttles nothing. The score by it is never less than the one that lets some minutes go, so that the promise
holds, with more headroom than a finer record would ask for.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.domain.arrays import FloatArray, IntArray
from plimsoll.domain.ceiling import Need
from plimsoll.domain.risk.calibration import LEVELS_PCT, find_span, least_factors_by_level
from plimsoll.domain.risk.histories import PastPeaks, usual_share
from plimsoll.domain.risk.scores import PROMISED_MINUTES
from plimsoll.domain.risk.table import FACTORS, Band, Calibrated, LearnedTable, TableSource

MEMORIES: Final = (1, 2, 6)
"""The memories that are learned from, in blocks."""

LEAST_LEARNED_CUTS: Final = 2
"""From fewer cuts nothing is learned: one does not tell what strikes a whole fleet from what is usual."""

ASSUMED_OF_MINUTES: Final = (
    "every minute above a line counts as throttled: only the highest minute of each day is known"
)

_HELD: Final = 0.95
"""A volume that reached this share of its ceiling may have been held back: how much more it wanted is not known."""

_FULL_SHARE: Final = 0.5
"""A cut needs this share of the volumes of the fullest one: few volumes cannot speak for a whole fleet's week."""

_MINUTE_S: Final = 60


@dataclass(slots=True)
class Lessons:
    """Counts of volumes, added to in place. `days` is the length of a block, `volumes` how many taught anything.

    The counts are by "memory/cut" and by the place in `FACTORS`: where a volume begins to be counted, where it ends
    to, and from where on its line passes.
    """

    days: int = 0
    volumes: int = 0
    begun: dict[str, Counter[int]] = field(default_factory=dict)
    ended: dict[str, Counter[int]] = field(default_factory=dict)
    carried: dict[str, Counter[int]] = field(default_factory=dict)

    def add(self, peaks: PastPeaks | None) -> None:
        """Counts the past of a volume, at each cut at which enough of it is known."""
        if peaks is None or (self.days and peaks.days != self.days):
            return
        taught = False
        for memory in MEMORIES:
            for cut in range(len(peaks.busiest) - memory):
                before, after = peaks.busiest[cut + 1 : cut + 1 + memory], peaks.busiest[cut]
                if after is not None and None not in before:
                    taught |= self._count(
                        f"{memory}/{cut}", [day for block in before for day in block or ()], after, peaks
                    )
        self.days = peaks.days if taught else self.days
        self.volumes += taught

    def merge(self, other: "Lessons") -> None:
        """Adds the counts of other volumes. Blocks of another length are left out."""
        if not other.volumes or (self.days and self.days != other.days):
            return
        self.days = other.days
        self.volumes += other.volumes
        for mine, theirs in ((self.begun, other.begun), (self.ended, other.ended), (self.carried, other.carried)):
            for key, counts in theirs.items():
                mine.setdefault(key, Counter()).update(counts)

    def table(self, on: str, fleet: str) -> LearnedTable | None:
        """Makes the table of a `fleet` (in words) as of a day (ISO 8601); None if nothing can be promised yet."""
        bands = [band for band in map(self._band, MEMORIES) if band is not None]
        if not bands:
            return None
        source = TableSource(on=on, fleets=(fleet,), volumes=self.volumes, public=False, assumed=ASSUMED_OF_MINUTES)
        return LearnedTable(
            days=float(self.days),
            budget_min=PROMISED_MINUTES,
            period_s=_MINUTE_S,
            source=source,
            bands=tuple(bands),
        )

    def _count(self, key: str, before: Sequence[Need], after: Sequence[Need], peaks: PastPeaks) -> bool:
        days = np.array([_pair(figures) for figures in before]).T
        most, usual = days.max(axis=1), usual_share(days[None])[0]
        then, free, ceiling = (np.array(_pair(figures)) for figures in (after[0], peaks.free, peaks.ceiling))
        if not most.any() or (most >= _HELD * ceiling).any():
            return False
        needed = np.where(then > free, then, 0.0)
        score = float(_ratios(needed, most).max())
        if (then >= _HELD * ceiling).any():
            score = np.inf
        scaled = usual * _ratios(most, free).max(), usual * (most / ceiling).max(), score / usual
        places = find_span(*(np.array([figures]) for figures in scaled))
        for counts, place in zip((self.begun, self.ended, self.carried), places, strict=True):
            counts.setdefault(key, Counter())[int(place[0])] += 1
        return True

    def _band(self, memory: int) -> Band | None:
        """Learns a band from a number of blocks of memory; None if no risk can be promised."""
        keys = [key for key in self.begun if key.startswith(f"{memory}/")]
        fullest = max((self.begun[key].total() for key in keys), default=0)
        keys = [key for key in keys if self.begun[key].total() >= _FULL_SHARE * fullest]
        if len(keys) < LEAST_LEARNED_CUTS:
            return None
        risks, volumes = np.zeros(len(FACTORS)), np.full(len(FACTORS), fullest)
        for key in keys:
            begun, ended, carried = (
                _counts_by_place(counters[key]) for counters in (self.begun, self.ended, self.carried)
            )
            missed, counted = np.cumsum(begun - carried), np.cumsum(begun - ended)
            risks, volumes = np.maximum(risks, (missed + 1) / (counted + 1)), np.minimum(volumes, counted)
        factors = least_factors_by_level(risks, LEVELS_PCT)
        if all(factor is None for factor in factors.values()):
            return None
        learned = Calibrated(factors=factors, volumes=int(volumes.max(initial=0)))
        return Band(memory_days=float(memory * self.days), cuts=len(keys), learned=learned)


def _pair(need: Need) -> tuple[float, float]:
    return need.iops, need.throughput_mib_s


def _ratios(figures: FloatArray, base: FloatArray) -> FloatArray:
    """The ratio of figures to their bases; infinite over nothing, 0 if there is nothing."""
    ratios: FloatArray = np.divide(figures, base, out=np.where(figures > 0, np.inf, 0.0), where=base > 0)
    return ratios


def _counts_by_place(counts: Counter[int]) -> IntArray:
    numbers = np.zeros(len(FACTORS) + 1, dtype=np.int64)
    for place, count in counts.items():
        numbers[place] = count
    return numbers[:-1]
