"""The bench on AWS: EBS volumes on EC2 hosts, tasks by Systems Manager's Run Command."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from plimsoll.clouds.aws.ec2_fields import Name
from plimsoll.clouds.aws.errors import MEASURING, translate_errors
from plimsoll.clouds.aws.hosts import INSTANCES, Hosts
from plimsoll.clouds.aws.instance_answers import BenchInstance, InstancesPage
from plimsoll.clouds.aws.lists import Asker, AwsAnswer, Page
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.common.answers import read_answer
from plimsoll.clouds.common.calls import in_chunks
from plimsoll.model.errors import AccessDenied, CloudError, Unexpected
from plimsoll.model.policy import TagMatch
from plimsoll.model.units import HOUR_S
from plimsoll.ports import BenchHost, Target
from plimsoll_measure.aws.commands import RunCommand
from plimsoll_measure.aws.scratch_volumes import ScratchVolumes

_IDS_A_CALL: Final = 100
"""What both DescribeInstances (200) and DescribeInstanceInformation (100) take of a filter's values."""

_OTHER: Final = "or name another with --bench-host for a benchmark"
_RUNNING: Final[Mapping[str, Any]] = {"Name": "instance-state-name", "Values": ["running"]}
_PERMISSION: Final = "cloudwatch:GetMetricData"
_INFORMATION: Final = "ssm:DescribeInstanceInformation"
_TIMES_S: Final = ("VolumeTotalReadTime", "VolumeTotalWriteTime")
_OPERATIONS: Final = ("VolumeReadOps", "VolumeWriteOps")
_ASKED: Final = frozenset(name.lower() for name in (*_TIMES_S, *_OPERATIONS))
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
        instances: dict[str, BenchInstance] = {}
        for chunk in in_chunks(sorted(set(ids)), _IDS_A_CALL):
            instances |= _read_instances(ec2, asker, [{"Name": "instance-id", "Values": list(chunk)}])
        _check_running(target, ids, instances)
        for tag in tags:
            instances |= _read_instances(ec2, asker, [_RUNNING, _filter(tag)])
        hosts = Hosts(ec2, asker, purpose=MEASURING)
        wanted = [
            instance
            for name, instance in sorted(instances.items())
            if name in ids or any(tag.is_match(instance.tag_values) for tag in tags)
        ]
        hosts.take(wanted)
        for error in hosts.unread.values():
            raise error
        managed = _read_managed(self.sessions, target, [instance.instance_id for instance in wanted])
        made = []
        for instance in wanted:
            host = hosts.known[instance.instance_id].host
            why_not = _reason_against(host.id, target, managed.get(host.id))
            made.append(
                BenchHost(
                    host=host,
                    account=target.account,
                    region=target.region,
                    zone=instance.placement.availability_zone,
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
        with translate_errors(f"read the latency of {volume_id} in {target}", _PERMISSION, MEASURING):
            for page in asker.pages(LatencyPage, cloudwatch.get_metric_data, _PERMISSION, **request):
                for series in page.metric_data_results:
                    _check_answer(series, volume_id, target)
                    sums.setdefault(series.id, []).extend(series.values)
        seconds, operations = (
            [value for name in names for value in sums.get(name.lower(), ())] for names in (_TIMES_S, _OPERATIONS)
        )
        done = math.fsum(operations)
        return math.fsum(seconds) / done * _US_PER_S if seconds and done > 0 else None


class LatencySeries(AwsAnswer):
    """One metric's part of a page."""

    id: Literal["volumetotalreadtime", "volumetotalwritetime", "volumereadops", "volumewriteops"]
    label: str | None = None
    values: tuple[Annotated[float, Field(ge=0, allow_inf_nan=False)], ...]
    status_code: str = "Complete"

    @model_validator(mode="after")
    def _check_label(self) -> "LatencySeries":
        """Checks that Id and Label, which were asked for alike, do not name two metrics."""
        if self.label != self.id and self.label in _ASKED:
            raise ValueError(f"its Id is {self.id}, its Label {self.label}")
        return self


class LatencyPage(Page):
    """A page of GetMetricData."""

    metric_data_results: tuple[LatencySeries, ...]

    @model_validator(mode="after")
    def _check_ids(self) -> "LatencyPage":
        """Checks that no metric is there twice: its sum would count double."""
        if len({series.id for series in self.metric_data_results}) < len(self.metric_data_results):
            raise ValueError("an Id is there twice")
        return self


class Managed(AwsAnswer):
    """A host as Systems Manager has it."""

    instance_id: Name
    ping_status: str = "no status"
    platform_type: str = "Linux"


class ManagedPage(Page):
    """A page of DescribeInstanceInformation."""

    instance_information_list: tuple[Managed, ...]


def _read_instances(ec2: Any, asker: Asker, filters: Sequence[Mapping[str, Any]]) -> dict[str, BenchInstance]:
    with translate_errors(f"look for {asker.place}", INSTANCES, MEASURING):
        pages = asker.pages(InstancesPage, ec2.describe_instances, INSTANCES, Filters=list(filters))
        entries = [entry for page in pages for entry in page.entries]
    instances = [read_answer(BenchInstance, entry, call=INSTANCES, place=asker.place) for entry in entries]
    return {entry.instance_id: entry for entry in instances}


def _filter(tag: TagMatch) -> Mapping[str, Any]:
    """The filter for a tag. Its wildcards are no wildcards here: what they bring too many is left out afterwards."""
    if tag.value is None:
        return {"Name": "tag-key", "Values": [tag.tag]}
    return {"Name": f"tag:{tag.tag}", "Values": [tag.value]}


def _check_running(target: Target, ids: Iterable[str], instances: Mapping[str, BenchInstance]) -> None:
    for name in ids:
        if name not in instances:
            raise CloudError(f"cannot measure on {name}: there is no such instance in {target}. Name another.")
        state = instances[name].state.name
        if state != "running":
            raise CloudError(f"cannot measure on {name} in {target}: it is {state}. Start it, {_OTHER}.")


def _read_managed(sessions: Sessions, target: Target, ids: Sequence[str]) -> dict[str, Managed]:
    hosts: dict[str, Managed] = {}
    if not ids:
        return hosts
    ssm = sessions.client("ssm", target.account, target.region)
    for chunk in in_chunks(ids, _IDS_A_CALL):
        asker, filters = Asker(place=f"hosts that SSM manages in {target}"), [{"Key": "InstanceIds", "Values": chunk}]
        with translate_errors(f"see which hosts SSM manages in {target}", _INFORMATION, MEASURING):
            pages = asker.pages(ManagedPage, ssm.describe_instance_information, _INFORMATION, Filters=filters)
            hosts |= {host.instance_id: host for page in pages for host in page.instance_information_list}
    return hosts


def _reason_against(host_id: str, target: Target, known: Managed | None) -> str:
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
    known = name.lower()
    return {"Id": known, "Label": known, "MetricStat": {"Metric": metric, "Period": HOUR_S, "Stat": "Sum"}}


def _check_answer(series: LatencySeries, volume_id: str, target: Target) -> None:
    """Complete, or a page of what goes on (PartialData has a next page); anything else says nothing."""
    status = series.status_code
    if status == "Forbidden":
        raise AccessDenied(
            f"cannot read the latency of {volume_id} in {target}: Forbidden for {_PERMISSION}. {MEASURING.allow}."
        )
    if status not in {"Complete", "PartialData"}:
        raise Unexpected(
            f"cannot read the latency of {volume_id} in {target}: CloudWatch answered {status}. Run again later."
        )
