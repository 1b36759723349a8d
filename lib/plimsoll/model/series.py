"""Series: a row for each figure that is read of a volume's metrics. Other code goes by groups, roles and sides.

A series that is read and added up like others is a row here and one in the cloud's table of queries.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plimsoll.model.ceiling import Resource
from plimsoll.model.units import MIB


class Role(StrEnum):
    """The part of a series in a decision."""

    WORK = "work"
    """Operations or bytes of one direction."""
    IDLE = "idle"
    """Seconds without a pending operation."""
    BALANCE = "balance"
    """What is left of the volume's credits."""
    CHECK = "check"
    """Above 0 where some second asked for more than is provisioned."""
    PEAK = "peak"
    """Operations or bytes of one direction in its busiest second."""
    HIGHEST = "highest"
    """The rate of the busiest minute."""
    SUMMED = "summed"
    """The sum of the rates of all minutes."""
    HOST_CHECK = "host-check"
    """Minutes in which more was asked of the volume's only host than its maximum."""
    HOST_BALANCE = "host-balance"
    """What is left of the credits of the volume's only host."""
    QUEUE = "queue"
    """Operations that wait."""
    SIGNAL = "signal"
    """How the volume answered."""


class IoDirection(StrEnum):
    """The operations that a series counts."""

    READS = "reads"
    WRITES = "writes"


class Longer(StrEnum):
    """The figure that a longer bucket has of the shorter ones in it."""

    SUM = "sum"
    HIGHEST = "highest"
    LEAST = "least"
    MEAN = "mean"


class Lives(StrEnum):
    """The epochs of a volume in which a series has points."""

    ALWAYS = "always"
    WHILE_CREDITED = "while-credited"


OPERATIONS: Final = "operations"

BYTES: Final = "bytes"

IDLE: Final = "idle"

PRESENCE: Final = "presence"
"""One series of the work, for nothing but whether there are points."""

BALANCE: Final = "balance"

PEAKS: Final = "peaks"

STEP: Final = "step"
"""Read where nothing else tells how often points come (`plimsoll.refine.next`)."""

SIGNALS: Final = "signals"
"""Read beside what is recommended (`plimsoll.reading.signals`)."""

PAST_RATES: Final = "past-rates"
"""The highest minutes alone, of days before the window (`plimsoll.past.memory`)."""

WORK_OF: Final[Mapping[Resource, str]] = {Resource.IOPS: OPERATIONS, Resource.THROUGHPUT: BYTES}

CHECKS: Final[Mapping[Resource, str]] = {Resource.IOPS: "iops-check", Resource.THROUGHPUT: "throughput-check"}

HIGHEST: Final[Mapping[Resource, str]] = {Resource.IOPS: "highest-iops", Resource.THROUGHPUT: "highest-throughput"}
"""The highest minute of a bucket and the sum of all, where a cloud publishes each minute's rate as a series of its own.
Nobody needs them where every minute is read."""

HOST_CHECKS: Final[Mapping[Resource, str]] = {
    Resource.IOPS: "host-iops-check",
    Resource.THROUGHPUT: "host-throughput-check",
}

HOST_BALANCES: Final[Mapping[Resource, str]] = {
    Resource.IOPS: "host-iops-balance",
    Resource.THROUGHPUT: "host-throughput-balance",
}

WORK: Final = (*WORK_OF.values(), IDLE)
"""The groups that say when the volume was observed: a point of any of them does."""

HOST: Final = (*HOST_CHECKS.values(), *HOST_BALANCES.values())
"""The groups that say where a host was the limit: asked by one of its volumes, and only where it may have been."""

EVERY_MINUTE: Final = (*WORK, BALANCE, *CHECKS.values(), PEAKS)
"""The groups that are read where every minute is."""

FIRST: Final = (*EVERY_MINUTE, *HIGHEST.values())
"""The groups that are read of every volume from the start."""

PER_UNIT: Final[Mapping[Resource, float]] = {Resource.IOPS: 1.0, Resource.THROUGHPUT: MIB}
"""How many operations or bytes are one of a side's unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A figure of each bucket of time, in a unit. NaN stands where the cloud has no point."""

    name: str
    unit: str
    role: Role
    groups: tuple[str, ...]
    """With which others it is read."""
    side: Resource | None = None
    direction: IoDirection | None = None
    longer: Longer = Longer.SUM
    least_period_s: int = 0
    """The finest period in which any cloud publishes it."""
    lives: Lives = Lives.ALWAYS


_IOPS, _THROUGHPUT = Resource.IOPS, Resource.THROUGHPUT

_READS, _WRITES = IoDirection.READS, IoDirection.WRITES

_FIVE_MINUTES_S: Final = 300


def _work(name: str, side: Resource, direction: IoDirection, *groups: str) -> Series:
    of_side = (WORK_OF[side], *groups)
    return Series(name=name, unit=WORK_OF[side], role=Role.WORK, groups=of_side, side=side, direction=direction)


def _check(name: str, side: Resource) -> Series:
    return Series(name=name, unit="", role=Role.CHECK, groups=(CHECKS[side],), side=side, longer=Longer.HIGHEST)


def _peak(name: str, side: Resource, direction: IoDirection) -> Series:
    return Series(
        name=name,
        unit=WORK_OF[side],
        role=Role.PEAK,
        groups=(PEAKS,),
        side=side,
        direction=direction,
        longer=Longer.HIGHEST,
    )


def _highest(name: str, side: Resource) -> Series:
    groups = HIGHEST[side], PAST_RATES
    return Series(name=name, unit=side.unit, role=Role.HIGHEST, groups=groups, side=side, longer=Longer.HIGHEST)


def _sum_of_minutes(name: str, side: Resource) -> Series:
    return Series(name=name, unit=side.unit, role=Role.SUMMED, groups=(HIGHEST[side],), side=side)


def _host_check(name: str, side: Resource) -> Series:
    return Series(name=name, unit="minutes", role=Role.HOST_CHECK, groups=(HOST_CHECKS[side], SIGNALS), side=side)


def _host_balance(name: str, side: Resource) -> Series:
    return Series(
        name=name,
        unit="%",
        role=Role.HOST_BALANCE,
        groups=(HOST_BALANCES[side], SIGNALS),
        side=side,
        longer=Longer.LEAST,
        least_period_s=_FIVE_MINUTES_S,
    )


def _signal(name: str, unit: str, longer: Longer, direction: IoDirection | None = None) -> Series:
    return Series(name=name, unit=unit, role=Role.SIGNAL, groups=(SIGNALS,), direction=direction, longer=longer)


def _queue(name: str, longer: Longer, *groups: str) -> Series:
    return Series(name=name, unit=OPERATIONS, role=Role.QUEUE, groups=groups, longer=longer)


_ROWS: Final = (
    _work("read_ops", _IOPS, _READS, PRESENCE, STEP),
    _work("write_ops", _IOPS, _WRITES, STEP),
    _work("read_bytes", _THROUGHPUT, _READS),
    _work("write_bytes", _THROUGHPUT, _WRITES),
    Series(name="idle_s", unit="s", role=Role.IDLE, groups=(IDLE,)),
    Series(
        name="burst_balance_pct",
        unit="%",
        role=Role.BALANCE,
        groups=(BALANCE,),
        longer=Longer.LEAST,
        lives=Lives.WHILE_CREDITED,
    ),
    _check("iops_exceeded", _IOPS),
    _check("throughput_exceeded", _THROUGHPUT),
    _peak("peak_read_ops", _IOPS, _READS),
    _peak("peak_write_ops", _IOPS, _WRITES),
    _peak("peak_read_bytes", _THROUGHPUT, _READS),
    _peak("peak_write_bytes", _THROUGHPUT, _WRITES),
    _highest("highest_iops", _IOPS),
    _sum_of_minutes("summed_iops", _IOPS),
    _highest("highest_throughput_mib_s", _THROUGHPUT),
    _sum_of_minutes("summed_throughput_mib_s", _THROUGHPUT),
    _host_check("host_iops_exceeded_minutes", _IOPS),
    _host_check("host_throughput_exceeded_minutes", _THROUGHPUT),
    _host_balance("host_iops_balance_pct", _IOPS),
    _host_balance("host_throughput_balance_pct", _THROUGHPUT),
    _queue("mean_queue_length", Longer.MEAN, STEP, SIGNALS),
    _queue("highest_queue_length", Longer.HIGHEST, SIGNALS),
    _signal("read_time_s", "s", Longer.SUM, _READS),
    _signal("write_time_s", "s", Longer.SUM, _WRITES),
    _signal("timed_reads", OPERATIONS, Longer.SUM, _READS),
    _signal("timed_writes", OPERATIONS, Longer.SUM, _WRITES),
    _signal("highest_read_latency_ms", "ms", Longer.HIGHEST, _READS),
    _signal("highest_write_latency_ms", "ms", Longer.HIGHEST, _WRITES),
    _signal("mean_io_latency_ms", "ms", Longer.MEAN),
    _signal("highest_io_latency_ms", "ms", Longer.HIGHEST),
    _signal("stalled_minutes", "minutes", Longer.SUM),
    _signal("degraded_minutes", "minutes", Longer.SUM),
)

SERIES: Final[Mapping[str, Series]] = {row.name: row for row in _ROWS}

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    group: tuple(row.name for row in _ROWS if group in row.groups)
    for group in dict.fromkeys(group for row in _ROWS for group in row.groups)
}
"""The series of each group, in the order of their rows: reads before writes, the highest before the sum."""

WORK_SERIES: Final = tuple(name for group in WORK_OF.values() for name in NAMES[group])
"""The sums that demand is made of."""

LEAST_PERIOD_S: Final[Mapping[str, int]] = {
    group: max(SERIES[name].least_period_s for name in names) for group, names in NAMES.items()
}
"""The finest period in which all series of a group are published."""


def names_with(*roles: Role) -> tuple[str, ...]:
    """The names of all series that have one of some roles."""
    return tuple(row.name for row in _ROWS if row.role in roles)


RATE_ROUNDING: Final = {Resource.IOPS: 0.5, Resource.THROUGHPUT: 0.5 / 1024}
"""By how much a published rate may be rounded: half an operation or half a KiB a second."""
