"""Google's disks as the oracle takes them: plain dictionaries of the domain's nouns."""

import numpy as np

from tests.oracle.received import COUNTERS

PEAKS = tuple(f"peak_{name}" for name in COUNTERS)


def plain_limit(ceiling):
    """A ceiling as (IOPS, MiB/s, what a written operation counts for, what a written MiB does)."""
    costs = ceiling.write_iops_cost, ceiling.write_throughput_cost
    return ceiling.iops, ceiling.throughput_mib_s, *costs


def plain_host(host):
    return {
        "id": host.id,
        "caps": {name: plain_limit(cap) for name, cap in host.caps or ()},
        "limit": None if host.limits is None else plain_limit(host.ceiling),
    }


def plain_disk(volume, sums, *, excluded=False):
    """A volume with its full-resolution minutes (None: it has none)."""
    spec = volume.spec
    return {
        "id": volume.id,
        "spec": {
            "type": spec.type,
            "size_gib": spec.size_gib,
            "iops": spec.iops,
            "throughput_mib_s": spec.throughput_mib_s,
        },
        "region": volume.region,
        "boot": volume.boot,
        "excluded": excluded,
        "detached": not volume.attachments,
        "hosts": [plain_host(host) for host in volume.hosts],
        "minutes": None if sums is None else minutes_of(sums),
    }


def minutes_of(sums):
    absent = np.full(sums.buckets, np.nan)
    return {name: absent if getattr(sums, name) is None else getattr(sums, name) for name in (*COUNTERS, *PEAKS)}
