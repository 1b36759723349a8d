"""What is unsettled: the unread buckets that could still change a decision, and how finely to look at them.

The invariant. Let a decision be made on what is known, coarse buckets spread evenly. When `unsettled` names nothing,
the decision is the one that any arrangement of the unread work inside its buckets would give: the same offer with the
same provisioned figures, the same `censored`, the same throttled and host-bound minutes, the same verdict of each
replay.

The argument. Work in a bucket of the cloud's sums is never negative, so no bucket of the resolution inside it holds
more than all of it: with S operations (or bytes) no minute is above S / 60 a second, for each sum on its own. A
volume's own ceiling is no such bound, since minutes a little above it are measured. An unread bucket is then harmless
when that rate

- stays under the share of the present ceiling at which a bucket counts as throttled, with no check raised and no
  balance spent in it: it adds nothing to the throttled buckets, which are so all read;
- together with the most that every other volume on the host can have done stays under what the host always carries: it
  is not host-bound, and takes no credits;
- with headroom, is no more than the need already is, or than both the chosen offer's ceiling and what its evidence
  showed: an offer is the smallest that answers its need, so that a need between the one known and the offer's own
  ceiling is answered by the same figures, and other offers only become dearer or stay refused. One that is refused
  for what was measured of it alone (a refutation), or bought as large as needed and refused for its replay alone (a
  quantile leaves out what the replay meets), may give way to a larger one of its type, so that its own ceiling is such
  a line as well;
- leaves nothing waiting in any replay that the decision rests on. For a limit r with credits K let U be the most that
  can be waiting (or spent) when a bucket begins, over every arrangement: U' = max(0, U + S - r * length, S - r * 60),
  the middle term for work that came at once, the last for all of it in the last minute. If U and S - r * 60 never
  exceed K together, nothing is ever throttled. Otherwise every unread bucket in which anything can wait has to be
  read, and between those that are read nothing waits, however the work was arranged.

Rates over busy time are bounded likewise by S over the one second that a bucket is busy at least. Where a quantile
other than the maximum counts as the peak, nothing changes: the mean of an unread bucket is at most half its bound, so
that it is not among those that make the quantile unless the least that is sold carries it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.domain.busiest import BusiestSeconds, busiest_seconds
from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import Accounting, Ceiling, Resource
from plimsoll.domain.counting import weighted
from plimsoll.domain.demand import Demand
from plimsoll.domain.evidence import Evidence
from plimsoll.domain.knowledge import (
    BALANCE,
    BYTES,
    IDLE,
    IOPS_CHECK,
    OPERATIONS,
    PEAKS,
    SERIES,
    THROUGHPUT_CHECK,
    Knowledge,
    Look,
)
from plimsoll.domain.looks import looks_at, looks_for_presence
from plimsoll.domain.need import Need
from plimsoll.domain.offer import Offer
from plimsoll.domain.period import LEAST_BUSY_S, FloatArray
from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.domain.recommendation import Change, Keep, Recommendation
from plimsoll.domain.saturation import HostLoad
from plimsoll.domain.tariff import Tariff
from plimsoll.domain.units import HOUR_S, KIB_PER_MIB
from plimsoll.domain.waiting import Limit, against_replays, limits

Reach = FloatArray
"""How far each bucket of a demand can reach, 1 being where it makes a difference: operations in the first row, bytes in
the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """How far each bucket of a demand reaches to what it carries together with others: the traffic of its host (from
    `against_host`), and that of its pools, whose busiest seconds reach as far as `seconds` say (None: of no pool)."""

    work: Reach
    seconds: FloatArray | None = None

    def furthest(self, more: "Others") -> "Others":
        """The further of both in each bucket."""
        seconds = [one.seconds for one in (self, more) if one.seconds is not None]
        return Others(work=np.maximum(self.work, more.work), seconds=np.maximum.reduce(seconds) if seconds else None)


def unsettled(case: Case, answer: Recommendation, others: Others, knowledge: Knowledge, tariff: Tariff) -> list[Look]:
    """What to read next of a volume because it could change the answer; nothing when nothing can."""
    present = throttled_line(case.present, case.policy)
    reach = np.maximum(others.work, against(case.demand, present))
    together = case.policy.size_on is SizeOn.BUSY_TIME
    scale = case.demand.resolution_s / LEAST_BUSY_S if together else 1.0
    replays, lines = None, list[Line]()
    if isinstance(answer, Change | Keep):
        lines = list(_lines(case, answer))
        for line in lines:
            reach = np.maximum(reach, against(case.demand, line) * scale)
        replays = against_replays(knowledge, case.demand.resolution_s, _limits(case, answer))
    looks = looks_at_work(knowledge, case.demand, reach, tariff, replays=replays, together=together)
    sizing = () if case.policy.size_on is SizeOn.AVERAGE else lines
    seconds = _seconds_of(knowledge, present, sizing) if knowledge.unread(PEAKS).any() else 0.0
    busiest = _looks_at_seconds(knowledge, case.demand, others, seconds, tariff)
    return [*looks, *busiest, *_raised(case, knowledge, tariff)] or looks_for_presence(knowledge)


def unsettled_traffic(demand: Demand, others: Others, knowledge: Knowledge, tariff: Tariff) -> list[Look]:
    """What to read next of a volume that is not decided on, because it could change the answers of others."""
    looks = looks_at_work(knowledge, demand, others.work, tariff)
    if others.seconds is None:
        return looks
    looks += _looks_at_seconds(knowledge, demand, others, 0.0, tariff)
    return looks or looks_for_presence(knowledge)


def against_host(demand: Demand, load: HostLoad | None, saturation_pct: float) -> Reach:
    """How far the traffic of a host can reach to what the host always carries, where the volume is part of it."""
    reach = np.zeros((2, len(demand.iops)))
    if load is None:
        return reach
    ceiling = load.host.ceiling
    for row, resource, own, most, line in (
        (0, Resource.IOPS, demand.most_iops, load.most_iops, ceiling.iops),
        (1, Resource.THROUGHPUT, demand.most_throughput_mib_s, load.most_throughput_mib_s, ceiling.throughput_mib_s),
    ):
        always = saturation_pct / 100 * line
        for bucket in ceiling.buckets:
            if bucket.resource is resource:
                always = min(bucket.free_rate, saturation_pct / 100 * bucket.sustained_rate)
        reach[row] = np.where(own > 0, most / always, 0.0)
    return reach


def looks_at_work(
    knowledge: Knowledge,
    demand: Demand,
    reach: Reach,
    tariff: Tariff,
    *,
    replays: tuple[FloatArray, FloatArray] | None = None,
    together: bool = False,
) -> list[Look]:
    """Looks at operations and bytes where they reach 1 or more; `together`: at both, and idle time, where either does.

    `replays` is the same for each bucket of either track.
    """
    if demand.spread is None:
        return []
    looks: list[Look] = []
    for row, group in enumerate((OPERATIONS, BYTES)):
        found = _within(knowledge, group, demand, reach.max(axis=0) if together else reach[row])
        if replays is not None:
            found = np.maximum(found, np.maximum(*replays) if together else replays[row])
        groups = (OPERATIONS, BYTES, IDLE) if together else (group,)
        looks += [
            look for look in _without_coarse_idle(looks_at(groups, knowledge, found, tariff)) if look not in looks
        ]
    return looks


def _without_coarse_idle(looks: Sequence[Look]) -> Iterator[Look]:
    """The looks, but those at less than the hours that idle time is known by from the start leave it out."""
    for look in looks:
        coarse = look.period_s > HOUR_S
        yield replace(look, groups=tuple(group for group in look.groups if group != IDLE)) if coarse else look


@dataclass(frozen=True, slots=True)
class Line:
    """What demand times `factor` may reach before it makes a difference, counted in some way."""

    accounting: Accounting
    factor: float
    iops: float
    throughput_mib_s: float


def throttled_line(ceiling: Ceiling, policy: Policy) -> Line:
    """At what a bucket counts as throttled behind a ceiling."""
    share = policy.saturation_pct / 100
    return Line(ceiling.accounting, 1.0, share * ceiling.iops, share * ceiling.throughput_mib_s)


def against(demand: Demand, line: Line) -> Reach:
    """How far each bucket can reach to a line."""
    # Divided last, so that what stands at a line exactly reaches it.
    most_iops, most_mib_s = demand.most_counted(line.accounting)
    operations = most_iops * line.factor / line.iops
    moved = most_mib_s * line.factor / line.throughput_mib_s
    if line.accounting.io_kib is not None:
        cost = line.accounting.write_iops_cost
        counted_mib_s = weighted(demand.most_throughput_mib_s, demand.most_read_throughput_mib_s, cost)
        as_operations = counted_mib_s * (KIB_PER_MIB / line.accounting.io_kib)
        moved = np.maximum(moved, as_operations * line.factor / line.iops)
    return np.stack([operations, moved])


def _lines(case: Case, answer: Change | Keep) -> Iterator[Line]:
    """What the chosen offer carries, what the evidence shows, and what offers carry of whose type a larger one may do,
    as far as the hosts let the need grow at all."""
    best = answer.comparison.offers[0]
    accounting = best.ceiling.accounting if isinstance(answer, Change) else case.present.accounting
    yield evidence_line(case, case.need_by(accounting), accounting, answer.evidence)
    bought = [offer.spec for offer in _only_replayed(case, answer) if offer.spec.iops or offer.spec.throughput_mib_s]
    for offer in answer.comparison.offers:
        if offer.refuted or offer.spec in bought or (offer is best and best.feasible):
            yield from _offer_lines(case, offer)


def _only_replayed(case: Case, answer: Change | Keep) -> Iterator[Offer]:
    """The offers, no dearer than the best one, that nothing but their replay speaks against.

    What is cheaper for all volumes of a pool may be dearer for one of them.
    """
    best = answer.comparison.offers[0]
    highest = best.usd_month if best.feasible and best.usd_month is not None and not case.shares else np.inf
    for offer in answer.comparison.offers:
        cheaper = offer.refused and offer.usd_month is not None and offer.usd_month <= highest
        if cheaper and offer.replay is not None:
            yield offer


def _offer_lines(case: Case, offer: Offer) -> Iterator[Line]:
    """Up to where the need can grow before another configuration of the offer's type answers it.

    Where hosts let less through, or count otherwise, the type's own ceiling is a line beside what they leave of it.
    """
    kind = case.market.types[offer.spec.type]
    carried = [offer.ceiling]
    if kind.accounting != offer.ceiling.accounting and not (kind.pooled and case.shares.get(kind.name)):
        carried.append(kind.ceiling(offer.spec))
    for ceiling in carried:
        yield from need_lines(case, case.need_by(ceiling.accounting), ceiling)


def need_lines(case: Case, need: Need, carried: Ceiling) -> Iterator[Line]:
    """Up to where a need can grow before a ceiling does not carry it."""
    headroom, step = _factors(case)
    hosts, frequent = case.hosts.counted_as(carried.accounting), case.stood.frequent
    yield Line(
        carried.accounting,
        headroom,
        _room(case, need.iops, hosts.iops, carried.iops),
        _room(case, need.throughput_mib_s, hosts.throughput_mib_s, carried.throughput_mib_s),
    )
    if not frequent:
        return
    iops = _room(case, need.sustained_iops, hosts.iops, carried.sustained_iops)
    throughput = _room(
        case, need.sustained_throughput_mib_s, hosts.throughput_mib_s, carried.sustained_throughput_mib_s
    )
    yield Line(
        replace(carried.accounting, io_kib=case.present.io_kib),
        step,
        iops if Resource.IOPS in frequent else np.inf,
        throughput if Resource.THROUGHPUT in frequent else np.inf,
    )


def evidence_line(case: Case, need: Need, accounting: Accounting, evidence: Evidence) -> Line:
    """Up to where a need can grow before the evidence does not show that it is carried."""
    headroom, step = _factors(case)
    hosts = case.hosts.counted_as(accounting)
    return Line(
        accounting,
        step if case.stood.frequent else headroom,
        _room(case, need.iops, hosts.iops, evidence.holds_iops),
        _room(case, need.throughput_mib_s, hosts.throughput_mib_s, evidence.holds_throughput_mib_s),
    )


def _factors(case: Case) -> tuple[float, float]:
    """What a peak is multiplied by: with headroom, and where it was throttled often."""
    policy = case.policy
    return 1 + policy.headroom_pct / 100, 1 + max(policy.upgrade_step_pct, policy.headroom_pct) / 100


def _room(case: Case, need: float, usable: float, line: float) -> float:
    """A line that matters only while the need is less than the hosts can use, if the need can but grow."""
    return np.inf if need >= usable and case.policy.peak_quantile >= 1 else line


def _limits(case: Case, answer: Change | Keep) -> Iterator[Limit]:
    """The limits of every replay that the answer rests on.

    Those of the present ceiling, of the best offer, and of cheaper offers that only their replay speaks against.
    """
    yield from limits(case.present)
    best = answer.comparison.offers[0]
    if best.replay is not None and best.feasible:
        yield from offered_limits(case, best.ceiling)
    for offer in _only_replayed(case, answer):
        yield from offered_limits(case, offer.ceiling)


def offered_limits(case: Case, ceiling: Ceiling) -> Iterator[Limit]:
    """The limits of the replays behind an offer's ceiling."""
    yield from limits(ceiling, whole_ios=True)
    if ceiling.buckets:
        yield from limits(ceiling, whole_ios=True, scale=_factors(case)[0])


def _seconds_of(knowledge: Knowledge, present: Line, sizing: Iterable[Line]) -> FloatArray:
    """How far the busiest second of each bucket reaches to the present ceiling, or to a line of what sizes an offer.

    Which bucket of the resolution had it is not known before it is read; that some had it is.
    """
    track = knowledge.tracks[PEAKS]
    seconds = busiest_seconds([track.series[name] for name in SERIES[PEAKS]], exact=~track.unread)
    return seconds_against(seconds, [present], sizing)


def seconds_against(seconds: BusiestSeconds, stood: Iterable[Line], sizing: Iterable[Line]) -> FloatArray:
    """How far busiest seconds reach: of the busier direction alone to lines at which they count as throttled, of reads
    and writes together to lines of what sizes an offer."""
    reach = np.zeros(len(seconds.read_iops))
    for line in stood:
        iops, throughput_mib_s = seconds.one_way(line.accounting)
        reach = np.maximum(reach, np.maximum(iops / line.iops, throughput_mib_s / line.throughput_mib_s))
    for line in sizing:
        iops = seconds.counted_iops(line.accounting) * line.factor / line.iops
        moved = seconds.counted_throughput_mib_s(line.accounting) * line.factor / line.throughput_mib_s
        reach = np.maximum(reach, np.maximum(iops, moved))
    return reach


def _looks_at_seconds(
    knowledge: Knowledge, demand: Demand, others: Others, own: FloatArray | float, tariff: Tariff
) -> list[Look]:
    """Looks at the unread buckets whose busiest second reaches far enough by itself (`own`) or with those of others."""
    if not knowledge.unread(PEAKS).any():
        return []
    together = 0.0 if others.seconds is None else _within(knowledge, PEAKS, demand, others.seconds)
    reach = np.maximum(own, together) + np.zeros(len(knowledge.tracks[PEAKS].starts_s))
    return looks_at((PEAKS,), knowledge, reach, tariff)


def _within(knowledge: Knowledge, group: str, demand: Demand, reach: FloatArray) -> FloatArray:
    """The furthest that any bucket of a demand reaches within each bucket of a track."""
    return np.maximum.reduceat(reach, np.searchsorted(demand.starts_s, knowledge.tracks[group].starts_s))


def _raised(case: Case, knowledge: Knowledge, tariff: Tariff) -> list[Look]:
    """Looks at the unread buckets in which a check was raised or the balance was spent."""
    looks = []
    for group, name in ((IOPS_CHECK, "iops_exceeded"), (THROUGHPUT_CHECK, "throughput_exceeded")):
        raised = knowledge.tracks[group].series[name] > 0
        looks += looks_at((group,), knowledge, np.where(raised, np.inf, 0.0), tariff)
    if case.present.buckets:
        empty = knowledge.tracks[BALANCE].series["burst_balance_pct"] < case.policy.empty_balance_pct
        looks += looks_at((BALANCE,), knowledge, np.where(empty, np.inf, 0.0), tariff)
    return looks
