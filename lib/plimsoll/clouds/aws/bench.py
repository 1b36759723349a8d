"""The bench on AWS: EBS volumes on EC2 hosts, tasks by Systems Manager's Run Command."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from plimsoll.clouds.aws.commands import RunCommand
from plimsoll.clouds.aws.errors import MEASURING, attempted
from plimsoll.clouds.aws.hosts import Hosts, tags_of
from plimsoll.clouds.aws.scratch_volumes import ScratchVolumes
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.common.calls import in_chunks
from plimsoll.domain.errors import AccessDenied, CloudError, Unexpected
from plimsoll.domain.policy import TagMatch
from plimsoll.domain.units import HOUR_S
from plimsoll.ports import BenchHost, Target

_IDS_A_CALL: Final = 100
"""What both DescribeInstances (200) and DescribeInstanceInformation (100) take of a filter's values."""

_OTHER: Final = "or name another with --bench-host"
_RUNNING: Final[Mapping[str, Any]] = {"Name": "instance-state-name", "Values": ["running"]}
_PERMISSION: Final = "cloudwatch:GetMetricData"
_TIMES_S: Final = ("VolumeTotalReadTime", "VolumeTotalWriteTime")
_OPERATIONS: Final = ("VolumeReadOps", "VolumeWriteOps")
_US_PER_S: Final = 1e6


@dataclass(kw_only=True)
class AwsBench(ScratchVolumes, RunCommand):
    """Benches in the accounts that the sessions open."""

    def hosts(self, target: Target, tags: Sequence[TagMatch], ids: Sequence[str]) -> Sequence[BenchHost]:
        """The running instances with one of these tags or ids, by id; ready are those that Systems Manager reaches.

        CloudError where an id is no running instance's.
        """
        ec2 = self._ec2(target)
        found: dict[str, Mapping[str, Any]] = {}
        for chunk in in_chunks(sorted(set(ids)), _IDS_A_CALL):
            found |= _described(ec2, target, [{"Name": "instance-id", "Values": list(chunk)}])
        _check_running(target, ids, found)
        for tag in tags:
            found |= _described(ec2, target, [_RUNNING, _filter(tag)])
        hosts = Hosts(ec2, str(target), purpose=MEASURING)
        wanted = [
            one for name, one in sorted(found.items()) if name in ids or any(tag.matches(tags_of(one)) for tag in tags)
        ]
        hosts.take(wanted)
        managed = _managed(self.sessions, target, [one["InstanceId"] for one in wanted])
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

    def mean_latency_us(self, target: Target, volume_id: str, start: datetime, end: datetime) -> float | None:
        """Seconds that operations took over their number, in us, from hourly sums of CloudWatch.

        None where nothing is published or done. VolumeTotal*Time sums the time of all operations that completed (Amazon
        EBS User Guide, "CloudWatch metrics for Amazon EBS", read 2026-11-20).
        """
        cloudwatch = self.sessions.client("cloudwatch", target.account, target.region)
        pages = cloudwatch.get_paginator("get_metric_data").paginate(
            MetricDataQueries=[_query(name, volume_id) for name in (*_TIMES_S, *_OPERATIONS)],
            StartTime=start.replace(minute=0, second=0, microsecond=0),
            EndTime=end,
        )
        sums: dict[str, list[float]] = {}
        with attempted(f"read the latency of {volume_id} in {target}", _PERMISSION, MEASURING):
            for page in pages:
                for found in page["MetricDataResults"]:
                    _check_answer(found, volume_id, target)
                    sums.setdefault(found["Id"], []).extend(found["Values"])
        seconds, operations = (
            [value for name in names for value in sums.get(name.lower(), ())] for names in (_TIMES_S, _OPERATIONS)
        )
        done = math.fsum(operations)
        return math.fsum(seconds) / done * _US_PER_S if seconds and done > 0 else None


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


def _check_running(target: Target, ids: Iterable[str], found: Mapping[str, Mapping[str, Any]]) -> None:
    for name in ids:
        if name not in found:
            raise CloudError(f"cannot measure on {name}: there is no such instance in {target}. Name another.")
        state = found[name]["State"]["Name"]
        if state != "running":
            raise CloudError(f"cannot measure on {name} in {target}: it is {state}. Start it, {_OTHER}.")


def _managed(sessions: Sessions, target: Target, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
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


def _query(name: str, volume_id: str) -> Mapping[str, Any]:
    metric = {"Namespace": "AWS/EBS", "MetricName": name, "Dimensions": [{"Name": "VolumeId", "Value": volume_id}]}
    return {"Id": name.lower(), "MetricStat": {"Metric": metric, "Period": HOUR_S, "Stat": "Sum"}}


def _check_answer(found: Mapping[str, Any], volume_id: str, target: Target) -> None:
    """Complete, or a page of what goes on (PartialData has a next page); anything else says nothing."""
    status = found.get("StatusCode", "Complete")
    if status == "Forbidden":
        raise AccessDenied(
            f"cannot read the latency of {volume_id} in {target}: Forbidden for {_PERMISSION}. {MEASURING.allow}."
        )
    if status not in {"Complete", "PartialData"}:
        raise Unexpected(
            f"cannot read the latency of {volume_id} in {target}: CloudWatch answered {status}. Run again later."
        )
