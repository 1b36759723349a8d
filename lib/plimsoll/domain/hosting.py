"""Hosting: which volumes share a host, and the traffic they make there together."""

from collections.abc import Iterable, Iterator, Mapping

from plimsoll.domain.demand import Demand
from plimsoll.domain.host import Host
from plimsoll.domain.saturation import HostLoad
from plimsoll.domain.volume import Volume


def by_host(volumes: Iterable[Volume], size: int) -> Iterator[list[Volume]]:
    """Batches of about `size` volumes in which no host's volumes are parted."""
    groups: dict[str, list[Volume]] = {}
    for volume in volumes:
        host = sole_host(volume)
        groups.setdefault(host.id if host else volume.id, []).append(volume)
    batch: list[Volume] = []
    for group in groups.values():
        if batch and len(batch) + len(group) > size:
            yield batch
            batch = []
        batch = [*batch, *group]
    if batch:
        yield batch


def sole_host(volume: Volume) -> Host | None:
    """The volume's only host; None where it has none, several, or one that is not known."""
    return volume.hosts[0] if len(volume.attachments) == 1 and volume.hosts else None


def host_loads(volumes: Iterable[Volume], demands: Mapping[str, Demand]) -> dict[str, HostLoad]:
    """The traffic of every host that is some volume's only one, over all of those that could be read."""
    loads: dict[str, HostLoad] = {}
    for volume in volumes:
        host, demand = sole_host(volume), demands.get(volume.id)
        if host is None or demand is None:
            continue
        load = loads.get(host.id)
        loads[host.id] = HostLoad(
            host=host,
            iops=demand.iops if load is None else load.iops + demand.iops,
            throughput_mib_s=demand.throughput_mib_s
            if load is None
            else load.throughput_mib_s + demand.throughput_mib_s,
        )
    return loads
