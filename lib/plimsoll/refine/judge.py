"""Judge: the answers of volumes, of whose metrics is read only as much as they need.

Step 6 of an audit drives step 5 from here. `judge` reads coarsely, decides on the volumes of each host, and asks
`certificate` which unread buckets could change an answer, and `next` how to read them. That ends when nothing is open,
at the latest when everything is read as finely as the cloud keeps it. `plimsoll.demand.trial` argues why the
answer is then that of every minute.

- The past of a volume is read last, and only if its answer changes what it carries (`past`).
- Volumes that share a host are read together: each answer depends on the traffic of all.
- Stripe sets are decided on as one and read whole, as is a volume that is sized by busy time. Volumes that can share a
  pool are decided on together, and read as finely as their sums need.
- Volumes that take over from one another are decided on again with room for that (`peers`).
- The callback that reads gets all windows of a round at once, so that a cloud can make few calls of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from plimsoll.decide.case import DecisionContext
from plimsoll.decide.groups import (
    Takeover,
    Unit,
    find_hints,
    hint_text,
)
from plimsoll.decide.reasons import with_idleness
from plimsoll.demand.demand import Demand
from plimsoll.demand.from_metrics import sums_of_knowledge
from plimsoll.demand.host_room import HostLoad
from plimsoll.model.errors import CloudError
from plimsoll.model.volume import Volume, attached_from_s, sole_host
from plimsoll.reading.agreement import find_doubts, plan_second_looks
from plimsoll.reading.cost import QueryCost
from plimsoll.reading.known import Ask, Fetch, Found, Knowledge, Look, plan_first_looks
from plimsoll.reading.window import Segment, Window
from plimsoll.refine.certificate import Decided, open_buckets, open_of_host, reach_to_peaks
from plimsoll.refine.hosts import Group, decide_group, draw_group, make_groups, share_errors
from plimsoll.refine.member import Judged, Member, is_to_be_drawn, judge_case
from plimsoll.refine.next import find_looks
from plimsoll.refine.past import limits_of_answer, strictest
from plimsoll.refine.peers import Peers


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
    """The answer of each volume that has a context, or why it could not be read. Others lend their hosts' traffic.

    `bases` by volume id; `segments` say how finely each span of the window is kept, and `memory` of what was before it.
    `units` are stripe sets all of whose volumes are given, with a context where they are not held, and `takeovers` are
    sized by the busiest. `every_minute` reads everything at once, `by_minutes` the window. Demands take memory, and are
    kept only with `keep_demand`. The work of volumes that are `shown`, by id, is read by the minute.
    """
    groups = make_groups(bases, volumes, segments, units, memory)
    first = {
        (whole, host, work): plan_first_looks(segments, every_minute=whole, host=host, work_by_minutes=work)
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
        peers = Peers(takeovers, [member for group in groups for member in group.members], window, market)
        while again := peers.to_judge_again():
            settle([(group, []) for group in groups if any(member.volume.id in again for member in group.members)])
        peers.name_suspected()
    members = [member for group in groups for member in group.members]
    outcomes = {member.volume.id: member.error or member.judged for member in members}
    return {name: outcome for name, outcome in outcomes.items() if outcome is not None}


def read_looks(asked: Sequence[tuple[Member, Look]], fetch: Fetch) -> None:
    """Reads what is asked, and once more what disagrees in it. What still disagrees then is disputed."""
    _take(asked, fetch, Knowledge.learn)
    again = list(_find_doubtful(asked))
    if not again:
        return
    _take(again, fetch, Knowledge.learn_again)
    for knowledge in {id(member): member.knowledge for member, _ in again if member.error is None}.values():
        knowledge.disputes = find_doubts(knowledge)


def _take(
    asked: Sequence[tuple[Member, Look]],
    fetch: Fetch,
    learn: Callable[[Knowledge, Look, Found], None],
) -> None:
    """Reads looks and learns them: the window's into knowledge, the past's into memory. An error ends that volume."""
    if not asked:
        return
    answers = fetch([Ask(volume=member.volume, look=look) for member, look in asked])
    for (member, look), answer in zip(asked, answers, strict=True):
        if isinstance(answer, CloudError):
            member.error, member.judged = answer, None
        elif member.recall is not None and member.recall.is_past(look):
            member.recall.learn(look, answer)
        elif member.error is None:
            learn(member.knowledge, look, answer)
            if member.recall is not None:
                member.recall.overhear(look, answer)


def _find_doubtful(asked: Iterable[tuple[Member, Look]]) -> Iterator[tuple[Member, Look]]:
    """The looks to ask once more: metrics disagree, or all of a bucket is absent."""
    looks: dict[int, tuple[Member, list[Look]]] = {}
    for member, look in asked:
        if member.recall is None or not member.recall.is_past(look):
            looks.setdefault(id(member), (member, []))[1].append(look)
        elif member.error is None and member.recall.is_doubtful(look):
            yield member, look
    for member, of_window in looks.values():
        if member.error is None:
            since_s = attached_from_s(member.volume)
            for look in plan_second_looks(member.knowledge, of_window, find_doubts(member.knowledge), since_s):
                yield member, look


def judge_group(
    group: Group, resolution_s: int, query_cost: QueryCost, keep_demand: bool = False
) -> list[tuple[Member, Look]]:
    """Judges the volumes of a host, and says what to read next. While that is something, what was worked out of few
    buckets is kept."""
    asks = _judge_by_known(group, resolution_s, query_cost, keep_demand)
    group.forget(but_few=bool(asks))
    return asks


def _judge_by_known(
    group: Group, resolution_s: int, query_cost: QueryCost, keep_demand: bool, *, again: bool = False
) -> list[tuple[Member, Look]]:
    """Judges the volumes of a host by what is known, and says what to read next. What is decided `again`, with more of
    the past, is most often the end, and so no draft."""
    members = group.readable()
    steps = [(member, look) for member in members for look in member.steps.looks()]
    if steps:
        return steps
    demands, load = group.traffic(resolution_s)
    before = group.take_decided()
    again = again or (bool(before) and _has_news(members, before))
    draft = not again and not all(member.whole for member in members)
    decided = decide_group(group, members, demands, load, draft=draft)
    asks = list(_ask_window(group, members, decided, demands, load, query_cost))
    if not asks:
        if _has_news(members, decided):
            return _judge_by_known(group, resolution_s, query_cost, keep_demand, again=True)
        asks = list(_ask_past(members, decided, query_cost))
        group.keep_decided(decided)
    if draft and not asks and any(is_to_be_drawn(answered) for _, answered in decided.values()):
        decided = draw_group(group, members, decided, demands, load)
    _keep_judged(members, decided, keep_demand=keep_demand, settled=not asks)
    if not asks:
        _hint(members, demands)
    return asks


def _keep_judged(members: Sequence[Member], decided: Decided, *, keep_demand: bool, settled: bool) -> None:
    """Notes what is judged of each volume."""
    for member in members:
        if member.volume.id in decided:
            case, answered = decided[member.volume.id]
            if settled:
                answered = with_idleness(answered, member.idleness(case))
            member.judged = judge_case(case, answered, keep_demand=keep_demand, settled=settled)


def _ask_window(
    group: Group,
    members: Sequence[Member],
    decided: Decided,
    demands: Mapping[str, Demand],
    load: HostLoad | None,
    query_cost: QueryCost,
) -> Iterator[tuple[Member, Look]]:
    """The looks at unread buckets that could change an answer; none at a volume whose metrics disagree."""
    context = group.context
    if context is None or all(member.whole for member in members):
        return
    of_parts = {name: pair for name, pair in decided.items() if not demands[name].is_disputed}
    open_now = open_buckets(of_parts, demands, load, group.pools, context.policy.saturation_pct)
    for member in members:
        name = member.volume.id
        if not (member.whole or demands[name].is_disputed):
            case = decided[name][0] if name in decided else None
            if member.exact_peaks:
                demand = demands[name] if case is None else case.demand
                open_now[name].work = np.maximum(open_now[name].work, reach_to_peaks(demand))
            if load is not None and member.asks_host:
                open_now[name].host = open_of_host(load, demands[name], group.policies)
            for look in find_looks(case, demands[name], open_now[name], member.knowledge, query_cost):
                yield member, look


def _has_news(members: Sequence[Member], decided: Decided) -> bool:
    """True if more of a past counts from now on than did for its answer."""
    news = [
        member.recall.tells_more(*decided[member.volume.id], partial(sums_of_knowledge, member.knowledge))
        for member in members
        if member.recall is not None and member.volume.id in decided
    ]
    return any(news)


def _ask_past(members: Sequence[Member], decided: Decided, query_cost: QueryCost) -> Iterator[tuple[Member, Look]]:
    """The looks at the past that could speak against the chosen offer, or against the cheapest."""
    limits = {
        member.volume.id: limits_of_answer(*decided[member.volume.id])
        for member in members
        if member.recall is not None and member.volume.id in decided
    }
    in_set = [limits[member.volume.id] for member in members if member.in_set and member.volume.id in limits]
    for member in members:
        if member.recall is not None and member.volume.id in limits:
            limit = strictest(in_set) if member.in_set else limits[member.volume.id]
            for look in member.recall.looks(*decided[member.volume.id], limit, query_cost):
                yield member, look


def _hint(members: Sequence[Member], demands: Mapping[str, Demand]) -> None:
    """Tells owners of volumes that look like a stripe set."""
    candidates = {member.volume.id: member for member in members if member.is_alone}
    for group in find_hints([member.volume for member in candidates.values()], demands):
        for member in (candidates[volume_id] for volume_id in group):
            host = sole_host(member.volume)
            if member.judged is not None and host is not None:
                answered = member.judged.recommendation
                reasons = *answered.reasons, hint_text(member.volume.id, group, host.id)
                member.judged = replace(member.judged, recommendation=replace(answered, reasons=reasons))
