"""The bench on Google Cloud: disks of Compute Engine on VMs where Plimsoll's agent waits for tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from plimsoll.clouds.google.bench_hosts import find_hosts
from plimsoll.clouds.google.commands import Agents
from plimsoll.clouds.google.scratch_disks import ScratchDisks
from plimsoll.domain.policy import TagMatch
from plimsoll.ports import BenchHost, Target


@dataclass(frozen=True, kw_only=True)
class GoogleBench(ScratchDisks, Agents):
    """Benches in the projects that the clients reach."""

    def hosts(self, target: Target, tags: Sequence[TagMatch], ids: Sequence[str]) -> Sequence[BenchHost]:
        """The running VMs with one of these labels, ids or names; ready are those whose agent was heard lately."""
        return find_hosts(self.clients, target, tags, ids, self.now())

    def mean_latency_us(
        self,
        target: Target,  # noqa: ARG002  # nothing is published
        volume_id: str,  # noqa: ARG002
        start: datetime,  # noqa: ARG002
        end: datetime,  # noqa: ARG002
    ) -> float | None:
        """None: average_io_latency is beta and of a VM's device names, over all sizes of I/O (facts of 2026-11-20)."""
        return None
