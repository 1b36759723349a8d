"""EC2: volumes, instances and modifications as EC2's XML, filtered and in pages, and writes of scratch volumes."""

import re
from collections.abc import Callable, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from cloud_simulator.aws import ec2_keeping
from cloud_simulator.aws import ec2_xml as xml
from cloud_simulator.aws.ec2_keeping import list_items
from cloud_simulator.aws.ec2_request import (
    Fields,
    Parameters,
    apply_filters,
    find_items,
    list_values,
    modified_spec,
    spec_of,
)
from cloud_simulator.aws.fleet import SimulatedHost, SimulatedVolume
from cloud_simulator.aws.scratch_volumes import AccountRegion, Order
from cloud_simulator.faults import Refused

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
    "modification-state": lambda volume: (volume.modification.state,) if volume.modification else (),
    "start-time": lambda volume: (xml.time(volume.modification.started),) if volume.modification else (),
}
_DEVICE: Final = re.compile(r"/dev/(sd[a-z][1-9]?|xvd[a-z]{1,2})")


def answer_ec2(action: str, asked: Parameters, here: AccountRegion) -> bytes | None:
    """The XML of an action; None for actions that are not simulated, or not about volumes."""
    handler = _READS.get(action)
    if handler is None:
        handler = _WRITES.get(action)
        if handler is None or (action == "CreateTags" and not _volumes_alone(asked)):
            return None
        if asked.get("DryRun") == "true":
            raise Refused("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412)
    root = xml.document(action)
    handler(root, asked, here)
    return xml.serialize(root)


def _regions(root: ET.Element, _asked: Parameters, here: AccountRegion) -> None:
    """The regions that the organization has switched on."""
    regions = ET.SubElement(root, "regionInfo")
    for name in here.fleet.regions:
        xml.texts(
            ET.SubElement(regions, "item"),
            regionName=name,
            regionEndpoint=f"ec2.{name}.amazonaws.com",
            optInStatus="opt-in-not-required",
        )


def _volumes(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    list_items(root, "volumeSet", asked, _find_volumes(asked, here), xml.volume)


def _statuses(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    list_items(root, "volumeStatusSet", asked, _find_volumes(asked, here), _status)


def _find_volumes(asked: Parameters, here: AccountRegion) -> list[SimulatedVolume]:
    known = {volume.id: volume for volume in here.volumes()}
    volumes = find_items(asked, "VolumeId", known, "InvalidVolume.NotFound")
    return apply_filters(asked, volumes, _VOLUME_FIELDS, lambda volume: volume.tags)


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
    hosts = find_items(asked, "InstanceId", here.hosts(), "InvalidInstanceID.NotFound")
    hosts = apply_filters(asked, hosts, fields, lambda host: host.tags)
    on_hosts: dict[str, list[SimulatedVolume]] = {}
    for volume in here.volumes():
        for host in volume.hosts:
            on_hosts.setdefault(host.id, []).append(volume)

    def reservation(item: ET.Element, host: SimulatedHost) -> None:
        xml.texts(item, reservationId=f"r-{host.id[2:]}", ownerId=here.account)
        into = ET.SubElement(ET.SubElement(item, "instancesSet"), "item")
        _instance(into, host, here, on_hosts.get(host.id, []))

    list_items(root, "reservationSet", asked, sorted(hosts, key=lambda host: host.id), reservation)


def _instance(item: ET.Element, host: SimulatedHost, here: AccountRegion, volumes: Sequence[SimulatedVolume]) -> None:
    xml.texts(item, instanceId=host.id, instanceType=host.type, rootDeviceName=host.root_device, rootDeviceType="ebs")
    xml.texts(item, imageId=host.image)
    xml.texts(item, launchTime=xml.time(here.fleet.launch_time(volumes)))
    xml.texts(item, ebsOptimized=str(host.ebs_optimized).lower())
    xml.texts(ET.SubElement(item, "placement"), availabilityZone=here.fleet.zone_of(host.id))
    if host.stopped is None:
        xml.texts(ET.SubElement(item, "instanceState"), code=16, name="running")
    else:
        xml.texts(ET.SubElement(item, "instanceState"), code=80, name="stopped")
        xml.texts(item, reason=f"User initiated ({host.stopped:%Y-%m-%d %H:%M:%S} GMT)")
    devices = ET.SubElement(item, "blockDeviceMapping")
    for volume in volumes:
        xml.mapping(ET.SubElement(devices, "item"), volume)
    xml.tags(item, host.tags)


def _modifications(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    changed = {volume.id: volume for volume in here.volumes() if volume.modification is not None}
    volumes = find_items(asked, "VolumeId", changed, "InvalidVolumeModification.NotFound")
    volumes = apply_filters(asked, volumes, _CHANGE_FIELDS, lambda _: ())
    list_items(root, "volumeModificationSet", asked, volumes, _modification)


def _modification(item: ET.Element, volume: SimulatedVolume) -> None:
    """The latest change of a volume."""
    change = volume.modification
    if change is None:
        return
    original, target = change.before(volume), change.after(volume)
    xml.texts(
        item,
        volumeId=volume.id,
        modificationState=change.state,
        statusMessage="The modification failed. Try again." if change.state == "failed" else None,
        originalSize=original.size_gib,
        originalVolumeType=original.type,
        originalIops=xml.described_iops(original),
        originalThroughput=original.throughput_mib_s,
        targetSize=target.size_gib,
        targetVolumeType=target.type,
        targetIops=xml.described_iops(target),
        targetThroughput=target.throughput_mib_s,
        progress=change.progress,
        startTime=xml.time(change.started),
        endTime=xml.time(change.ended) if change.ended else None,
    )


def _modify(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    """Begins a modification of any volume."""
    volume_id = _require(asked, "VolumeId")
    if not any(asked.get(name) for name in ("Size", "VolumeType", "Iops", "Throughput")):
        raise Refused("MissingParameter", "The request must contain the parameter size, volumeType, iops or throughput")
    with here.fleet.lock:
        volume = _volume(volume_id, here)
        here.modify(volume, modified_spec(asked, volume.spec))
        _modification(ET.SubElement(root, "volumeModification"), _volume(volume_id, here))


def _create(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    zone = _require(asked, "AvailabilityZone")
    if zone not in {f"{here.region}{letter}" for letter in "abc"}:
        raise Refused("InvalidZone.NotFound", f"The zone '{zone}' does not exist.")
    order = Order(zone=zone, spec=spec_of(asked), tags=_specified_tags(asked), token=asked.get("ClientToken"))
    xml.volume(root, here.scratch.create(order, here.account, here.region))


def _copy(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    source = _volume(_require(asked, "SourceVolumeId"), here)
    if source.state not in {"available", "in-use"}:
        raise Refused("IncorrectState", f"The volume '{source.id}' is '{source.state}'.")
    order = Order(
        zone=source.zone,
        spec=spec_of(asked, like=source.spec),
        tags=_specified_tags(asked),
        source=source.id,
        token=asked.get("ClientToken"),
    )
    made = here.scratch.create(order, here.account, here.region)
    xml.volume(ET.SubElement(ET.SubElement(root, "volumeSet"), "item"), made)


def _attach(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    volume, host = _volume(_require(asked, "VolumeId"), here), _host(_require(asked, "InstanceId"), here)
    if volume.modification is not None and volume.modification.state == "modifying":
        raise Refused(
            "OperationNotPermitted", f"Cannot attach volume {volume.id} when it is in modification state: MODIFYING"
        )
    device = _require(asked, "Device")
    if _DEVICE.fullmatch(device) is None:
        raise Refused("InvalidParameterValue", f"Value ({device}) for parameter device is invalid.")
    xml.attachment(root, here.scratch.attach(volume.id, host, device, here.account, here.region), host)


def _detach(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    volume = _volume(_require(asked, "VolumeId"), here)
    if volume.hosts and asked.get("InstanceId", volume.hosts[0].id) != volume.hosts[0].id:
        raise Refused(
            "InvalidAttachment.NotFound", f"The volume '{volume.id}' is not attached to '{asked['InstanceId']}'."
        )
    detaching = here.scratch.detach(volume.id, here.account, here.region)
    xml.attachment(root, detaching, detaching.hosts[0])


def _delete(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    here.scratch.delete(_require(asked, "VolumeId"), here.account, here.region)
    xml.texts(root, **{"return": "true"})


def _tag(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    for volume_id in list_values(asked, "ResourceId"):
        here.tag(_volume(volume_id, here), dict(_tags(asked, "Tag")))
    xml.texts(root, **{"return": "true"})


def _require(asked: Parameters, name: str) -> str:
    if not asked.get(name):
        raise Refused("MissingParameter", f"The request must contain the parameter {name}")
    return asked[name]


def _volume(volume_id: str, here: AccountRegion) -> SimulatedVolume:
    for volume in here.volumes():
        if volume.id == volume_id:
            return volume
    raise Refused("InvalidVolume.NotFound", f"The volume '{volume_id}' does not exist.")


def _host(host_id: str, here: AccountRegion) -> SimulatedHost:
    host = here.hosts().get(host_id)
    if host is None:
        raise Refused("InvalidInstanceID.NotFound", f"The instance ID '{host_id}' does not exist")
    return host


def _volumes_alone(asked: Parameters) -> bool:
    return all(resource_id.startswith("vol-") for resource_id in list_values(asked, "ResourceId"))


def _specified_tags(asked: Parameters) -> tuple[tuple[str, str], ...]:
    """The tags that a new volume is made with."""
    kinds = {key: value for key, value in asked.items() if re.fullmatch(r"TagSpecification\.\d+\.ResourceType", key)}
    tags: dict[str, str] = {}
    for key, kind in kinds.items():
        if kind != "volume":
            raise Refused(
                "InvalidParameterValue", f"'{kind}' is not a valid taggable resource type for this operation."
            )
        tags.update(_tags(asked, f"{key.removesuffix('.ResourceType')}.Tag"))
    return tuple(tags.items())


def _tags(asked: Parameters, prefix: str) -> list[tuple[str, str]]:
    keys = {key: name for key, name in asked.items() if re.fullmatch(re.escape(prefix) + r"\.\d+\.Key", key)}
    return [(name, asked.get(f"{key.removesuffix('Key')}Value", "")) for key, name in keys.items()]


_Handler = Callable[[ET.Element, Parameters, AccountRegion], None]
_READS: Final[dict[str, _Handler]] = {
    **ec2_keeping.READS,
    "DescribeInstances": _instances,
    "DescribeRegions": _regions,
    "DescribeVolumeStatus": _statuses,
    "DescribeVolumes": _volumes,
    "DescribeVolumesModifications": _modifications,
}
_WRITES: Final[dict[str, _Handler]] = {
    "AttachVolume": _attach,
    "CopyVolumes": _copy,
    "CreateTags": _tag,
    "CreateVolume": _create,
    "DeleteVolume": _delete,
    "DetachVolume": _detach,
    "ModifyVolume": _modify,
}
