"""Pools: volumes of one type on one host that share what the sum of their sizes gives.

Some types give performance to the host and not to the volume: all of one type on a host carry together what their sizes
come to, any of them may use all of it, and to change one moves what the others have. Where such types are sold, what a
volume of any type may become depends on the others on its host.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.evidence.failed_measurement import FailedMeasurement
from plimsoll.domain.offers.offer import ceiling_on_hosts
from plimsoll.domain.volume import Volume, VolumeSpec, sole_host
from plimsoll.domain.volume_types import VolumeType


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
