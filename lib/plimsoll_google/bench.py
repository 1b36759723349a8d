"""The bench on Google Cloud: disks of Compute Engine on VMs where Plimsoll's agent waits for tasks."""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from google.api_core.exceptions import PreconditionFailed
from google.cloud import compute_v1

from plimsoll.model.errors import CloudError
from plimsoll.model.policy import TagMatch
from plimsoll.model.task import Task, TaskEnd, TaskMode, TaskOutcome
from plimsoll.ports import BenchHost, Target
from plimsoll_google.bench_hosts import (
    GOOGLE_MEASURING,
    find_hosts,
    find_instance,
    follow_operation,
    guest_attributes,
    host_zone,
    measuring,
)
from plimsoll_google.names import UNPROBED
from plimsoll_google.scratch_disks import ScratchDisks, find_disk
from plimsoll_measure.bench.agent import CANCEL_KEY, TASK_KEY, device_name, task_text

AGENT_DELIVERY_S: Final = 60
"""The time in which an agent must begin a task; it leaves one that is older alone."""

UNHEARD_S: Final = 120
"""The time after which a sent task without any word of the agent counts as not delivered."""

_TRIES: Final = 5
_SENT: Final = "%Y%m%dt%H%M%S"
_COMMAND: Final = re.compile(r"(\d{8}t\d{6})-[0-9a-f]{8}")
_ENDS: Final[Mapping[str, TaskEnd]] = {"cancelled": TaskEnd.CANCELLED, "late": TaskEnd.TIMED_OUT}


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class GoogleBench(ScratchDisks):
    """Benches in the projects that the clients reach: scratch disks, and the agents on the bench VMs."""

    now: Callable[[], datetime] = _now

    def hosts(self, target: Target, tags: Sequence[TagMatch], ids: Sequence[str]) -> Sequence[BenchHost]:
        """The running VMs with one of these labels, ids or names; ready are those whose agent was heard lately."""
        return find_hosts(self.clients, target, tags, ids, self.now())

    def send(self, target: Target, host_id: str, task: Task) -> str:
        """instances.setMetadata with the task's values, for the agent on the VM; returns the task's id.

        Raises CloudError, also for a task with an alarm, which nothing here would heed.
        """
        what = f"run a task on {host_id} in {target}"
        if task.mode is TaskMode.PROBE:
            raise CloudError(f"cannot {what}: {UNPROBED}")
        if task.alarm is not None:
            raise CloudError(
                f"cannot {what}: nothing on Google Cloud stops a task when the alarm {task.alarm} goes off. Measure "
                "without bench_alarm."
            )
        host = self._host(target, host_id, what)
        sent = self.now().astimezone(UTC)
        command_id = f"{sent.strftime(_SENT)}-{secrets.token_hex(4)}"
        until = sent + timedelta(seconds=AGENT_DELIVERY_S)
        name = self._device_name(target, host, task, what)
        text = task_text(task, name, task_id=command_id, until_s=int(until.timestamp()))
        self._put(target, host, TASK_KEY, text, what)
        return command_id

    def outcome(self, target: Target, host_id: str, command_id: str) -> TaskOutcome | None:
        """instances.getGuestAttributes: undelivered if nothing was heard of a task in time.

        A VM whose agent died amid a task stays None.
        """
        match = _COMMAND.fullmatch(command_id)
        host = self._host(target, host_id, f"see what came of task {command_id} on {host_id} in {target}")
        attributes = guest_attributes(self.clients, target, host_zone(host), host.name)
        if f"{command_id}-end" in attributes:
            return _outcome(attributes, command_id)
        if match is None or f"{command_id}-state" in attributes:
            return None
        sent = datetime.strptime(match[1], _SENT).replace(tzinfo=UTC)
        if self.now() - sent < timedelta(seconds=UNHEARD_S):
            return None
        reason = f"the agent on {host.name} did not begin it within {UNHEARD_S} s"
        return TaskOutcome(end=TaskEnd.UNDELIVERED, output="", reason=reason)

    def cancel(self, target: Target, host_id: str, command_id: str) -> None:
        """instances.setMetadata with the task to stop: the script may go on for a few seconds."""
        what = f"cancel task {command_id} on {host_id} in {target}"
        self._put(target, self._host(target, host_id, what), CANCEL_KEY, command_id, what)

    def mean_latency_us(
        self,
        target: Target,  # noqa: ARG002  # nothing is published
        volume_id: str,  # noqa: ARG002
        start: datetime,  # noqa: ARG002
        end: datetime,  # noqa: ARG002
    ) -> float | None:
        """None: average_io_latency is beta and of a VM's device names, over all sizes of I/O (facts of 2026-11-20)."""
        return None

    def _host(self, target: Target, host_id: str, what: str) -> compute_v1.Instance:
        host = find_instance(self.clients, target, host_id)
        if host is None:
            raise CloudError(f"cannot {what}: there is no such instance. Name another with --bench-host.")
        return host

    def _device_name(self, target: Target, host: compute_v1.Instance, task: Task, what: str) -> str:
        """The name under which the VM has the task's disk; our own name for a scratch disk."""
        if task.mode is TaskMode.INSPECT:
            return ""
        if task.mode is TaskMode.DEVICE:
            return device_name(task.volume_id)
        disk = find_disk(self.clients, target, task.volume_id)
        path = f"/disks/{disk.name}" if disk else ""
        names = [attached.device_name for attached in host.disks if disk and attached.source.endswith(path)]
        if not names:
            raise CloudError(f"cannot {what}: {task.volume_id} is not attached there. Look at the inventory again.")
        return names[0]

    def _put(self, target: Target, host: compute_v1.Instance, key: str, value: str, what: str) -> None:
        """Puts a value into a VM's metadata beside all other values, which another may be changing as well."""
        place = {"project": target.account, "zone": host_zone(host), "instance": host.name}
        where = f"{target.account}/{host_zone(host)}"
        with measuring(what, where, "compute.instances.setMetadata"):
            for _ in range(_TRIES):
                current = self.clients.instances.get(request=place, **self.clients.tries).metadata
                kept = [item for item in current.items if item.key != key]
                metadata = compute_v1.Metadata(
                    fingerprint=current.fingerprint, items=[*kept, compute_v1.Items(key=key, value=value)]
                )
                try:
                    operation = self.clients.instances.set_metadata_unary(
                        request={**place, "metadata_resource": metadata}, **self.clients.tries
                    )
                except PreconditionFailed:
                    continue
                project = target.account
                follow_operation(
                    self.clients, operation, what, project=project, purpose=GOOGLE_MEASURING, sleep=self.sleep
                )
                return
        raise CloudError(f"cannot {what}: its metadata kept changing meanwhile. Try again.")


def _outcome(attributes: Mapping[str, str], command_id: str) -> TaskOutcome:
    end = dict(line.split("=", 1) for line in attributes[f"{command_id}-end"].splitlines() if "=" in line)
    count, code = int(end.get("pieces") or 0), end.get("exit", "")
    pieces = [attributes.get(f"{command_id}-{number}") for number in range(count)]
    if None in pieces:
        return TaskOutcome(end=TaskEnd.FAILED, output="", reason="a part of what it printed is missing")
    output = "".join(piece or "" for piece in pieces)
    ended = _ENDS.get(end.get("how", "")) or (TaskEnd.SUCCESS if code == "0" else TaskEnd.FAILED)
    complaint = f": {end['error'].rstrip('.')}" if end.get("error") else ""
    reason = "" if ended is TaskEnd.SUCCESS else f"{end.get('how', 'ended')} with exit code {code}{complaint}"
    return TaskOutcome(end=ended, output=output, reason=reason)
