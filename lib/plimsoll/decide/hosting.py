"""Hosting: which volumes share a host, whether that can be their limit, and the pools in which they share it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.decide.evidence import FailedMeasurement
from plimsoll.decide.offers import ceiling_on_hosts
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.market import VolumeType
from plimsoll.model.volume import Host, Volume, VolumeSpec, sole_host


def with_neighbors(pending: Sequence[Volume], volumes: Iterable[Volume]) -> list[Volume]:
    """Adds to the pending volumes all others on the same hosts: a host's traffic is that of all its volumes."""
    shared = {host.id for host in map(sole_host, pending) if host}
    neighbors = [volume for volume in volumes if (host := sole_host(volume)) and host.id in shared]
    return list({volume.id: volume for volume in (*pending, *neighbors)}.values())


def is_never_the_limit(host: Host, volumes: Iterable[Volume], types: Mapping[str, VolumeType], share: float) -> bool:
    """The volumes on a host, all at their ceilings, stay under a share of what the host carries."""
    total = Ceiling(iops=0.0, throughput_mib_s=0.0)
    for volume in volumes:
        if volume.spec.type not in types:
            return host.limits is None
        total = total + types[volume.spec.type].ceiling(volume.spec)
    together = total.counted_as(host.ceiling.accounting)
    baseline_iops, baseline_mib_s = host.baseline
    return together.iops < share * baseline_iops and together.throughput_mib_s < share * baseline_mib_s


def may_be_the_limit(volumes: Sequence[Volume], types: Mapping[str, VolumeType], share: float) -> bool:
    """The only host of some volumes can have reached a share of its limits, now or as another type.

    `volumes` are all on that host.
    """
    host = sole_host(volumes[0])
    if host is None:
        return False
    earlier = (
        each_host
        for volume in volumes
        for seen in volume.seen
        for each_host in seen.hosts or ()
        if each_host.id == host.id
    )
    sizes = {each_host.type: each_host for each_host in (*earlier, host)}
    return not all(is_never_the_limit(each_host, volumes, types, share) for each_host in sizes.values())


def pick_asking(volumes: Iterable[Volume]) -> Volume:
    """The volume of a host whose account and region its metrics are asked in: the least by id."""
    return min(volumes, key=lambda volume: volume.id)


def pick_asking_for_hosts(volumes: Iterable[Volume], types: Mapping[str, VolumeType], share: float) -> list[Volume]:
    """Picks a volume for each host that may be the limit, to ask what its host measured.

    `volumes` have all volumes of each host.
    """
    hosted: dict[str, list[Volume]] = {}
    for volume in volumes:
        if (host := sole_host(volume)) is not None:
            hosted.setdefault(host.id, []).append(volume)
    return [pick_asking(group) for group in hosted.values() if may_be_the_limit(group, types, share)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The volumes of a pooled type on one host, or one volume of another type, and their neighbors there."""

    kind: VolumeType
    volumes: tuple[Volume, ...]
    neighbors: tuple[Volume, ...]

    def neighbors_of_type(self, name: str) -> list[Volume]:
        return [volume for volume in self.neighbors if volume.spec.type == name]

    def __str__(self) -> str:
        return pool_name(self.kind, self.volumes)


def find_pools(volumes: Iterable[Volume], types: Mapping[str, VolumeType]) -> list[Pool]:
    """Finds the pools of all hosts with more than one volume; none if no type is pooled."""
    if not any(kind.pooled for kind in types.values()):
        return []
    hosted: dict[str, list[Volume]] = {}
    for volume in volumes:
        host = sole_host(volume)
        if host is not None:
            hosted.setdefault(host.id, []).append(volume)
    return [pool for group in hosted.values() if len(group) > 1 for pool in _pools_on_host(group, types)]


def _pools_on_host(group: Sequence[Volume], types: Mapping[str, VolumeType]) -> Iterable[Pool]:
    """Yields the pools of a host's volumes; a volume of a type that does not pool is a pool of one."""
    together: dict[str, list[Volume]] = {}
    for volume in group:
        kind = types.get(volume.spec.type)
        if kind is not None:
            together.setdefault(kind.name if kind.pooled else volume.id, []).append(volume)
    for inside in together.values():
        others = tuple(volume for volume in group if volume not in inside)
        yield Pool(kind=types[inside[0].spec.type], volumes=tuple(inside), neighbors=others)


def pooled_volumes(volumes: Iterable[Volume], types: Mapping[str, VolumeType]) -> list[Volume]:
    """The volumes that are decided on together with others of their hosts."""
    return [volume for pool in find_pools(volumes, types) for volume in pool.volumes]


def total_size_gib(volumes: Iterable[Volume]) -> int:
    """The sum of the volumes' sizes in GiB."""
    return sum(volume.spec.size_gib for volume in volumes)


def pool_ceiling(kind: VolumeType, volumes: Sequence[Volume], failed: Sequence[FailedMeasurement] = ()) -> Ceiling:
    """The ceiling of volumes of one host as one pool of a type, lowered to what failed measurements show."""
    return ceiling_on_hosts(kind, VolumeSpec(type=kind.name, size_gib=total_size_gib(volumes)), volumes[0], failed)


def present_ceiling(pool: Pool) -> Ceiling:
    """The ceiling of a pool in its present type and sizes."""
    if pool.kind.pooled:
        return pool_ceiling(pool.kind, pool.volumes)
    return ceiling_on_hosts(pool.kind, pool.volumes[0].spec, pool.volumes[0])


def pool_name(kind: VolumeType, volumes: Sequence[Volume]) -> str:
    """The name of a pool in a sentence, e.g. "gp3 500 GiB in 2 volumes of i-123"."""
    size = f"{kind.name} {total_size_gib(volumes):,} GiB"
    return f"{size} in {len(volumes)} volumes of {volumes[0].hosts[0].id}" if len(volumes) > 1 else size
