"""Bench hosts: running instances by tag or id, and whether Systems Manager reaches them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from plimsoll.clouds.aws.chunks import in_chunks
from plimsoll.clouds.aws.errors import MEASURING, attempted
from plimsoll.clouds.aws.hosts import Hosts
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.domain.errors import CloudError
from plimsoll.domain.policy import TagMatch
from plimsoll.ports import BenchHost, Target

_IDS_A_CALL: Final = 100
"""What both DescribeInstances (200) and DescribeInstanceInformation (100) take of a filter's values."""

_OTHER: Final = "or name another with --bench-host"


def find_hosts(sessions: Sessions, target: Target, tags: Sequence[TagMatch], ids: Sequence[str]) -> list[BenchHost]:
    """The running instances with one of these tags or ids, by id; CloudError where an id is no running instance's."""
    ec2 = sessions.client("ec2", target.account, target.region)
    found: dict[str, Mapping[str, Any]] = {}
    for chunk in in_chunks(sorted(set(ids)), _IDS_A_CALL):
        found |= _described(ec2, target, [{"Name": "instance-id", "Values": list(chunk)}])
    _check(target, ids, found)
    for tag in tags:
        found |= _described(ec2, target, [_RUNNING, _filter(tag)])
    hosts = Hosts(ec2, str(target), purpose=MEASURING)
    wanted = [one for name, one in sorted(found.items()) if name in ids or any(tag.matches(_tags(one)) for tag in tags)]
    hosts.take(wanted)
    managed = _managed(sessions, target, [one["InstanceId"] for one in wanted])
    made = []
    for one in wanted:
        host = hosts.known[one["InstanceId"]].host
        why_not = _why_not(host.id, target, managed.get(host.id))
        made.append(
            BenchHost(
                host=host,
                account=target.account,
                region=target.region,
                zone=one["Placement"]["AvailabilityZone"],
                ready=not why_not,
                not_ready=why_not,
            )
        )
    return made


_RUNNING: Final[Mapping[str, Any]] = {"Name": "instance-state-name", "Values": ["running"]}


def _described(ec2: Any, target: Target, filters: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    pages = ec2.get_paginator("describe_instances").paginate(Filters=list(filters))
    with attempted(f"look for bench hosts in {target}", "ec2:DescribeInstances", MEASURING):
        return {
            one["InstanceId"]: one for page in pages for group in page["Reservations"] for one in group["Instances"]
        }


def _filter(tag: TagMatch) -> Mapping[str, Any]:
    """The filter for a tag. Its wildcards are no wildcards here: what they bring too many is left out afterwards."""
    if tag.value is None:
        return {"Name": "tag-key", "Values": [tag.tag]}
    return {"Name": f"tag:{tag.tag}", "Values": [tag.value]}


def _tags(found: Mapping[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in found.get("Tags", ())}


def _check(target: Target, ids: Iterable[str], found: Mapping[str, Mapping[str, Any]]) -> None:
    for name in ids:
        if name not in found:
            raise CloudError(f"cannot measure on {name}: there is no such instance in {target}. Name another.")
        state = found[name]["State"]["Name"]
        if state != "running":
            raise CloudError(f"cannot measure on {name} in {target}: it is {state}. Start it, {_OTHER}.")


def _managed(sessions: Sessions, target: Target, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """What Systems Manager knows of the instances, by id."""
    found: dict[str, Mapping[str, Any]] = {}
    if not ids:
        return found
    ssm = sessions.client("ssm", target.account, target.region)
    for chunk in in_chunks(ids, _IDS_A_CALL):
        pages = ssm.get_paginator("describe_instance_information").paginate(
            Filters=[{"Key": "InstanceIds", "Values": list(chunk)}]
        )
        with attempted(f"see which hosts SSM manages in {target}", "ssm:DescribeInstanceInformation", MEASURING):
            found |= {one["InstanceId"]: one for page in pages for one in page["InstanceInformationList"]}
    return found


def _why_not(host_id: str, target: Target, known: Mapping[str, Any] | None) -> str:
    """Why a host cannot measure, and what to do about it; empty where it can."""
    if known is None:
        return (
            f"{host_id} in {target} is not managed by SSM: give it an instance profile with "
            f"AmazonSSMManagedInstanceCore and the agent, {_OTHER}."
        )
    if known.get("PingStatus") != "Online":
        return (
            f"{host_id} in {target} does not answer SSM ({known.get('PingStatus', 'no status')}): restart its agent, "
            f"{_OTHER}."
        )
    if known.get("PlatformType", "Linux") != "Linux":
        return f"{host_id} in {target} runs {known['PlatformType']}, and the document needs Linux: {_OTHER[3:]}."
    return ""
