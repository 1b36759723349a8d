"""EC2: the fleet's volumes, instances and modifications as EC2's XML, with its paging and filters."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final
from xml.etree import ElementTree as ET

from plimsoll.clouds.aws.limits import volume_types
from plimsoll.domain.volume_types import Provisioned
from plimsoll.simulator.ec2_request import Fields, Item, Parameters, filtered, named, page
from plimsoll.simulator.fleet import Fleet, SimulatedHost, SimulatedVolume

_NAMESPACE: Final = "http://ec2.amazonaws.com/doc/2016-11-15/"
_VOLUME_FIELDS: Final[Fields[SimulatedVolume]] = {
    "volume-id": lambda volume: (volume.id,),
    "status": lambda volume: (volume.state,),
    "volume-type": lambda volume: (volume.spec.type,),
    "size": lambda volume: (str(volume.spec.size_gib),),
    "availability-zone": lambda volume: (volume.zone,),
    "attachment.instance-id": lambda volume: (host.id for host in volume.hosts),
    "attachment.status": lambda volume: ("attached" for _ in volume.hosts),
    "attachment.device": lambda volume: (volume.device for _ in volume.hosts),
    "multi-attach-enabled": lambda volume: (_bool(volume.multi_attach),),
    "operator.managed": lambda volume: (_bool(volume.operator is not None),),
}
_HOST_FIELDS: Final[Fields[SimulatedHost]] = {
    "instance-id": lambda host: (host.id,),
    "instance-type": lambda host: (host.type,),
    "instance-state-name": lambda _: ("running",),
}
_CHANGE_FIELDS: Final[Fields[SimulatedVolume]] = {
    "volume-id": lambda volume: (volume.id,),
    "modification-state": lambda volume: (volume.modification[0],) if volume.modification else (),
}


def answer(action: str, asked: Parameters, fleet: Fleet, account: str, region: str) -> bytes | None:
    """The XML of an action on the fleet; None for actions that are not about it."""
    handler = _ACTIONS.get(action)
    if handler is None:
        return None
    root = ET.Element(f"{action}Response", xmlns=_NAMESPACE)
    ET.SubElement(root, "requestId").text = "simulated"
    handler(root, asked, fleet, account, region)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _regions(root: ET.Element, _asked: Parameters, fleet: Fleet, _account: str, _region: str) -> None:
    """The regions that the organisation has switched on."""
    found = ET.SubElement(root, "regionInfo")
    for name in fleet.regions:
        _texts(
            ET.SubElement(found, "item"),
            regionName=name,
            regionEndpoint=f"ec2.{name}.amazonaws.com",
            optInStatus="opt-in-not-required",
        )


def _volumes(root: ET.Element, asked: Parameters, fleet: Fleet, account: str, region: str) -> None:
    known = {volume.id: volume for volume in fleet.at(account, region)}
    found = named(asked, "VolumeId", known, "InvalidVolume.NotFound")
    found = filtered(asked, found, _VOLUME_FIELDS, lambda volume: volume.tags)
    _listing(root, "volumeSet", asked, found, _volume)


def _volume(item: ET.Element, volume: SimulatedVolume) -> None:
    _texts(
        item,
        volumeId=volume.id,
        size=volume.spec.size_gib,
        snapshotId="",
        availabilityZone=volume.zone,
        status=volume.state,
        createTime=_time(volume.created),
        volumeType=volume.spec.type,
        iops=_described_iops(volume),
        throughput=volume.spec.throughput_mib_s,
        multiAttachEnabled=_bool(volume.multi_attach),
        encrypted="true",
    )
    attachments = ET.SubElement(item, "attachmentSet")
    for host in volume.hosts:
        _texts(
            ET.SubElement(attachments, "item"),
            volumeId=volume.id,
            instanceId=host.id,
            device=volume.device,
            status="attached",
            attachTime=_time(volume.attached or volume.created),
            deleteOnTermination="false",
        )
    _tags(item, volume.tags)
    if volume.operator is not None:
        _texts(ET.SubElement(item, "operator"), managed="true", principal=volume.operator)


def _described_iops(volume: SimulatedVolume) -> int | None:
    """The IOPS that EC2 shows: what is provisioned, for gp2 its baseline, for other types none."""
    kind = volume_types().get(volume.spec.type)
    if volume.spec.type == "gp2" and kind is not None and not isinstance(kind.iops, Provisioned):
        return int(kind.iops.at(volume.spec.size_gib))
    return volume.spec.iops


def _instances(root: ET.Element, asked: Parameters, fleet: Fleet, account: str, region: str) -> None:
    found = named(asked, "InstanceId", fleet.hosts(account, region), "InvalidInstanceID.NotFound")
    found = filtered(asked, found, _HOST_FIELDS, lambda host: host.tags)

    def reservation(item: ET.Element, host: SimulatedHost) -> None:
        _texts(item, reservationId=f"r-{host.id[2:]}", ownerId=account)
        _instance(ET.SubElement(ET.SubElement(item, "instancesSet"), "item"), host)

    _listing(root, "reservationSet", asked, sorted(found, key=lambda host: host.id), reservation)


def _instance(item: ET.Element, host: SimulatedHost) -> None:
    _texts(item, instanceId=host.id, instanceType=host.type, rootDeviceName=host.root_device, rootDeviceType="ebs")
    _texts(ET.SubElement(item, "instanceState"), code=16, name="running")
    _tags(item, host.tags)


def _modifications(root: ET.Element, asked: Parameters, fleet: Fleet, account: str, region: str) -> None:
    changed = {volume.id: volume for volume in fleet.at(account, region) if volume.modification is not None}
    found = named(asked, "VolumeId", changed, "InvalidVolumeModification.NotFound")
    found = filtered(asked, found, _CHANGE_FIELDS, lambda _: ())
    _listing(root, "volumeModificationSet", asked, found, _modification)


def _modification(item: ET.Element, volume: SimulatedVolume) -> None:
    """The latest change of a volume: it was half as large before."""
    if volume.modification is None:
        return
    state, started, progress = volume.modification
    _texts(
        item,
        volumeId=volume.id,
        modificationState=state,
        originalSize=max(1, volume.spec.size_gib // 2),
        originalVolumeType=volume.spec.type,
        targetSize=volume.spec.size_gib,
        targetVolumeType=volume.spec.type,
        targetIops=_described_iops(volume),
        targetThroughput=volume.spec.throughput_mib_s,
        progress=progress,
        startTime=_time(started),
        endTime=_time(started + timedelta(hours=1)) if state == "completed" else None,
    )


def _listing(
    root: ET.Element, name: str, asked: Parameters, found: list[Item], write: Callable[[ET.Element, Item], None]
) -> None:
    """One page of items under a named element, and the token of the next page."""
    shown, token = page(asked, found)
    into = ET.SubElement(root, name)
    for one in shown:
        write(ET.SubElement(into, "item"), one)
    _texts(root, nextToken=token)


def _texts(item: ET.Element, **values: object) -> None:
    for name, value in values.items():
        if value is not None:
            ET.SubElement(item, name).text = str(value)


def _tags(item: ET.Element, tags: Iterable[tuple[str, str]]) -> None:
    found = ET.SubElement(item, "tagSet")
    for key, value in tags:
        _texts(ET.SubElement(found, "item"), key=key, value=value)


def _bool(value: bool) -> str:
    return str(value).lower()


def _time(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


_ACTIONS: Final[dict[str, Callable[[ET.Element, Parameters, Fleet, str, str], None]]] = {
    "DescribeInstances": _instances,
    "DescribeRegions": _regions,
    "DescribeVolumes": _volumes,
    "DescribeVolumesModifications": _modifications,
}
