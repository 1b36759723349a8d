"""Attached volumes: what EBS volumes carry on an instance, and the disks that they are there."""

from collections.abc import Sequence
from functools import reduce
from operator import add

from moto.ec2.models.instance_types import INSTANCE_TYPES

from cloud_simulator.aws.fleet import SimulatedHost, SimulatedVolume
from cloud_simulator.devices.block_devices import Disk
from cloud_simulator.published import UNBOUNDED, Ceiling, Host, ebs_types, instance_limits


def ceiling_of(volumes: Sequence[SimulatedVolume], host: SimulatedHost) -> Ceiling:
    """What volumes side by side carry on a host by the published limits of both, burst included."""
    kinds = ebs_types()
    each = [kinds[one.spec.type].ceiling(one.spec) if one.spec.type in kinds else UNBOUNDED for one in volumes]
    found = INSTANCE_TYPES.get(host.type)
    on_host = Host(id=host.id, type=host.type, limits=instance_limits(found) if found else None).ceiling
    return reduce(add, each) & on_host


def disk_of(volume: SimulatedVolume) -> Disk:
    """The volume as a disk; its link is named for its serial number, as a Nitro instance's udev names it."""
    link = f"nvme-Amazon_Elastic_Block_Store_{volume.id.replace('-', '')}"
    return Disk(id=volume.id, link=link, size_gib=volume.spec.size_gib, copy=volume.source is not None)
