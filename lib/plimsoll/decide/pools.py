"""Pools: volumes of one type on one host that share what the sum of their sizes gives.

Some types give performance to the host and not to the volume: all of one type on a host carry together what their sizes
come to, any of them may use all of it, and to change one moves what the others have. Where such types are sold, what a
volume of any type may become depends on the others on its host.

Pool loads: the load that the volumes of a pool would have together as each type, and the load left behind.

Every load must be carried whether or not the pools beside it are changed as well: what joins another pool by what it
brings and by both together, and what stays behind by what is left.

The demand that was held back: what volumes of a host would have done beyond what they did, without their limits.

The decision on pools: the volumes of each become one type together, or none changes. See docs/decision.md, 9.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from plimsoll.decide.answer import Change, Recommendation, Reprovision, blockers_together
from plimsoll.decide.case import Case, DecisionContext, SharedLoad
from plimsoll.decide.case_maker import (
    case_of,
    clip_to_record,
    find_epochs_on_record,
    lay_epochs,
    tell_days,
    without_restore,
)
from plimsoll.decide.decide import answer_together, kept
from plimsoll.decide.hosting import Pool, pool_ceiling, pool_name, present_ceiling, total_size_gib
from plimsoll.decide.offers import KeptLimits, ceiling_on_hosts
from plimsoll.demand.demand import CountedRates, Demand, add_demands, scale_demand
from plimsoll.demand.epochs import Epoch
from plimsoll.demand.host_room import HostLoad, HostRoom, add_relief, find_extra, find_host_room
from plimsoll.demand.load import Lifted, Load, add_loads, host_bound_times, lift, load_of
from plimsoll.demand.profile import summary_of
from plimsoll.demand.trial import budget_of, trial
from plimsoll.model.arrays import FloatArray
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.kinds import Reason
from plimsoll.model.market import VolumeType
from plimsoll.model.policy import Headrooms
from plimsoll.model.volume import Host, Volume, ceiling_of_hosts

HostDemands = Mapping[str, Demand]
"""The demands of all volumes on a host that could be read, by id, on one grid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolView:
    """A pool under one policy: its ceiling, and its volumes' demand, lifted where that held it back.

    `free` are its volumes that may change. `present` is the ceiling of all in it, those that could not be read
    included. `clip` is the factor that brings each bucket under the pool's ceiling, and `bound_times` the factor by
    which more may have been wanted where the host was the limit.
    """

    pool: Pool
    free: Sequence[Volume]
    demands: HostDemands
    context: DecisionContext
    present: Ceiling
    epochs: Sequence[Epoch]
    lifted: Lifted
    room: HostRoom
    host: HostLoad | None
    held: Load
    clip: FloatArray | float
    bound_times: FloatArray
    _parts: dict[tuple[str, ...], Load] = field(default_factory=dict, repr=False, compare=False)
    _loads: dict[tuple[str, ...], Load] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        pool: Pool,
        free: Sequence[Volume],
        demands: HostDemands,
        host: HostLoad | None,
        context: DecisionContext,
        *,
        present: Ceiling | None = None,
    ) -> "PoolView":
        """Makes the view of a pool from its volumes' demands; `host` is the traffic of its host."""
        policy, types = context.policy, context.market.types
        present = present_ceiling(pool) if present is None else present
        whole = add_demands([demands[volume.id] for volume in pool.volumes])
        room = find_host_room(whole, host, ceiling_of_hosts(pool.volumes[0]), policy)
        if len(pool.volumes) == 1:
            whole = demands[pool.volumes[0].id]
            epochs = lay_epochs(pool.volumes[0], whole, types)
            days = tell_days(pool.volumes[0], epochs, whole, types, policy)
        else:
            epochs, days = find_epochs_on_record(whole, present), []
        clip = clip_to_record(whole, epochs)
        whole = scale_demand(whole, clip)
        lifted = lift(whole, epochs, policy, days)
        if lifted.frequent:
            ids = [volume.id for volume in pool.volumes]
            room = add_relief(room, host, whole, lifted.demand, lifted.saturated, ids, policy)
        bound_times = host_bound_times(whole.without_spread, room, epochs)
        return cls(
            pool=pool,
            free=free,
            demands=demands,
            context=context,
            present=present,
            epochs=epochs,
            lifted=lifted,
            room=room,
            host=host,
            held=load_of(whole, lifted, room, epochs, policy, context.headrooms, bound_times=bound_times),
            clip=clip,
            bound_times=bound_times,
        )

    def demand_of(self, volume: Volume) -> Demand:
        """The demand of a volume of the pool, as its pool can have carried it."""
        return scale_demand(self.demands[volume.id], self.clip)

    def load_of_part(self, volumes: Sequence[Volume]) -> Load:
        """The load of some volumes of the pool: their part of what it was asked for, and of what the host held back.

        It is that of all of them together, and never more than the pool could carry.
        """
        ids = tuple(volume.id for volume in volumes)
        if ids == tuple(volume.id for volume in self.pool.volumes):
            return self.held
        if ids not in self._parts:
            demands = [self.demand_of(volume) for volume in volumes]
            demand = demands[0] if len(demands) == 1 else add_demands(demands)
            self._parts[ids] = load_of(
                demand,
                self.lifted.lift_part(demand),
                self.room.part_of(demand, self.held.now.work),
                self.epochs,
                self.context.policy,
                self.context.headrooms,
                bound_times=self.bound_times,
            )
        return self._parts[ids]

    def shared_loads(self, kind: VolumeType) -> list[SharedLoad]:
        """The loads that would be shared if the free volumes became a type; what they bring to it comes first."""
        pool, beside = self.pool, self.pool.neighbors_of_type(kind.name)
        if kind.name == pool.kind.name and kind.pooled:
            return [self._make_shared_load(pool_name(kind, pool.volumes), pool.volumes, self.present)]
        loads = []
        if kind.pooled:
            loads.append(self._pool_load(kind, self.free))
            loads += [self._pool_load(kind, [*self.free, *beside])] if beside else []
        else:
            loads += self._loads_under_cap(kind, [*self.free, *beside])
        staying = [volume for volume in pool.volumes if volume not in self.free]
        return [*loads, self._pool_load(pool.kind, staying)] if staying else loads

    def _pool_load(self, kind: VolumeType, volumes: Sequence[Volume]) -> SharedLoad:
        """The shared load of a pool; one of volumes that have its type already is known by their own metrics."""
        stays = all(volume.spec.type == kind.name for volume in volumes)
        failed = () if stays else self.context.market.failed(volumes[0], kind.name)
        return self._make_shared_load(pool_name(kind, volumes), volumes, pool_ceiling(kind, volumes, failed))

    def _loads_under_cap(self, kind: VolumeType, volumes: Sequence[Volume]) -> list[SharedLoad]:
        """The load of volumes with a ceiling each under the host's cap of their type."""
        host = volumes[0].hosts[0]
        cap = host.cap(kind.name)
        if cap is None or host.caps is None:
            return []
        capped = self._make_shared_load(f"all {kind.name} on {host.type}", volumes, cap)
        return [replace(capped, as_now=kind.name == self.pool.kind.name)]

    def _make_shared_load(self, name: str, volumes: Sequence[Volume], ceiling: Ceiling) -> SharedLoad:
        return SharedLoad(
            name=name,
            volume_ids=tuple(volume.id for volume in volumes),
            size_gib=total_size_gib(volumes),
            load=self.load(volumes),
            ceiling=ceiling,
        )

    def load(self, volumes: Sequence[Volume]) -> Load:
        """The load of volumes on the host together; those of other pools are lifted by what those carry."""
        ids = tuple(volume.id for volume in volumes)
        if ids not in self._loads:
            self._loads[ids] = self._load(volumes)
        return self._loads[ids]

    def _load(self, volumes: Sequence[Volume]) -> Load:
        chosen = {volume.id for volume in volumes}
        mine = [volume for volume in self.pool.volumes if volume.id in chosen]
        others: dict[str, list[Volume]] = {}
        for volume in volumes:
            if volume not in mine:
                pooled = self.context.market.types[volume.spec.type].pooled
                others.setdefault(volume.spec.type if pooled else volume.id, []).append(volume)
        loads = [self._beside(found) for found in others.values()]
        if mine:
            loads.insert(0, self.load_of_part(mine))
        return loads[0] if len(loads) == 1 else add_loads(loads)

    def _beside(self, volumes: Sequence[Volume]) -> Load:
        """The load of another pool, or of a volume with a ceiling of its own."""
        kind, policy = self.context.market.types[volumes[0].spec.type], self.context.policy
        ceiling = pool_ceiling(kind, volumes) if kind.pooled else ceiling_on_hosts(kind, volumes[0].spec, volumes[0])
        done = add_demands([self.demands[volume.id] for volume in volumes])
        room, epochs = (
            find_host_room(done, self.host, ceiling_of_hosts(volumes[0]), policy),
            find_epochs_on_record(done, ceiling),
        )
        demand = scale_demand(done, clip_to_record(done, epochs))
        lifted = lift(demand, epochs, policy)
        if lifted.frequent:
            ids = [volume.id for volume in volumes]
            room = add_relief(room, self.host, demand, lifted.demand, lifted.saturated, ids, policy)
        return load_of(demand, lifted, room, epochs, policy, self.context.headrooms)


def find_held_back(
    volumes: Sequence[tuple[Volume, DecisionContext]],
    pools: Sequence[Pool],
    demands: Mapping[str, Demand],
    host: Ceiling,
) -> dict[str, CountedRates]:
    """The rates that were held back of each volume on a host, by id, as the host counts.

    Only the window counts. An excluded volume stays as it is, and so does what it does. What a pool held back is parted
    as its demand was.
    """
    read = [(volume, context) for volume, context in volumes if volume.id in demands]
    pooled = {volume.id for pool in pools if len(pool.volumes) > 1 for volume in pool.volumes}
    alone = [entry for entry in read if entry[0].id not in pooled]
    return dict([*_held_back_in_pools(read, pools, demands, host), *_held_back_alone(alone, demands, host)])


def _held_back_alone(
    volumes: Sequence[tuple[Volume, DecisionContext]], demands: Mapping[str, Demand], host: Ceiling
) -> Iterator[tuple[str, CountedRates]]:
    for volume, context in volumes:
        demand = demands[volume.id]
        if not context.short_lived:
            demand = without_restore(demand, volume, context.policy)
        types, policy = context.market.types, context.policy
        epochs = lay_epochs(volume, demand, types)
        lifted = lift(demand, epochs, policy, tell_days(volume, epochs, demand, types, policy))
        if lifted.any.any():
            yield volume.id, find_extra(demand, lifted.demand, host)


def _held_back_in_pools(
    volumes: Sequence[tuple[Volume, DecisionContext]],
    pools: Sequence[Pool],
    demands: Mapping[str, Demand],
    host: Ceiling,
) -> Iterator[tuple[str, CountedRates]]:
    contexts = {volume.id: context for volume, context in volumes}
    for pool in pools:
        policies = [contexts[volume.id].policy for volume in pool.volumes if volume.id in contexts]
        pool_demands = {volume.id: demands[volume.id] for volume in pool.volumes if volume.id in demands}
        if len(pool.volumes) == 1 or not policies:
            continue
        whole = add_demands(list(pool_demands.values()))
        lifted = lift(whole, [Epoch(window=whole.window, spec=None, ceiling=present_ceiling(pool))], policies[0])
        if lifted.any.any():
            for name, demand in pool_demands.items():
                yield name, find_extra(demand, lifted.lift_part(demand).demand, host)


POOL_ALREADY: Final = Reason(
    "pool-already", "it already has the configuration that the other volumes of its pool will get."
)
POOL_UNREAD: Final = "it could not be read"

DecidedPool = dict[str, tuple[Case, Recommendation]]
"""The case and the answer of each volume, by id."""


def decide_pools(
    pools: Sequence[Pool], demands: HostDemands, bases: Mapping[str, DecisionContext], host: HostLoad | None
) -> DecidedPool:
    """Decides on the volumes of one host's pools: the case and the answer of each that has a context and a demand.

    `demands` are those of all volumes on the host that could be read, on one grid, and `host` is their traffic. If
    several pools would become one type, those that save most do, as far as that carries what all need together, those
    included that are of it already.
    """
    decided = [_decide_pool(pool, demands, bases, host) for pool in pools]
    taken: dict[str, list[DecidedPool]] = {}
    for pool_answers in sorted(decided, key=_saving_usd_month, reverse=True):
        kind = _find_target(pool_answers)
        if kind is None:
            continue
        before = taken.setdefault(kind.name, [])
        if before and not _is_carried_together([*before, pool_answers], kind, pools, demands, host):
            pool_answers.update(_make_waiting(pool_answers, next(iter(before[0]))))
        else:
            before.append(pool_answers)
    return {name: of_one for pool_answers in decided for name, of_one in pool_answers.items()}


def _changes(pool_answers: DecidedPool) -> Iterator[tuple[Case, Change]]:
    for case, answer in pool_answers.values():
        if isinstance(answer, Change):
            yield case, answer


def _find_target(pool_answers: DecidedPool) -> VolumeType | None:
    """The type that a pool's volumes are to become; None if they stay what they are."""
    return next((case.market.types[answer.target.spec.type] for case, answer in _changes(pool_answers)), None)


def _is_carried_together(
    decided: Sequence[DecidedPool], kind: VolumeType, pools: Sequence[Pool], demands: HostDemands, host: HostLoad | None
) -> bool:
    """A type carries what all these pools need of it, beside the volumes that are of it already.

    If all are of it, and only ask for less, it does as now.
    """
    sizes = {
        case.volume.id: answer.target.spec.size_gib
        for pool_answers in decided
        for case, answer in _changes(pool_answers)
    }
    volumes = [
        volume
        for pool in pools
        for volume in pool.volumes
        if volume.id in sizes or (volume.spec.type == kind.name and volume.id in demands)
    ]
    cases = [case for pool_answers in decided for case, _ in _changes(pool_answers)]
    then = [
        replace(changing, spec=replace(changing.spec, size_gib=sizes.get(changing.id, changing.spec.size_gib)))
        for changing in volumes
    ]
    carried = pool_ceiling(kind, then) if kind.pooled else _cap(cases[0].volume.hosts[0], kind)
    less = all(isinstance(answer, Reprovision) for pool_answers in decided for _, answer in _changes(pool_answers))
    if carried is None or less:
        return True
    pool = next(pool for pool in pools if cases[0].volume.id in {volume.id for volume in pool.volumes})
    return all(_is_carried(carried, PoolView.of(pool, [], demands, host, case.context), volumes) for case in cases)


def _cap(host: Host, kind: VolumeType) -> Ceiling | None:
    """The cap of a host on volumes of a type together; None if it has none."""
    return None if host.caps is None else host.cap(kind.name)


def _is_carried(ceiling: Ceiling, view: PoolView, volumes: Sequence[Volume]) -> bool:
    """True if a ceiling carries the reduced load of some volumes of a pool within the policy's budget and wait."""
    policy = view.context.policy
    load = view.load(volumes).reducing
    budget_minutes = budget_of(policy.throttle_budget_min, load.work.window_s)
    return trial(load, ceiling).is_within(budget_minutes=budget_minutes, max_wait_s=policy.max_wait_s)


def _saving_usd_month(pool_answers: DecidedPool) -> float:
    return sum(answer.usd_month_saved for _, answer in _changes(pool_answers))


def _make_waiting(pool_answers: DecidedPool, other: str) -> DecidedPool:
    """The answers of a pool that waits for another one's change."""
    why = Reason("another-pool-first", f"the pool of {other} on the same host changes first: audit again after that.")
    return {
        case.volume.id: (case, replace(kept(case, answer.comparison, why), pool=answer.pool))
        for case, answer in _changes(pool_answers)
    }


def _decide_pool(
    pool: Pool, demands: HostDemands, bases: Mapping[str, DecisionContext], host: HostLoad | None
) -> DecidedPool:
    """Decides on one pool. Volumes that could not be read are left out of its demand, and keep it as it is.

    So do those that were read and are disputed, if they are not decided on here.
    """
    decided_on = {volume.id for volume in pool.volumes if volume.id in bases}
    demands = {name: demand for name, demand in demands.items() if name in decided_on or not demand.is_disputed}
    unread = [volume.id for volume in (*pool.volumes, *pool.neighbors) if volume.id not in demands]
    seen = replace(
        pool,
        volumes=tuple(volume for volume in pool.volumes if volume.id in demands),
        neighbors=tuple(volume for volume in pool.neighbors if volume.id in demands),
    )
    free = [volume for volume in seen.volumes if volume.id in bases]
    cases = list(_cases(seen, free, demands, bases, host, present=present_ceiling(pool)))
    held = dict.fromkeys(unread, POOL_UNREAD)
    by_id, _ = answer_together(cases, held, _held_reason, already=POOL_ALREADY, may_keep_limits=len(pool.volumes) == 1)
    return {case.volume.id: (case, _make_pooled_answer(by_id, case, pool, bases)) for case in cases}


def _held_reason(held: Mapping[str, str]) -> Reason:
    """The reason that a pool is held back, by the reasons of its volumes by id; None if none is."""
    volumes = "; ".join(f"{volume_id} ({reason})" for volume_id, reason in held.items())
    return Reason("pool-held-back", f"the demand of its pool is not known, because of {volumes}.")


def _cases(
    pool: Pool,
    free: Sequence[Volume],
    demands: HostDemands,
    bases: Mapping[str, DecisionContext],
    host: HostLoad | None,
    *,
    present: Ceiling,
) -> Iterator[Case]:
    """Makes the cases of the free volumes. Their shared loads are worked out once for each policy."""
    views: dict[tuple[int, Headrooms], tuple[PoolView, Mapping[str, Sequence[SharedLoad]]]] = {}
    for volume in free:
        context = bases[volume.id]
        key = id(context.policy), context.headrooms
        if key not in views:
            view = PoolView.of(pool, free, demands, host, context, present=present)
            views[key] = view, {name: view.shared_loads(kind) for name, kind in context.market.types.items()}
        view, shared = views[key]
        in_pool = len(pool.volumes) > 1
        case = case_of(volume, view.demands[volume.id], host, context, in_pool=in_pool)
        case = replace(case, shared=shared, pool_gib=total_size_gib(free))
        yield _make_pooled_case(case, view) if in_pool else case


def _make_pooled_case(case: Case, view: PoolView) -> Case:
    """The case of one of several volumes: ceiling and demand of its pool are known of all of it together."""
    demand = view.demand_of(case.volume)
    lifted = view.lifted.lift_part(demand)
    return replace(
        case,
        demand=demand,
        present=view.present,
        kept=KeptLimits(ceiling=view.present),
        lifted=lifted,
        room=view.room,
        load=view.load_of_part([case.volume]),
        held=view.held,
        summary=summary_of(demand, lifted, view.room, case.policy),
    )


def _make_pooled_answer(
    answers: Mapping[str, Recommendation], case: Case, pool: Pool, bases: Mapping[str, DecisionContext]
) -> Recommendation:
    """The answer for a volume, with the reasons about its pool and the blockers of the others."""
    answer = answers[case.volume.id]
    others = [volume.id for volume in pool.volumes if volume.id != case.volume.id]
    if not others:
        return answer
    free = tuple(volume_id for volume_id in others if volume_id in bases)
    staying = [volume_id for volume_id in others if volume_id not in bases]
    shared = f"it shares the limit of {pool} with"
    reasons: list[Reason] = []
    if free:
        reasons.append(Reason("pool", f"{shared} {', '.join(free)}: all are judged together, and change together."))
    if staying:
        left_out = f"{shared} {', '.join(staying)} too, which are left out of the audit: their need is judged as well."
        reasons.append(Reason("pool-left-out", left_out))
    return replace(
        answer,
        reasons=(*answer.reasons, *reasons),
        pool=free,
        blockers=blockers_together(answers, answer, "pool"),
    )
