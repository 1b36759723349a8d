"""Step 3, the metrics plan: which span of time is read, and what reading it is expected to take."""

from collections.abc import Sequence
from datetime import datetime

from plimsoll.auditing.ports import AuditPorts
from plimsoll.domain.groups.hosting import pick_asking_for_hosts, with_neighbors
from plimsoll.domain.memory.memory import clip_memory, memory_segments
from plimsoll.domain.metrics.reading_cost import Plan
from plimsoll.domain.metrics.sums import Segment, Window, cut_by_age
from plimsoll.domain.policy import Policy
from plimsoll.domain.refine.plan import hosts_plan, memory_plan, plan_of
from plimsoll.domain.unweighed import kind_by_state
from plimsoll.domain.volume import Volume


def metrics_plan(
    volumes: Sequence[Volume], ports: AuditPorts, policy: Policy, now: datetime, done: frozenset[str]
) -> Plan:
    """The plan for reading the metrics of the volumes that need any, and of their neighbors on the same hosts."""
    pending = [
        volume
        for volume in volumes
        if volume.id not in done
        and policy.excluding(volume.tags) is None
        and volume.id not in ports.excluded
        and kind_by_state(volume) is None
        and volume.spec.type in ports.catalog.types
    ]
    limits, read = ports.metrics.call_limits, with_neighbors(pending, volumes)
    whole = {name for stripes in ports.stripes for name in stripes.members}
    past = past_segments(ports, policy, now)
    memory = memory_plan(
        (clip_memory(volume, past) for volume in pending if policy.for_tags(volume.tags).memory_days),
        _window(ports, policy, now),
        every_minute=ports.every_minute,
        page=limits.datapoints,
        most_queries=limits.queries,
    )
    share, types = policy.saturation_pct / 100, ports.catalog.types
    hosts = hosts_plan(
        [ports.metrics.host_series(volume) for volume in pick_asking_for_hosts(read, types, share)],
        metrics_segments(ports, policy, now),
        every_minute=ports.every_minute or ports.by_minutes,
        page=limits.datapoints,
        most_queries=limits.queries,
    )
    return (
        memory
        + hosts
        + plan_of(
            [ports.metrics.series(volume) for volume in read if volume.id not in whole],
            metrics_segments(ports, policy, now),
            whole=[ports.metrics.series(volume) for volume in read if volume.id in whole],
            every_minute=ports.every_minute or ports.by_minutes,
            closer=ports.query_cost.closer,
            page=limits.datapoints,
            most_queries=limits.queries,
        )
    )


def metrics_segments(ports: AuditPorts, policy: Policy, now: datetime) -> list[Segment]:
    """The policy's window, split where the cloud keeps its metrics less finely."""
    return cut_by_age(_window(ports, policy, now), policy.resolution_s, ports.metrics.retention_days, now.timestamp())


def past_segments(ports: AuditPorts, policy: Policy, now: datetime) -> tuple[Segment, ...]:
    """The time before the policy's window, as the cloud still keeps it; nothing if it cannot be read."""
    metrics = ports.metrics
    return memory_segments(
        _window(ports, policy, now).start_s, metrics.memory_days, metrics.retention_days, now.timestamp()
    )


def _window(ports: AuditPorts, policy: Policy, now: datetime) -> Window:
    return Window.before(now, days=policy.lookback_days, visible_after_s=ports.metrics.visible_after_s)
