"""A scenario: which volumes a fleet's demand is put on, and how it is cut into past and future."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plimsoll.decide.offers import Market, bare_type_offer
from plimsoll.model.arrays import FloatArray
from plimsoll.model.ceiling import Need
from plimsoll.model.market import type_of
from plimsoll.model.policy import Policy
from plimsoll.model.units import DAY_S
from plimsoll.model.volume import VolumeSpec
from plimsoll.risk.learn import PROMISED_MINUTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One place in time: so many days of memory before it, and the days that are judged after it. `number` counts the
    cuts of a memory from the first on."""

    memory_days: float
    day: float
    number: int

    def known_buckets(self, period_s: int) -> slice:
        """The buckets that are known at the cut."""
        return slice(_buckets(self.day - self.memory_days, period_s), _buckets(self.day, period_s))

    def judged_buckets(self, days: float, period_s: int) -> slice:
        """The buckets that are judged."""
        return slice(_buckets(self.day, period_s), _buckets(self.day + days, period_s))


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Each volume is a `present` spec that may become the type `to`. Demand is so many `times` what the file has.

    There is a cut every `every_days`. At each, `memories_days` of history are known, and the `days` after it are
    judged. A promise is broken by more than `budget_min` throttled minutes. `levels_pct` are the promised risks that
    are tried.
    """

    market: Market
    policy: Policy
    present: VolumeSpec
    to: str
    times: Sequence[float] = (1.0,)
    io_kib: float = 32.0
    memories_days: Sequence[float] = (30.0, 60.0)
    days: float = 30.0
    every_days: float = 7.0
    budget_min: float = PROMISED_MINUTES
    levels_pct: Sequence[float] = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 70.0, 90.0)
    folds: int = 5

    @cached_property
    def limits(self) -> FloatArray:
        """The IOPS and MiB/s that the present configuration carries."""
        return self.limits_of(self.present)

    @cached_property
    def free(self) -> FloatArray:
        """The IOPS and MiB/s that the offered type carries without being asked for more."""
        bare = bare_type_offer(
            type_of(VolumeSpec(type=self.to, size_gib=1), self.market.types), self.present.size_gib, self.market.book
        )
        return np.zeros(2) if bare is None else self.limits_of(bare.spec)

    @cached_property
    def scored_days(self) -> tuple[float, ...]:
        """The memories that are scored: those that are judged, and half of each. Less has to be over before what was
        seen with half a memory can be learned from."""
        return tuple(sorted({part for days in self.memories_days for part in (days / 2, days)}))

    def limits_of(self, spec: VolumeSpec) -> FloatArray:
        """The IOPS and MiB/s that a spec carries, credits aside."""
        ceiling = type_of(spec, self.market.types).ceiling(spec)
        return np.array([ceiling.sustained_iops, ceiling.sustained_throughput_mib_s])

    def cuts(self, total_days: float) -> list[Cut]:
        """The cuts of each memory that is scored, the last one `days` before the end."""
        cuts: list[Cut] = []
        for memory_days in self.scored_days:
            last = total_days - self.days
            before = int((last - memory_days) // self.every_days) if last >= memory_days else -1
            days = [last - self.every_days * number for number in range(before, -1, -1)]
            cuts += [Cut(memory_days=memory_days, day=day, number=at) for at, day in enumerate(days)]
        return cuts


def need_of(rates: FloatArray) -> Need:
    """A pair of rates as a need."""
    return Need(iops=float(rates[0]), throughput_mib_s=float(rates[1]))


def _buckets(days: float, period_s: int) -> int:
    return round(days * DAY_S / period_s)
