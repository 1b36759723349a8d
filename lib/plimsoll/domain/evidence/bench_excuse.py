"""Excuses of a bench: the limits of its own that explain a failed measurement.

A failed measurement refutes an offer for as long as evidence counts, so that a bench that was the limit must not make
one. Nor may it hide one. So its loss is credited in full to what was delivered. If that still falls short, the volume
was the limit, and the verdict stands. It also stands if the volume delivered all that is published of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from plimsoll.domain.ceiling import RESOURCES, Ceiling, Need, Resource
from plimsoll.domain.evidence.envelope import DELIVERED
from plimsoll.domain.evidence.verdict import Verdict

BUSY: Final = 0.05
"""A bench that loses less than this share of its time is fit: figures of volumes differ by 2 % for no reason."""

ENGINE_ROOM: Final = 2.0
"""An operation of a device costs the CPU at least as much again as fio's own part of it, which engine `null` shows."""

MOST_LOST: Final = 0.99


class BenchLimitCode(StrEnum):
    """The reasons why a bench could not have delivered."""

    CPU = "bench-cpu"
    ENGINE = "bench-engine"
    HOST_EXCEEDED = "bench-host-exceeded"
    HOST_SHARED = "bench-host-shared"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchLoad:
    """The load of a bench beside a measurement. Shares are of time, 0 to 1, of the worst span as long as a job.

    `waited` is the share in which some task waited for a CPU (PSI), None if the kernel does not tell. `queued` is the
    share of the looks at which more tasks were ready than there are CPUs. `stolen` is what the hypervisor gave to
    others. `host_exceeded` is the share in which the cloud says that the host's own limit was exceeded, without what it
    does not tell. `other_iops` and `other_throughput_mib_s` are what the host's other disks did. `engine_iops` and
    `engine_throughput_mib_s` are the most that fio made of any job without a device, None if that was not tried.
    """

    cpus: int
    waited: float | None
    queued: float
    stolen: float
    other_iops: float
    other_throughput_mib_s: float
    host_exceeded: Mapping[Resource, float] = field(default_factory=dict)
    engine_iops: float | None = None
    engine_throughput_mib_s: float | None = None

    @property
    def lost_share(self) -> float:
        """The highest share of its time in which it was kept from working: waited for a CPU, or robbed of it."""
        waited = self.queued if self.waited is None else self.waited
        return min(MOST_LOST, waited + self.stolen)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchLimit:
    """A reason why the bench was the limit: a code, and a sentence's part with figures."""

    code: BenchLimitCode
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchExcuse:
    """The part of a failed verdict that the bench explains: each resource that fell short, and a late answer.

    What it does not explain is the volume's, and has no limits here.
    """

    short: Mapping[Resource, tuple[BenchLimit, ...]] = field(default_factory=dict)
    late: tuple[BenchLimit, ...] | None = None

    @property
    def sides(self) -> tuple[Resource, ...]:
        """The resources on which the bench was the limit."""
        return tuple(side for side, limits in self.short.items() if limits)

    @property
    def limits(self) -> tuple[BenchLimit, ...]:
        """The reasons why nothing was measured; empty if a failure is the volume's, which stands."""
        failures = [*self.short.values(), *([] if self.late is None else [self.late])]
        return tuple(dict.fromkeys(limit for of_failure in failures for limit in of_failure)) if all(failures) else ()


def bench_excuse(
    verdict: Verdict, need: Need, *, ceiling: Ceiling, host: Ceiling, load: BenchLoad | None
) -> BenchExcuse:
    """The signs in a failed validation that the bench was the limit, not the volume.

    `ceiling` is the published one of the volume, `host` that of the bench host. A bench that said nothing of itself
    explains nothing.
    """
    sides = sorted(verdict.fell_short)
    if load is None:
        return BenchExcuse(short=dict.fromkeys(sides, ()), late=() if verdict.too_slow else None)
    return BenchExcuse(
        short={side: tuple(_short_limits(side, verdict, need, ceiling, host, load)) for side in sides},
        late=tuple(_late_limits(need, ceiling, load)) if verdict.too_slow else None,
    )


def _short_limits(
    side: Resource, verdict: Verdict, need: Need, ceiling: Ceiling, host: Ceiling, load: BenchLoad
) -> Iterator[BenchLimit]:
    shown = verdict.shown_iops if side is Resource.IOPS else verdict.shown_throughput_mib_s
    wanted, published = _rate_of(side, need), _rate_of(side, ceiling)
    if shown >= DELIVERED * published:
        return  # it delivered all that it should: it is too small, whatever the bench did
    # No more than is published could have been delivered, so that is all a fit bench would have had to show.
    asked = DELIVERED * min(wanted, published)
    if load.lost_share >= BUSY and shown >= asked * (1 - load.lost_share):
        yield _cpu(load)
    yield from _engine(side, asked, load)
    exceeded = load.host_exceeded.get(side, 0.0)
    if exceeded >= BUSY and shown >= asked * (1 - min(MOST_LOST, exceeded)):
        yield BenchLimit(
            code=BenchLimitCode.HOST_EXCEEDED,
            text=f"the host's own {side.unit} were exceeded in {exceeded:.0%} of the time",
        )
    other = load.other_iops if side is Resource.IOPS else load.other_throughput_mib_s
    carries = _sustained_rate(side, host)
    if shown + other >= DELIVERED * carries and other > 0:
        yield BenchLimit(
            code=BenchLimitCode.HOST_SHARED,
            text=f"its other disks took {other:,.0f} of the {carries:,.0f} {side.unit} that the host sustains",
        )


def _engine(side: Resource, asked: float, load: BenchLoad) -> Iterator[BenchLimit]:
    makes = load.engine_iops if side is Resource.IOPS else load.engine_throughput_mib_s
    if makes is not None and makes < ENGINE_ROOM * asked:
        text = f"fio itself makes only {makes:,.0f} {side.unit} there without any device"
        yield BenchLimit(code=BenchLimitCode.ENGINE, text=text)


def _late_limits(need: Need, ceiling: Ceiling, load: BenchLoad) -> Iterator[BenchLimit]:
    """Yields what makes the slowest hundredth of operations wait: a loss of more than that, or a busy engine."""
    if load.lost_share >= BUSY:
        yield _cpu(load)
    for side in RESOURCES:
        yield from _engine(side, DELIVERED * min(_rate_of(side, need), _rate_of(side, ceiling)), load)
    exceeded = max(load.host_exceeded.values(), default=0.0)
    if exceeded >= BUSY:
        yield BenchLimit(
            code=BenchLimitCode.HOST_EXCEEDED, text=f"the host's own limit was exceeded in {exceeded:.0%} of the time"
        )


def _cpu(load: BenchLoad) -> BenchLimit:
    waited, basis = (load.queued, "looks") if load.waited is None else (load.waited, "the time")
    stolen = f", and {load.stolen:.0%} of their time was stolen" if load.stolen >= BUSY else ""
    text = f"work waited for its {load.cpus} CPUs in {waited:.0%} of {basis}{stolen}"
    return BenchLimit(code=BenchLimitCode.CPU, text=text)


def _rate_of(side: Resource, limit: Need | Ceiling) -> float:
    return limit.iops if side is Resource.IOPS else limit.throughput_mib_s


def _sustained_rate(side: Resource, host: Ceiling) -> float:
    return host.sustained_iops if side is Resource.IOPS else host.sustained_throughput_mib_s
