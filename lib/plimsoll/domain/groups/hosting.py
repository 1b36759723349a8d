"""Hosting: which volumes share a host, and the traffic they make there together."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from plimsoll.domain.ceiling import UNBOUNDED, Ceiling
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.host_room import HostLoad
from plimsoll.domain.host import Host
from plimsoll.domain.volume import Volume, sole_host
from plimsoll.domain.volume_types import VolumeType


def by_host(volumes: Iterable[Volume], size: int, together: Iterable[Sequence[Volume]] = ()) -> Iterator[list[Volume]]:
    """Batches of about `size` volumes. All volumes of a host are in one batch, and all that are decided `together`."""
    leader = _leaders(together)
    groups: dict[str, list[Volume]] = {}
    for volume in volumes:
        groups.setdefault(_led_by(leader, _place(volume)), []).append(volume)
    batch: list[Volume] = []
    for group in groups.values():
        if batch and len(batch) + len(group) > size:
            yield batch
            batch = []
        batch = [*batch, *group]
    if batch:
        yield batch


def _place(volume: Volume) -> str:
    """What a volume is read with: its only host, or itself."""
    host = sole_host(volume)
    return host.id if host else volume.id


def _leaders(together: Iterable[Sequence[Volume]]) -> dict[str, str]:
    """For each place but one of those that belong together another one of them."""
    leader: dict[str, str] = {}
    for volumes in together:
        first = _led_by(leader, _place(volumes[0]))
        for volume in volumes[1:]:
            place = _led_by(leader, _place(volume))
            if place != first:
                leader[place] = first
    return leader


def _led_by(leader: dict[str, str], place: str) -> str:
    """The one place that stands for all that belong together with one."""
    top = place
    while top in leader:
        top = leader[top]
    while place != top:
        leader[place], place = top, leader[place]
    return top


def usable(volume: Volume) -> Ceiling:
    """What the attached hosts could ever carry together; unbounded where one of them is not known."""
    if not volume.attachments or len(volume.hosts) < len(volume.attachments):
        return UNBOUNDED
    total = Ceiling(iops=0.0, throughput_mib_s=0.0)
    for host in volume.hosts:
        total = total + host.ceiling
    return total


def attached_from_s(volume: Volume) -> float:
    """When the first of a volume's attachments of today was made, in epoch seconds; never where it has none."""
    return min((attachment.since.timestamp() for attachment in volume.attachments), default=math.inf)


def running_from_s(volume: Volume) -> float | None:
    """From when on a volume is known to have been attached to a host that runs, in epoch seconds. None: not known."""
    known = [
        max(attachment.since, attachment.host.running_since).timestamp()
        for attachment in volume.attachments
        if attachment.host is not None and attachment.host.running_since is not None
    ]
    return min(known, default=None)


def with_neighbors(pending: Sequence[Volume], volumes: Iterable[Volume]) -> list[Volume]:
    """The pending volumes and all others on the same hosts, because a host's traffic is that of all its volumes."""
    shared = {host.id for host in map(sole_host, pending) if host}
    neighbors = [volume for volume in volumes if (host := sole_host(volume)) and host.id in shared]
    return list({volume.id: volume for volume in (*pending, *neighbors)}.values())


def host_loads(volumes: Iterable[Volume], demands: Mapping[str, Demand]) -> dict[str, HostLoad]:
    """The traffic of every host that is a volume's only one.

    It is not complete where a volume could not be read, or a part of what it did is disputed: that counts for nothing.
    """
    hosted: dict[str, list[Volume]] = {}
    for volume in volumes:
        host = sole_host(volume)
        if host is not None:
            hosted.setdefault(host.id, []).append(volume)
    return {host_id: load for host_id, group in hosted.items() if (load := _load(group, demands)) is not None}


def never_the_limit(host: Host, volumes: Iterable[Volume], types: Mapping[str, VolumeType], share: float) -> bool:
    """Whether all that the volumes on a host could ever do together stays under that share of what it carries."""
    total = Ceiling(iops=0.0, throughput_mib_s=0.0)
    for volume in volumes:
        if volume.spec.type not in types:
            return host.limits is None
        total = total + types[volume.spec.type].ceiling(volume.spec)
    together = total.counted_as(host.ceiling.accounting)
    baseline_iops, baseline_mib_s = host.baseline
    return together.iops < share * baseline_iops and together.throughput_mib_s < share * baseline_mib_s


def may_be_the_limit(volumes: Sequence[Volume], types: Mapping[str, VolumeType], share: float) -> bool:
    """Whether the only host of some volumes, which are all on it, can have stood at that share of what it carries, now
    or when it was of another type."""
    host = sole_host(volumes[0])
    if host is None:
        return False
    earlier = (one for volume in volumes for seen in volume.seen for one in seen.hosts or () if one.id == host.id)
    sizes = {one.type: one for one in (*earlier, host)}
    return not all(never_the_limit(one, volumes, types, share) for one in sizes.values())


def asking(volumes: Iterable[Volume]) -> Volume:
    """The volume of a host by which what it measures is asked: the same one whatever their order."""
    return min(volumes, key=lambda volume: volume.id)


def asking_for_hosts(volumes: Iterable[Volume], types: Mapping[str, VolumeType], share: float) -> list[Volume]:
    """The volumes by which hosts are asked what they measured: one of each that may be the limit. All volumes of a host
    are among those given."""
    hosted: dict[str, list[Volume]] = {}
    for volume in volumes:
        if (host := sole_host(volume)) is not None:
            hosted.setdefault(host.id, []).append(volume)
    return [asking(group) for group in hosted.values() if may_be_the_limit(group, types, share)]


def _load(group: Sequence[Volume], demands: Mapping[str, Demand]) -> HostLoad | None:
    read = [demands[volume.id] for volume in group if volume.id in demands and not demands[volume.id].disputed]
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
