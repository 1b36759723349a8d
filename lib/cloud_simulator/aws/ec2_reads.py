"""EC2: volumes, instances and modifications as EC2's XML, with its paging and filters."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final
from xml.etree import ElementTree as ET

from cloud_simulator.aws import ec2_xml as xml
from cloud_simulator.aws.ec2_request import Fields, Item, Parameters, filtered, named, page
from cloud_simulator.aws.fleet import SimulatedHost, SimulatedVolume
from cloud_simulator.aws.scratch_volumes import AccountRegion

_VOLUME_FIELDS: Final[Fields[SimulatedVolume]] = {
    "volume-id": lambda volume: (volume.id,),
    "status": lambda volume: (volume.state,),
    "volume-type": lambda volume: (volume.spec.type,),
    "size": lambda volume: (str(volume.spec.size_gib),),
    "availability-zone": lambda volume: (volume.zone,),
    "attachment.instance-id": lambda volume: (host.id for host in volume.hosts),
    "attachment.status": lambda volume: (volume.attachment for _ in volume.hosts),
    "attachment.device": lambda volume: (volume.device for _ in volume.hosts),
    "multi-attach-enabled": lambda volume: (xml.boolean(volume.multi_attach),),
    "operator.managed": lambda volume: (xml.boolean(volume.operator is not None),),
}
_CHANGE_FIELDS: Final[Fields[SimulatedVolume]] = {
    "volume-id": lambda volume: (volume.id,),
    "modification-state": lambda volume: (volume.modification[0],) if volume.modification else (),
}


def answer(action: str, asked: Parameters, here: AccountRegion) -> bytes | None:
    """The XML of a reading action; None for actions that are no such."""
    handler = _ACTIONS.get(action)
    if handler is None:
        return None
    root = xml.document(action)
    handler(root, asked, here)
    return xml.written(root)


def _regions(root: ET.Element, _asked: Parameters, here: AccountRegion) -> None:
    """The regions that the organization has switched on."""
    found = ET.SubElement(root, "regionInfo")
    for name in here.fleet.regions:
        xml.texts(
            ET.SubElement(found, "item"),
            regionName=name,
            regionEndpoint=f"ec2.{name}.amazonaws.com",
            optInStatus="opt-in-not-required",
        )


def _volumes(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    known = {volume.id: volume for volume in here.volumes()}
    found = named(asked, "VolumeId", known, "InvalidVolume.NotFound")
    found = filtered(asked, found, _VOLUME_FIELDS, lambda volume: volume.tags)
    _listing(root, "volumeSet", asked, found, xml.volume)


def _statuses(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    known = {volume.id: volume for volume in here.volumes()}
    found = named(asked, "VolumeId", known, "InvalidVolume.NotFound")
    found = filtered(asked, found, _VOLUME_FIELDS, lambda volume: volume.tags)
    _listing(root, "volumeStatusSet", asked, found, _status)


def _status(item: ET.Element, volume: SimulatedVolume) -> None:
    word = {"error": "impaired", "creating": "insufficient-data"}.get(volume.state, "ok")
    xml.texts(item, volumeId=volume.id, availabilityZone=volume.zone)
    xml.texts(ET.SubElement(item, "volumeStatus"), status=word)


def _instances(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    fields: Fields[SimulatedHost] = {
        "instance-id": lambda host: (host.id,),
        "instance-type": lambda host: (host.type,),
        "instance-state-name": lambda _: ("running",),
        "availability-zone": lambda host: (here.fleet.zone_of(host.id),),
    }
    found = named(asked, "InstanceId", here.hosts(), "InvalidInstanceID.NotFound")
    found = filtered(asked, found, fields, lambda host: host.tags)

    def reservation(item: ET.Element, host: SimulatedHost) -> None:
        xml.texts(item, reservationId=f"r-{host.id[2:]}", ownerId=here.account)
        into = ET.SubElement(ET.SubElement(item, "instancesSet"), "item")
        _instance(into, host, here.fleet.zone_of(host.id))

    _listing(root, "reservationSet", asked, sorted(found, key=lambda host: host.id), reservation)


def _instance(item: ET.Element, host: SimulatedHost, zone: str) -> None:
    xml.texts(item, instanceId=host.id, instanceType=host.type, rootDeviceName=host.root_device, rootDeviceType="ebs")
    xml.texts(ET.SubElement(item, "placement"), availabilityZone=zone)
    xml.texts(ET.SubElement(item, "instanceState"), code=16, name="running")
    xml.tags(item, host.tags)


def _modifications(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    changed = {volume.id: volume for volume in here.volumes() if volume.modification is not None}
    found = named(asked, "VolumeId", changed, "InvalidVolumeModification.NotFound")
    found = filtered(asked, found, _CHANGE_FIELDS, lambda _: ())
    _listing(root, "volumeModificationSet", asked, found, _modification)


def _modification(item: ET.Element, volume: SimulatedVolume) -> None:
    """The latest change of a volume: it was half as large before."""
    if volume.modification is None:
        return
    state, started, progress = volume.modification
    xml.texts(
        item,
        volumeId=volume.id,
        modificationState=state,
        originalSize=max(1, volume.spec.size_gib // 2),
        originalVolumeType=volume.spec.type,
        targetSize=volume.spec.size_gib,
        targetVolumeType=volume.spec.type,
        targetIops=xml.described_iops(volume),
        targetThroughput=volume.spec.throughput_mib_s,
        progress=progress,
        startTime=xml.time(started),
        endTime=xml.time(started + timedelta(hours=1)) if state == "completed" else None,
    )


def _listing(
    root: ET.Element, name: str, asked: Parameters, found: list[Item], write: Callable[[ET.Element, Item], None]
) -> None:
    """One page of items under a named element, and the token of the next page."""
    shown, token = page(asked, found)
    into = ET.SubElement(root, name)
    for one in shown:
        write(ET.SubElement(into, "item"), one)
    xml.texts(root, nextToken=token)


_ACTIONS: Final[dict[str, Callable[[ET.Element, Parameters, AccountRegion], None]]] = {
    "DescribeInstances": _instances,
    "DescribeRegions": _regions,
    "DescribeVolumeStatus": _statuses,
    "DescribeVolumes": _volumes,
    "DescribeVolumesModifications": _modifications,
}
