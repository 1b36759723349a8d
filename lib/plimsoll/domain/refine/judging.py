"""Judging: the answers of the volumes of a host by what is known, and what to read next of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from plimsoll.domain.case import Case
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.demand_profile import profile_of
from plimsoll.domain.demand.from_metrics import sums_of_knowledge
from plimsoll.domain.demand.saturation import HostLoad
from plimsoll.domain.groups.decide_pools import DecidedPool
from plimsoll.domain.groups.lockstep import find_hints, hint_text
from plimsoll.domain.groups.rollup import leave_to_template
from plimsoll.domain.metrics.track import Look
from plimsoll.domain.reasons.reasons import few_hours
from plimsoll.domain.reasons.volume_reasons import with_idleness
from plimsoll.domain.recommendation import Recommendation
from plimsoll.domain.refine.certificate import open_buckets, open_of_host, reach_to_peaks
from plimsoll.domain.refine.deciding import decide_group, draw_group, is_to_be_drawn
from plimsoll.domain.refine.member import Judged, Member
from plimsoll.domain.refine.members import Group
from plimsoll.domain.refine.query_cost import QueryCost
from plimsoll.domain.refine.refine import refine
from plimsoll.domain.refine.unread_past import limits_of_answer, strictest
from plimsoll.domain.volume import sole_host


def judge_group(
    group: Group, resolution_s: int, query_cost: QueryCost, keep_demand: bool = False
) -> list[tuple[Member, Look]]:
    """Judges the volumes of a host, and says what to read next of them. What was worked out is kept where that is
    little and it is asked for again."""
    asks = _unsettled(group, resolution_s, query_cost, keep_demand)
    group.forget(but_few=bool(asks))
    return asks


def _unsettled(
    group: Group, resolution_s: int, query_cost: QueryCost, keep_demand: bool, *, again: bool = False
) -> list[tuple[Member, Look]]:
    """Judges the volumes of a host by what is known, and says what could still change an answer. What is decided
    `again`, with more of the past, is most often the end, and so no draft."""
    members = group.readable()
    steps = [(member, look) for member in members for look in member.steps.looks()]
    if steps:
        return steps
    demands, load = group.traffic(resolution_s)
    draft = not again and not all(member.whole for member in members)
    found = decide_group(group, members, demands, load, draft=draft)
    asks = list(_asks(group, members, found, demands, load, query_cost))
    if not asks:
        if _more_is_told(members, found):
            return _unsettled(group, resolution_s, query_cost, keep_demand, again=True)
        asks = list(_past_asks(members, found, query_cost))
    if draft and not asks and any(is_to_be_drawn(answered) for _, answered in found.values()):
        found = draw_group(group, members, found, demands, load)
    for member in members:
        if member.volume.id in found:
            case, answered = found[member.volume.id]
            if not asks:
                answered = with_idleness(answered, member.idleness(case))
            member.judged = judge_case(case, answered, keep_demand=keep_demand, settled=not asks)
    if not asks:
        _hint(members, demands)
    return asks


def _asks(
    group: Group,
    members: Sequence[Member],
    found: DecidedPool,
    demands: Mapping[str, Demand],
    load: HostLoad | None,
    query_cost: QueryCost,
) -> Iterator[tuple[Member, Look]]:
    """What to read next of the volumes of a host; nothing more of those whose metrics disagree."""
    context = group.context
    if context is None or all(member.whole for member in members):
        return
    of_parts = {name: decided for name, decided in found.items() if not demands[name].disputed}
    open_now = open_buckets(of_parts, demands, load, group.pools, context.policy.saturation_pct)
    for member in members:
        name = member.volume.id
        if not (member.whole or demands[name].disputed):
            case = found[name][0] if name in found else None
            if member.exact_peaks:
                demand = demands[name] if case is None else case.demand
                open_now[name].work = np.maximum(open_now[name].work, reach_to_peaks(demand))
            if load is not None and member.asks_host:
                open_now[name].host = open_of_host(load, demands[name], group.policies)
            for look in refine(case, demands[name], open_now[name], member.knowledge, query_cost):
                yield member, look


def _more_is_told(members: Sequence[Member], found: DecidedPool) -> bool:
    """Whether more of the past of any counts from now on than did for its answer."""
    told = [
        member.recall.tells_more(*found[member.volume.id], partial(sums_of_knowledge, member.knowledge))
        for member in members
        if member.recall is not None and member.volume.id in found
    ]
    return any(told)


def _past_asks(members: Sequence[Member], found: DecidedPool, query_cost: QueryCost) -> Iterator[tuple[Member, Look]]:
    """What to read next of the past: what could still speak against what is chosen, or against the cheapest offer."""
    limits = {
        member.volume.id: limits_of_answer(*found[member.volume.id])
        for member in members
        if member.recall is not None and member.volume.id in found
    }
    in_set = [limits[member.volume.id] for member in members if member.in_set and member.volume.id in limits]
    for member in members:
        if member.recall is not None and member.volume.id in limits:
            own = strictest(in_set) if member.in_set else limits[member.volume.id]
            for look in member.recall.looks(*found[member.volume.id], own, query_cost):
                yield member, look


def _hint(members: Sequence[Member], demands: Mapping[str, Demand]) -> None:
    """Adds to the answers of volumes that look like a stripe set that they do."""
    alone = {member.volume.id: member for member in members if member.alone}
    for group in find_hints([member.volume for member in alone.values()], demands):
        for member in (alone[volume_id] for volume_id in group):
            host = sole_host(member.volume)
            if member.judged is not None and host is not None:
                own = member.judged.recommendation
                told = replace(own, reasons=(*own.reasons, hint_text(member.volume.id, group, host.id)))
                member.judged = replace(member.judged, recommendation=told)


def judge_case(case: Case, found: Recommendation, *, keep_demand: bool, settled: bool) -> Judged:
    """A case's answer as far as it is judged. Only where nothing is left to be read it has the profile."""
    demand = case.demand
    profile = profile_of(demand, throttled=case.lifted.any, host_bound=case.room.bound) if settled else None
    found = leave_to_template(case, found, few_hours(case))
    return Judged(recommendation=found, profile=profile, demand=demand if keep_demand else None)
