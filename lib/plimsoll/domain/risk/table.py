"""The learned table: the headroom that keeps each promise, by length of memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.domain.arrays import FloatArray

FACTORS: Final[FloatArray] = np.exp(np.linspace(np.log(0.05), np.log(50), 692))
"""The factors that are tried: steps of one percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """Learned factors by promised risk in percent (None: too few volumes to promise it).

    They rest on `volumes` at the cut that has fewest. `scales` has the ratio of each kind of owner's factor to the
    fleet's. A volume's line is its most required, times the factor, times what `scale` says of the volume.
    """

    factors: Mapping[float, float | None]
    volumes: int
    scales: Mapping[str, float] = field(default_factory=dict)

    def factor(self, level_pct: float) -> float | None:
        """The factor for a promised risk: that of the nearest level that promises no more risk."""
        levels = [level for level in self.factors if level <= level_pct]
        return self.factors[max(levels)] if levels else None

    def promised_pct(self, factor: float) -> float | None:
        """The least risk in percent that a factor promises; None if it promises none of the levels."""
        kept = [level for level, least in self.factors.items() if least is not None and factor >= least]
        return min(kept, default=None)

    def scale(self, usual: FloatArray, owners: Sequence[str]) -> FloatArray:
        """The ratio of each volume's factor to the fleet's, by its usual share and the kind of its owner."""
        return scale_usual(usual, owners, self.scales)


def scale_usual(usual: FloatArray, owners: Sequence[str], scales: Mapping[str, float]) -> FloatArray:
    """The ratio of one volume's factor to the fleet's, wherever one is learned, judged or offered."""
    if not scales:
        return usual
    scaled: FloatArray = usual * np.array([scales.get(owner, 1.0) for owner in owners])
    return scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSource:
    """The origin of a table: its fleets, and the day (ISO 8601) it was learned `on`. `assumed` says what the data
    lacks."""

    on: str
    fleets: tuple[str, ...]
    volumes: int
    public: bool
    assumed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The factors that were learned with a length of memory, from a number of cuts."""

    memory_days: float
    cuts: int
    learned: Calibrated


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedTable:
    """Headroom learned for a promise: at most `budget_min` throttled minutes in `days`, seen by `period_s`."""

    days: float
    budget_min: float
    period_s: int
    source: TableSource
    bands: tuple[Band, ...]

    def band(self, memory_days: float) -> Band | None:
        """The band for some days of history: the longest that is not longer; None if all are longer.

        A longer memory has seen no less, so that what a shorter one needs is enough.
        """
        fitting = [band for band in self.bands if band.memory_days <= memory_days]
        return max(fitting, key=lambda band: band.memory_days, default=None)
