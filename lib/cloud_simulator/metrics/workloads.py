"""Workloads: seeded demand, minute by minute, evaluated for any span of time and stored nowhere.

Each archetype is a pure function of a volume's seed and the day: the same minutes come out whichever window is asked,
so any period is an exact sum of the same minutes. What comes out is what a volume *served*: throttled archetypes stand
at their ceiling, with exceeded checks raised; the others stay well under it.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from cloud_simulator.metrics import lives
from cloud_simulator.metrics.series import IOPS, ROWS, THROUGHPUT, Served
from cloud_simulator.units import KIB, MIB, FloatArray

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
Draws = Sequence[np.random.Generator]
"""The chances of some days, each with a generator of its own."""

DAY_MINUTES: Final = 1440


class Archetype(StrEnum):
    """The kind of a workload."""

    IDLE = "idle"
    STEADY = "steady"
    DIURNAL = "diurnal"
    NIGHTLY = "nightly-batch"
    BURSTS = "one-minute-bursts"
    THROTTLED_IOPS = "throttled-iops"
    THROTTLED_THROUGHPUT = "throttled-throughput"
    STARVED = "credit-starved"
    MICRO_BURSTS = "micro-bursts"
    SEQUENTIAL = "sequential"
    GAPS = "with-gaps"
    QUIET_XEN = "xen-silent-when-idle"
    HOST_BOUND = "host-bound"
    MONTH_END = "month-end"
    QUARTER_END = "quarter-end"
    WEEKLY = "weekly-backup"
    GROWING = "growing"
    RAN_ONCE = "ran-once"
    TURNED_OFF = "turned-off"
    DEFERRED = "takes-what-it-gets"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A volume's demand: its archetype, the rates it moves between (IOPS), its I/O size and share of reads.

    `ceiling_iops` and `ceiling_throughput_mib_s` are what it stands at when throttled, `sustained_iops` what a
    credit-starved volume is left with. `on_day` (days since the epoch) is when one that grows began, one that ran once
    ran, one that was turned off ended, or the ceiling of one that takes what it gets was doubled.
    """

    archetype: Archetype
    seed: int
    low_iops: float
    high_iops: float
    io_kib: float = 16.0
    read_share: float = 0.6
    ceiling_iops: float = 0.0
    ceiling_throughput_mib_s: float = 0.0
    sustained_iops: float = 0.0
    on_day: int = 0

    @property
    def is_job(self) -> bool:
        """True for work that takes what it gets, and waits until it is done."""
        return self.archetype is Archetype.DEFERRED


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """Days of minutes: IOPS served, how busy, credit balance, which minutes asked for more than is
    provisioned by side, and which have points (None: all).

    `asked` are the IOPS that would be served without any limit (None: those that are), `peak` the busiest second of
    each minute over its mean (None: a little more, by the workload's seed). Each is, or broadcasts to, one row of
    minutes a day.
    """

    iops: FloatArray
    busy_share: FloatArray
    balance_pct: FloatArray | float = 100.0
    above: Mapping[str, Flags | bool] = field(default_factory=dict)
    present: Flags | None = None
    asked: FloatArray | None = None
    peak: FloatArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWork:
    """Whole days of work as it is asked for: operations of each minute, and the busiest second over the mean."""

    ops: FloatArray
    peak: FloatArray


def asked_work(workload: Workload, first_day: int, days: int) -> AskedWork:
    """The work that a workload asks for in some days since the epoch, whatever its volume carries."""
    numbers = np.arange(first_day, first_day + days)
    shape = _SHAPES[workload.archetype](workload, numbers, _GENERATORS.of(workload.seed, numbers))
    iops = shape.iops if shape.asked is None else shape.asked
    peak = 1 + 0.2 * _fraction(workload) if shape.peak is None else shape.peak
    whole = (days, DAY_MINUTES)
    return AskedWork(
        ops=np.broadcast_to(np.round(iops * 60), whole).reshape(-1), peak=np.broadcast_to(peak, whole).reshape(-1)
    )


def _fraction(work: Workload) -> float:
    """A figure from 0 to 1 of a workload's own."""
    return work.seed * 0.6180339887 % 1.0


def _more(work: Workload) -> float:
    """The work that a workload at its ceiling asks for, over what it gets: 1.1 to 1.6."""
    return 1.1 + 0.5 * _fraction(work)


def minutes(workload: Workload, first_minute: int, count: int) -> dict[str, FloatArray]:
    """The series of a span of minutes (minutes since the epoch), NaN where there is no point.

    Sums are whole operations and bytes of one minute; idle time is in seconds, the balance in percent and not there for
    idle minutes, checks are 0 or 1.
    """
    first_day, last_day = first_minute // DAY_MINUTES, (first_minute + count - 1) // DAY_MINUTES
    whole = _serve_days(workload, np.arange(first_day, last_day + 1))
    offset = first_minute - first_day * DAY_MINUTES
    return {name: values.reshape(-1)[offset : offset + count] for name, values in whole.items()}


def _serve_days(workload: Workload, days: Numbers) -> dict[str, FloatArray]:
    """The series of some days, one row a day."""
    shape = _SHAPES[workload.archetype](workload, days, _GENERATORS.of(workload.seed, days))
    ops = np.round(shape.iops * 60)
    reads = np.round(ops * workload.read_share)
    served = Served(
        reads=reads,
        writes=ops - reads,
        size=round(workload.io_kib * KIB),
        busy_share=shape.busy_share,
        balance_pct=shape.balance_pct,
        above=shape.above,
    )
    made = {row.name: row.made(served) for row in ROWS}
    if shape.present is not None:
        made = {name: np.where(shape.present, values, np.nan) for name, values in made.items()}
    if workload.archetype is Archetype.QUIET_XEN:
        for name in ("read_bytes", "write_bytes"):
            made[name] = np.where(made[name] > 0, made[name], np.nan)
    return made


class _Generators(threading.local):
    """Each thread's generators: to set one back is ten times as fast as to make one."""

    def __init__(self) -> None:
        self.made: list[np.random.Generator] = []

    def of(self, seed: int, days: Numbers) -> Draws:
        """One generator for each day, at its start: those that Philox(key=seed, counter=[0, 0, 0, day]) makes."""
        while len(self.made) < len(days):
            self.made.append(np.random.Generator(np.random.Philox()))
        drawn = self.made[: len(days)]
        for rng, day in zip(drawn, days.tolist(), strict=True):
            at = {"counter": np.array([0, 0, 0, day], np.uint64), "key": np.array([seed, 0], np.uint64)}
            rng.bit_generator.state = {**_FRESH, "state": at}
        return drawn


_FRESH: Final = {
    "bit_generator": "Philox",
    "buffer": np.zeros(4, np.uint64),
    "buffer_pos": 4,
    "has_uint32": 0,
    "uinteger": 0,
}
_GENERATORS: Final = _Generators()


def _usual(iops: FloatArray, *, present: Flags | None = None) -> Days:
    """Days of that demand on a healthy volume: it is as busy as the minute is beside the busiest of its day."""
    busiest = np.maximum(iops.max(axis=1, keepdims=True), 1.0)
    return Days(
        iops=np.maximum(iops, 0.0), busy_share=np.clip(0.25 + 0.7 * iops / busiest, 0.02, 0.95), present=present
    )


def _random(draws: Draws) -> FloatArray:
    """The next draws from 0 to 1 of each day, one a minute."""
    rows = np.empty((len(draws), DAY_MINUTES))
    for row, rng in zip(rows, draws, strict=True):
        rng.random(out=row)
    return rows


def _noise(draws: Draws, share: float) -> FloatArray:
    return 1 + share * (2 * _random(draws) - 1)


def _pick_minutes(draws: Draws, size: int) -> Flags:
    """`size` minutes of each day, picked by chance."""
    rows = np.zeros((len(draws), DAY_MINUTES), dtype=np.bool_)
    for row, rng in zip(rows, draws, strict=True):
        row[rng.choice(DAY_MINUTES, size=size, replace=False)] = True
    return rows


@cache
def _hours(first: float, last: float) -> Flags:
    hour = np.arange(DAY_MINUTES) / 60
    return (hour >= first) & (hour < last)


def _idle(work: Workload, _days: Numbers, draws: Draws) -> Days:
    return _usual(np.where(_random(draws) < 0.05, work.high_iops * _random(draws), 0.0))


def _steady(work: Workload, _days: Numbers, draws: Draws) -> Days:
    return _usual(work.low_iops + (work.high_iops - work.low_iops) * _random(draws))


_WAVE: Final = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(DAY_MINUTES) - 180) / DAY_MINUTES)


def _diurnal(work: Workload, days: Numbers, draws: Draws) -> Days:
    weekend = np.where((days + 3) % 7 >= 5, 0.5, 1.0)[:, np.newaxis]
    return _usual((work.low_iops + (work.high_iops - work.low_iops) * weekend * _WAVE) * _noise(draws, 0.08) / 1.08)


def _nightly(work: Workload, _days: Numbers, draws: Draws) -> Days:
    busy = work.high_iops * _noise(draws, 0.05) / 1.05
    return _usual(np.where(_hours(2, 3.5), busy, work.low_iops * _noise(draws, 0.3)))


def _bursts(work: Workload, _days: Numbers, draws: Draws) -> Days:
    quiet = work.low_iops * _noise(draws, 0.3)
    return _usual(np.where(_pick_minutes(draws, 3), work.high_iops, quiet))


def _throttled_iops(work: Workload, _days: Numbers, draws: Draws) -> Days:
    held = _hours(9, 17)
    iops = np.where(held, work.ceiling_iops * _noise(draws, 0.015), work.low_iops * _noise(draws, 0.3))
    return Days(
        iops=np.maximum(iops, 0.0),
        above={IOPS: held},
        busy_share=np.where(held, 1.0, 0.3),
        asked=np.where(held, iops * _more(work), iops),
    )


def _throttled_throughput(work: Workload, _days: Numbers, draws: Draws) -> Days:
    held = _hours(9, 17)
    ceiling = work.ceiling_throughput_mib_s * MIB / (work.io_kib * KIB)
    iops = np.where(held, ceiling * _noise(draws, 0.015), work.low_iops * _noise(draws, 0.3))
    return Days(
        iops=np.maximum(iops, 0.0),
        above={THROUGHPUT: held},
        busy_share=np.where(held, 1.0, 0.3),
        asked=np.where(held, iops * _more(work), iops),
    )


def _starved(work: Workload, _days: Numbers, draws: Draws) -> Days:
    held = _hours(8, 20)
    iops = np.where(held, work.sustained_iops * _noise(draws, 0.01), work.low_iops * _noise(draws, 0.3))
    since_evening = (np.arange(DAY_MINUTES) - 20 * 60) % DAY_MINUTES
    refilled = np.clip(since_evening / (12 * 60) * 40, 1.5, 40)
    balance_pct, busy_share = np.where(held, 0.0, refilled), np.where(held, 1.0, 0.3)
    asked = np.where(held, iops * (0.5 + _more(work)), iops)
    return Days(iops=np.maximum(iops, 0.0), balance_pct=balance_pct, busy_share=busy_share, asked=asked)


def _micro_bursts(work: Workload, _days: Numbers, draws: Draws) -> Days:
    bursting = _pick_minutes(draws, 4)
    iops = np.where(bursting, work.high_iops, work.low_iops * _noise(draws, 0.3))
    at_ceiling = work.high_iops / work.ceiling_iops
    return Days(
        iops=np.maximum(iops, 0.0),
        above={IOPS: bursting},
        busy_share=np.where(bursting, at_ceiling, 0.3),
        peak=np.where(bursting, _more(work) / at_ceiling, 1.1),
    )


def _sequential(work: Workload, _days: Numbers, draws: Draws) -> Days:
    busy = work.high_iops * _noise(draws, 0.06) / 1.06
    return _usual(np.where(_hours(1, 5), busy, work.low_iops * _noise(draws, 0.3)))


_GAP_H: Final = (4, 10)
"""The hours of every third day between which the host of a workload with gaps is stopped."""


def _gaps(work: Workload, days: Numbers, draws: Draws) -> Days:
    present = ~(_hours(*_GAP_H) & (days % 3 == 0)[:, np.newaxis])
    return _usual(_steady(work, days, draws).iops, present=present)


def stopped_until_s(workload: Workload, now_s: float) -> float | None:
    """When the last gap before a time ended (epoch seconds), for a workload whose host is stopped now and then."""
    if workload.archetype is not Archetype.GAPS:
        return None
    day = int(now_s - _GAP_H[1] * 3600) // 86_400
    return (day - day % 3) * 86_400 + _GAP_H[1] * 3600


def _quiet_xen(work: Workload, _days: Numbers, draws: Draws) -> Days:
    return _usual(np.where(_hours(8, 18), work.high_iops * _random(draws), 0.0))


def _host_bound(work: Workload, _days: Numbers, draws: Draws) -> Days:
    held = _hours(10, 10.25)
    return _usual(np.where(held, work.high_iops * _noise(draws, 0.005), work.low_iops * _noise(draws, 0.3)))


def _on_days(work: Workload, days: Flags, hours: Flags, draws: Draws) -> Days:
    """Quiet, but for some hours of some days."""
    busy = work.high_iops * _noise(draws, 0.05) / 1.05
    return _usual(np.where(days[:, np.newaxis] & hours, busy, work.low_iops * _noise(draws, 0.3)))


def _month_end(work: Workload, days: Numbers, draws: Draws) -> Days:
    return _on_days(work, lives.ends_a_month(days), _hours(20, 22), draws)


def _quarter_end(work: Workload, days: Numbers, draws: Draws) -> Days:
    return _on_days(work, lives.ends_a_quarter(days), _hours(20, 23), draws)


def _weekly(work: Workload, days: Numbers, draws: Draws) -> Days:
    return _on_days(work, lives.is_a_sunday(days), _hours(1, 4), draws)


def _ran_once(work: Workload, days: Numbers, draws: Draws) -> Days:
    return _on_days(work, days == work.on_day, _hours(9, 14), draws)


def _growing(work: Workload, days: Numbers, draws: Draws) -> Days:
    high = work.low_iops + (work.high_iops - work.low_iops) * lives.growth_share(days, work.on_day)[:, np.newaxis]
    asked = high * (0.3 + 0.7 * _WAVE) * _noise(draws, 0.05) / 1.05
    served = _usual(np.minimum(asked, work.ceiling_iops))
    return replace(served, above={IOPS: asked > work.ceiling_iops}, asked=asked)


def _turned_off(work: Workload, days: Numbers, draws: Draws) -> Days:
    ran = (days < work.on_day)[:, np.newaxis]
    return _usual(np.where(ran, work.high_iops * (0.3 + 0.7 * _WAVE), work.low_iops) * _noise(draws, 0.05) / 1.05)


def _deferred(work: Workload, days: Numbers, draws: Draws) -> Days:
    """The same work each night: four hours at half of the ceiling, and two since that was doubled."""
    before = (days < work.on_day)[:, np.newaxis]
    held = np.where(before, _hours(0, 4), _hours(0, 2))
    rate = np.where(before, work.ceiling_iops / 2, work.ceiling_iops) * _noise(draws, 0.015) / 1.015
    iops = np.where(held, rate, work.low_iops * _noise(draws, 0.3))
    at_once = np.where(held, 0.0, iops)
    at_once[:, 0] = np.where(held, iops, 0.0).sum(axis=1)
    return Days(iops=np.maximum(iops, 0.0), above={IOPS: held}, busy_share=np.where(held, 1.0, 0.3), asked=at_once)


_SHAPES: Final[dict[Archetype, Callable[[Workload, Numbers, Draws], Days]]] = {
    Archetype.IDLE: _idle,
    Archetype.STEADY: _steady,
    Archetype.DIURNAL: _diurnal,
    Archetype.NIGHTLY: _nightly,
    Archetype.BURSTS: _bursts,
    Archetype.THROTTLED_IOPS: _throttled_iops,
    Archetype.THROTTLED_THROUGHPUT: _throttled_throughput,
    Archetype.STARVED: _starved,
    Archetype.MICRO_BURSTS: _micro_bursts,
    Archetype.SEQUENTIAL: _sequential,
    Archetype.GAPS: _gaps,
    Archetype.QUIET_XEN: _quiet_xen,
    Archetype.HOST_BOUND: _host_bound,
    Archetype.MONTH_END: _month_end,
    Archetype.QUARTER_END: _quarter_end,
    Archetype.WEEKLY: _weekly,
    Archetype.GROWING: _growing,
    Archetype.RAN_ONCE: _ran_once,
    Archetype.TURNED_OFF: _turned_off,
    Archetype.DEFERRED: _deferred,
}
