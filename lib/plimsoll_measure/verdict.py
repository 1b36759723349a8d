"""Verdicts: a comparison of what was measured with the need.

Excuses of a bench: the limits of its own that explain a failed measurement.

A failed measurement refutes an offer for as long as evidence counts, so that a bench that was the limit must not make
one. Nor may it hide one. So its loss is credited in full to what was delivered. If that still falls short, the volume
was the limit, and the verdict stands. It also stands if the volume delivered all that is published of it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from plimsoll.model.ceiling import RESOURCES, Ceiling, Need, Resource
from plimsoll.model.envelope import DELIVERED
from plimsoll.model.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The figures that one job of a benchmark showed; None: its result does not say. `paced`: it was held to a rate."""

    name: str
    iops: float | None
    throughput_mib_s: float | None
    mean_latency_us: float | None = None
    p99_latency_us: float | None = None
    paced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a validation: passed or not, and why.

    `reasons` have the figures that carried or did not, `failures` those because of which it did not pass. `fell_short`
    are the resources on which it delivered less than the need. `too_slow`: it answered later than the policy allows.
    """

    passed: bool
    reasons: tuple[str, ...]
    failures: tuple[str, ...]
    shown_iops: float
    shown_throughput_mib_s: float
    p99_latency_us: float | None
    fell_short: frozenset[Resource] = frozenset()
    too_slow: bool = False


def judge_need(shown: Iterable[Shown], need: Need, *, today_mean_latency_us: float | None, policy: Policy) -> Verdict:
    """Compares what a configuration showed with the need, headroom included.

    It passes when the best of all jobs reaches the need on both resources, and the paced jobs, which ask what the
    workload asks, answer within the policy: p99 under `max_p99_latency_us`, and the mean no more than
    `latency_slack_pct` above today's (like with like: clouds publish means alone).
    """
    return _judge(list(shown), need, _carried_text, today_mean_latency_us, policy)


def judge_in_place(
    shown: Iterable[Shown], asked: Need, *, today_mean_latency_us: float | None, policy: Policy
) -> Verdict:
    """Compares what a volume showed beside its own workload with the rates that were `asked` of it.

    It passes when it held them and answered as `judge_need` asks; nothing is known of what it could do beyond.
    """
    return _judge(list(shown), asked, _held_text, today_mean_latency_us, policy)


_Sentence = Callable[[str, float, float, bool], str]
"""A sentence on a unit, what was shown of it, what was wanted, and whether that is short."""


def _judge(jobs: Sequence[Shown], wanted: Need, sentence: _Sentence, today: float | None, policy: Policy) -> Verdict:
    best = {
        Resource.IOPS: max((job.iops or 0.0 for job in jobs), default=0.0),
        Resource.THROUGHPUT: max((job.throughput_mib_s or 0.0 for job in jobs), default=0.0),
    }
    needed = {Resource.IOPS: wanted.iops, Resource.THROUGHPUT: wanted.throughput_mib_s}
    fell_short = frozenset(side for side in RESOURCES if best[side] < DELIVERED * needed[side])
    sides = {side: sentence(side.unit, best[side], needed[side], side in fell_short) for side in RESOURCES}
    paced = [job for job in jobs if job.paced]
    p99 = max((job.p99_latency_us for job in paced if job.p99_latency_us is not None), default=None)
    mean = max((job.mean_latency_us for job in paced if job.mean_latency_us is not None), default=None)
    late = list(_late_texts(p99, mean, today, policy))
    return Verdict(
        passed=not fell_short and not late,
        reasons=(*sides.values(), *late, *_latency_texts(p99, late)),
        failures=(*(text for side, text in sides.items() if side in fell_short), *late),
        shown_iops=best[Resource.IOPS],
        shown_throughput_mib_s=best[Resource.THROUGHPUT],
        p99_latency_us=p99,
        fell_short=fell_short,
        too_slow=bool(late),
    )


def _carried_text(unit: str, shown: float, needed: float, short: bool) -> str:
    verb = "delivered only" if short else "delivered"
    return f"{verb} {shown:,.0f} {unit} of the {needed:,.0f} that are needed, headroom included"


def _held_text(unit: str, shown: float, asked: float, short: bool) -> str:
    if short:
        return f"was to carry {asked:,.0f} {unit} beside its own workload and carried only {shown:,.0f}"
    return f"carried {shown:,.0f} {unit} beside its own workload: no worse than this"


def _late_texts(p99: float | None, mean: float | None, today: float | None, policy: Policy) -> Iterator[str]:
    if p99 is not None and p99 > policy.max_p99_latency_us:
        yield (
            f"at the workload's rate 99 % of operations took up to {p99:,.0f} us; the policy allows "
            f"{policy.max_p99_latency_us:,.0f} (max_p99_latency_us)"
        )
    if mean is not None and today is not None and mean > today * (1 + policy.latency_slack_pct / 100):
        yield (
            f"at the workload's rate an operation took {mean:,.0f} us on average; today it takes {today:,.0f}, and "
            f"the policy allows {policy.latency_slack_pct:g} % more (latency_slack_pct)"
        )


def _latency_texts(p99: float | None, late: list[str]) -> Iterator[str]:
    if p99 is not None and not late:
        yield f"at the workload's rate 99 % of operations took up to {p99:,.0f} us"


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
