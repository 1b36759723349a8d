"""Workloads: seeded demand, minute by minute, evaluated for any span of time and stored nowhere.

Each archetype is a pure function of a volume's seed and the day: the same minutes come out whichever window is asked,
so any period is an exact sum of the same minutes. What comes out is what a volume *served*: throttled archetypes stand
at their ceiling, with exceeded checks raised; the others stay well under it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from plimsoll.domain.period import FloatArray
from plimsoll.domain.units import KIB, MIB

DAY_MINUTES: Final = 1440
SERIES: Final = (
    "read_ops",
    "write_ops",
    "read_bytes",
    "write_bytes",
    "idle_s",
    "burst_balance_pct",
    "iops_exceeded",
    "throughput_exceeded",
)


class Archetype(StrEnum):
    """What a workload is like."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A volume's demand: its archetype, the rates it moves between (IOPS), its I/O size and share of reads.

    `ceiling_iops` and `ceiling_throughput_mib_s` are what it stands at when throttled, `sustained_iops` what a
    credit-starved volume is left with.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """One day of minutes: IOPS served, how busy, credit balance, checks, and which minutes have points at all."""

    iops: FloatArray
    busy_share: FloatArray
    balance_pct: FloatArray
    iops_exceeded: npt.NDArray[np.bool_]
    throughput_exceeded: npt.NDArray[np.bool_]
    present: npt.NDArray[np.bool_]


def minutes(workload: Workload, first_minute: int, count: int) -> dict[str, FloatArray]:
    """The eight series of a span of minutes (minutes since the epoch), NaN where there is no point.

    Sums are whole operations and bytes of one minute; idle time is in seconds, the balance in percent and not there for
    idle minutes, checks are 0 or 1.
    """
    first_day, last_day = first_minute // DAY_MINUTES, (first_minute + count - 1) // DAY_MINUTES
    days = [_served(workload, day) for day in range(first_day, last_day + 1)]
    whole = {name: np.concatenate([day[name] for day in days]) for name in SERIES}
    offset = first_minute - first_day * DAY_MINUTES
    return {name: values[offset : offset + count] for name, values in whole.items()}


def _served(workload: Workload, day: int) -> dict[str, FloatArray]:
    rng = np.random.Generator(np.random.Philox(key=workload.seed, counter=[0, 0, 0, day]))
    shape = _SHAPES[workload.archetype](workload, day, rng)
    ops = np.round(shape.iops * 60)
    reads = np.round(ops * workload.read_share)
    size = round(workload.io_kib * KIB)
    made = {
        "read_ops": reads,
        "write_ops": ops - reads,
        "read_bytes": reads * size,
        "write_bytes": (ops - reads) * size,
        "idle_s": np.round(60 * (1 - np.where(ops > 0, shape.busy_share, 0.0)), 3),
        "burst_balance_pct": np.where(ops > 0, shape.balance_pct, np.nan),
        "iops_exceeded": shape.iops_exceeded.astype(np.float64),
        "throughput_exceeded": shape.throughput_exceeded.astype(np.float64),
    }
    made = {name: np.where(shape.present, values, np.nan) for name, values in made.items()}
    if workload.archetype is Archetype.QUIET_XEN:
        for name in ("read_bytes", "write_bytes"):
            made[name] = np.where(made[name] > 0, made[name], np.nan)
    return made


def _day(iops: FloatArray, **given: FloatArray) -> Day:
    """A day of that demand, with what is not given as on a healthy volume."""
    never = np.zeros(DAY_MINUTES, dtype=np.bool_)
    usual: dict[str, FloatArray] = {
        "busy_share": np.clip(0.25 + 0.7 * iops / max(float(iops.max()), 1.0), 0.02, 0.95),
        "balance_pct": np.full(DAY_MINUTES, 100.0),
        "iops_exceeded": never,  # type: ignore[dict-item]  # flags beside rates
        "throughput_exceeded": never,  # type: ignore[dict-item]  # flags beside rates
        "present": ~never,  # type: ignore[dict-item]  # flags beside rates
    }
    return Day(iops=np.maximum(iops, 0.0), **{**usual, **given})  # type: ignore[arg-type]  # as above


def _noise(rng: np.random.Generator, share: float) -> FloatArray:
    return 1 + share * (2 * rng.random(DAY_MINUTES) - 1)


def _hours(first: float, last: float) -> npt.NDArray[np.bool_]:
    hour = np.arange(DAY_MINUTES) / 60
    return (hour >= first) & (hour < last)


def _idle(work: Workload, _day_number: int, rng: np.random.Generator) -> Day:
    return _day(np.where(rng.random(DAY_MINUTES) < 0.05, work.high_iops * rng.random(DAY_MINUTES), 0.0))


def _steady(work: Workload, _day_number: int, rng: np.random.Generator) -> Day:
    return _day(work.low_iops + (work.high_iops - work.low_iops) * rng.random(DAY_MINUTES))


def _diurnal(work: Workload, day_number: int, rng: np.random.Generator) -> Day:
    wave = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(DAY_MINUTES) - 180) / DAY_MINUTES)
    weekend = 0.5 if (day_number + 3) % 7 >= 5 else 1.0
    return _day((work.low_iops + (work.high_iops - work.low_iops) * weekend * wave) * _noise(rng, 0.08) / 1.08)


def _nightly(work: Workload, _day_number: int, rng: np.random.Generator) -> Day:
    return _day(np.where(_hours(2, 3.5), work.high_iops * _noise(rng, 0.05) / 1.05, work.low_iops * _noise(rng, 0.3)))


def _bursts(work: Workload, _day_number: int, rng: np.random.Generator) -> Day:
    iops = work.low_iops * _noise(rng, 0.3)
    iops[rng.choice(DAY_MINUTES, size=3, replace=False)] = work.high_iops
    return _day(iops)


def _throttled_iops(work: Workload, _day_number: int, rng: np.random.Generator) -> Day:
    held = _hours(9, 17)
    iops = np.where(held, work.ceiling_iops * _noise(rng, 0.015), work.low_iops * _noise(rng, 0.3))
    return _day(iops, iops_exceeded=held, busy_share=np.where(held, 1.0, 0.3))  # type: ignore[arg-type]  # flags


def _throttled_throughput(work: Workload, _day_number: int, rng: np.random.Generator) -> Day:
    held = _hours(9, 17)
    ceiling = work.ceiling_throughput_mib_s * MIB / (work.io_kib * KIB)
    iops = np.where(held, ceiling * _noise(rng, 0.015), work.low_iops * _noise(rng, 0.3))
    return _day(iops, throughput_exceeded=held, busy_share=np.where(held, 1.0, 0.3))  # type: ignore[arg-type]  # flags


def _starved(work: Workload, _day_number: int, rng: np.random.Generator) -> Day:
    held = _hours(8, 20)
    iops = np.where(held, work.sustained_iops * _noise(rng, 0.01), work.low_iops * _noise(rng, 0.3))
    since_evening = (np.arange(DAY_MINUTES) - 20 * 60) % DAY_MINUTES
    refilled = np.clip(since_evening / (12 * 60) * 40, 1.5, 40)
    return _day(iops, balance_pct=np.where(held, 0.0, refilled), busy_share=np.where(held, 1.0, 0.3))


def _micro_bursts(work: Workload, _day_number: int, rng: np.random.Generator) -> Day:
    bursting = np.zeros(DAY_MINUTES, dtype=np.bool_)
    bursting[rng.choice(DAY_MINUTES, size=4, replace=False)] = True
    iops = np.where(bursting, work.high_iops, work.low_iops * _noise(rng, 0.3))
    at_ceiling = work.high_iops / work.ceiling_iops
    return _day(iops, iops_exceeded=bursting, busy_share=np.where(bursting, at_ceiling, 0.3))  # type: ignore[arg-type]  # flags


def _sequential(work: Workload, _day_number: int, rng: np.random.Generator) -> Day:
    return _day(np.where(_hours(1, 5), work.high_iops * _noise(rng, 0.06) / 1.06, work.low_iops * _noise(rng, 0.3)))


def _gaps(work: Workload, day_number: int, rng: np.random.Generator) -> Day:
    present = ~(_hours(4, 10) & (day_number % 3 == 0))
    steady = _steady(work, day_number, rng)
    return _day(steady.iops, present=present)  # type: ignore[arg-type]  # flags


def _quiet_xen(work: Workload, _day_number: int, rng: np.random.Generator) -> Day:
    return _day(np.where(_hours(8, 18), work.high_iops * rng.random(DAY_MINUTES), 0.0))


def _host_bound(work: Workload, _day_number: int, rng: np.random.Generator) -> Day:
    held = _hours(10, 10.25)
    return _day(np.where(held, work.high_iops * _noise(rng, 0.005), work.low_iops * _noise(rng, 0.3)))


_SHAPES: Final[dict[Archetype, Callable[[Workload, int, np.random.Generator], Day]]] = {
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
}
