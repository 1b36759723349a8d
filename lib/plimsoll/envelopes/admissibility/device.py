"""Rules about the device: whether what answered was the volume that it is told to be."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.evidence.envelope import BOTH_SIDES, DELIVERED, Admission, BoundBy, Measurement
from plimsoll.envelopes.admissibility.rule import Finding, Limits, Rule, shape_of, side_of

DOUBTFUL: Final = 1.2
"""Beyond this multiple of what the device counted, or of what is published, a figure is not the device's: short runs
overshoot by 4 to 17 % (campaigns aws-gp3-io2-2020, google-pd-n1), caches and merges by more."""

LEAST_NETWORK_US: Final = 100.0
"""No volume behind a network answers in less on average: io2 Block Express, the fastest, is sold as under 500 us on
average (EBS User Guide, "Provisioned IOPS SSD volumes"), and was never published under 200."""

_NO_VOLUME: Final = re.compile(
    r"(?:/dev/)?(?:loop\d+\w*|nullb?\d*|zram\d+|ram\d+|pmem\d+\S*|dax\d+\S*|(?:shm|hugepages|mqueue)(?:/.*)?|zero|full|"
    r"u?random|fd\d+|sr\d+|mtd\w*|nbd\d+\w*|rbd\d+\w*|rbd/.*|disk/azure/(?:local|resource).*)"
    r"|(?:/var)?/run/.*|/proc/.*|.*google-local-.*|.*Instance_Storage.*|.*NVMe_Direct_Disk.*"
)
"""What is in memory, in a file, of nothing, of a cluster, or on the host: names of the kernel (devices.txt), of udev
rules of AWS and Azure, and of Google."""

_RAID: Final = re.compile(r"(?:/dev/)?(?:md[\d_/].*|bcache\d+)")
_MAPPED: Final = re.compile(r"(?:/dev/)?(?:dm-\d+|mapper/.*)")

_VOLUME: Final = re.compile(
    r"(?:/dev/)?(?:nvme\d+(?:c\d+)?n\d+(?:p\d+)?|ng\d+n\d+|(?:s|v|h|xv)d[a-z]+\d*|sg\d+|disk/by-\w+/.*|disk/azure/.*)"
    r"|(?:\\\\[.?]\\)?PhysicalDrive\d+|a device|(?:/dev/)?r?disk\d+(?:s\d+)?",
    re.IGNORECASE,
)
"""Names that volumes have, by the drivers of clouds: NVMe, SCSI, virtio, Xen, Windows."""

_EBS_ID: Final = "Amazon_Elastic_Block_Store"

_PARTITION: Final = re.compile(r"(?<=\dn\d)p\d+$|(?<=\dn\d\d)p\d+$|(?<=[svh]d[a-z])\d+$|-part\d+$")

_LOCAL_DISKS: Final = re.compile(r"(?:i|im|is|d|h|f|dl|trn)\d|[gp][456]|x1e?\.|[a-z]+\d+[a-z]*d")
"""AWS's instance types with disks of their own (Amazon EC2 User Guide, "Instance store"), by the names of families."""


def _not_the_device(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if one.iops is None:
        return
    if one.device_iops is not None and one.iops > DOUBTFUL * one.device_iops:
        if one.iops * (1 - (one.run.merged_share or 0.0)) <= DOUBTFUL * one.device_iops:
            return  # it was merged, and served (`merged`)
        yield Finding(
            admission=Admission.REJECTED,
            text=f"{one.iops:,.0f} IOPS reported in {shape_of(one)} while the device did {one.device_iops:,.0f}: "
            "not fitted, a cache served the rest",
        )
    elif one.run.device_share is not None and one.run.device_share * DOUBTFUL < 1:
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"the device did {one.run.device_share:.0%} of the operations of all groups of this run, so a cache "
            "served some: import each group's run by itself",
        )


def _over_ceiling(one: Measurement, limits: Limits) -> Iterator[Finding]:
    carrier = "the host" if limits.pooled else "volume and host"
    for side in Resource:
        seen, limit = one.figure(side), side_of(limits.most, side, writes=one.job.writes)
        if seen is None or seen <= DOUBTFUL * limit:
            continue
        # Small I/O in sequence is merged: of it only the operations are not the device's.
        merged = side is Resource.IOPS and not one.job.is_random
        yield Finding(
            admission=Admission.REJECTED,
            text=f"{seen:,.0f} {side.unit} in {shape_of(one)} is {seen / limit:.1f} times the {limit:,.0f} that "
            f"{carrier} can carry: not fitted, as the device cannot have served it (merged I/O, a "
            "cache, several volumes)",
            sides=frozenset({side}) if merged else BOTH_SIDES,
        )


def named(one: Measurement) -> tuple[str, ...]:
    """The devices that a result is of: what its options name and what counted it.

    What counted several groups is of each of them, unless the group's own options name another.
    """
    told = one.job.targets
    return told if told and one.run.shared else (*told, *one.run.devices)


def _no_volume(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    found = [name for name in (*named(one), *one.run.behind) if _NO_VOLUME.fullmatch(name)]
    if found and not one.provenance.placed:
        yield Finding(
            admission=Admission.REJECTED,
            text=f"{found[0]} is no volume of a cloud (it is in memory, in a file, on the host, or elsewhere): measure "
            "again on the volume's own device",
        )


def _several(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if one.volumes > 1 or one.provenance.placed:
        return
    names, shared = named(one), one.run.shared and one.job.target is None
    raid = [name for name in names if _RAID.fullmatch(name)]
    counted = 0 if shared else _count(one.run.devices)
    targets = _count(one.job.targets)
    links = len(one.job.targets) - targets
    folders = 0 if one.run.devices else (one.job.places or 0) - links
    members = max(one.run.members or 0, 0 if one.run.shared else counted, targets, folders)
    if raid or members > 1:
        noun = "places" if members > max(targets, counted, one.run.members or 0) else "devices"
        what = raid[0] if raid else f"{members} {noun} together"
        yield Finding(
            admission=Admission.SHOWN,
            text=f"measured was {what}, which is told as one volume: say of how many it is made with --volumes",
        )
    elif one.run.hosts is not None and one.run.hosts != 1:
        hosts = f"{one.run.hosts} machines" if one.run.hosts else "all clients"
        yield Finding(
            admission=Admission.SHOWN if one.run.hosts else Admission.UNKNOWN,
            text=f"it is the sum of {hosts}, which is told as one volume: import what each measured by itself",
        )
    elif shared and _count(one.run.devices) > 1:
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"several groups of this run used {_count(one.run.devices)} devices, and nothing says which used "
            "which: import each group's run by itself",
        )
    elif any(_MAPPED.fullmatch(name) for name in names) and one.run.members is None:
        yield Finding(
            admission=Admission.UNKNOWN,
            text="a mapped device (LVM, encryption) may be of several volumes: say of how many with --volumes, or "
            "import fio's JSON, which has its members",
        )


def _count(names: Sequence[str]) -> int:
    """How many devices have these names: partitions of one are one."""
    return len({_PARTITION.sub("", name).removeprefix("/dev/") for name in names})


def _unnamed(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if one.provenance.placed:
        return
    known = (_VOLUME, _NO_VOLUME, _RAID, _MAPPED)
    strange = [name for name in named(one) if not any(pattern.fullmatch(name) for pattern in known)]
    if strange:
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"nothing is known of the device {strange[0]}: measure again on the volume's own device",
        )
    elif not named(one):
        yield Finding(
            admission=Admission.UNKNOWN,
            text="nothing says on which device it was measured, so it need not have been the volume: import fio's JSON "
            "with its disk_util, or name the device with --filename",
        )


def _instance_store(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    told = one.host_type is not None and _LOCAL_DISKS.match(one.host_type) is not None
    if one.provenance.provider != "aws" or not told or one.provenance.placed:
        return
    names = named(one)
    if any(_EBS_ID in name for name in names):
        return
    if not names or any("nvme" in name for name in names):
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"{one.host_type} has disks of its own with names like a volume's: measure on a type without them, or "
            "with `plimsoll validate`",
        )


def _too_quick(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    mean_us = one.latency.mean_us if one.latency.mean_us is not None else one.latency.at(50.0)
    if one.provenance.tool == "fio" and mean_us is not None and mean_us < LEAST_NETWORK_US:
        yield Finding(
            admission=Admission.REJECTED,
            text=f"an operation took {mean_us:,.3g} us, and no volume behind a network answers in under "
            f"{LEAST_NETWORK_US:,.0f}: a cache or a disk of the host answered",
        )


def _split(one: Measurement, limits: Limits) -> Iterator[Finding]:
    io_kib = limits.volume.io_kib
    if io_kib is not None and one.job.block_kib > io_kib:
        yield Finding(
            admission=Admission.COUNTS,
            text=f"I/O of {one.job.block_kib:,g} KiB is {one.job.block_kib / io_kib:,g} operations of the volume",
        )


def _unknown_host(one: Measurement, limits: Limits) -> Iterator[Finding]:
    """What stopped short of the volume's limits, where nothing is known of its host's."""
    known = math.isfinite(limits.host.iops) or math.isfinite(limits.host.throughput_mib_s)
    told = one.provenance.placed or one.bound_by is not BoundBy.UNKNOWN
    published = {side: side_of(limits.volume, side, writes=one.job.writes) for side in Resource}
    reached = any((one.figure(side) or 0.0) >= DELIVERED * most for side, most in published.items())
    if known or told or reached or not all(map(math.isfinite, published.values())):
        return
    if one.host_type is None:
        missing = "nothing says on which host it was measured: import it again with --host-type, such as m5.4xlarge"
    else:
        missing = f"nothing is known of what {one.host_type} carries"
    yield Finding(
        admission=Admission.BOUNDED,
        text=f"the host may have been the limit, so this is the least that the volume carries; {missing}",
    )


RULES: Final = (
    Rule(
        name="not-the-device",
        law="A device serves no more than it counts.",
        source="the device's own counts, at the end of fio's output",
        find=_not_the_device,
    ),
    Rule(
        name="over-ceiling",
        law="A volume on a host carries no more than both publish.",
        source="the published limits of the type and of the host",
        find=_over_ceiling,
    ),
    Rule(
        name="host-unknown",
        law="Less than the volume publishes may be its host's limit.",
        source="Amazon EC2 User Guide, Amazon EBS-optimized instances",
        find=_unknown_host,
        of_a_volume=True,
    ),
    Rule(
        name="no-volume",
        law="Memory, a file, nothing, a cluster or a disk of the host is no volume.",
        source="the kernel's list of devices",
        find=_no_volume,
        of_a_volume=True,
    ),
    Rule(
        name="device-unknown",
        law="What is tied to no device need not be the volume's.",
        source="filename in fio's options, and the names in its disk_util",
        find=_unnamed,
        of_a_volume=True,
    ),
    Rule(
        name="several-volumes",
        law="A RAID, a list of devices or several machines are not one volume.",
        source="the members in fio's disk_util",
        find=_several,
        of_a_volume=True,
    ),
    Rule(
        name="instance-store",
        law="A disk of the host may have a name like a volume's.",
        source="Amazon EC2 User Guide, instance store volumes",
        find=_instance_store,
        of_a_volume=True,
    ),
    Rule(
        name="too-quick",
        law="No volume behind a network answers in under 100 us on average.",
        source='EBS User Guide, "Provisioned IOPS SSD volumes"',
        find=_too_quick,
        of_a_volume=True,
    ),
    Rule(
        name="split-io",
        law="I/O above the size that counts as one is several operations.",
        source="EBS User Guide, I/O characteristics",
        find=_split,
    ),
)
