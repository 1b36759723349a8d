"""Rules about the device: whether what answered was the volume that it is told to be."""

import math
import re
from collections.abc import Iterator
from typing import Final

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.evidence.envelope import DELIVERED, Admission, BoundBy, Measurement
from plimsoll.envelopes.admissibility.rule import Finding, Limits, Rule, shape_of, side_of

DOUBTFUL: Final = 1.2
"""Beyond this multiple of what the device counted, or of what is published, a figure is not the device's: short runs
overshoot by 4 to 17 % (campaigns aws-gp3-io2-2020, google-pd-n1), caches and merges by more."""

LEAST_NETWORK_US: Final = 100.0
"""No volume behind a network answers in less on average: io2 Block Express, the fastest, is sold as under 500 us on
average (EBS User Guide, "Provisioned IOPS SSD volumes"), and was never published under 200."""

_NO_VOLUME: Final = re.compile(
    r"(?:/dev/)?(?:loop\d+|nullb?\d*|zram\d+|ram\d+|pmem\d+\w*|shm(?:/.*)?|zero|fd\d+|sr\d+)|.*google-local-.*"
)
"""Devices in memory, in a file, of nothing, or on the host: names of the kernel (devices.txt) and of Google."""

_RAID: Final = re.compile(r"(?:/dev/)?(?:md[\d_/].*|bcache\d+)")
_MAPPED: Final = re.compile(r"(?:/dev/)?(?:dm-\d+|mapper/.*)")

_LOCAL_DISKS: Final = re.compile(r"(?:i|im|is|d|h|f|dl|trn)\d|[gp][456]|x1e?\.|[a-z]+\d+[a-z]*d")
"""AWS's instance types with disks of their own (Amazon EC2 User Guide, "Instance store"), by the names of families."""


def _not_the_device(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if one.iops is not None and one.device_iops is not None and one.iops > DOUBTFUL * one.device_iops:
        yield Finding(
            admission=Admission.REJECTED,
            text=f"{one.iops:,.0f} IOPS reported in {shape_of(one)} while the device did {one.device_iops:,.0f}: "
            "not fitted, a cache served the rest",
        )


def _over_ceiling(one: Measurement, limits: Limits) -> Iterator[Finding]:
    carrier = "the host" if limits.pooled else "volume and host"
    for side in Resource:
        seen, limit = one.figure(side), side_of(limits.most, side, writes=one.job.writes)
        if seen is not None and seen > DOUBTFUL * limit:
            yield Finding(
                admission=Admission.REJECTED,
                text=f"{seen:,.0f} {side.unit} in {shape_of(one)} is {seen / limit:.1f} times the {limit:,.0f} that "
                f"{carrier} can carry: not fitted, as the device cannot have served it (merged I/O, a cache)",
                sides=frozenset({side}),
            )


def _named(one: Measurement) -> tuple[str, ...]:
    told = () if one.job.target is None else tuple(one.job.target.split(":"))
    return (*told, *one.run.devices)


def _no_volume(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    found = [name for name in _named(one) if _NO_VOLUME.fullmatch(name)]
    if found and not one.provenance.placed:
        yield Finding(
            admission=Admission.REJECTED,
            text=f"{found[0]} is no volume of a cloud (it is in memory, in a file, or on the host): measure again on "
            "the volume's own device",
        )


def _several(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if one.volumes > 1 or one.provenance.placed:
        return
    names = _named(one)
    raid = [name for name in names if _RAID.fullmatch(name)]
    members = max(one.run.members or 0, len(set(one.run.devices)))
    if raid or members > 1:
        what = raid[0] if raid else f"{members} devices together"
        yield Finding(
            admission=Admission.SHOWN,
            text=f"measured was {what}, which is told as one volume: say of how many it is made with --volumes",
        )
    elif any(_MAPPED.fullmatch(name) for name in names) and one.run.members is None:
        yield Finding(
            admission=Admission.UNKNOWN,
            text="a mapped device (LVM, encryption) may be of several volumes: say of how many with --volumes, or "
            "import fio's JSON, which has its members",
        )


def _instance_store(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    told = one.host_type is not None and _LOCAL_DISKS.match(one.host_type) is not None
    if one.provenance.provider != "aws" or not told or one.provenance.placed:
        return
    names = _named(one)
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
    Rule(name="not-the-device", source="the device's own counts, at the end of fio's output", find=_not_the_device),
    Rule(name="over-ceiling", source="the published limits of the type and of the host", find=_over_ceiling),
    Rule(
        name="host-unknown",
        source="Amazon EC2 User Guide, Amazon EBS-optimized instances",
        find=_unknown_host,
        of_a_volume=True,
    ),
    Rule(name="no-volume", source="the kernel's list of devices", find=_no_volume, of_a_volume=True),
    Rule(name="several-volumes", source="the members in fio's disk_util", find=_several, of_a_volume=True),
    Rule(
        name="instance-store",
        source="Amazon EC2 User Guide, instance store volumes",
        find=_instance_store,
        of_a_volume=True,
    ),
    Rule(
        name="too-quick",
        source='EBS User Guide, "Provisioned IOPS SSD volumes"',
        find=_too_quick,
        of_a_volume=True,
    ),
    Rule(name="split-io", source="EBS User Guide, I/O characteristics", find=_split),
)
