"""Members: the volumes that are judged together, by the hosts that they share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Final

from plimsoll.domain.case import Case, DecisionContext
from plimsoll.domain.case_maker import case_of, edges_of
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.decide import answer
from plimsoll.domain.demand.day_sums import DaySums, sums_of_knowledge
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.demand_profile import DemandProfile
from plimsoll.domain.demand.epochs import credited_in
from plimsoll.domain.demand.from_metrics import demand_of
from plimsoll.domain.demand.room import Rates
from plimsoll.domain.demand.saturation import HostLoad
from plimsoll.domain.demand.trend import NEVER, BusyHours
from plimsoll.domain.errors import CloudError
from plimsoll.domain.groups.decide_stripes import Unit
from plimsoll.domain.groups.group import Peer
from plimsoll.domain.groups.held_back import extras_of_host
from plimsoll.domain.groups.hosting import asking, host_loads, may_be_the_limit, running_from_s
from plimsoll.domain.groups.pool import Pool, pools_of
from plimsoll.domain.headroom import Growth
from plimsoll.domain.memory.idleness import idleness_of, may_be_idle
from plimsoll.domain.metrics.grid import grid_of
from plimsoll.domain.metrics.knowledge import Knowledge
from plimsoll.domain.metrics.sums import Segment, Window
from plimsoll.domain.policy import SizeOn
from plimsoll.domain.recommendation import Idleness, Recommendation
from plimsoll.domain.refine.recall import Recall
from plimsoll.domain.refine.steps import Steps
from plimsoll.domain.volume import Volume, sole_host
from plimsoll.domain.volume_types import VolumeType

FEW_BUCKETS: Final = 500
"""A fortnight by the hour, and some hours by the minute: so much of a volume is kept while more is read of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A volume's answer, the profile of the demand that it rests on, and that demand where it is kept.

    There is no `profile` while something is still to be read.
    """

    recommendation: Recommendation
    profile: DemandProfile | None
    demand: Demand | None


@dataclass(slots=True)
class Member:
    """A volume on its way: what is known of it, and its answer so far. Without a `context` only its traffic counts.

    `in_set`: it is of a stripe set that is decided on as one. `pooled`: its host's volumes can share pools. `whole`: it
    is read whole from the start. `asks_host`: what is measured of its host is asked by it, for all volumes there.
    `recall` is its past, None where nothing of it can be read; `steps` tells how often its points come. `peer` is the
    volume that it has to leave room for, and `exact_peaks` says that its peaks have to be known.
    """

    volume: Volume
    context: DecisionContext | None
    knowledge: Knowledge
    in_set: bool
    pooled: bool = False
    whole: bool = False
    asks_host: bool = False
    recall: Recall | None = None
    peer: Peer | None = None
    exact_peaks: bool = False
    steps: Steps = field(init=False)
    error: CloudError | None = None
    judged: Judged | None = None
    _made: tuple[Case, Demand, HostLoad | None, DaySums | None, BusyHours | None] | None = None
    _answered: tuple[Case, Recommendation] | None = None

    def __post_init__(self) -> None:
        self.steps = Steps(self.volume, self.knowledge)

    @property
    def alone(self) -> bool:
        """Whether it is decided on by itself."""
        return not (self.in_set or self.pooled)

    @property
    def growth(self) -> Growth | None:
        """How fast what it does grows, where its past was asked for it."""
        return None if self.recall is None else self.recall.growth

    def sized(self, context: DecisionContext) -> DecisionContext:
        """Its context, with the headroom that is learned for what its past has told so far."""
        return context if self.recall is None else self.recall.sized(context)

    def case(self, demand: Demand, load: HostLoad | None, context: DecisionContext) -> Case:
        """Its case, with what its past has told so far. It is the same object where nothing else is known."""
        days = None if self.recall is None else self.recall.days
        earlier = NEVER if self.recall is None else self.recall.earlier
        case = self._as_before(demand, load, context, days, earlier)
        if case is None:
            case = case_of(self.volume, demand, load, context, days, earlier)
        self._made = case, demand, load, days, earlier
        return case if self.recall is None else self.recall.remembering(case)

    def idleness(self, case: Case) -> Idleness | None:
        """For how long it is known to have done nothing; None if it did, or that is not known."""
        if not may_be_idle(self.volume, case.demand):
            return None
        own = sums_of_knowledge(self.knowledge)
        days = own if self.recall is None else self.recall.with_window(own)
        return idleness_of(self.volume, days, self.knowledge.window, case.policy)

    def answer(self, case: Case) -> Recommendation:
        """The answer to its case, worked out once for the same case."""
        if self._answered is None or self._answered[0] is not case:
            self._answered = case, answer(case)
        return self._answered[1]

    def forget(self) -> None:
        """Lets go of its case and its answer's: what was judged of it stays."""
        self._made = self._answered = None

    def _as_before(
        self,
        demand: Demand,
        load: HostLoad | None,
        context: DecisionContext,
        days: DaySums | None,
        earlier: BusyHours | None,
    ) -> Case | None:
        """The case that was made of the same, with what was worked out of it; None where something else is known. Days
        tell of what was held back, and of nothing else."""
        if self._made is None:
            return None
        case, made_of, load_of_host, known, past = self._made
        sized = case.context.policy == context.policy and case.headrooms == context.headrooms
        same = made_of is demand and load_of_host is load and sized and past is earlier
        if not same or (known is not days and case.lifted.any.any()):
            return None
        return case if case.context == context else replace(case, context=context)


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
        return extras_of_host(volumes, self.pools, known, host)

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
            chosen = asking(member.volume for member in group.members)
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
    grid = grid_of([member.knowledge for member in members], resolution_s=resolution_s, edges=edges)
    return {member.volume.id: demand_of(member.knowledge, resolution_s=resolution_s, grid=grid) for member in members}


def _find_pools(group: Group) -> None:
    """Notes the pools of a host any of whose volumes is to be decided on, and reads them whole where some are of a
    stripe set as well."""
    bases = [member.context for member in group.members if member.context is not None]
    if not bases:
        return
    group.pools = pools_of([member.volume for member in group.members], bases[0].market.types)
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
