"""Pool loads: the load that the volumes of a pool would have together as each type, and the load left behind.

Every load must be carried whether or not the pools beside it are changed as well: what joins another pool by what it
brings and by both together, and what stays behind by what is left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.case import SharedLoad
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.demand.demand import Demand, add_demands, scale_demand
from plimsoll.domain.demand.epoch import Epoch
from plimsoll.domain.demand.host_room import HostLoad, HostRoom, add_relief, find_host_room
from plimsoll.domain.demand.lifting import Lifted, lift
from plimsoll.domain.demand.load import Load, add_loads, host_bound_times, load_of
from plimsoll.domain.demand_epochs import clip_to_record, find_epochs_on_record, lay_epochs, tell_days
from plimsoll.domain.groups.hosting import ceiling_of_hosts
from plimsoll.domain.groups.pool import Pool, pool_ceiling, pool_name, present_ceiling, total_size_gib
from plimsoll.domain.offers.offer import ceiling_on_hosts
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import VolumeType

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
    _own: dict[str, Load] = field(default_factory=dict, repr=False, compare=False)
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

    def load_of_member(self, volume: Volume) -> Load:
        """The load of a volume of the pool: its part of what the pool was asked for, and of what the host held back."""
        if volume.id not in self._own:
            demand, policy = self.demand_of(volume), self.context.policy
            lifted = self.lifted.of(demand)
            self._own[volume.id] = load_of(
                demand,
                lifted,
                self.room.part_of(demand, self.held.now.work),
                self.epochs,
                policy,
                self.context.headrooms,
                bound_times=self.bound_times,
            )
        return self._own[volume.id]

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
        if ids == tuple(volume.id for volume in self.pool.volumes):
            return self.held
        if ids not in self._loads:
            self._loads[ids] = self._load(volumes)
        return self._loads[ids]

    def _load(self, volumes: Sequence[Volume]) -> Load:
        mine = [self.load_of_member(volume) for volume in volumes if volume in self.pool.volumes]
        others: dict[str, list[Volume]] = {}
        for volume in volumes:
            if volume not in self.pool.volumes:
                pooled = self.context.market.types[volume.spec.type].pooled
                others.setdefault(volume.spec.type if pooled else volume.id, []).append(volume)
        return add_loads([*mine, *(self._beside(found) for found in others.values())])

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
