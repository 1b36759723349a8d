"""Managed instances: which hosts Systems Manager reaches, and their block devices as tools print them."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cloud_simulator.aws.fleet import BENCH_TAG, SMALL_BENCH_TAG, SimulatedHost, SimulatedVolume
from cloud_simulator.aws.scratch_volumes import AccountRegion
from cloud_simulator.faults import Refused
from cloud_simulator.paging import page_of
from cloud_simulator.units import MIB

ONLINE, LOST = "Online", "ConnectionLost"
_PAGE: Final = 50
_UNMANAGED, _LOST = 0xF, 0xD
"""Of every sixteen hosts one was never managed, and of one the connection is lost; which they are follows from the
host's id."""


def ping_of(host: SimulatedHost) -> str | None:
    """The agent's ping status on a host. None if it has no agent. On bench hosts it always answers."""
    if {BENCH_TAG, SMALL_BENCH_TAG} & {key for key, _ in host.tags}:
        return ONLINE
    return {_UNMANAGED: None, _LOST: LOST}.get(int(host.id[-1], 16), ONLINE)


def describe(asked: Mapping[str, Any], here: AccountRegion) -> dict[str, Any]:
    """The answer to DescribeInstanceInformation, with filters by InstanceIds and PingStatus, and pages."""
    described = [_describe_host(host) for host in here.hosts().values() if ping_of(host) is not None]
    for key, values in _filters(asked):
        name = {"InstanceIds": "InstanceId", "PingStatus": "PingStatus"}.get(key)
        if name is None:
            raise Refused("InvalidFilterKey", f"The filter {key} is not valid.")
        described = [row for row in described if row[name] in values]
    page, token = page_of(
        described, asked.get("NextToken"), asked.get("MaxResults"), most=_PAGE, refusal="InvalidNextToken"
    )
    return {"InstanceInformationList": page, **({"NextToken": token} if token else {})}


def _filters(asked: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Filters in the present form and in the older one."""
    present = [(filter_["Key"], filter_["Values"]) for filter_ in asked.get("Filters", [])]
    older = [(filter_["key"], filter_["valueSet"]) for filter_ in asked.get("InstanceInformationFilterList", [])]
    return present + older


def _describe_host(host: SimulatedHost) -> dict[str, Any]:
    return {
        "InstanceId": host.id,
        "PingStatus": ping_of(host),
        "AgentVersion": "3.3.2746.0",
        "IsLatestVersion": True,
        "PlatformType": "Linux",
        "PlatformName": "Amazon Linux",
        "PlatformVersion": "2023",
        "ResourceType": "EC2Instance",
    }


_GIB: Final = 1024 * MIB
_ROOT_GIB: Final = 8
_CHUNK_KIB: Final = 512
_NO_LVM: Final = "#!/bin/sh\necho '{\"report\":[{}]}'\n"

Node = dict[str, Any]


def tools_of(host: SimulatedHost, volumes: Sequence[SimulatedVolume]) -> Mapping[str, str]:
    """lsblk, mdadm, pvs and lvs of a host with these volumes, as the text of executables.

    A volume at the host's root device is its root; the others hold a filesystem each, but for members of a stripe,
    which are one RAID-0 with one, and for scratch volumes, which are empty.
    """
    roots = [volume for volume in volumes if volume.device == host.root_device]
    others = [volume for volume in volumes if volume.device != host.root_device]
    nodes = [_disk(0, _serial(roots[0]) if roots else "vol00000000000000000", _root_gib(roots))]
    nodes[0]["children"] = [_node("nvme0n1p1", "part", nodes[0]["size"] - MIB, "nvme0n1", "xfs", "/")]
    stripes: dict[str, list[Node]] = {}
    for number, volume in enumerate(others, start=1):
        node = _disk(number, _serial(volume), volume.spec.size_gib)
        nodes.append(node)
        if volume.stripe is not None:
            node["fstype"] = "linux_raid_member"
            stripes.setdefault(volume.stripe, []).append(node)
        elif volume.workload is not None:
            node["fstype"], node["mountpoint"] = "xfs", f"/data/{number}"
    for name, members in stripes.items():
        size = sum(member["size"] for member in members)
        for member in members:
            member["children"] = [_node(name, "raid0", size, member["name"], "xfs", f"/data/{name}")]
    return {
        "lsblk": f"#!/bin/sh\nprintf '%s\\n' {shlex.quote(json.dumps({'blockdevices': nodes}, indent=3))}\n",
        "mdadm": _mdadm(stripes),
        "pvs": _NO_LVM,
        "lvs": _NO_LVM,
    }


def _disk(number: int, serial: str, size_gib: int) -> Node:
    return {**_node(f"nvme{number}n1", "disk", size_gib * _GIB, None, None, None), "serial": serial}


def _node(
    name: str, kind: str, size_bytes: int, parent: str | None, filesystem: str | None, mounted: str | None
) -> Node:
    return {
        "name": name,
        "kname": name,
        "type": kind,
        "size": size_bytes,
        "serial": None,
        "fstype": filesystem,
        "mountpoint": mounted,
        "pkname": parent,
    }


def _root_gib(roots: Sequence[SimulatedVolume]) -> int:
    return roots[0].spec.size_gib if roots else _ROOT_GIB


def _serial(volume: SimulatedVolume) -> str:
    return volume.id.replace("-", "")


def _mdadm(stripes: Mapping[str, Sequence[Node]]) -> str:
    """mdadm --detail of each array, with --export as names and values."""
    cases = [_case(name, [member["name"] for member in members]) for name, members in stripes.items()]
    return "\n".join(["#!/bin/sh", 'case "$*" in', *cases, "*) exit 1 ;;", "esac", ""])


def _case(name: str, members: Sequence[str]) -> str:
    exported = ["MD_LEVEL=raid0", f"MD_DEVICES={len(members)}", "MD_METADATA=1.2"]
    for role, member in enumerate(members):
        exported += [f"MD_DEVICE_dev_{member}_ROLE={role}", f"MD_DEVICE_dev_{member}_DEV=/dev/{member}"]
    detail = [f"/dev/{name}:", "        Raid Level : raid0", f"        Chunk Size : {_CHUNK_KIB}K"]
    return "\n".join(
        [
            f"*--export*/dev/{name}) printf '%s\\n' {shlex.join(exported)} ;;",
            f"*/dev/{name}) printf '%s\\n' {shlex.join(detail)} ;;",
        ]
    )
