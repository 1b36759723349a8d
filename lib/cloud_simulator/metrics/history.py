"""History: what a cloud's metrics have of a volume, in buckets of any period, with as few minutes made as can be.

The minutes of whole days are remembered for a while, because every series of a volume and most windows of it need the
same ones. Beyond that each series is remembered folded by the hour, in the statistic that is usually asked of it, so
that any number of whole hours is answered without its minutes. What is answered is the same to the last bit as a fold
of the minutes themselves.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from cloud_simulator.faults import Refused
from cloud_simulator.metrics.workloads import DAY_MINUTES
from cloud_simulator.units import DAY_S, HOUR_S, MINUTE_S, FloatArray

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(slots=True)
class Remembered(Generic[Key, Value]):
    """A cache of at most `budget_bytes`, by the sizes that are given with the values; for any number of threads."""

    budget_bytes: int
    used_bytes: int = 0
    _kept: OrderedDict[Key, tuple[Value, int]] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def get(self, key: Key) -> Value | None:
        """The value that was put there last. None if it is forgotten."""
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return None
            self._kept.move_to_end(key)
            return entry[0]

    def put(self, key: Key, value: Value, size_bytes: int) -> None:
        """Remembers a value, unless it is larger than the budget."""
        with self._lock:
            _, before_bytes = self._kept.pop(key, (None, 0))
            self.used_bytes -= before_bytes
            if size_bytes > self.budget_bytes:
                return
            self._kept[key] = value, size_bytes
            self.used_bytes += size_bytes
            while self.used_bytes > self.budget_bytes:
                _, (_, gone_bytes) = self._kept.popitem(last=False)
                self.used_bytes -= gone_bytes


MINUTES_BYTES: Final = 48 << 20
"""The minutes of some forty volumes over a fortnight, or of five hundred over a day."""

FOLDS_BYTES: Final = 192 << 20
"""The hours of fifteen thousand volumes over a fortnight."""

_OVERHEAD_BYTES: Final = 128
"""Of an array beside its figures, and of what holds them, for each array of theirs."""

Compact = npt.NDArray[np.float64] | npt.NDArray[np.float32]


class Identified(Protocol):
    """A subject that is remembered by its id."""

    @property
    def id(self) -> str:
        """Of its own."""


Subject = TypeVar("Subject", bound=Identified)


@dataclass(frozen=True, slots=True)
class _Folded:
    """Consecutive buckets of several series, counted from the first bucket at or after the epoch."""

    first: int
    count: int
    series: Mapping[str, Compact]

    @property
    def end(self) -> int:
        return self.first + self.count


@dataclass(slots=True)
class History(Generic[Subject]):
    """Buckets of subjects that have minutes.

    `served` makes all series of a span of minutes since the epoch, NaN where there is no point. `usual` is the
    statistic of each series that is remembered. `uneven` are series whose minutes are no whole numbers, so that the
    last bit of a sum depends on how it is grouped: periods longer than an hour are remembered each for themselves. Sums
    of whole numbers are exact below 2^53: 97 GiB in every second of a day. What a subject did is remembered by
    `name_of` it.
    """

    served: Callable[[Subject, int, int], dict[str, FloatArray]]
    usual: Mapping[str, str]
    uneven: frozenset[str] = frozenset()
    name_of: Callable[[Subject], str] = attrgetter("id")
    minutes: Remembered[tuple[str, int, int], dict[str, FloatArray]] = field(
        default_factory=lambda: Remembered(MINUTES_BYTES)
    )
    folds: Remembered[tuple[str, int, int], _Folded] = field(default_factory=lambda: Remembered(FOLDS_BYTES))

    def buckets(self, volume: Subject, series: str, stat: str, start_s: int, count: int, period_s: int) -> FloatArray:
        """A statistic of `count` minutes from `start_s` (epoch seconds) on, by buckets that begin there.

        The last bucket has what minutes it has; NaN stands for a bucket without a point.
        """
        if start_s % HOUR_S or period_s % HOUR_S or period_s > DAY_S or self.usual[series] != stat:
            return self._of_minutes(volume, series, stat, start_s, count, period_s)
        whole = count * MINUTE_S // period_s
        if not whole:
            return self._of_minutes(volume, series, stat, start_s, count, period_s)
        folded = self._of_hours(volume, series, start_s, whole, period_s)
        done = whole * period_s // MINUTE_S
        if done == count:
            return folded
        tail = self._of_minutes(volume, series, stat, start_s + whole * period_s, count - done, period_s)
        return np.concatenate([folded, tail])

    def _of_minutes(
        self, volume: Subject, series: str, stat: str, start_s: int, count: int, period_s: int
    ) -> FloatArray:
        width = period_s // MINUTE_S
        made = self._make_minutes(volume, start_s // MINUTE_S, count)[series]
        if count % width:
            made = np.concatenate([made, np.full(-count % width, np.nan)])
        return fold(made.reshape(-1, width), stat)

    def _of_hours(self, volume: Subject, series: str, start_s: int, whole: int, period_s: int) -> FloatArray:
        """Whole buckets of whole hours."""
        grain_s = period_s if series in self.uneven else HOUR_S
        phase_s = start_s % grain_s
        first, count = start_s // grain_s, whole * (period_s // grain_s)
        kept = self._fold_at_least(volume, grain_s, phase_s, first, count)
        folds = kept.series[series][first - kept.first :][:count].astype(np.float64)
        return fold(folds.reshape(-1, period_s // grain_s), self.usual[series])

    def _fold_at_least(self, volume: Subject, grain_s: int, phase_s: int, first: int, count: int) -> _Folded:
        """At least those buckets: the remembered ones, and what is missing before and after them."""
        key = (self.name_of(volume), grain_s, phase_s)
        kept = self.folds.get(key)
        end = first + count
        if kept is not None and kept.first <= first and end <= kept.end:
            return kept
        if kept is None or end < kept.first or kept.end < first:
            grown = self._fold(volume, grain_s, phase_s, first, count)
        else:
            before = self._fold(volume, grain_s, phase_s, first, kept.first - first)
            after = self._fold(volume, grain_s, phase_s, kept.end, end - kept.end)
            grown = _join([before, kept, after])
        self.folds.put(key, grown, sum(values.nbytes + _OVERHEAD_BYTES for values in grown.series.values()))
        return grown

    def _fold(self, volume: Subject, grain_s: int, phase_s: int, first: int, count: int) -> _Folded:
        width = grain_s // MINUTE_S
        made = self._make_minutes(volume, (first * grain_s + phase_s) // MINUTE_S, max(0, count) * width)
        series = self.usual.keys() if grain_s == HOUR_S else self.uneven
        return _Folded(
            first,
            max(0, count),
            {name: _compact(fold(made[name].reshape(-1, width), self.usual[name])) for name in series},
        )

    def _make_minutes(self, volume: Subject, first: int, count: int) -> dict[str, FloatArray]:
        """The minutes of a span, cut from its whole days."""
        if count <= 0:
            return dict.fromkeys(self.usual, np.empty(0))
        first_day, days = first // DAY_MINUTES, (first + count - 1) // DAY_MINUTES - first // DAY_MINUTES + 1
        key = (self.name_of(volume), first_day, days)
        made = self.minutes.get(key)
        if made is None:
            made = self.served(volume, first_day * DAY_MINUTES, days * DAY_MINUTES)
            self.minutes.put(key, made, sum(values.nbytes for values in made.values()))
        begin = first - first_day * DAY_MINUTES
        return {name: values[begin : begin + count] for name, values in made.items()}


def _join(parts: Iterable[_Folded]) -> _Folded:
    """Buckets that follow each other, as one."""
    filled = [part for part in parts if part.count]
    series = {name: np.concatenate([part.series[name] for part in filled]) for name in filled[0].series}
    return _Folded(filled[0].first, sum(part.count for part in filled), series)


def _compact(values: FloatArray) -> Compact:
    """The same figures in half the space, where single precision holds them exactly."""
    small = values.astype(np.float32)
    exact: bool = ((small == values) | np.isnan(values)).all()
    return small if exact else values


Fold = Callable[[FloatArray], FloatArray]


def fold(buckets: FloatArray, stat: str) -> FloatArray:
    """The statistic of each row of minutes (NaN: no point), NaN for a row without any.

    Refused for an unknown statistic.
    """
    folding = _FOLDS.get(stat)
    if folding is None:
        raise Refused(
            "ValidationError",
            f"The simulated CloudWatch has no statistic {stat}: it has Sum, Average, Maximum, Minimum and SampleCount.",
        )
    return folding(buckets)


def _present_only(plain: Any, missing_as: float) -> Fold:
    """Folds whole rows as they are, and the others with `missing_as` for what is missing.

    `plain` gives NaN for a row that is not whole; most rows are.
    """

    def fold_rows(buckets: FloatArray) -> FloatArray:
        if buckets.shape[1] == 1:
            return buckets[:, 0]
        values: FloatArray = plain(buckets, axis=1)
        holed = np.isnan(values)
        if holed.any():
            rows = buckets[holed]
            missing = np.isnan(rows)
            values[holed] = plain(np.where(missing, missing_as, rows), axis=1)
            values[np.flatnonzero(holed)[missing.all(axis=1)]] = np.nan
        return values

    return fold_rows


def _count(buckets: FloatArray) -> FloatArray:
    counts = (~np.isnan(buckets)).sum(axis=1)
    return np.where(counts > 0, counts, np.nan)


_sum: Final = _present_only(np.sum, 0.0)

_FOLDS: Final[dict[str, Fold]] = {
    "Sum": _sum,
    "Maximum": _present_only(np.max, -np.inf),
    "Minimum": _present_only(np.min, np.inf),
    "Average": lambda buckets: _sum(buckets) / _count(buckets),
    "SampleCount": _count,
}
