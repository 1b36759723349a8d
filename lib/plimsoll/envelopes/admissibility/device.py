"""Rules about the device: whether what answered was the volume that it is told to be."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from plimsoll.envelopes.admissibility.rule import Finding, Rule, SystemLimits, describe_shape, side_of
from plimsoll.model.ceiling import Resource
from plimsoll.model.envelope import BOTH_SIDES, DELIVERED, Admission, BoundBy, Measurement

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


def _find_other_servers(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements with more IOPS than their device did: a cache served the rest. Merged ones are let pass."""
    if measurement.iops is None:
        return
    if measurement.device_iops is not None and measurement.iops > DOUBTFUL * measurement.device_iops:
        if measurement.iops * (1 - (measurement.run.merged_share or 0.0)) <= DOUBTFUL * measurement.device_iops:
            return  # it was merged, and served (`merged`)
        yield Finding(
            admission=Admission.REJECTED,
            text=f"{measurement.iops:,.0f} IOPS reported in {describe_shape(measurement)} while the device did "
            f"{measurement.device_iops:,.0f}: not fitted, a cache served the rest",
        )
    elif measurement.run.device_share is not None and measurement.run.device_share * DOUBTFUL < 1:
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"the device did {measurement.run.device_share:.0%} of the operations of all groups of this run, so "
            "a cache served some: import each group's run by itself",
        )


def _find_excess(measurement: Measurement, limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements beyond all that the device can serve, side by side."""
    carrier = "the host" if limits.pooled else "volume and host"
    for side in Resource:
        seen, limit = measurement.figure(side), side_of(limits.most, side, writes=measurement.job.is_write_only)
        if seen is None or seen <= DOUBTFUL * limit:
            continue
        # Small I/O in sequence is merged: of it only the operations are not the device's.
        merged = side is Resource.IOPS and not measurement.job.is_random
        yield Finding(
            admission=Admission.REJECTED,
            text=f"{seen:,.0f} {side.unit} in {describe_shape(measurement)} is {seen / limit:.1f} times the "
            f"{limit:,.0f} that {carrier} can carry: not fitted, as the device cannot have served it (merged I/O, a "
            "cache, several volumes)",
            sides=frozenset({side}) if merged else BOTH_SIDES,
        )


def measured_devices(measurement: Measurement) -> tuple[str, ...]:
    """The devices of a measurement: those that its options name, and those whose counts fio printed.

    Devices that several groups share belong to each group, unless the group's options name others.
    """
    targets = measurement.job.targets
    return targets if targets and measurement.run.shared else (*targets, *measurement.run.devices)


def _no_volume(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements of a device that is no volume: in memory, in a file, or on the host."""
    foreign = [name for name in (*measured_devices(measurement), *measurement.run.behind) if _NO_VOLUME.fullmatch(name)]
    if foreign and not measurement.provenance.placed:
        yield Finding(
            admission=Admission.REJECTED,
            text=f"{foreign[0]} is no volume of a cloud (it is in memory, in a file, on the host, or elsewhere): "
            "measure again on the volume's own device",
        )


def _several(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements of several volumes or machines that are told as one, or may be."""
    if measurement.volumes > 1 or measurement.provenance.placed:
        return
    names, shared = measured_devices(measurement), measurement.run.shared and measurement.job.target is None
    raid = [name for name in names if _RAID.fullmatch(name)]
    counted = 0 if shared else _count(measurement.run.devices)
    targets = _count(measurement.job.targets)
    links = len(measurement.job.targets) - targets
    folders = 0 if measurement.run.devices else (measurement.job.places or 0) - links
    members = max(measurement.run.members or 0, 0 if measurement.run.shared else counted, targets, folders)
    if raid or members > 1:
        noun = "places" if members > max(targets, counted, measurement.run.members or 0) else "devices"
        what = raid[0] if raid else f"{members} {noun} together"
        yield Finding(
            admission=Admission.SHOWN,
            text=f"measured was {what}, which is told as one volume: say of how many it is made with --volumes",
        )
    elif measurement.run.hosts is not None and measurement.run.hosts != 1:
        hosts = f"{measurement.run.hosts} machines" if measurement.run.hosts else "all clients"
        yield Finding(
            admission=Admission.SHOWN if measurement.run.hosts else Admission.UNKNOWN,
            text=f"it is the sum of {hosts}, which is told as one volume: import what each measured by itself",
        )
    elif shared and _count(measurement.run.devices) > 1:
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"several groups of this run used {_count(measurement.run.devices)} devices, and nothing says which "
            "used which: import each group's run by itself",
        )
    elif any(_MAPPED.fullmatch(name) for name in names) and measurement.run.members is None:
        yield Finding(
            admission=Admission.UNKNOWN,
            text="a mapped device (LVM, encryption) may be of several volumes: say of how many with --volumes, or "
            "import fio's JSON, which has its members",
        )


def _count(names: Sequence[str]) -> int:
    """The number of devices behind these names. Partitions of a device count once."""
    return len({_PARTITION.sub("", name).removeprefix("/dev/") for name in names})


def _unknown_device(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements of a device that nothing is known of."""
    if measurement.provenance.placed:
        return
    known = (_VOLUME, _NO_VOLUME, _RAID, _MAPPED)
    strange = [name for name in measured_devices(measurement) if not any(pattern.fullmatch(name) for pattern in known)]
    if strange:
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"nothing is known of the device {strange[0]}: measure again on the volume's own device",
        )
    elif not measured_devices(measurement):
        yield Finding(
            admission=Admission.UNKNOWN,
            text="nothing says on which device it was measured, so it need not have been the volume: import fio's JSON "
            "with its disk_util, or name the device with --filename",
        )


def _instance_store(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements that may be of a disk of the host: its type has such disks, and no name tells."""
    has_disks = measurement.host_type is not None and _LOCAL_DISKS.match(measurement.host_type) is not None
    if measurement.provenance.provider != "aws" or not has_disks or measurement.provenance.placed:
        return
    names = measured_devices(measurement)
    if any(_EBS_ID in name for name in names):
        return
    if not names or any("nvme" in name for name in names):
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"{measurement.host_type} has disks of its own with names like a volume's: measure on a type "
            "without them, or with `plimsoll validate`",
        )


def _find_quick_answers(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements whose operations took less time than a network does: a cache or a local disk answered."""
    mean_us = (
        measurement.latency.mean_us
        if measurement.latency.mean_us is not None
        else measurement.latency.percentile_us(50.0)
    )
    if measurement.provenance.tool == "fio" and mean_us is not None and mean_us < LEAST_NETWORK_US:
        yield Finding(
            admission=Admission.REJECTED,
            text=f"an operation took {mean_us:,.3g} us, and no volume behind a network answers in under "
            f"{LEAST_NETWORK_US:,.0f}: a cache or a disk of the host answered",
        )


def _split(measurement: Measurement, limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements whose I/O the volume counts as several operations; they count."""
    io_kib = limits.volume.io_kib
    if io_kib is not None and measurement.job.block_kib > io_kib:
        yield Finding(
            admission=Admission.COUNTS,
            text=f"I/O of {measurement.job.block_kib:,g} KiB is {measurement.job.block_kib / io_kib:,g} operations "
            "of the volume",
        )


def _unknown_host(measurement: Measurement, limits: SystemLimits) -> Iterator[Finding]:
    """A measurement below the volume's limits on an unknown host may show the host's limit."""
    known = math.isfinite(limits.host.iops) or math.isfinite(limits.host.throughput_mib_s)
    is_explained = measurement.provenance.placed or measurement.bound_by is not BoundBy.UNKNOWN
    published = {side: side_of(limits.volume, side, writes=measurement.job.is_write_only) for side in Resource}
    reached = any((measurement.figure(side) or 0.0) >= DELIVERED * most for side, most in published.items())
    if known or is_explained or reached or not all(map(math.isfinite, published.values())):
        return
    if measurement.host_type is None:
        missing = "nothing says on which host it was measured: import it again with --host-type, such as m5.4xlarge"
    else:
        missing = f"nothing is known of what {measurement.host_type} carries"
    yield Finding(
        admission=Admission.BOUNDED,
        text=f"the host may have been the limit, so this is the least that the volume carries; {missing}",
    )


DEVICE_RULES: Final = (
    Rule(
        name="not-the-device",
        law="A device serves no more than it counts.",
        source="the device's own counts, at the end of fio's output",
        find=_find_other_servers,
    ),
    Rule(
        name="over-ceiling",
        law="A volume on a host carries no more than both publish.",
        source="the published limits of the type and of the host",
        find=_find_excess,
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
        find=_unknown_device,
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
        find=_find_quick_answers,
        of_a_volume=True,
    ),
    Rule(
        name="split-io",
        law="I/O above the size that counts as one is several operations.",
        source="EBS User Guide, I/O characteristics",
        find=_split,
    ),
)
