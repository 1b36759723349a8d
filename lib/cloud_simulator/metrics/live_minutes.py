"""Live minutes: what a volume does once it was modified, moved or disturbed, under the limits of each minute."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from cloud_simulator.metrics.carrying import Carried, Limits, carry
from cloud_simulator.metrics.events import Disturbance
from cloud_simulator.metrics.modifications import Modification
from cloud_simulator.metrics.series import CHECK_OF, IOPS, THROUGHPUT
from cloud_simulator.metrics.workloads import DAY_MINUTES, Workload, asked_work
from cloud_simulator.published import UNBOUNDED, Ceiling, TokenBucket, VolumeSpec, disk_types, ebs_types
from cloud_simulator.units import KIB_PER_MIB, MINUTE_S, FloatArray

HostMost = tuple[float, float, float]
"""A time (epoch seconds) from which on a volume's host has these most IOPS and MiB/s."""

_FREE_SHARE: Final = 0.5
"""The share of a limit up to which operations wait for none before them."""

_MOST_SHARE: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """All that decides what a volume does from its first change on; `spec` is what it was until then."""

    workload: Workload
    spec: VolumeSpec
    modifications: Sequence[Modification] = ()
    disturbances: Sequence[Disturbance] = ()
    hosts: Sequence[HostMost] = ()
    stops_s: Sequence[tuple[float, float]] = ()

    @property
    def first_minute(self) -> float:
        """The first minute that differs from what was laid out. Infinite if none does."""
        begins_s = [
            *(each.moved_s for each in self.modifications if not each.is_failed),
            *(each.span_s[0] for each in self.disturbances if each.demand != 1),
            *(begins_s for begins_s, _ in self.stops_s),
        ]
        return min((math.ceil(at_s / MINUTE_S) for at_s in begins_s), default=math.inf)

    def unchanged(self) -> "Life":
        """The same life of a volume that nobody modified."""
        return Life(
            workload=self.workload,
            spec=self.spec,
            disturbances=self.disturbances,
            hosts=self.hosts,
            stops_s=self.stops_s,
        )


def live_on(made: dict[str, FloatArray], life: Life, first_minute: int, count: int) -> None:
    """Replaces the minutes of a span from the life's first on. What comes before stays as it is."""
    begins = life.first_minute
    if first_minute + count <= begins:
        return
    carried, first = carry_minutes(life, first_minute, count, begins)
    here = slice(first_minute - first, first_minute - first + count)
    lives = np.arange(first_minute, first_minute + count) >= begins
    ops = carried.ops[here]
    reads = np.round(ops * life.workload.read_share)
    size = round(life.workload.io_kib * 1024)
    held = carried.held[here]
    usual_idle = np.where(made["idle_s"] == 0, 3.0, made["idle_s"])
    new = {
        "read_ops": reads,
        "write_ops": ops - reads,
        "read_bytes": reads * size,
        "write_bytes": (ops - reads) * size,
        "idle_s": np.where(ops == 0, float(MINUTE_S), np.where(held, 0.0, usual_idle)),
        "burst_balance_pct": np.where(ops > 0, carried.balance_pct[here], np.nan),
        **{check: carried.above[side][here].astype(np.float64) for side, check in CHECK_OF.items()},
    }
    for name, values in new.items():
        made[name] = np.where(lives & ~np.isnan(made["read_ops"]), values, made[name])
    for begins_s, ends_s in life.stops_s:
        stopped = slice(_place(begins_s, first_minute, count), _place(ends_s, first_minute, count))
        for values in made.values():
            values[stopped] = np.nan


def carry_minutes(life: Life, first_minute: int, count: int, since_minute: float) -> tuple[Carried, int]:
    """The work that is asked from a minute on, carried in the whole days of a span, and the first minute of those."""
    first_day = first_minute // DAY_MINUTES
    days = (first_minute + count - 1) // DAY_MINUTES - first_day + 1
    asked, first = asked_work(life.workload, first_day, days), first_day * DAY_MINUTES
    ops = asked.ops * _factor(life.disturbances, "demand", first, len(asked.ops))
    if since_minute > first:
        ops[: int(min(since_minute - first, len(ops)))] = 0.0
    limits = limits_of(life, first, len(ops))
    return carry(np.round(ops), asked.peak, limits, is_job=life.workload.is_job), first


def stopped_minutes(life: Life, first_minute: int, count: int) -> tuple[FloatArray, FloatArray]:
    """1 for each minute that kept work waiting: as it was, and as it would have been without any modification.

    Minutes before the life's first are 0.
    """
    flags = []
    since = np.arange(first_minute, first_minute + count) >= life.first_minute
    for each in (life, life.unchanged()):
        carried, first = carry_minutes(each, first_minute, count, life.first_minute)
        held = carried.held[first_minute - first :][:count] & (carried.ops[first_minute - first :][:count] > 0)
        flags.append((held & since).astype(np.float64))
    return flags[0], flags[1]


def limits_of(life: Life, first_minute: int, count: int) -> Limits:
    """The limits in force in each minute, in operations of the workload's size."""
    operation_kib = life.workload.io_kib
    before = _ceiling(life.spec)
    units = max(1.0, operation_kib / before.io_kib) if before.io_kib else 1.0
    iops, mib_s = np.full(count, float(before.iops)), np.full(count, float(before.throughput_mib_s))
    buckets: list[tuple[int, TokenBucket | None]] = [(0, _bucket(before))]
    for modification in life.modifications:
        if modification.is_failed:
            continue
        old, new = _ceiling(modification.before), _ceiling(modification.after)
        begins, ends = (
            _place(at_s, first_minute, count, clipped=False) for at_s in (modification.moved_s, modification.ended_s)
        )
        share = np.clip((np.arange(count) - begins) / max(1, ends - begins), 0.0, 1.0)
        share[: max(0, begins)] = np.nan
        for values, was, becomes in ((iops, old.iops, new.iops), (mib_s, old.throughput_mib_s, new.throughput_mib_s)):
            bites = becomes < was and modification.bites_at_once
            moved = np.full(count, becomes) if bites else was + (becomes - was) * share
            np.copyto(values, moved, where=~np.isnan(share))
        if begins < count:
            buckets.append((max(0, begins), _bucket(new)))
    for values, most in (
        (iops, _host_most(life, 1, first_minute, count)),
        (mib_s, _host_most(life, 2, first_minute, count)),
    ):
        np.minimum(values, most, out=values)
    return Limits(
        by_side={IOPS: iops / units, THROUGHPUT: mib_s * KIB_PER_MIB / operation_kib},
        buckets=buckets,
        operation_kib=operation_kib,
        units_an_operation=units,
    )


def _host_most(life: Life, figure: int, first_minute: int, count: int) -> FloatArray:
    """The most that the host in force carries in each minute: its IOPS (figure 1) or MiB/s (2)."""
    most = np.full(count, np.inf)
    for host in life.hosts:
        most[_place(host[0], first_minute, count) :] = host[figure]
    return most


def latency_factors(life: Life, ops: FloatArray, held: FloatArray, first_minute: int) -> FloatArray:
    """The latency of each minute over what the volume had before it was modified, by queueing at both limits."""
    count = len(ops)
    now = limits_of(life, first_minute, count).most
    before = limits_of(life.unchanged(), first_minute, count).most
    rate = np.nan_to_num(ops) / MINUTE_S
    free = _wait(rate / now) / _wait(rate / before)
    waits = np.maximum(1.0, before / now)
    factors = np.where(held > 0, waits, free)
    return factors * _factor(life.disturbances, "latency", first_minute, count)


def _wait(share: FloatArray) -> FloatArray:
    """The latency of an operation over that of one that waits for none, by the share of the limit that is used."""
    used = np.clip(share, 0.0, _MOST_SHARE)
    return 1 + 4 * np.maximum(0.0, used - _FREE_SHARE) ** 2 / (1 - used)


def _factor(disturbances: Sequence[Disturbance], name: str, first_minute: int, count: int) -> FloatArray:
    """The product of all disturbances of each minute, of demand or of latency."""
    product = np.ones(count)
    for each in disturbances:
        begins, ends = (_place(at_s, first_minute, count) for at_s in each.span_s)
        product[begins:ends] *= getattr(each, name)
    return product


def _place(at_s: float, first_minute: int, count: int, *, clipped: bool = True) -> int:
    """The place in a span of the first minute that begins at or after a time."""
    if at_s == math.inf:
        return count
    place = math.ceil(at_s / MINUTE_S) - first_minute
    return max(0, min(count, place)) if clipped else place


@lru_cache(maxsize=4096)
def _ceiling(spec: VolumeSpec) -> Ceiling:
    kind = ebs_types().get(spec.type) or disk_types().get(spec.type)
    return UNBOUNDED if kind is None else kind.ceiling(spec)


def _bucket(ceiling: Ceiling) -> TokenBucket | None:
    """The bucket of a volume; every type has at most one."""
    return ceiling.buckets[0] if ceiling.buckets else None
