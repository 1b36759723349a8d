"""Shares: what the volumes of a pool would have to carry together as each type, and what those do that stay behind.

Every condition holds whether or not the pools beside it are changed as well: what joins another pool must be carried by
what it brings and by both together, and what stays behind by what is left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.domain.adding import together
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.demand import Demand
from plimsoll.domain.need import Need, NeedBy, needing, usable
from plimsoll.domain.offer import Beside, Share
from plimsoll.domain.policy import Policy
from plimsoll.domain.pool import Pool, pool_ceiling, pool_name, size_of
from plimsoll.domain.replay import Replay, replay
from plimsoll.domain.saturation import HostLoad, Saturation, saturation
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import VolumeType


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolView:
    """A pool under one policy: its ceiling, how its demand stood to that, and its replay. `free` are its volumes that
    may change; `demands` are those of all volumes on the host."""

    pool: Pool
    free: Sequence[Volume]
    demands: Mapping[str, Demand]
    policy: Policy
    present: Ceiling
    stood: Saturation
    replay_now: Replay

    @classmethod
    def of(
        cls,
        pool: Pool,
        free: Sequence[Volume],
        demands: Mapping[str, Demand],
        load: HostLoad | None,
        policy: Policy,
        *,
        present: Ceiling,
    ) -> "PoolView":
        """A pool as its volumes' demands show it; `load` is the traffic of its host, `present` what all in it carry,
        those that could not be read included."""
        whole = together([demands[volume.id] for volume in pool.volumes])
        return cls(
            pool=pool,
            free=free,
            demands=demands,
            policy=policy,
            present=present,
            stood=saturation(whole, present, load, policy),
            replay_now=replay(whole, present),
        )

    def asked(self, volumes: Sequence[Volume]) -> Demand:
        """What some volumes on the host asked for together."""
        return together([self.demands[volume.id] for volume in volumes])

    def need_by(self, demand: Demand) -> NeedBy:
        """What must be carried of some demand."""
        hosts = usable(self.pool.volumes[0])
        return needing(demand, present=self.present, stood=self.stood, hosts=hosts, policy=self.policy)

    def shares(self, kind: VolumeType) -> list[Share]:
        """What would be carried together if the free volumes became a type; what they bring to it comes first."""
        pool, beside = self.pool, self.pool.of_type(kind.name)
        if kind.name == pool.kind.name and kind.pooled:
            return [self._share(pool_name(kind, pool.volumes), pool.volumes, self.present)]
        found = []
        if kind.pooled:
            found.append(self._pooled(kind, self.free))
            found += [self._joined(kind, beside)] if beside else []
        else:
            found += self._under_cap(kind, [*self.free, *beside])
        staying = [volume for volume in pool.volumes if volume not in self.free]
        return [*found, self._pooled(pool.kind, staying)] if staying else found

    def _pooled(self, kind: VolumeType, volumes: Sequence[Volume]) -> Share:
        return self._share(pool_name(kind, volumes), volumes, pool_ceiling(kind, volumes))

    def _joined(self, kind: VolumeType, beside: Sequence[Volume]) -> Share:
        """The free volumes with those that are of the type already, which may want more than could be seen."""
        everybody = [*self.free, *beside]
        there = pool_ceiling(kind, beside)
        stood = saturation(self.asked(beside), there, None, self.policy)
        share = replace(
            self._pooled(kind, everybody),
            beside=Beside(volume_ids=ids_of(beside), ceiling=there, censored=stood.censored),
        )
        if not stood.censored:
            return share
        accounting = share.ceiling.accounting
        own = self.need_by(self.asked(self.free))(accounting)
        least = own + Need.of_ceiling(there.counted_as(accounting))
        return replace(share, need=share.need.no_less_than(least))

    def _under_cap(self, kind: VolumeType, volumes: Sequence[Volume]) -> list[Share]:
        """What the host lets volumes of a type carry together that have a ceiling each."""
        host = volumes[0].hosts[0]
        cap = host.cap(kind.name)
        if cap is None or host.caps is None:
            return []
        return [self._share(f"all {kind.name} on {host.type}", volumes, cap)]

    def _share(self, name: str, volumes: Sequence[Volume], ceiling: Ceiling) -> Share:
        demand = self.asked(volumes)
        return Share(
            name=name,
            volume_ids=ids_of(volumes),
            size_gib=size_of(volumes),
            demand=demand,
            need=self.need_by(demand)(ceiling.accounting),
            ceiling=ceiling,
            then=replay(demand, ceiling, whole_ios=True),
        )


def ids_of(volumes: Sequence[Volume]) -> tuple[str, ...]:
    """Their ids, in their order."""
    return tuple(volume.id for volume in volumes)
