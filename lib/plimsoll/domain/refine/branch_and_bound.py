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

from plimsoll.domain.context import DecisionContext
from plimsoll.domain.errors import CloudError
from plimsoll.domain.groups.group import Takeover, Unit
from plimsoll.domain.groups.hosting import attached_from_s
from plimsoll.domain.metrics.knowledge import Ask, Found, Knowledge, plan_first_looks
from plimsoll.domain.metrics.received import find_doubts, plan_second_looks
from plimsoll.domain.metrics.sums import Segment, Window
from plimsoll.domain.metrics.track import Look
from plimsoll.domain.refine.judging import judge_group
from plimsoll.domain.refine.member import Judged, Member
from plimsoll.domain.refine.members import Group, grouped, share_errors
from plimsoll.domain.refine.peers import Peers
from plimsoll.domain.refine.query_cost import QueryCost
from plimsoll.domain.volume import Volume

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
    return {member.volume.id: found for member in members if (found := member.error or member.judged) is not None}


def read_looks(asked: Sequence[tuple[Member, Look]], fetch: Fetch) -> None:
    """Reads what is asked, and once more what disagrees in it. What still disagrees then is disputed."""
    _take(asked, fetch, Knowledge.learn)
    again = list(_in_doubt(asked))
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
            found = find_doubts(member.knowledge)
            for look in plan_second_looks(member.knowledge, own, found, attached_from_s(member.volume)):
                yield member, look
