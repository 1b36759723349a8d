"""The bench on AWS: EBS volumes on EC2 hosts, tasks by Systems Manager's Run Command."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from plimsoll.clouds.aws.commands import RunCommand
from plimsoll.clouds.aws.ec2_fields import Name
from plimsoll.clouds.aws.errors import MEASURING, attempted
from plimsoll.clouds.aws.hosts import INSTANCES, Hosts
from plimsoll.clouds.aws.instance_answers import BenchInstance, InstancesPage
from plimsoll.clouds.aws.lists import Asker, AwsAnswer, Page
from plimsoll.clouds.aws.scratch_volumes import ScratchVolumes
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.common.answers import read_answer
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
_INFORMATION: Final = "ssm:DescribeInstanceInformation"
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
        asker = Asker(place=f"bench hosts in {target}")
        found: dict[str, BenchInstance] = {}
        for chunk in in_chunks(sorted(set(ids)), _IDS_A_CALL):
            found |= _described(ec2, asker, [{"Name": "instance-id", "Values": list(chunk)}])
        _check_running(target, ids, found)
        for tag in tags:
            found |= _described(ec2, asker, [_RUNNING, _filter(tag)])
        hosts = Hosts(ec2, asker, purpose=MEASURING)
        wanted = [
            one
            for name, one in sorted(found.items())
            if name in ids or any(tag.matches(one.tag_values) for tag in tags)
        ]
        hosts.take(wanted)
        for error in hosts.unread.values():
            raise error
        managed = _managed(self.sessions, target, [one.instance_id for one in wanted])
        made = []
        for one in wanted:
            host = hosts.known[one.instance_id].host
            why_not = _why_not(host.id, target, managed.get(host.id))
            made.append(
                BenchHost(
                    host=host,
                    account=target.account,
                    region=target.region,
                    zone=one.placement.availability_zone,
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
        request: dict[str, Any] = {
            "MetricDataQueries": [_query(name, volume_id) for name in (*_TIMES_S, *_OPERATIONS)],
            "StartTime": start.replace(minute=0, second=0, microsecond=0),
            "EndTime": end,
        }
        asker = Asker(place=f"the latency of {volume_id} in {target}")
        sums: dict[str, list[float]] = {}
        with attempted(f"read the latency of {volume_id} in {target}", _PERMISSION, MEASURING):
            for page in asker.pages(LatencyPage, cloudwatch.get_metric_data, _PERMISSION, **request):
                for found in page.metric_data_results:
                    _check_answer(found, volume_id, target)
                    sums.setdefault(found.id, []).extend(found.values)
        seconds, operations = (
            [value for name in names for value in sums.get(name.lower(), ())] for names in (_TIMES_S, _OPERATIONS)
        )
        done = math.fsum(operations)
        return math.fsum(seconds) / done * _US_PER_S if seconds and done > 0 else None


class Series(AwsAnswer):
    """One metric's part of a page."""

    id: Literal["volumetotalreadtime", "volumetotalwritetime", "volumereadops", "volumewriteops"]
    values: tuple[Annotated[float, Field(ge=0, allow_inf_nan=False)], ...]
    status_code: str = "Complete"


class LatencyPage(Page):
    """A page of GetMetricData."""

    metric_data_results: tuple[Series, ...]


class Managed(AwsAnswer):
    """What Systems Manager knows of a host."""

    instance_id: Name
    ping_status: str = "no status"
    platform_type: str = "Linux"


class ManagedPage(Page):
    """A page of DescribeInstanceInformation."""

    instance_information_list: tuple[Managed, ...]


def _described(ec2: Any, asker: Asker, filters: Sequence[Mapping[str, Any]]) -> dict[str, BenchInstance]:
    with attempted(f"look for {asker.place}", INSTANCES, MEASURING):
        pages = asker.pages(InstancesPage, ec2.describe_instances, INSTANCES, Filters=list(filters))
        entries = [one for page in pages for one in page.entries]
    found = [read_answer(BenchInstance, one, call=INSTANCES, place=asker.place) for one in entries]
    return {one.instance_id: one for one in found}


def _filter(tag: TagMatch) -> Mapping[str, Any]:
    """The filter for a tag. Its wildcards are no wildcards here: what they bring too many is left out afterwards."""
    if tag.value is None:
        return {"Name": "tag-key", "Values": [tag.tag]}
    return {"Name": f"tag:{tag.tag}", "Values": [tag.value]}


def _check_running(target: Target, ids: Iterable[str], found: Mapping[str, BenchInstance]) -> None:
    for name in ids:
        if name not in found:
            raise CloudError(f"cannot measure on {name}: there is no such instance in {target}. Name another.")
        state = found[name].state.name
        if state != "running":
            raise CloudError(f"cannot measure on {name} in {target}: it is {state}. Start it, {_OTHER}.")


def _managed(sessions: Sessions, target: Target, ids: Sequence[str]) -> dict[str, Managed]:
    found: dict[str, Managed] = {}
    if not ids:
        return found
    ssm = sessions.client("ssm", target.account, target.region)
    for chunk in in_chunks(ids, _IDS_A_CALL):
        asker, filters = Asker(place=f"hosts that SSM manages in {target}"), [{"Key": "InstanceIds", "Values": chunk}]
        with attempted(f"see which hosts SSM manages in {target}", _INFORMATION, MEASURING):
            pages = asker.pages(ManagedPage, ssm.describe_instance_information, _INFORMATION, Filters=filters)
            found |= {one.instance_id: one for page in pages for one in page.instance_information_list}
    return found


def _why_not(host_id: str, target: Target, known: Managed | None) -> str:
    if known is None:
        return (
            f"{host_id} in {target} is not managed by SSM: give it an instance profile with "
            f"AmazonSSMManagedInstanceCore and the agent, {_OTHER}."
        )
    if known.ping_status != "Online":
        return f"{host_id} in {target} does not answer SSM ({known.ping_status}): restart its agent, {_OTHER}."
    if known.platform_type != "Linux":
        return f"{host_id} in {target} runs {known.platform_type}, and the document needs Linux: {_OTHER[3:]}."
    return ""


def _query(name: str, volume_id: str) -> Mapping[str, Any]:
    metric = {"Namespace": "AWS/EBS", "MetricName": name, "Dimensions": [{"Name": "VolumeId", "Value": volume_id}]}
    return {"Id": name.lower(), "MetricStat": {"Metric": metric, "Period": HOUR_S, "Stat": "Sum"}}


def _check_answer(found: Series, volume_id: str, target: Target) -> None:
    """Complete, or a page of what goes on (PartialData has a next page); anything else says nothing."""
    status = found.status_code
    if status == "Forbidden":
        raise AccessDenied(
            f"cannot read the latency of {volume_id} in {target}: Forbidden for {_PERMISSION}. {MEASURING.allow}."
        )
    if status not in {"Complete", "PartialData"}:
        raise Unexpected(
            f"cannot read the latency of {volume_id} in {target}: CloudWatch answered {status}. Run again later."
        )
