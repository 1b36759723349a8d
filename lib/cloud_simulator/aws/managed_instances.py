"""Managed instances: which of the simulated hosts Systems Manager reaches."""

from collections.abc import Mapping
from typing import Any, Final

from cloud_simulator.aws.fleet import BENCH_TAG, SMALL_BENCH_TAG, SimulatedHost
from cloud_simulator.aws.scratch_volumes import AccountRegion
from cloud_simulator.faults import Refused

ONLINE, LOST = "Online", "ConnectionLost"
_PAGE: Final = 50
_UNMANAGED, _LOST = 0xF, 0xD
"""Of every sixteen hosts one was never managed, and of one the connection is lost; which they are follows from the
host's id."""


def ping_of(host: SimulatedHost) -> str | None:
    """How the agent on a host answers; None where there is none. On bench hosts it always does."""
    if {BENCH_TAG, SMALL_BENCH_TAG} & {key for key, _ in host.tags}:
        return ONLINE
    return {_UNMANAGED: None, _LOST: LOST}.get(int(host.id[-1], 16), ONLINE)


def describe(asked: Mapping[str, Any], here: AccountRegion) -> dict[str, Any]:
    """The answer to DescribeInstanceInformation, with filters by InstanceIds and PingStatus, and pages."""
    found = [_described(host) for host in here.hosts().values() if ping_of(host) is not None]
    for key, values in _filters(asked):
        name = {"InstanceIds": "InstanceId", "PingStatus": "PingStatus"}.get(key)
        if name is None:
            raise Refused("InvalidFilterKey", f"The filter {key} is not valid.")
        found = [one for one in found if one[name] in values]
    size, token = int(asked.get("MaxResults", _PAGE)), str(asked.get("NextToken", "0"))
    if not token.isdecimal():
        raise Refused("InvalidNextToken", "The token is not valid.")
    end = int(token) + size
    answer: dict[str, Any] = {"InstanceInformationList": found[int(token) : end]}
    return {**answer, "NextToken": str(end)} if end < len(found) else answer


def _filters(asked: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Filters in the present form and in the older one."""
    present = [(one["Key"], one["Values"]) for one in asked.get("Filters", [])]
    older = [(one["key"], one["valueSet"]) for one in asked.get("InstanceInformationFilterList", [])]
    return present + older


def _described(host: SimulatedHost) -> dict[str, Any]:
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
