"""EC2: the fleet's volumes, instances and modifications as EC2's XML, with its paging and filters."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from xml.etree import ElementTree as ET

from plimsoll.clouds.aws.limits import volume_types
from plimsoll.domain.volume_types import Provisioned
from plimsoll.simulator.cloudwatch import Refused
from plimsoll.simulator.fleet import Fleet, SimulatedHost, SimulatedVolume

_NAMESPACE: Final = "http://ec2.amazonaws.com/doc/2016-11-15/"
_PAGE: Final = 500

Parameters = Mapping[str, str]


def answer(action: str, asked: Parameters, fleet: Fleet, account: str, region: str) -> bytes | None:
    """The XML of an action on the fleet; None for actions that are not about it."""
    handler = _ACTIONS.get(action)
    if handler is None:
        return None
    root = ET.Element(f"{action}Response", xmlns=_NAMESPACE)
    ET.SubElement(root, "requestId").text = "simulated"
    handler(root, asked, fleet, account, region)
    return _xml(root)


def regions(fleet: Fleet) -> bytes:
    """The XML of DescribeRegions: the regions that the organisation has switched on."""
    root = ET.Element("DescribeRegionsResponse", xmlns=_NAMESPACE)
    listed = ET.SubElement(root, "regionInfo")
    for region in fleet.regions:
        _texts(ET.SubElement(listed, "item"), regionName=region, regionEndpoint=f"ec2.{region}.amazonaws.com")
    return _xml(root)


def error(refused: Refused) -> bytes:
    """EC2's XML of an error."""
    root = ET.Element("Response")
    inner = ET.SubElement(ET.SubElement(root, "Errors"), "Error")
    ET.SubElement(inner, "Code").text = refused.code
    ET.SubElement(inner, "Message").text = refused.message
    ET.SubElement(root, "RequestID").text = "simulated"
    return _xml(root)


def _xml(root: ET.Element) -> bytes:
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _volumes(root: ET.Element, asked: Parameters, fleet: Fleet, account: str, region: str) -> None:
    wanted = set(_list(asked, "VolumeId"))
    states = _filters(asked).get("status")
    found = [
        volume
        for volume in fleet.at(account, region)
        if (not wanted or volume.id in wanted) and (states is None or volume.state in states)
    ]
    listed = ET.SubElement(root, "volumeSet")
    for volume in _page(root, asked, found):
        _volume(ET.SubElement(listed, "item"), volume)


def _volume(item: ET.Element, volume: SimulatedVolume) -> None:
    kind = volume_types().get(volume.spec.type)
    iops = volume.spec.iops
    if iops is None and kind is not None and not isinstance(kind.iops, Provisioned):
        iops = int(kind.iops.at(volume.spec.size_gib)) if volume.spec.type == "gp2" else None
    _texts(
        item,
        volumeId=volume.id,
        size=volume.spec.size_gib,
        availabilityZone=volume.zone,
        status=volume.state,
        createTime=_time(volume.created),
        volumeType=volume.spec.type,
        iops=iops,
        throughput=volume.spec.throughput_mib_s,
        multiAttachEnabled=str(volume.multi_attach).lower(),
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


def _instances(root: ET.Element, asked: Parameters, fleet: Fleet, account: str, region: str) -> None:
    hosts = fleet.hosts(account, region)
    wanted = set(_list(asked, "InstanceId")) or _filters(asked).get("instance-id") or set(hosts)
    found = [hosts[name] for name in sorted(wanted) if name in hosts]
    listed = ET.SubElement(root, "reservationSet")
    for host in _page(root, asked, found):
        reservation = ET.SubElement(listed, "item")
        _texts(reservation, reservationId=f"r-{host.id[2:]}", ownerId=account)
        _instance(ET.SubElement(ET.SubElement(reservation, "instancesSet"), "item"), host)


def _instance(item: ET.Element, host: SimulatedHost) -> None:
    _texts(item, instanceId=host.id, instanceType=host.type, rootDeviceName=host.root_device, rootDeviceType="ebs")
    _texts(ET.SubElement(item, "instanceState"), code=16, name="running")
    _tags(item, host.tags)


def _modifications(root: ET.Element, asked: Parameters, fleet: Fleet, account: str, region: str) -> None:
    listed = ET.SubElement(root, "volumeModificationSet")
    changed = [volume for volume in fleet.at(account, region) if volume.modification is not None]
    for volume in _page(root, asked, changed):
        if volume.modification is None:
            continue
        state, started, progress = volume.modification
        item = ET.SubElement(listed, "item")
        ended = _time(started + timedelta(hours=1)) if state == "completed" else None
        _texts(
            item,
            volumeId=volume.id,
            modificationState=state,
            startTime=_time(started),
            endTime=ended,
            progress=progress,
            targetVolumeType=volume.spec.type,
            targetSize=volume.spec.size_gib,
        )


def _page(root: ET.Element, asked: Parameters, found: list[Any]) -> Iterable[Any]:
    start = int(asked.get("NextToken", "0"))
    size = int(asked.get("MaxResults", _PAGE))
    if start + size < len(found):
        ET.SubElement(root, "nextToken").text = str(start + size)
    return found[start : start + size]


def _filters(asked: Parameters) -> dict[str, set[str]]:
    names = {
        key.split(".")[1]: value for key, value in asked.items() if key.startswith("Filter.") and key.endswith(".Name")
    }
    return {name: set(_list(asked, f"Filter.{number}.Value")) for number, name in names.items()}


def _list(asked: Parameters, prefix: str) -> list[str]:
    return [value for key, value in asked.items() if key.startswith(f"{prefix}.")]


def _texts(item: ET.Element, **values: object) -> None:
    for name, value in values.items():
        if value is not None:
            ET.SubElement(item, name).text = str(value)


def _tags(item: ET.Element, tags: Iterable[tuple[str, str]]) -> None:
    listed = ET.SubElement(item, "tagSet")
    for key, value in tags:
        _texts(ET.SubElement(listed, "item"), key=key, value=value)


def _time(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


_ACTIONS: Final[dict[str, Callable[[ET.Element, Parameters, Fleet, str, str], None]]] = {
    "DescribeVolumes": _volumes,
    "DescribeInstances": _instances,
    "DescribeVolumesModifications": _modifications,
}
