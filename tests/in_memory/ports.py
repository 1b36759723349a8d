"""The ports that an audit reads from, in memory: the reference for every cloud."""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from cloud_simulator.metrics.sums import Sums
from plimsoll.decide.answer import ChangeSteps, command_step
from plimsoll.model.errors import CloudError
from plimsoll.model.market import PriceBook, VolumeType
from plimsoll.model.series import SERIES, Longer
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.ports import CallLimits, FailedTarget, Target, UnreadVolume, Usage
from plimsoll.reading.known import Ask, Found, find_only_place
from plimsoll.reading.window import Window


@dataclass(slots=True, kw_only=True)
class MemoryInventory:
    """Volumes given as a list, all of one cloud; `empty` targets have none, and `broken` ones raise when listed.

    `unread` comes after the volumes of its target, in the place of the volumes with the same ids.
    """

    given: Sequence[Volume]
    unreachable: Sequence[FailedTarget] = ()
    empty: Sequence[Target] = ()
    broken: Mapping[Target, CloudError] = field(default_factory=dict)
    texts: Mapping[Target, Sequence[str]] = field(default_factory=dict)
    unread: Mapping[Target, Sequence[UnreadVolume]] = field(default_factory=dict)
    provider: str = "aws"

    def targets(self) -> Sequence[Target | FailedTarget]:
        """Every target that a volume names or that is broken, in order."""
        places = {Target(account=volume.account, region=volume.region, provider=self.provider) for volume in self.given}
        return [*sorted({*places, *self.broken, *self.empty}), *self.unreachable]

    def volumes(self, target: Target) -> Iterator[Volume | UnreadVolume]:
        """The target's volumes in the order given, then its error if it has one."""
        for volume in self.given:
            if (volume.account, volume.region) == (target.account, target.region):
                yield volume
        yield from self.unread.get(target, ())
        if target in self.broken:
            raise self.broken[target]

    def notices(self, target: Target) -> Sequence[str]:
        """The target's notices."""
        return self.texts.get(target, ())


@dataclass(slots=True, kw_only=True)
class MemoryMetrics:
    """Sums given by volume id at one period; coarser periods are summed from them, absent windows are NaN."""

    given: Mapping[str, Sums]
    broken: Mapping[str, CloudError] = field(default_factory=dict)
    retention_days: Mapping[int, float] = field(default_factory=lambda: {60: 15, 300: 63, 3600: 455})
    memory_days: float = 0.0
    visible_after_s: int = 0
    texts: Mapping[Target, Sequence[str]] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)

    @property
    def call_limits(self) -> CallLimits:
        """Without limit."""
        return CallLimits(queries=sys.maxsize, datapoints=sys.maxsize)

    def series(self, volume: Volume) -> int:
        """As many as were given."""
        return len(self.given[volume.id].series) if volume.id in self.given else 0

    def host_series(self, volume: Volume) -> int:
        """As many as were given."""
        return sum(name.startswith("host_") for name in self.given[volume.id].series) if volume.id in self.given else 0

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """The asked series over the asked windows."""
        if asks:
            find_only_place(asks)
        self.usage.calls += 1
        return [self.broken.get(ask.volume.id) or self._found(ask) for ask in asks]

    def remarks(self, target: Target) -> Sequence[str]:
        """The target's remarks."""
        return self.texts.get(target, ())

    def _found(self, ask: Ask) -> Found:
        window, period_s = ask.look.window, ask.look.period_s
        whole = self.given.get(ask.volume.id)
        sums = nothing(window, period_s) if whole is None else cut(whole, window, period_s, ask.look.series)
        found = {name: values for name, values in sums.series.items() if name in ask.look.series}
        self.usage.metrics += len(found)
        self.usage.datapoints += len(found) * window.buckets(period_s)
        return found


def nothing(window: Window, period_s: int) -> Sums:
    """Sums of a volume for which the cloud has no point."""
    empty = np.full(window.buckets(period_s), np.nan)
    return Sums(
        start_s=window.start_s, period_s=period_s, read_ops=empty, write_ops=empty, read_bytes=empty, write_bytes=empty
    )


def cut(sums: Sums, window: Window, period_s: int, names: Collection[str] = tuple(SERIES)) -> Sums:
    """The part of some sums that lies in a window, in buckets of a period that is a multiple of theirs.

    Counters that are not among `names` are left NaN, other series None.
    """
    fine = Window(start_s=window.start_s, end_s=window.end_s)
    offset = (window.start_s - sums.start_s) // sums.period_s
    index = np.arange(fine.buckets(sums.period_s)) + offset
    inside = (index >= 0) & (index < sums.buckets)
    folded = {}
    for name, values in sums.series.items():
        if name not in names:
            continue
        placed = np.where(inside, values[np.clip(index, 0, sums.buckets - 1)], np.nan)
        folded[name] = _fold(placed.reshape(-1, period_s // sums.period_s), name)
    return nothing(window, period_s).with_series(**folded)


def _fold(buckets: np.ndarray[tuple[int, ...], np.dtype[np.float64]], name: str) -> object:
    absent = np.isnan(buckets).all(axis=1)
    if SERIES[name].longer is Longer.LEAST:
        folded = np.where(np.isnan(buckets), np.inf, buckets).min(axis=1)
    elif SERIES[name].longer is Longer.HIGHEST:
        folded = np.nan_to_num(buckets).max(axis=1)
    else:
        folded = np.nansum(buckets, axis=1)
    return np.where(absent, np.nan, folded)


@dataclass(slots=True, kw_only=True)
class MemoryPrices:
    """Price books by region."""

    books: Mapping[str, PriceBook]

    def book(self, target: Target) -> PriceBook | None:
        """The region's book, None where there is none."""
        return self.books.get(target.region)


@dataclass(slots=True, kw_only=True)
class MemoryCatalog:
    """Volume types given as a mapping; changes are named, not explained."""

    types: Mapping[str, VolumeType]
    provider: str = "memory"

    def change(self, volume: Volume, target: VolumeSpec) -> ChangeSteps:
        """The change and its way back, a line each."""
        return ChangeSteps(
            forth=(command_step(f"change {volume.id} to {target}"),),
            back=(command_step(f"change {volume.id} to {volume.spec}"),),
        )


@dataclass(slots=True, kw_only=True)
class MemoryClock:
    """A clock that stands where it is set."""

    time: datetime

    def now(self) -> datetime:
        """The time it is set to."""
        return self.time
