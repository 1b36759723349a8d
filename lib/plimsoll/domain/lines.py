"""Lines: what demand may reach before it makes a difference to an answer, and how far it can reach to one.

Why nothing short of them matters is argued in `domain.unsettled`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.domain.busiest import BusiestSeconds
from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import Accounting, Ceiling, Resource
from plimsoll.domain.counting import weighted
from plimsoll.domain.demand import Demand
from plimsoll.domain.evidence import Evidence
from plimsoll.domain.need import Need
from plimsoll.domain.offer import Offer
from plimsoll.domain.period import FloatArray
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import Change, Keep
from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.domain.waiting import Limit, limits

Reach = FloatArray
"""How far each bucket of a demand can reach, 1 being where it makes a difference: operations in the first row, bytes in
the second."""


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


def lines_of(case: Case, answer: Change | Keep) -> Iterator[Line]:
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


def _room(case: Case, need: float, usable: float, line: float) -> float:
    """A line that matters only while the need is less than the hosts can use, if the need can but grow."""
    return np.inf if need >= usable and case.policy.peak_quantile >= 1 else line


def _factors(case: Case) -> tuple[float, float]:
    """What a peak is multiplied by: with headroom, and where it was throttled often."""
    policy = case.policy
    return 1 + policy.headroom_pct / 100, 1 + max(policy.upgrade_step_pct, policy.headroom_pct) / 100


def limits_of(case: Case, answer: Change | Keep) -> Iterator[Limit]:
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
