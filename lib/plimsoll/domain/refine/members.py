"""Members: the volumes that are judged together, by the hosts that they share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Final

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.epochs import credited_in, edges_of
from plimsoll.domain.demand.from_metrics import demand_of
from plimsoll.domain.demand.room import Rates
from plimsoll.domain.demand.saturation import HostLoad
from plimsoll.domain.errors import CloudError
from plimsoll.domain.groups.group import Unit
from plimsoll.domain.groups.held_back import find_held_back
from plimsoll.domain.groups.hosting import host_loads, may_be_the_limit, pick_asking, running_from_s
from plimsoll.domain.groups.pool import Pool, find_pools
from plimsoll.domain.metrics.grid import make_grid
from plimsoll.domain.metrics.knowledge import Knowledge
from plimsoll.domain.metrics.sums import Segment, Window
from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.domain.refine.member import Member
from plimsoll.domain.refine.recall import Recall
from plimsoll.domain.volume import Volume, sole_host
from plimsoll.domain.volume_types import VolumeType

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

    def traffic(self, resolution_s: int) -> Traffic:
        """What its volumes did by what is known now, worked out once until more is known of any."""
        readable = self.readable()
        known = [(one.volume.id, one.knowledge.version, one.knowledge.disputes) for one in readable]
        if self._traffic is None or self._traffic[0] != known:
            demands = _demands(readable, resolution_s)
            self._traffic = known, (demands, self._load(demands))
        return self._traffic[1]

    def forget(self, *, but_few: bool) -> None:
        """Lets go of what was worked out of its demands: it takes memory by the volume, and can be worked out anew.
        `but_few`: demands of few buckets are kept, for answers that come again."""
        demands = {} if self._traffic is None else self._traffic[1][0]
        if but_few and all(len(demand.iops) <= FEW_BUCKETS for demand in demands.values()):
            return
        self._traffic = None
        for member in self.members:
            member.forget()

    def _load(self, demands: Mapping[str, Demand]) -> HostLoad | None:
        """The traffic of its host, complete where that cannot be the limit."""
        load = next(iter(host_loads([member.volume for member in self.members], demands).values()), None)
        if load is None:
            return None
        extras = cache(partial(self._extras, demands, load.host.ceiling))
        return replace(load, extras=extras, complete=load.complete or not self.may_reach_its_host)

    def _extras(self, demands: Mapping[str, Demand], host: Ceiling) -> Mapping[str, Rates]:
        """What was held back of its volumes that may be changed, whose demands are not disputed."""
        known = {name: demand for name, demand in demands.items() if not demand.disputed}
        volumes = [(member.volume, member.context) for member in self.members if member.context is not None]
        return find_held_back(volumes, self.pools, known, host)

    @property
    def may_reach_its_host(self) -> bool:
        """Whether what its volumes can do together may be more than their host carries."""
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
        """Those whose metrics could be read so far."""
        return [member for member in self.members if member.error is None]


def grouped(
    bases: Mapping[str, DecisionContext],
    volumes: Iterable[Volume],
    segments: Sequence[Segment],
    units: Sequence[Unit],
    memory: Sequence[Segment],
) -> list[Group]:
    """The volumes of each host, on their way; `bases` and the rest are those of `branch_and_bound.judge`."""
    groups: dict[str, Group] = {}
    in_sets = {volume_id for unit in units for volume_id in unit.stripes.members}
    types: Mapping[str, VolumeType] = next((one.market.types for one in bases.values()), {})
    for volume in volumes:
        host = sole_host(volume)
        in_set, context = volume.id in in_sets, bases.get(volume.id)
        window = Window(start_s=segments[0].window.start_s, end_s=segments[-1].window.end_s)
        knowledge = Knowledge(segments, running_from_s(volume), credited_in(volume, window, types))
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
    """Notes the pools of a host any of whose volumes is to be decided on, and reads them whole where some are of a
    stripe set as well."""
    bases = [member.context for member in group.members if member.context is not None]
    if not bases:
        return
    group.pools = find_pools([member.volume for member in group.members], bases[0].market.types)
    if not group.pools:
        return
    for member in group.members:
        member.pooled, member.whole, member.recall = True, member.whole or bool(group.units), None


def share_errors(group: Group) -> None:
    """Where one of the volumes of a host could not be read, nobody can tell whether the host was the limit, or what the
    others would share of a pool: they are unread with it."""
    failed = next((member for member in group.members if member.error is not None), None)
    if failed is None or not (group.pools or group.may_reach_its_host):
        return
    for member in group.members:
        if member.error is None:
            member.error = CloudError(
                f"cannot decide on {member.volume.name or member.volume.id}: it shares a host with "
                f"{failed.volume.name or failed.volume.id}, which could not be read. {failed.error}"
            )
