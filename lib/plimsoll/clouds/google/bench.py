"""The bench on Google Cloud: disks of Compute Engine on VMs where Plimsoll's agent waits for tasks."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from plimsoll.clouds.google.attaching import attach_disk, delete_disk, detach_disk
from plimsoll.clouds.google.bench_hosts import find_hosts
from plimsoll.clouds.google.clients import Clients
from plimsoll.clouds.google.commands import Agents
from plimsoll.clouds.google.scratch_disks import create_disk, scratch_disks
from plimsoll.domain.policy import TagMatch
from plimsoll.domain.scratch import ScratchOrder, ScratchVolume
from plimsoll.domain.task import Task, TaskOutcome
from plimsoll.ports import BenchHost, Target


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleBench:
    """Benches in the projects that the clients reach."""

    clients: Clients
    now: Callable[[], datetime] = _now
    sleep: Callable[[float], None] = time.sleep

    def hosts(self, target: Target, tags: Sequence[TagMatch], ids: Sequence[str]) -> Sequence[BenchHost]:
        """The running VMs with one of these labels, ids or names; ready are those whose agent was heard lately."""
        return find_hosts(self.clients, target, tags, ids, self.now())

    def create(self, order: ScratchOrder) -> str:
        """disks.insert under a name and a request id of the order's own; a clone where the order has a source."""
        return create_disk(self.clients, order, self.sleep)

    def scratch(self, target: Target, *, volume_id: str | None = None) -> Sequence[ScratchVolume]:
        """Every disk with the scratch label, page by page, or that one."""
        return scratch_disks(self.clients, target, volume_id)

    def attach(self, target: Target, volume_id: str, host_id: str) -> None:
        """instances.attachDisk under a device name of the disk's own."""
        attach_disk(self.clients, target, volume_id, host_id, self.sleep)

    def detach(self, target: Target, volume_id: str, *, force: bool = False) -> None:  # noqa: ARG002  # there is none
        """instances.detachDisk; BadInput for a disk that has not the scratch label now. Google knows no force."""
        detach_disk(self.clients, target, volume_id, self.sleep)

    def delete(self, target: Target, volume_id: str) -> None:
        """disks.delete; BadInput for a disk that has not the scratch label now."""
        delete_disk(self.clients, target, volume_id, self.sleep)

    def send(self, target: Target, host_id: str, task: Task) -> str:
        """instances.setMetadata with the task's values, for the agent on the VM."""
        return self._agents(target).send(host_id, task)

    def outcome(self, target: Target, host_id: str, command_id: str) -> TaskOutcome | None:
        """instances.getGuestAttributes. A VM whose agent died amid a task stays None."""
        return self._agents(target).outcome(host_id, command_id)

    def cancel(self, target: Target, host_id: str, command_id: str) -> None:
        """instances.setMetadata with what is to stop: the script may go on for a few seconds."""
        self._agents(target).cancel(host_id, command_id)

    def mean_latency_us(
        self,
        target: Target,  # noqa: ARG002  # nothing is published
        volume_id: str,  # noqa: ARG002
        start: datetime,  # noqa: ARG002
        end: datetime,  # noqa: ARG002
    ) -> float | None:
        """None: average_io_latency is beta and of a VM's device names, over all sizes of I/O (facts of 2026-11-20)."""
        return None

    def _agents(self, target: Target) -> Agents:
        return Agents(clients=self.clients, target=target, now=self.now, sleep=self.sleep)
