"""Branch and bound: read metrics of many volumes only as finely as their decisions need.

Days first; then the buckets that could still change an answer; until `certificate` names nothing more. `bounds` argues
why the answer is then the one that every minute would give. Every round reads at least one bucket more finely than
before, so it ends, at the latest when everything has been read as finely as the cloud keeps it.

What a volume did before the window is read last, and only where the answer changes what it carries (`recall`).

Volumes that share a host are read together, since each one's answer depends on the traffic of all. What reads is a
callback that is given all windows of a round at once, so that any cloud can make few calls of them.

The volumes of a known stripe set are read whole from the start and decided on together, and so is a volume that is
sized by busy time. Those of a host on which volumes can share a pool are decided on together too, but read only as
finely as their sums need. What merely looks like a set is told from what has been read anyway.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from plimsoll.domain.case import Case, DecisionContext
from plimsoll.domain.decide import answer
from plimsoll.domain.demand.day_sums import sums_of_knowledge
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.demand_profile import profile_of
from plimsoll.domain.demand.saturation import HostLoad
from plimsoll.domain.errors import CloudError
from plimsoll.domain.groups.decide_pools import Decided, decide_pools
from plimsoll.domain.groups.decide_stripes import Unit, decide_together
from plimsoll.domain.groups.group import Takeover
from plimsoll.domain.groups.hosting import attached_from_s
from plimsoll.domain.groups.lockstep import hint_text, hints
from plimsoll.domain.groups.rollup import with_others_alone
from plimsoll.domain.metrics.asks import Ask, Found
from plimsoll.domain.metrics.knowledge import Knowledge, first_looks
from plimsoll.domain.metrics.received import doubts, second_looks
from plimsoll.domain.metrics.sums import Segment, Window
from plimsoll.domain.metrics.track import Look
from plimsoll.domain.policy import Policy
from plimsoll.domain.reasons.place_reasons import with_idleness
from plimsoll.domain.reasons.reasons import few_hours
from plimsoll.domain.recommendation import Change, Keep, Recommendation, Wait
from plimsoll.domain.refine.certificate import open_buckets, open_of_host, reach_to_peaks
from plimsoll.domain.refine.members import Group, Judged, Member, grouped, share_errors
from plimsoll.domain.refine.peers import Peers
from plimsoll.domain.refine.query_cost import QueryCost
from plimsoll.domain.refine.refine import refine
from plimsoll.domain.refine.unread_past import limits_of_answer, strictest
from plimsoll.domain.volume import Volume, sole_host

Fetch = Callable[[Sequence[Ask]], Sequence[Found | CloudError]]
"""Reads metrics: for each ask, in order, what was found or why it could not be read."""


def judge(
    bases: Mapping[str, DecisionContext],
    volumes: Iterable[Volume],
    fetch: Fetch,
    *,
    segments: Sequence[Segment],
    resolution_s: int,
    query_cost: QueryCost,
    memory: Sequence[Segment] = (),
    units: Sequence[Unit] = (),
    takeovers: Sequence[Takeover] = (),
    every_minute: bool = False,
    by_minutes: bool = False,
    keep_demand: bool = False,
    shown: frozenset[str] = frozenset(),
) -> dict[str, Judged | CloudError]:
    """The answer of each volume that has a context, or why it could not be read; the others lend their hosts' traffic.

    `bases` by volume id; `segments` say how finely each span of the window is kept, and `memory` of what was before it.
    `units` are stripe sets all of whose volumes are given, with a context where they are not held, and `takeovers` are
    sized by the busiest. With `every_minute` everything is read at once, and `by_minutes` the
    window.
    Demands take memory by the volume, so that they are kept only with `keep_demand`. Of the volumes that are `shown`,
    by id, the work is read by the minute: no metric more is asked for than of others.
    """
    groups = grouped(bases, volumes, segments, units, memory)
    first = {
        (whole, host, work): first_looks(segments, every_minute=whole, host=host, work_by_minutes=work)
        for whole in (False, True)
        for host in (False, True)
        for work in (False, True)
    }
    pending = [
        (
            group,
            [
                (member, look)
                for member in group.members
                for look in (
                    *first[every_minute or by_minutes or member.whole, member.asks_host, member.volume.id in shown],
                    *(member.recall.everything() if every_minute and member.recall is not None else ()),
                )
            ],
        )
        for group in groups
    ]

    def settle(pending: Sequence[tuple[Group, Sequence[tuple[Member, Look]]]]) -> None:
        while pending:
            read_looks([asked for _, asks in pending for asked in asks], fetch)
            again = [(group, judge_group(group, resolution_s, query_cost, keep_demand)) for group, _ in pending]
            pending = [(group, asks) for group, asks in again if asks]
        for group in groups:
            share_errors(group)

    settle(pending)
    if takeovers and bases:
        market = next(iter(bases.values())).market
        window = Window(start_s=segments[0].window.start_s, end_s=segments[-1].window.end_s)
        peers = Peers(takeovers, groups, window, market)
        while again := peers.to_judge_again():
            settle([(group, []) for group in again])
        peers.name_suspected()
    members = [member for group in groups for member in group.members]
    return {member.volume.id: found for member in members if (found := member.error or member.judged) is not None}


def read_looks(asked: Sequence[tuple[Member, Look]], fetch: Fetch) -> None:
    """Reads what is asked, and once more what disagrees in it. What still disagrees then is disputed."""
    _take(asked, fetch, Knowledge.learn)
    again = list(_in_doubt(asked))
    if not again:
        return
    _take(again, fetch, Knowledge.learn_again)
    for knowledge in {id(member): member.knowledge for member, _ in again if member.error is None}.values():
        knowledge.disputes = doubts(knowledge)


def _take(
    asked: Sequence[tuple[Member, Look]],
    fetch: Fetch,
    learn: Callable[[Knowledge, Look, Found], None],
) -> None:
    if not asked:
        return
    answers = fetch([Ask(volume=member.volume, look=look) for member, look in asked])
    for (member, look), found in zip(asked, answers, strict=True):
        if isinstance(found, CloudError):
            member.error, member.judged = found, None
        elif member.recall is not None and member.recall.is_past(look):
            member.recall.learn(look, found)
        elif member.error is None:
            learn(member.knowledge, look, found)
            if member.recall is not None:
                member.recall.overhear(look, found)


def _in_doubt(asked: Iterable[tuple[Member, Look]]) -> Iterator[tuple[Member, Look]]:
    """What to ask once more of what was asked: where what came disagrees, or all of a bucket is absent."""
    looks: dict[int, tuple[Member, list[Look]]] = {}
    for member, look in asked:
        if member.recall is None or not member.recall.is_past(look):
            looks.setdefault(id(member), (member, []))[1].append(look)
        elif member.error is None and member.recall.in_doubt(look):
            yield member, look
    for member, own in looks.values():
        if member.error is None:
            found = doubts(member.knowledge)
            for look in second_looks(member.knowledge, own, found, attached_from_s(member.volume)):
                yield member, look


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
    found = _decided(group, members, demands, load, draft=draft)
    asks = list(_asks(group, members, found, demands, load, query_cost))
    if not asks:
        if _more_is_told(members, found):
            return _unsettled(group, resolution_s, query_cost, keep_demand, again=True)
        asks = list(_past_asks(members, found, query_cost))
    if draft and not asks and any(_to_be_drawn(answered) for _, answered in found.values()):
        found = _drawn(group, members, found, demands, load)
    for member in members:
        if member.volume.id in found:
            case, answered = found[member.volume.id]
            if not asks:
                answered = with_idleness(answered, member.idleness(case))
            member.judged = _judged(case, answered, keep_demand=keep_demand, settled=not asks)
    if not asks:
        _hint(members, demands)
    return asks


def _decided(
    group: Group,
    members: Sequence[Member],
    demands: Mapping[str, Demand],
    load: HostLoad | None,
    *,
    draft: bool,
) -> Decided:
    """The cases and answers of the volumes of a host, by what is known."""
    contexts = {
        member.volume.id: replace(member.context, draft=draft, peer=member.peer)
        for member in group.members
        if member.context is not None
    }
    found = _decided_pools(group, contexts, demands, load)
    for member in members:
        if member.alone and member.context is not None:
            context = member.sized(contexts[member.volume.id]).growing(member.growth)
            case = member.case(demands[member.volume.id], load, context)
            found[member.volume.id] = case, member.answer(case)
    for unit in group.units:
        found |= _decided_set(unit, group, contexts, demands, load)
    return found


def _drawn(
    group: Group, members: Sequence[Member], found: Decided, demands: Mapping[str, Demand], load: HostLoad | None
) -> Decided:
    """The same answers with what a draft left out. A volume's own case is what it was, with the trials made of it."""
    if group.pools or group.units:
        return _decided(group, members, demands, load, draft=False)
    return {name: _drawn_alone(case, answered) for name, (case, answered) in found.items()}


def _drawn_alone(case: Case, answered: Recommendation) -> tuple[Case, Recommendation]:
    if not _to_be_drawn(answered):
        return case, answered
    case = replace(case, context=replace(case.context, draft=False))
    return case, answer(case)


def _to_be_drawn(answered: Recommendation) -> bool:
    """Whether a draft left out a frontier that is worth drawing, or what the next level of safety costs."""
    is_promised = isinstance(answered, Change) and answered.risk is not None and answered.risk.promised_pct is not None
    return is_promised or (isinstance(answered, Keep | Change | Wait) and len(answered.comparison.frontier) == 1)


def _asks(
    group: Group,
    members: Sequence[Member],
    found: Decided,
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
                open_now[name].host = open_of_host(load, demands[name], _policies(group))
            for look in refine(case, demands[name], open_now[name], member.knowledge, query_cost):
                yield member, look


def _policies(group: Group) -> list[Policy]:
    return [member.context.policy for member in group.members if member.context is not None]


def _more_is_told(members: Sequence[Member], found: Decided) -> bool:
    """Whether more of the past of any counts from now on than did for its answer."""
    told = [
        member.recall.tells_more(*found[member.volume.id], partial(sums_of_knowledge, member.knowledge))
        for member in members
        if member.recall is not None and member.volume.id in found
    ]
    return any(told)


def _past_asks(members: Sequence[Member], found: Decided, query_cost: QueryCost) -> Iterator[tuple[Member, Look]]:
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


def _decided_set(
    unit: Unit,
    group: Group,
    contexts: Mapping[str, DecisionContext],
    demands: Mapping[str, Demand],
    load: HostLoad | None,
) -> Decided:
    """The cases and answers of the volumes of a stripe set: what one of them grows by, all have to carry."""
    members = [member for member in group.members if member.volume.id in unit.stripes.members]
    unread = {member.volume.id: f"it could not be read: {member.error}" for member in members if member.error}
    growth = max((member.growth for member in members if member.growth), key=lambda one: one.times, default=None)
    cases = [
        member.case(demands[member.volume.id], load, member.sized(contexts[member.volume.id]).growing(growth))
        for member in members
        if member.context is not None and member.error is None
    ]
    found = decide_together(replace(unit, held={**unit.held, **unread}), cases, load)
    by_volume = {case.volume.id: case for case in cases}
    return {name: (by_volume[name], answered) for name, answered in found.items()}


def _decided_pools(
    group: Group, contexts: Mapping[str, DecisionContext], demands: Mapping[str, Demand], load: HostLoad | None
) -> Decided:
    """The cases and answers of the volumes of a host's pools."""
    return decide_pools(group.pools, demands, contexts, load) if group.pools else {}


def _judged(case: Case, found: Recommendation, *, keep_demand: bool, settled: bool) -> Judged:
    demand = case.demand
    profile = profile_of(demand, throttled=case.lifted.any, host_bound=case.room.bound) if settled else None
    found = with_others_alone(case, found, few_hours(case))
    return Judged(recommendation=found, profile=profile, demand=demand if keep_demand else None)


def _hint(members: Sequence[Member], demands: Mapping[str, Demand]) -> None:
    """Adds to the answers of volumes that look like a stripe set that they do."""
    alone = {member.volume.id: member for member in members if member.alone}
    for group in hints([member.volume for member in alone.values()], demands):
        for member in (alone[volume_id] for volume_id in group):
            host = sole_host(member.volume)
            if member.judged is not None and host is not None:
                own = member.judged.recommendation
                told = replace(own, reasons=(*own.reasons, hint_text(member.volume.id, group, host.id)))
                member.judged = replace(member.judged, recommendation=told)
