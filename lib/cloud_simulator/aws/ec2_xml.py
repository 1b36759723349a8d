"""EC2's XML: volumes, attachments, tags and times as its answers write them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final
from xml.etree import ElementTree as ET

from cloud_simulator.aws.fleet import SimulatedHost, SimulatedVolume
from cloud_simulator.published import Provisioned, VolumeSpec, ebs_types

_NAMESPACE: Final = "http://ec2.amazonaws.com/doc/2016-11-15/"


def document(action: str) -> ET.Element:
    """The root of the answer to an action."""
    root = ET.Element(f"{action}Response", xmlns=_NAMESPACE)
    ET.SubElement(root, "requestId").text = "simulated"
    return root


def serialize(root: ET.Element) -> bytes:
    """An answer as it is sent."""
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def volume(item: ET.Element, simulated: SimulatedVolume) -> None:
    """A volume, with its attachments and tags."""
    texts(
        item,
        volumeId=simulated.id,
        size=simulated.spec.size_gib,
        snapshotId=simulated.snapshot,
        fastRestored="true" if simulated.restored_fast else None,
        sourceVolumeId=simulated.source,
        availabilityZone=simulated.zone,
        status=simulated.state,
        createTime=time(simulated.created),
        volumeType=simulated.spec.type,
        iops=described_iops(simulated.spec),
        throughput=simulated.spec.throughput_mib_s,
        multiAttachEnabled=boolean(simulated.multi_attach),
        encrypted="true",
    )
    attachments = ET.SubElement(item, "attachmentSet")
    for host in simulated.hosts:
        attachment(ET.SubElement(attachments, "item"), simulated, host)
    tags(item, simulated.tags)
    if simulated.operator is not None:
        texts(ET.SubElement(item, "operator"), managed="true", principal=simulated.operator)


def attachment(item: ET.Element, volume: SimulatedVolume, host: SimulatedHost) -> None:
    """A volume on a host."""
    texts(
        item,
        volumeId=volume.id,
        instanceId=host.id,
        device=volume.device,
        status=volume.attachment,
        attachTime=time(volume.attached or volume.created),
        deleteOnTermination="false",
    )


def mapping(item: ET.Element, volume: SimulatedVolume) -> None:
    """A volume as the instance that it is on has it."""
    texts(item, deviceName=volume.device)
    texts(
        ET.SubElement(item, "ebs"),
        volumeId=volume.id,
        status=volume.attachment,
        attachTime=time(volume.attached or volume.created),
        deleteOnTermination="false",
    )


def described_iops(spec: VolumeSpec) -> int | None:
    """The IOPS that EC2 shows: what is provisioned, for gp2 its baseline, for other types none."""
    kind = ebs_types().get(spec.type)
    if spec.type == "gp2" and kind is not None and not isinstance(kind.iops, Provisioned):
        return int(kind.iops.figure_at(spec.size_gib))
    return spec.iops


def texts(item: ET.Element, **values: object) -> None:
    """An element for each value that is not None."""
    for name, value in values.items():
        if value is not None:
            ET.SubElement(item, name).text = str(value)


def tags(item: ET.Element, pairs: Iterable[tuple[str, str]]) -> None:
    """The set of tags."""
    tag_set = ET.SubElement(item, "tagSet")
    for key, value in pairs:
        texts(ET.SubElement(tag_set, "item"), key=key, value=value)


def boolean(value: bool) -> str:
    """True and false as EC2 writes them."""
    return str(value).lower()


def time(moment: datetime) -> str:
    """A time as EC2 writes it, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
