"""Judge: the answers of volumes, of whose metrics is read only as much as they need.

Step 6 of an audit drives step 5 from here. `judge` reads coarsely, decides on the volumes of each host, and asks
`certificate` which unread buckets could change an answer, and `next` how to read them. That ends when nothing is open,
at the latest when everything is read as finely as the cloud keeps it. `plimsoll.demand.trial` argues why the
answer is then that of every minute.

- The past of a volume is read last, and only if its answer changes what it carries (`past`).
- Volumes that share a host are read together: each answer depends on the traffic of all.
- Stripe sets are decided on as one and read whole, as is a volume that is sized by busy time. Volumes that can share a
  pool are decided on together, and read as finely as their sums need.
- The callback that reads gets all windows of a round at once, so that a cloud can make few calls of them.

Peers: what the answers of volumes say of those that take over from them, once all are known alone.

A volume is decided alone first, and so is each from which it takes over. Where a reduction leaves less than any of them
will have, it is decided again with room for that. So an answer rests on peers' answers that are proved, and is itself
proved as any other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import numpy as np

from plimsoll.decide import reasons as volume_reasons
from plimsoll.decide.answer import Change, InsufficientData, Keep, Recommendation, Wait
from plimsoll.decide.case import DecisionContext
from plimsoll.decide.decide import kind_by_state
from plimsoll.decide.groups import (
    SUSPECTED_SHARE,
    Peer,
    Takeover,
    ToldBy,
    Unit,
    find_hints,
    hint_text,
    takeovers_by_volume,
)
from plimsoll.decide.hosting import attached_from_s
from plimsoll.decide.offers import Market, Offer, ceiling_on_hosts, find_shortfalls, takeover_loss
from plimsoll.decide.reasons import with_idleness
from plimsoll.demand.demand import Demand
from plimsoll.demand.epochs import Unsettled
from plimsoll.demand.from_metrics import sums_of_knowledge
from plimsoll.demand.host_room import HostLoad
from plimsoll.demand.profile import DemandSummary
from plimsoll.model.ceiling import NOTHING, Ceiling, Need
from plimsoll.model.errors import CloudError
from plimsoll.model.volume import Volume, sole_host
from plimsoll.reading.agreement import find_doubts, plan_second_looks
from plimsoll.reading.cost import QueryCost
from plimsoll.reading.known import Ask, Found, Knowledge, Look, plan_first_looks
from plimsoll.reading.window import Segment, Window
from plimsoll.refine.certificate import Decided, open_buckets, open_of_host, reach_to_peaks
from plimsoll.refine.hosts import Group, decide_group, draw_group, make_groups, share_errors
from plimsoll.refine.member import Judged, Member, is_to_be_drawn, judge_case
from plimsoll.refine.next import find_looks
from plimsoll.refine.past import limits_of_answer, reduced_to, strictest

_UNSEEN: Final = frozenset({Unsettled.NEW, Unsettled.REATTACHED, Unsettled.MOVED})
"""Why a node waits that was not seen through a week where it is."""


@dataclass(slots=True)
class Peers:
    """The takeovers among the volumes that are judged, and the first answer of each: what it will carry, or why that is
    not known."""

    takeovers: Iterable[Takeover]
    groups: list[Group]
    window: Window
    market: Market
    _first: dict[str, Recommendation] = field(default_factory=dict)
    _members: dict[str, Member] = field(init=False)
    _groups: dict[str, Group] = field(init=False)
    _takeovers: Mapping[str, Takeover] = field(init=False)

    def __post_init__(self) -> None:
        self._members = {member.volume.id: member for group in self.groups for member in group.members}
        self._groups = {member.volume.id: group for group in self.groups for member in group.members}
        self._takeovers = {
            name: takeover for name, takeover in takeovers_by_volume(self.takeovers).items() if name in self._members
        }

    def to_judge_again(self) -> list[Group]:
        """The groups with a volume whose answer has to know more of those that it takes over from."""
        known = {
            name: member
            for name in self._takeovers
            if (member := self._members[name]).judged is not None and member.error is None
        }
        for name, member in known.items():
            if member.judged is not None:
                self._first.setdefault(name, member.judged.recommendation)
        again: dict[int, Group] = {}
        for name, member in known.items():
            takeover = self._takeovers[name]
            asks = self._wants_peaks if takeover.is_suspected else self._asks_for
            if asks(member, takeover):
                again[id(self._groups[name])] = self._groups[name]
        return list(again.values())

    def name_suspected(self) -> None:
        """Makes reductions of volumes that may take over from another, by its name, their owner's decision."""
        for name, takeover in self._takeovers.items():
            judged = self._members[name].judged
            if judged is not None and judged.recommendation.idle is not None:  # it stands by for another
                judged = replace(judged, recommendation=with_idleness(judged.recommendation, None))
                self._members[name].judged = judged
            if not takeover.is_suspected or judged is None or self._members[name].error is not None:
                continue
            answer = judged.recommendation
            peer = self._suspect(answer, takeover)
            if isinstance(answer, Change) and peer is not None:
                loss = takeover_loss(answer.comparison.present, answer.target.ceiling)
                why = volume_reasons.suspected_takeover_reason(peer, self._summary(peer.volume))
                answer = replace(answer, peer=peer, losses=(*answer.losses, loss), reasons=(*answer.reasons, why))
                self._members[name].judged = replace(judged, recommendation=answer)

    def _asks_for(self, member: Member, takeover: Takeover) -> bool:
        """Gives a volume the peer that it is to leave room for; whether it has to be decided again for that."""
        answer = self._first[member.volume.id]
        peer = self._peer(answer, takeover)
        if peer is None or (member.peer is not None and peer.need == member.peer.need):
            return False
        member.peer = peer
        return True

    def _peer(self, answer: Recommendation, takeover: Takeover) -> Peer | None:
        """The one that asks for most of those that the volume of an answer takes over from; None if what is chosen is
        enough for all of them."""
        if not isinstance(answer, Change | Wait):
            return None
        present = answer.comparison.present
        offer = reduced_to(answer, answer.comparison.usable)
        if offer is None:
            return None
        peers = list(self._peers(answer.volume, takeover, present, waits=isinstance(answer, Wait)))
        unknown = next((peer for peer in peers if peer.unknown), None)
        if unknown is not None:
            return unknown
        short = [peer for peer in peers if any(find_shortfalls("", offer.ceiling, peer.need))]
        if not short:
            return None
        need = NOTHING
        for peer in short:
            need = need.no_less_than(peer.need)
        most = max(short, key=lambda peer: (peer.need.iops, peer.need.throughput_mib_s))
        return replace(most, need=need)

    def _peers(self, volume: Volume, takeover: Takeover, present: Ceiling, *, waits: bool = False) -> Iterator[Peer]:
        """The volumes that a volume takes over from, and what each asks: no more than it has. `waits`: so does it."""
        most = Need.from_ceiling(present)
        for other in takeover.others(volume):
            carried = self._find_carried(other, takeover, waits=waits)
            if isinstance(carried, str):
                yield Peer(takeover=takeover, volume=other, need=most, unknown=carried)
            elif carried is not None:
                need = Need.from_ceiling(carried.counted_as(present.accounting)).no_more_than(most)
                yield Peer(takeover=takeover, volume=other, need=need, ceiling=carried)

    def _find_carried(self, volume: Volume, takeover: Takeover, *, waits: bool) -> Ceiling | str | None:
        """The ceiling of a volume by its first answer, or why that is not known. None: it asks for nothing.

        What is expected of one that waits counts for others that wait, and a new node says nothing against its group.
        """
        if kind_by_state(volume) is not None or self._is_stopped(volume):
            return None
        member = self._members.get(volume.id)
        if member is not None and member.error is not None:
            return "could not be read"
        answer = self._first.get(volume.id)
        if isinstance(answer, Change) and not answer.measured:
            return "is not known well enough"
        offer = _find_offer(answer, waits=waits, is_node=takeover.told_by is ToldBy.AUTO_SCALING)
        if offer is not None:
            return offer.ceiling
        spec = volume.spec
        if isinstance(answer, InsufficientData):
            if answer.part is None or not answer.part.together:
                return "is not known well enough"
            spec = spec if answer.part.offer is None else answer.part.offer.spec
        kind = self.market.types.get(spec.type)
        return "is of a type without published limits" if kind is None else ceiling_on_hosts(kind, spec, volume)

    def _is_stopped(self, volume: Volume) -> bool:
        """True if all its hosts have been stopped since before the window."""
        stopped = [host.stopped_since for host in volume.hosts]
        return bool(stopped) and all(
            since is not None and since.timestamp() <= self.window.start_s for since in stopped
        )

    def _wants_peaks(self, member: Member, takeover: Takeover) -> bool:
        """Asks for the exact peaks of two volumes if the smaller may get too little for the other.

        That is if one may do a tenth of the other. True if any of the peaks was not asked for before.
        """
        answer = self._first[member.volume.id]
        offer = reduced_to(answer, answer.comparison.usable) if isinstance(answer, Change) else None
        if not isinstance(answer, Change) or offer is None:
            return False
        asked = False
        for peer in self._peers(answer.volume, takeover, answer.comparison.present):
            summary, of_peer = self._summary(answer.volume), self._summary(peer.volume)
            if summary is None or of_peer is None or not _leaves_less(offer, peer, _open_sides(summary, of_peer)):
                continue
            for suspect in (member, self._members[peer.volume.id]):
                asked |= not suspect.exact_peaks
                suspect.exact_peaks = True
        return asked

    def _suspect(self, answer: Recommendation, takeover: Takeover) -> Peer | None:
        """The busiest of those that the volume of a reduction may take over from; None if there is none."""
        summary = self._summary(answer.volume)
        if not isinstance(answer, Change) or summary is None:
            return None
        offer = reduced_to(answer, answer.comparison.usable)
        suspects = [
            peer
            for peer in self._peers(answer.volume, takeover, answer.comparison.present)
            if offer is not None and _is_suspect(offer, summary, peer, self._summary(peer.volume))
        ]
        return max(suspects, key=lambda peer: (peer.need.iops, peer.need.throughput_mib_s), default=None)

    def _summary(self, volume: Volume) -> DemandSummary | None:
        """The demand of a volume; None if that is not known."""
        member = self._members.get(volume.id)
        if member is None or member.error is not None or member.judged is None:
            return None
        answer = member.judged.recommendation
        return answer.demand if isinstance(answer, Change | Keep | Wait) else None


def _find_offer(answer: Recommendation | None, *, waits: bool, is_node: bool) -> Offer | None:
    """The offer that an answer means for its volume; None if that stays as it is."""
    match answer:
        case Change():
            return answer.target
        case Keep():
            return answer.beneath
        case Wait() if waits or (is_node and answer.code in _UNSEEN):
            return answer.expected
        case _:
            return None


def _sides(summary: DemandSummary) -> tuple[tuple[float, float], tuple[float, float]]:
    """The least and the most that the peak of each side can be."""
    return (
        (summary.least_peak_iops, summary.peak_iops),
        (summary.least_peak_throughput_mib_s, summary.peak_throughput_mib_s),
    )


def _open_sides(summary: DemandSummary, of_peer: DemandSummary) -> tuple[bool, bool]:
    """The sides, IOPS and MiB/s, on which it is open if one peak is under a tenth of the other."""
    iops, throughput_mib_s = (
        least < SUSPECTED_SHARE * most_of_peer and not most < SUSPECTED_SHARE * least_of_peer
        for (least, most), (least_of_peer, most_of_peer) in zip(_sides(summary), _sides(of_peer), strict=True)
    )
    return iops, throughput_mib_s


def _is_suspect(offer: Offer, summary: DemandSummary, peer: Peer, of_peer: DemandSummary | None) -> bool:
    """True if a volume does under a tenth of a peer where its offer has too little for it.

    So it may if the peer's answer is unknown. `of_peer` is the peer's demand; None: not known, and no suspicion.
    """
    if peer.unknown:
        return True
    if of_peer is None:
        return False
    iops, throughput_mib_s = (
        least < SUSPECTED_SHARE * least_of_peer
        for (least, _), (least_of_peer, _) in zip(_sides(summary), _sides(of_peer), strict=True)
    )
    return _leaves_less(offer, peer, (iops, throughput_mib_s))


def _leaves_less(offer: Offer, peer: Peer, sides: tuple[bool, bool]) -> bool:
    """True if an offer carries less than a peer will have, on any of these sides."""
    need = Need(
        iops=peer.need.iops if sides[0] else 0.0,
        throughput_mib_s=peer.need.throughput_mib_s if sides[1] else 0.0,
    )
    return any(find_shortfalls("", offer.ceiling, need))


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
        peers = Peers(takeovers, groups, window, market)
        while again := peers.to_judge_again():
            settle([(group, []) for group in again])
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
