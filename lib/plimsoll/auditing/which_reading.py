"""Which reading: whether a target's metrics are read by the minute, or only as finely as its answers need.

Both give the same answers. By the minute each metric is asked for once, so that fewer are billed, and charts show every
minute; but it takes as long as the quota of datapoints says. So a small target is read by the minute, and a large one
sparingly (`plimsoll.domain.refine`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from plimsoll.auditing.metrics_plan import metrics_plan
from plimsoll.auditing.ports import AuditPorts
from plimsoll.domain.metrics.reading_cost import Plan
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import Volume


@dataclass(slots=True, kw_only=True)
class ByTheMinute:
    """The time that a run has left to read targets by the minute, and the number of targets to come.

    The last of them may take all that is left, and each other half of it: no large target takes it from all that
    follow, and an organization of many large ones is read sparingly throughout.
    """

    left_s: float
    targets: int

    def choose(
        self, volumes: Sequence[Volume], ports: AuditPorts, policy: Policy, now: datetime, done: frozenset[str]
    ) -> tuple[AuditPorts, Plan]:
        """The ports of the next target with its reading, and what that is expected to take."""
        within_s = self.left_s if self.targets <= 1 else self.left_s / 2
        self.targets -= 1
        sparing = metrics_plan(volumes, ports, policy, now, done)
        if ports.every_minute:
            return ports, sparing
        minutely = replace(ports, by_minutes=True)
        minutes = metrics_plan(volumes, minutely, policy, now, done)
        needs_s = minutes.seconds(ports.query_cost)
        if minutes.expected.queries > sparing.expected.queries or needs_s > within_s:
            return ports, sparing
        self.left_s -= needs_s
        return minutely, minutes
