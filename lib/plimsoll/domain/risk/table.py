"""The learned table: what headroom keeps which promise, by memory."""

from dataclasses import dataclass

from plimsoll.domain.risk.calibration import Calibrated


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a table was learned from, and `on` which day (ISO 8601). `assumed` says what the data lacks."""

    on: str
    fleets: tuple[str, ...]
    volumes: int
    public: bool
    assumed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What was learned with so many days of memory, at so many cuts."""

    memory_days: float
    cuts: int
    learned: Calibrated


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedTable:
    """Headroom learned for a promise: at most `budget_min` throttled minutes in `days`, seen by `period_s`."""

    days: float
    budget_min: float
    period_s: int
    source: Source
    bands: tuple[Band, ...]

    def band(self, memory_days: float) -> Band | None:
        """The band for so many days of history: the longest that is not longer. None where all are longer.

        A longer memory has seen no less, so that what a shorter one needs is enough.
        """
        fitting = [band for band in self.bands if band.memory_days <= memory_days]
        return max(fitting, key=lambda band: band.memory_days, default=None)
