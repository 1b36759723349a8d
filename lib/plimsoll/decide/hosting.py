"""Hosting: which volumes share a host, the traffic they make there together, and the pools in which they share it."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.decide.evidence import FailedMeasurement
from plimsoll.decide.offers import ceiling_on_hosts
from plimsoll.demand.demand import Demand
from plimsoll.demand.host_room import HostLoad
from plimsoll.model.ceiling import UNBOUNDED, Ceiling
from plimsoll.model.market import VolumeType
from plimsoll.model.volume import Host, Volume, VolumeSpec, sole_host


def batch_by_host(
    volumes: Iterable[Volume], size: int, together: Iterable[Sequence[Volume]] = ()
) -> Iterator[list[Volume]]:
    """Splits volumes into batches of about `size`.

    All volumes of a host are in one batch, and all that are decided `together`.
    """
    leader = _leaders(together)
    groups: dict[str, list[Volume]] = {}
    for volume in volumes:
        groups.setdefault(_find_leader(leader, _place(volume)), []).append(volume)
    batch: list[Volume] = []
    for group in groups.values():
        if batch and len(batch) + len(group) > size:
            yield batch
            batch = []
        batch = [*batch, *group]
    if batch:
        yield batch


def _place(volume: Volume) -> str:
    """The id of a volume's only host, or its own."""
    host = sole_host(volume)
    return host.id if host else volume.id


def _leaders(together: Iterable[Sequence[Volume]]) -> dict[str, str]:
    """The leading place of each place, for all that belong together; leaders themselves are left out."""
    leader: dict[str, str] = {}
    for volumes in together:
        first = _find_leader(leader, _place(volumes[0]))
        for volume in volumes[1:]:
            place = _find_leader(leader, _place(volume))
            if place != first:
                leader[place] = first
    return leader


def _find_leader(leader: dict[str, str], place: str) -> str:
    """The place that leads all that belong together with one."""
    top = place
    while top in leader:
        top = leader[top]
    while place != top:
        leader[place], place = top, leader[place]
    return top


def ceiling_of_hosts(volume: Volume) -> Ceiling:
    """The ceiling of the attached hosts together; unbounded if one of them is not known."""
    if not volume.attachments or len(volume.hosts) < len(volume.attachments):
        return UNBOUNDED
    total = Ceiling(iops=0.0, throughput_mib_s=0.0)
    for host in volume.hosts:
        total = total + host.ceiling
    return total


def attached_from_s(volume: Volume) -> float:
    """The time of the first of today's attachments, in epoch seconds; infinite if there is none."""
    return min((attachment.since.timestamp() for attachment in volume.attachments), default=math.inf)


def running_from_s(volume: Volume) -> float | None:
    """The time since which a volume is attached to a running host, in epoch seconds; None if unknown."""
    known = [
        max(attachment.since, attachment.host.running_since).timestamp()
        for attachment in volume.attachments
        if attachment.host is not None and attachment.host.running_since is not None
    ]
    return min(known, default=None)


def with_neighbors(pending: Sequence[Volume], volumes: Iterable[Volume]) -> list[Volume]:
    """Adds to the pending volumes all others on the same hosts: a host's traffic is that of all its volumes."""
    shared = {host.id for host in map(sole_host, pending) if host}
    neighbors = [volume for volume in volumes if (host := sole_host(volume)) and host.id in shared]
    return list({volume.id: volume for volume in (*pending, *neighbors)}.values())


def host_loads(volumes: Iterable[Volume], demands: Mapping[str, Demand]) -> dict[str, HostLoad]:
    """Adds up the traffic of every host that is a volume's only one, by host id.

    It is not complete if a volume could not be read, or a part of what it did is disputed: that counts for nothing.
    """
    hosted: dict[str, list[Volume]] = {}
    for volume in volumes:
        host = sole_host(volume)
        if host is not None:
            hosted.setdefault(host.id, []).append(volume)
    return {host_id: load for host_id, group in hosted.items() if (load := _load(group, demands)) is not None}


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


def _load(group: Sequence[Volume], demands: Mapping[str, Demand]) -> HostLoad | None:
    """The traffic of a host from the demands of its volumes; None if none is known. Disputed demands do not count."""
    read = [demands[volume.id] for volume in group if volume.id in demands and not demands[volume.id].is_disputed]
    if not read:
        return None
    host = group[0].hosts[0]
    accounting = host.ceiling.accounting
    return HostLoad(
        host=host,
        rates=np.sum([demand.count(accounting) for demand in read], axis=0),
        most=np.sum([demand.count_most(accounting) for demand in read], axis=0),
        complete=len(read) == len(group),
        seen=next((demand.host for demand in read if demand.host is not None), None),
    )


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
