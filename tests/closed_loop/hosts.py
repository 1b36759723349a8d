"""The second loop: small hosts with several volumes each, audited weekly; every recommendation is followed.

A host lets through its maximum while it has credits, and its baseline after that; what it does not let through is
parted as the volumes ask.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Final

import numpy as np

from plimsoll.decide.answer import Change, Upgrade
from plimsoll.decide.pools import find_held_back
from plimsoll.demand.demand import Demand, HostSeen, limits_of
from plimsoll.demand.host_room import HostLoad, host_loads
from plimsoll.model.policy import Policy
from plimsoll.model.units import DAY_S
from plimsoll.model.volume import Host, Seen, Volume, VolumeSpec
from tests.builders import LONG_AGO, TYPES, a_host, a_volume
from tests.closed_loop.loop import POLICY, WINDOW, Step, context_at, demand_in, moment_of, proved, remembered
from tests.closed_loop.workload import BUCKET_S, KIB, LARGEST_KIB, WATCHED, WEEK, Numbers, Workload, of_kind

HOST_TYPES: Final = ("m5.large", "m5.xlarge", "r5b.large", "m5.2xlarge", "m4.large")
"""The last one has no credits, and is not measured."""

KINDS: Final = ("diurnal", "bursty", "growing", "mixed", "job", "hungry")
RISE: Final = 1.01
"""So many times the work done before is a rise."""


@dataclass
class Lodger:
    """A volume on a host: what it wants, what it is and was, and what it did in each bucket."""

    name: str
    workload: Workload
    spec: VolumeSpec
    served: Numbers
    steps: list[Step] = field(default_factory=list)
    relieved: list[Step] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    hurt: int = 0
    """Buckets that a reduction throttled, and that the size before and the host would have carried."""

    def volume(self, host: Host) -> Volume:
        spec = self.spec
        figures = {"iops": spec.iops, "throughput_mib_s": spec.throughput_mib_s}
        own = {"id": self.name, "on": host, "seen": tuple(self.seen), "created": LONG_AGO}
        return a_volume(spec.type, spec.size_gib, **figures, **own)

    def most(self, spec: VolumeSpec, weeks: slice) -> Numbers:
        """The operations that a size lets through in some buckets."""
        ceiling, size = TYPES[spec.type].ceiling(spec), self.workload.io_kib[weeks]
        return np.minimum(ceiling.iops / np.maximum(1.0, size / LARGEST_KIB), ceiling.throughput_mib_s * KIB / size)

    def follow(self, step: Step, *, is_relief: bool) -> None:
        at_s = int(moment_of((step.week + 1) * WEEK).timestamp())
        self.seen += [Seen(at_s=at_s, spec=step.before), Seen(at_s=at_s, spec=step.after)]
        self.steps.append(step)
        self.relieved += [step] if is_relief else []
        self.spec = step.after

    @property
    def relieved_in_vain(self) -> int:
        """How often one resource was relieved twice in a row although no more work was done in between."""
        return sum(self._in_vain(figure) for figure in ("iops", "throughput_mib_s"))

    def _in_vain(self, figure: str) -> int:
        found, last = 0, None
        for step in self.steps:
            before, after = getattr(step.before, figure), getattr(step.after, figure)
            if after < before:
                last = None
            elif after > before and step in self.relieved:
                found += last is not None and not self._rose(figure, last.week, step.week)
                last = step
        return found

    def _rose(self, figure: str, week: int, then: int) -> bool:
        """Whether more was done between two steps than in the two weeks before the first: operations, or bytes."""
        done = self.served if figure == "iops" else self.served * self.workload.io_kib
        before = done[max(0, week - 1) * WEEK : (week + 1) * WEEK].mean()
        return bool(done[(week + 1) * WEEK : (then + 1) * WEEK].mean() >= RISE * before)


@dataclass
class Housed:
    """A host with its volumes; `balance` is what it had of its credits in each bucket, by side, in percent."""

    host: Host
    lodgers: list[Lodger]
    balance: Numbers
    asked: Numbers
    _credits: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self._credits = [capacity for _, _, capacity in self._sides]

    @property
    def _sides(self) -> list[tuple[float, float, float]]:
        """Baseline, maximum and all credits of both sides."""
        limits = self.host.limits
        assert limits is not None
        return [
            (low, high, (high - low) * limits.burst_s)
            for low, high in (
                (limits.baseline_iops, limits.maximum_iops),
                (limits.baseline_throughput_mib_s, limits.maximum_throughput_mib_s),
            )
        ]

    def live(self, week: int) -> None:
        """Serves what its volumes want in a week, bucket by bucket."""
        now, sides = slice(week * WEEK, (week + 1) * WEEK), self._sides
        most = [lodger.most(lodger.spec, now).tolist() for lodger in self.lodgers]
        before = [lodger.most(lodger.steps[-1].before, now) if lodger.steps else None for lodger in self.lodgers]
        wants = [lodger.workload.iops[now].tolist() for lodger in self.lodgers]
        mib = [(lodger.workload.io_kib[now] / KIB).tolist() for lodger in self.lodgers]
        for at in range(WEEK):
            bucket = now.start + at
            for own, lodger in zip(wants, self.lodgers, strict=True):
                own[at] += lodger.workload.backlog
            asks = [min(own[at], limit[at]) for own, limit in zip(wants, most, strict=True)]
            totals = sum(asks), sum(ask * each[at] for ask, each in zip(asks, mib, strict=True))
            self.balance[:, bucket] = [
                100 * left / (side[2] or 1.0) for left, side in zip(self._credits, sides, strict=True)
            ]
            self.asked[:, bucket] = totals
            carries = [
                min(high, low + left / BUCKET_S) for left, (low, high, _) in zip(self._credits, sides, strict=True)
            ]
            share = min([1.0, *(limit / total for limit, total in zip(carries, totals, strict=True) if total > 0)])
            spare = carries[0] - totals[0], carries[1] - totals[1]
            for place, lodger in enumerate(self.lodgers):
                done = asks[place] * share
                lodger.served[bucket] = done
                if lodger.workload.job:
                    lodger.workload.backlog = wants[place][at] - done
                elif before[place] is not None:
                    lost = wants[place][at] - done
                    fits = lost <= spare[0] and lost * mib[place][at] <= spare[1]
                    lodger.hurt += bool(lost > 1e-6 and fits and wants[place][at] <= before[place][at])
            for side, (low, _, capacity) in enumerate(sides):
                spent = max(0.0, totals[side] * share - low) - capacity / DAY_S
                self._credits[side] = min(capacity, max(0.0, self._credits[side] - spent * BUCKET_S))

    def audit(self, week: int, policy: Policy) -> None:
        """Audits its volumes at the end of a week, and does what is recommended."""
        end = (week + 1) * WEEK
        volumes = [lodger.volume(self.host) for lodger in self.lodgers]
        demands = {one.name: demand_in(one.served, one.workload.io_kib, end) for one in self.lodgers}
        load = self._load(volumes, demands, end, policy)
        for lodger, volume in zip(self.lodgers, volumes, strict=True):
            context = context_at(end, policy)
            recall = remembered(volume, context, lodger.served, lodger.workload.io_kib, end)
            found = proved(volume, demands[lodger.name], context, recall, load)
            if isinstance(found, Change):
                step = Step(week, lodger.spec, found.target.spec)
                lodger.follow(step, is_relief=isinstance(found, Upgrade))

    def _load(self, volumes: Sequence[Volume], demands: dict[str, Demand], end: int, policy: Policy) -> HostLoad:
        (load,) = host_loads(volumes, demands).values()
        context = context_at(end, policy)
        given = [(volume, context) for volume in volumes]
        extras = cache(partial(find_held_back, given, (), demands, self.host.ceiling))
        here, nowhere = slice(end - WINDOW, end), np.zeros((2, WINDOW), dtype=np.bool_)
        seen = HostSeen(
            exceeded=(self.asked[:, here] > limits_of(self.host.ceiling)).astype(np.float64),
            balance_pct=self.balance[:, here],
            check_unread=nowhere,
            balance_unread=nowhere,
        )
        return HostLoad(
            host=load.host,
            rates=load.rates,
            most=load.most,
            seen=seen if self.host.nitro else None,
            extras=extras,
        )


def a_housed_life(seed: int, weeks: int, policy: Policy = POLICY) -> Housed:
    """The life of a small host with two to four volumes: watched for WATCHED weeks, then audited for so many."""
    rng, whole = np.random.default_rng((seed, 39)), weeks + WATCHED
    lodgers = [_lodger(f"vol-{number}", whole, rng) for number in range(rng.integers(2, 5))]
    return housed_life(HOST_TYPES[seed % len(HOST_TYPES)], lodgers, whole, policy)


def housed_life(
    host_type: str,
    lodgers: list[Lodger],
    weeks: int,
    policy: Policy = POLICY,
    *,
    watched: int = WATCHED,
) -> Housed:
    """What becomes of some volumes on a host in so many weeks."""
    nothing = np.zeros((2, weeks * WEEK))
    housed = Housed(a_host(host_type), lodgers, nothing + 100, nothing)
    for week in range(weeks):
        housed.live(week)
        if week + 1 >= watched:
            housed.audit(week, policy)
    return housed


def _lodger(name: str, weeks: int, rng: np.random.Generator) -> Lodger:
    kind = str(rng.choice(KINDS))
    if kind == "hungry":
        size = float(rng.choice([8.0, 64.0, 256.0]))
        steady = 10 ** rng.uniform(3.3, 4.2) * min(1.0, 32 / size)
        workload = Workload(kind, np.full(weeks * WEEK, steady), np.full(weeks * WEEK, size))
    else:
        workload = of_kind(kind, weeks, rng)
    return a_lodger(name, workload, iops=int(rng.choice([3000, 3000, 4000, 10_000])))


def a_lodger(name: str, workload: Workload, *, iops: int = 3000, mib_s: int = 125) -> Lodger:
    """A gp3 volume that wants something."""
    spec = VolumeSpec(type="gp3", size_gib=1000, iops=iops, throughput_mib_s=mib_s)
    return Lodger(name, workload, spec, np.zeros(len(workload.iops)))
