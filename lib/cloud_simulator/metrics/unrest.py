"""Unrest: why a volume answers later in one minute than in another, though it does the same.

    minutes, hours, days and weeks of a volume's own    spread about 1 by these widths of the log
    a minute in 2,000 at 2 to 6 times
    a zone that is disturbed as a whole                  an hour to a day, at 1.2 to 2.5 times

Seeded by the day, so that the same minutes come out whichever window is asked.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from cloud_simulator.units import DAY_S, HOUR_S, MINUTE_S, FloatArray

_DAY_MINUTES: Final = DAY_S // MINUTE_S
_HOUR_MINUTES: Final = HOUR_S // MINUTE_S
_BLOCK_DAYS: Final = 7
_SLOW_SHARE, _SLOW_TIMES = 1 / 2000, (2.0, 6.0)
_ZONE_TIMES, _ZONE_MINUTES = (1.2, 2.5), (60, 1440)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrest:
    """The spreads of a fleet's latency. `zone_share` is the chance that a zone is disturbed on a day."""

    seed: int = 1
    minute: float = 0.12
    hour: float = 0.10
    day: float = 0.06
    week: float = 0.05
    zone_share: float = 0.03

    def factors(self, name: str, zone: str, first_minute: int, count: int) -> FloatArray:
        """The latency of a volume in each minute, over its usual."""
        first_day = first_minute // _DAY_MINUTES
        days = range(first_day, (first_minute + count - 1) // _DAY_MINUTES + 1)
        whole = np.concatenate([self._own_day(name, day) * self._zone_day(zone, day) for day in days])
        begin = first_minute - first_day * _DAY_MINUTES
        return whole[begin : begin + count]

    def _own_day(self, name: str, day: int) -> FloatArray:
        rng = self._rng(name, day)
        logs = self.minute * rng.standard_normal(_DAY_MINUTES)
        logs += np.repeat(self.hour * rng.standard_normal(24), _HOUR_MINUTES)
        logs += self.day * rng.standard_normal()
        logs += self.week * self._rng(name, -1 - day // _BLOCK_DAYS).standard_normal()
        slow = np.where(rng.random(_DAY_MINUTES) < _SLOW_SHARE, rng.uniform(*_SLOW_TIMES, _DAY_MINUTES), 1.0)
        return np.exp(logs) * slow

    def _zone_day(self, zone: str, day: int) -> FloatArray:
        factors, rng = np.ones(_DAY_MINUTES), self._rng(zone, day)
        if rng.random() < self.zone_share:
            begin = int(rng.integers(0, _DAY_MINUTES))
            factors[begin : begin + int(rng.integers(*_ZONE_MINUTES))] = rng.uniform(*_ZONE_TIMES)
        return factors

    def _rng(self, name: str, number: int) -> np.random.Generator:
        key = hashlib.sha256(f"{self.seed}/{name}/{number}".encode()).digest()[:8]
        return np.random.default_rng(int.from_bytes(key))
