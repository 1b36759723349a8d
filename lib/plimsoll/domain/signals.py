"""Signals: how a volume and its host answered, beside what was asked of them.

They do not size an offer. They stand beside a recommendation, so that people see what their workload feels today, and
are the baseline that a change is checked against afterwards.
"""

from dataclasses import dataclass

from plimsoll.domain.sums import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The mean of a figure over a window, and its highest hour."""

    mean: float
    highest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """How a volume and its host answered in a window. None: the cloud has no point of it there, or does not publish it.

    - Latencies are in milliseconds, without the hours in which nothing was done. The queue is in operations.
    - `stalled_hours` are those with a minute in which no operation ended, `degraded_hours` those in which the cloud
      said that the volume was impaired.
    - `host_exceeded_hours` are those with a minute in which more was asked of the host than its maximum.
    - `host_balance_pct` is the least that was left of the credits of a host that bursts.
    """

    window: Window
    read_latency_ms: Level | None = None
    write_latency_ms: Level | None = None
    queue_length: Level | None = None
    stalled_hours: int | None = None
    degraded_hours: int | None = None
    host_iops_exceeded_hours: int | None = None
    host_throughput_exceeded_hours: int | None = None
    host_iops_balance_pct: float | None = None
    host_throughput_balance_pct: float | None = None
