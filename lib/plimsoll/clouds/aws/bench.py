"""The bench on AWS: EBS volumes on EC2 hosts, tasks by Systems Manager's Run Command."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from plimsoll.clouds.aws.bench_hosts import find_hosts
from plimsoll.clouds.aws.commands import (
    CUT_CHARS,
    Invocation,
    ResultsBucket,
    cancel_command,
    ensure_document,
    invocation,
    send_command,
)
from plimsoll.clouds.aws.errors import MEASURING, attempted
from plimsoll.clouds.aws.scratch_volumes import (
    attach_volume,
    create_volume,
    delete_volume,
    detach_volume,
    scratch_volumes,
)
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.domain.errors import AccessDenied, CloudError, Unexpected
from plimsoll.domain.policy import TagMatch
from plimsoll.domain.scratch import ScratchOrder, ScratchVolume
from plimsoll.domain.task import Task, TaskOutcome
from plimsoll.domain.units import HOUR_S
from plimsoll.ports import BenchHost, Target


@dataclass(slots=True, kw_only=True)
class AwsBench:
    """Benches in the accounts that the sessions open. `results` None: outputs are cut where the API cuts them."""

    sessions: Sessions
    results: ResultsBucket | None = None
    sleep: Callable[[float], None] = time.sleep
    _versions: dict[Target, str] = field(default_factory=dict, repr=False)

    def hosts(self, target: Target, tags: Sequence[TagMatch], ids: Sequence[str]) -> Sequence[BenchHost]:
        """The running instances with one of these tags or ids; ready are those that Systems Manager reaches."""
        return find_hosts(self.sessions, target, tags, ids)

    def create(self, order: ScratchOrder) -> str:
        """CreateVolume, or CopyVolumes where the order has a source, with the order's tags and a token of the order."""
        return create_volume(self._ec2(Target(account=order.account, region=order.region)), order)

    def scratch(self, target: Target, *, volume_id: str | None = None) -> Sequence[ScratchVolume]:
        """Every volume with the scratch tag, page by page, or that one."""
        return scratch_volumes(self._ec2(target), target, volume_id)

    def attach(self, target: Target, volume_id: str, host_id: str) -> None:
        """AttachVolume at the first of /dev/sdf to /dev/sdp that is free."""
        attach_volume(self._ec2(target), target, volume_id, host_id)

    def detach(self, target: Target, volume_id: str, *, force: bool = False) -> None:
        """DetachVolume; BadInput for a volume that has not the scratch tag now."""
        detach_volume(self._ec2(target), target, volume_id, force=force)

    def delete(self, target: Target, volume_id: str) -> None:
        """DeleteVolume; BadInput for a volume that has not the scratch tag now."""
        delete_volume(self._ec2(target), target, volume_id)

    def send(self, target: Target, host_id: str, task: Task) -> str:
        """SendCommand with this version's document, which is made in the target where it is missing."""
        ssm = self._ssm(target)
        if target not in self._versions:
            self._versions[target] = ensure_document(ssm, target, self.sleep)
        storage = self.results.storage if self.results else {}
        return send_command(ssm, target, host_id, task, version=self._versions[target], storage=storage)

    def outcome(self, target: Target, host_id: str, command_id: str) -> TaskOutcome | None:
        """GetCommandInvocation, and S3 for what it cuts. A host whose agent died stays None."""
        ended = invocation(self._ssm(target), target, host_id, command_id)
        if ended is None:
            return None
        output, reason = self._whole(ended, target, host_id, command_id)
        return TaskOutcome(end=ended.end, output=output, reason=reason)

    def cancel(self, target: Target, host_id: str, command_id: str) -> None:
        """CancelCommand: the process may go on until the document's own limit."""
        cancel_command(self._ssm(target), target, host_id, command_id)

    def mean_latency_us(self, target: Target, volume_id: str, start: datetime, end: datetime) -> float | None:
        """From hourly sums of CloudWatch, in one call."""
        cloudwatch = self.sessions.client("cloudwatch", target.account, target.region)
        return mean_latency_us(cloudwatch, target, volume_id, start, end)

    def _whole(self, ended: Invocation, target: Target, host_id: str, command_id: str) -> tuple[str, str]:
        """The output and the reason. A bucket that cannot be read loses no measurement: the answer's line comes
        first in the output, so that it is often whole."""
        if self.results is None or len(ended.output) < CUT_CHARS:
            return ended.output, ended.reason
        try:
            whole = self.results.read(self.sessions, target, host_id, command_id)
        except CloudError as error:
            return ended.output, "; ".join(filter(None, (ended.reason, str(error))))
        return whole or ended.output, ended.reason

    def _ec2(self, target: Target) -> Any:
        return self.sessions.client("ec2", target.account, target.region)

    def _ssm(self, target: Target) -> Any:
        return self.sessions.client("ssm", target.account, target.region)


_PERMISSION: Final = "cloudwatch:GetMetricData"
_TIMES_S: Final = ("VolumeTotalReadTime", "VolumeTotalWriteTime")
_OPERATIONS: Final = ("VolumeReadOps", "VolumeWriteOps")
_US_PER_S: Final = 1e6


def mean_latency_us(cloudwatch: Any, target: Target, volume_id: str, start: datetime, end: datetime) -> float | None:
    """Seconds that operations took over their number, in us, from hourly sums; None where nothing is published or done.

    VolumeTotal*Time sums the time of all operations that completed (Amazon EBS User Guide, "CloudWatch metrics for
    Amazon EBS", read 2026-11-20).
    """
    pages = cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=[_query(name, volume_id) for name in (*_TIMES_S, *_OPERATIONS)],
        StartTime=start.replace(minute=0, second=0, microsecond=0),
        EndTime=end,
    )
    sums: dict[str, list[float]] = {}
    with attempted(f"read the latency of {volume_id} in {target}", _PERMISSION, MEASURING):
        for page in pages:
            for found in page["MetricDataResults"]:
                _check(found, volume_id, target)
                sums.setdefault(found["Id"], []).extend(found["Values"])
    seconds, operations = (
        [value for name in names for value in sums.get(name.lower(), ())] for names in (_TIMES_S, _OPERATIONS)
    )
    done = math.fsum(operations)
    return math.fsum(seconds) / done * _US_PER_S if seconds and done > 0 else None


def _query(name: str, volume_id: str) -> Mapping[str, Any]:
    metric = {"Namespace": "AWS/EBS", "MetricName": name, "Dimensions": [{"Name": "VolumeId", "Value": volume_id}]}
    return {"Id": name.lower(), "MetricStat": {"Metric": metric, "Period": HOUR_S, "Stat": "Sum"}}


def _check(found: Mapping[str, Any], volume_id: str, target: Target) -> None:
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
