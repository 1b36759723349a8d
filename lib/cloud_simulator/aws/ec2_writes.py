"""EC2's writing actions on scratch volumes: requests read and checked, answers as XML."""

import re
from collections.abc import Callable
from typing import Final
from xml.etree import ElementTree as ET

from cloud_simulator.aws import ec2_xml as xml
from cloud_simulator.aws.ec2_request import Parameters, listed
from cloud_simulator.aws.ec2_specs import spec_of
from cloud_simulator.aws.fleet import SimulatedHost, SimulatedVolume
from cloud_simulator.aws.scratch_volumes import AccountRegion, Order
from cloud_simulator.faults import Refused

_DEVICE: Final = re.compile(r"/dev/(sd[a-z][1-9]?|xvd[a-z]{1,2})")


def answer(action: str, asked: Parameters, here: AccountRegion) -> bytes | None:
    """The XML of a writing action; None for actions that are no such, or not about volumes."""
    handler = _ACTIONS.get(action)
    if handler is None or (action == "CreateTags" and not _volumes_alone(asked)):
        return None
    if asked.get("DryRun") == "true":
        raise Refused("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412)
    root = xml.document(action)
    handler(root, asked, here)
    return xml.written(root)


def _create(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    zone = _needed(asked, "AvailabilityZone")
    if zone not in {f"{here.region}{letter}" for letter in "abc"}:
        raise Refused("InvalidZone.NotFound", f"The zone '{zone}' does not exist.")
    order = Order(zone=zone, spec=spec_of(asked), tags=_specified_tags(asked), token=asked.get("ClientToken"))
    xml.volume(root, here.scratch.create(order, here.account, here.region))


def _copy(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    source = _volume(_needed(asked, "SourceVolumeId"), here)
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
    volume, host = _volume(_needed(asked, "VolumeId"), here), _host(_needed(asked, "InstanceId"), here)
    device = _needed(asked, "Device")
    if _DEVICE.fullmatch(device) is None:
        raise Refused("InvalidParameterValue", f"Value ({device}) for parameter device is invalid.")
    xml.attachment(root, here.scratch.attach(volume.id, host, device, here.account, here.region), host)


def _detach(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    volume = _volume(_needed(asked, "VolumeId"), here)
    if volume.hosts and asked.get("InstanceId", volume.hosts[0].id) != volume.hosts[0].id:
        raise Refused(
            "InvalidAttachment.NotFound", f"The volume '{volume.id}' is not attached to '{asked['InstanceId']}'."
        )
    detaching = here.scratch.detach(volume.id, here.account, here.region)
    xml.attachment(root, detaching, detaching.hosts[0])


def _delete(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    here.scratch.delete(_needed(asked, "VolumeId"), here.account, here.region)
    _done(root)


def _tag(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    for volume_id in listed(asked, "ResourceId"):
        here.scratch.tag(volume_id, dict(_tags(asked, "Tag")), here.account, here.region)
    _done(root)


def _done(root: ET.Element) -> None:
    xml.texts(root, **{"return": "true"})


def _needed(asked: Parameters, name: str) -> str:
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
    return all(one.startswith("vol-") for one in listed(asked, "ResourceId"))


def _specified_tags(asked: Parameters) -> tuple[tuple[str, str], ...]:
    """The tags that a new volume is made with."""
    kinds = {key: value for key, value in asked.items() if re.fullmatch(r"TagSpecification\.\d+\.ResourceType", key)}
    found: dict[str, str] = {}
    for key, kind in kinds.items():
        if kind != "volume":
            raise Refused(
                "InvalidParameterValue", f"'{kind}' is not a valid taggable resource type for this operation."
            )
        found.update(_tags(asked, f"{key.removesuffix('.ResourceType')}.Tag"))
    return tuple(found.items())


def _tags(asked: Parameters, prefix: str) -> list[tuple[str, str]]:
    keys = {key: name for key, name in asked.items() if re.fullmatch(re.escape(prefix) + r"\.\d+\.Key", key)}
    return [(name, asked.get(f"{key.removesuffix('Key')}Value", "")) for key, name in keys.items()]


_ACTIONS: Final[dict[str, Callable[[ET.Element, Parameters, AccountRegion], None]]] = {
    "AttachVolume": _attach,
    "CopyVolumes": _copy,
    "CreateTags": _tag,
    "CreateVolume": _create,
    "DeleteVolume": _delete,
    "DetachVolume": _detach,
}
