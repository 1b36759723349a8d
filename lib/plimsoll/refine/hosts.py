"""Hosts: volumes that are judged together because they share a host, with their traffic, cases and answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Final

from plimsoll.decide.case import DecisionContext
from plimsoll.decide.groups import Unit
from plimsoll.decide.hosting import Pool, find_pools, may_be_the_limit, pick_asking
from plimsoll.decide.pools import DecidedPool, decide_pools, find_held_back
from plimsoll.decide.stripes import decide_together
from plimsoll.demand.demand import CountedRates, Demand
from plimsoll.demand.epochs import edges_of, find_credited_windows
from plimsoll.demand.from_metrics import demand_of, make_grid
from plimsoll.demand.host_room import HostLoad, host_loads
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.errors import CloudError
from plimsoll.model.market import VolumeType
from plimsoll.model.policy import Policy, SizeOn
from plimsoll.model.volume import Volume, running_from_s, sole_host
from plimsoll.reading.known import Knowledge
from plimsoll.reading.window import Segment, Window
from plimsoll.refine.member import Member
from plimsoll.refine.past import Recall

FEW_BUCKETS: Final = 500
"""A fortnight by the hour, and some hours by the minute: so much of a volume is kept while more is read of it."""

Traffic = tuple[Mapping[str, Demand], HostLoad | None]
"""The demands of the volumes of a host that could be read, by id, on one grid, and what the host carried of them."""


@dataclass(slots=True)
class Group:
    """The volumes of one host, or one volume alone."""

    members: list[Member] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    pools: list[Pool] = field(default_factory=list)
    _traffic: tuple[Sequence[object], Traffic] | None = None
    _decided: DecidedPool = field(default_factory=dict)

    def traffic(self, resolution_s: int) -> Traffic:
        """The demands of its volumes and its host's load, worked out once until more is known of any."""
        readable = self.readable()
        known = [(member.volume.id, member.knowledge.version, member.knowledge.disputes) for member in readable]
        if self._traffic is None or self._traffic[0] != known:
            demands = _demands(readable, resolution_s)
            self._decided = {}
            self._traffic = known, (demands, self._load(demands))
        return self._traffic[1]

    def keep_decided(self, decided: DecidedPool) -> None:
        """Keeps answers while only the past is still to be read. With a throttled volume they may change with the
        risk, which rests on the past: relief lowers a limit or none."""
        is_throttled = any(case.frequent for case, _ in decided.values())
        self._decided = {} if is_throttled else decided

    def take_decided(self) -> DecidedPool:
        """The answers that were kept, once; none if more was read of the window."""
        decided, self._decided = self._decided, {}
        return decided

    def forget(self, *, but_few: bool) -> None:
        """Lets go of what was worked out of its demands: it takes memory by the volume, and can be worked out anew.
        `but_few`: demands of few buckets are kept, for answers that come again."""
        demands = {} if self._traffic is None else self._traffic[1][0]
        if but_few and all(len(demand.iops) <= FEW_BUCKETS for demand in demands.values()):
            return
        self._traffic, self._decided = None, {}
        for member in self.members:
            member.forget()

    def _load(self, demands: Mapping[str, Demand]) -> HostLoad | None:
        """The traffic of its host, complete where that cannot be the limit."""
        load = next(iter(host_loads([member.volume for member in self.members], demands).values()), None)
        if load is None:
            return None
        extras = cache(partial(self._extras, demands, load.host.ceiling))
        return replace(load, extras=extras, complete=load.complete or not self.may_reach_its_host)

    def _extras(self, demands: Mapping[str, Demand], host: Ceiling) -> Mapping[str, CountedRates]:
        """The held-back demand of its volumes that may be changed and are not disputed, by id."""
        known = {name: demand for name, demand in demands.items() if not demand.is_disputed}
        volumes = [(member.volume, member.context) for member in self.members if member.context is not None]
        return find_held_back(volumes, self.pools, known, host)

    @property
    def may_reach_its_host(self) -> bool:
        """True if its volumes together can do more than their host carries."""
        known = self.context
        if known is None:
            return False
        share = known.policy.saturation_pct / 100
        return may_be_the_limit([member.volume for member in self.members], known.market.types, share)

    @property
    def context(self) -> DecisionContext | None:
        """The context of the member whose policy sees its host at the limit first."""
        known = [member.context for member in self.members if member.context is not None]
        return min(known, key=lambda context: context.policy.saturation_pct, default=None)

    @property
    def policies(self) -> list[Policy]:
        """The policies of the members that are decided on."""
        return [member.context.policy for member in self.members if member.context is not None]

    def readable(self) -> list[Member]:
        """The members whose metrics could be read so far."""
        return [member for member in self.members if member.error is None]


def make_groups(
    bases: Mapping[str, DecisionContext],
    volumes: Iterable[Volume],
    segments: Sequence[Segment],
    units: Sequence[Unit],
    memory: Sequence[Segment],
) -> list[Group]:
    """The volumes of each host, on their way; for the arguments see `judge`."""
    groups: dict[str, Group] = {}
    in_sets = {volume_id for unit in units for volume_id in unit.stripes.members}
    types: Mapping[str, VolumeType] = next((context.market.types for context in bases.values()), {})
    for volume in volumes:
        host = sole_host(volume)
        in_set, context = volume.id in in_sets, bases.get(volume.id)
        window = Window(start_s=segments[0].window.start_s, end_s=segments[-1].window.end_s)
        knowledge = Knowledge(segments, running_from_s(volume), find_credited_windows(volume, window, types))
        by_busy_time = context is not None and context.policy.size_on is SizeOn.BUSY_TIME
        member = Member(volume, context, knowledge, in_set, whole=in_set or by_busy_time)
        if context is not None:
            member.recall = Recall.of(volume, context, memory, knowledge.window)
        groups.setdefault(host.id if host else volume.id, Group()).members.append(member)
    for unit in units:
        groups[unit.stripes.host_id].units.append(unit)
    for group in groups.values():
        _find_pools(group)
        if group.may_reach_its_host:
            chosen = pick_asking(member.volume for member in group.members)
            for member in group.members:
                member.asks_host = member.volume.id == chosen.id
    return list(groups.values())


def _demands(members: Sequence[Member], resolution_s: int) -> dict[str, Demand]:
    """The demands of volumes, on one grid that their epochs cut as well."""
    edges = [
        edges_of(member.volume, member.knowledge.window, member.context.policy)
        for member in members
        if member.context is not None
    ]
    if not members:
        return {}
    grid = make_grid([member.knowledge for member in members], resolution_s=resolution_s, edges=edges)
    return {member.volume.id: demand_of(member.knowledge, resolution_s=resolution_s, grid=grid) for member in members}


def _find_pools(group: Group) -> None:
    """Notes the pools of a host if one of its volumes is decided on. With a stripe set there, all are read whole."""
    bases = [member.context for member in group.members if member.context is not None]
    if not bases:
        return
    group.pools = find_pools([member.volume for member in group.members], bases[0].market.types)
    if not group.pools:
        return
    for member in group.members:
        member.pooled, member.whole, member.recall = True, member.whole or bool(group.units), None


def share_errors(group: Group) -> None:
    """Fails all volumes of a host with one that could not be read: their limits and pools depend on it."""
    failed = next((member for member in group.members if member.error is not None), None)
    if failed is None or not (group.pools or group.may_reach_its_host):
        return
    for member in group.members:
        if member.error is None:
            member.error = CloudError(
                f"cannot decide on {member.volume.name or member.volume.id}: it shares a host with "
                f"{failed.volume.name or failed.volume.id}, which could not be read. {failed.error}"
            )


def decide_group(
    group: Group,
    members: Sequence[Member],
    demands: Mapping[str, Demand],
    load: HostLoad | None,
    *,
    draft: bool,
) -> DecidedPool:
    """The cases and answers of the volumes of a host, by what is known."""
    contexts = {
        member.volume.id: replace(member.context, draft=draft, peer=member.peer)
        for member in group.members
        if member.context is not None
    }
    decided = _decide_pools(group, contexts, demands, load)
    for member in members:
        if member.is_alone and member.context is not None:
            context = member.size_context(contexts[member.volume.id]).growing(member.growth)
            case = member.case(demands[member.volume.id], load, context)
            decided[member.volume.id] = case, member.answer(case)
    for unit in group.units:
        decided |= _decide_set(unit, group, contexts, demands, load)
    return decided


def draw_group(
    group: Group, members: Sequence[Member], decided: DecidedPool, demands: Mapping[str, Demand], load: HostLoad | None
) -> DecidedPool:
    """The same answers with what a draft left out. A volume's own case is what it was, with the trials made of it."""
    if group.pools or group.units:
        return decide_group(group, members, demands, load, draft=False)
    return {
        member.volume.id: member.draw(*decided[member.volume.id]) for member in members if member.volume.id in decided
    }


def _decide_set(
    unit: Unit,
    group: Group,
    contexts: Mapping[str, DecisionContext],
    demands: Mapping[str, Demand],
    load: HostLoad | None,
) -> DecidedPool:
    """The cases and answers of the volumes of a stripe set: what one of them grows by, all have to carry."""
    members = [member for member in group.members if member.volume.id in unit.stripes.members]
    unread = {member.volume.id: f"it could not be read: {member.error}" for member in members if member.error}
    growth = max((member.growth for member in members if member.growth), key=lambda grown: grown.times, default=None)
    cases = [
        member.case(demands[member.volume.id], load, member.size_context(contexts[member.volume.id]).growing(growth))
        for member in members
        if member.context is not None and member.error is None
    ]
    decided = decide_together(replace(unit, held={**unit.held, **unread}), cases, load)
    by_volume = {case.volume.id: case for case in cases}
    return {name: (by_volume[name], answered) for name, answered in decided.items()}


def _decide_pools(
    group: Group, contexts: Mapping[str, DecisionContext], demands: Mapping[str, Demand], load: HostLoad | None
) -> DecidedPool:
    """The cases and answers of the volumes of a host's pools."""
    return decide_pools(group.pools, demands, contexts, load) if group.pools else {}
