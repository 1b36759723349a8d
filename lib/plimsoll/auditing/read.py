"""Step 3, reading: the span of time that is read, how finely, and what that is expected to take.

Signals: how the volumes of which a change is recommended answered, read once they are decided.

Step 3, the metrics plan: which span of time is read, and what reading it is expected to take.

Which reading: whether a target's metrics are read by the minute, or only as finely as its answers need.

Both give the same answers. By the minute each metric is asked for once, so that fewer are billed, and charts show every
minute; but it takes as long as the quota of datapoints says. So a small target is read by the minute, and a large one
sparingly (`plimsoll.refine`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from plimsoll.auditing.ports import AuditPorts
from plimsoll.decide.answer import Change, Recommendation, Wait
from plimsoll.decide.case import DecisionContext
from plimsoll.decide.decide import kind_by_state
from plimsoll.decide.hosting import pick_asking_for_hosts, with_neighbors
from plimsoll.model.errors import CloudError
from plimsoll.model.kinds import Reason
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Volume
from plimsoll.past.memory import clip_memory, memory_segments
from plimsoll.reading.cost import Plan
from plimsoll.reading.known import Ask, Found
from plimsoll.reading.signals import drop_contradictions, fill_gaps, has_gaps, look_at_signals, make_signals
from plimsoll.reading.window import Segment, Window, cut_by_age
from plimsoll.refine.member import Judged
from plimsoll.refine.next import hosts_plan, memory_plan, plan_of

NOT_READ = "Its present latency and queue could not be read: {why}"


def with_signals(
    decisions: Mapping[str, Judged | CloudError], ports: AuditPorts, context: DecisionContext
) -> Mapping[str, Judged | CloudError]:
    """The same decisions by volume id, each change with its signals: the answers of its volume and host.

    Where these are not known, a sentence says why. What has no point of some day, or disagrees, is asked for once more.
    """
    window = Window.before(
        context.now, days=context.policy.lookback_days, visible_after_s=ports.metrics.visible_after_s
    )
    look = look_at_signals(window)
    changes = {
        volume_id: decision
        for volume_id, decision in decisions.items()
        if isinstance(decision, Judged) and isinstance(decision.recommendation, Change | Wait)
    }
    if look is None or not changes:
        return decisions
    answers = _read_twice(
        [Ask(volume=decision.recommendation.volume, look=look) for decision in changes.values()], ports
    )
    with_answers = {
        volume_id: replace(decision, recommendation=_with(decision.recommendation, answer, look.window))
        for (volume_id, decision), answer in zip(changes.items(), answers, strict=True)
    }
    return {**decisions, **with_answers}


def _read_twice(asks: Sequence[Ask], ports: AuditPorts) -> Sequence[Found | CloudError]:
    answers = [
        answer if isinstance(answer, CloudError) else drop_contradictions(answer) for answer in _read(asks, ports)
    ]
    gaps = [number for number, answer in enumerate(answers) if not isinstance(answer, CloudError) and has_gaps(answer)]
    for number, again in zip(gaps, _read([asks[number] for number in gaps], ports) if gaps else (), strict=True):
        first = answers[number]
        if not isinstance(again, CloudError) and not isinstance(first, CloudError):
            answers[number] = drop_contradictions(fill_gaps(first, again))
    return answers


def _read(asks: Sequence[Ask], ports: AuditPorts) -> Sequence[Found | CloudError]:
    with ports.stages.stage("metrics"):
        try:
            return ports.metrics.read(asks)
        except CloudError as error:
            return [error] * len(asks)


def _with(recommendation: Recommendation, answer: Found | CloudError, window: Window) -> Recommendation:
    if isinstance(answer, CloudError):
        return replace(
            recommendation, reasons=(*recommendation.reasons, Reason("latency-not-read", NOT_READ.format(why=answer)))
        )
    return replace(recommendation, signals=make_signals(answer, window))


def metrics_plan(
    volumes: Sequence[Volume], ports: AuditPorts, policy: Policy, now: datetime, done: frozenset[str]
) -> Plan:
    """The plan for reading the metrics of the volumes that need any, and of their neighbors on the same hosts."""
    pending = [
        volume
        for volume in volumes
        if volume.id not in done
        and policy.find_exclusion(volume, now) is None
        and volume.id not in ports.excluded
        and kind_by_state(volume) is None
        and volume.spec.type in ports.catalog.types
    ]
    limits, read = ports.metrics.call_limits, with_neighbors(pending, volumes)
    whole = {name for stripes in ports.stripes for name in stripes.members}
    past = past_segments(ports, policy, now)
    memory = memory_plan(
        (clip_memory(volume, past) for volume in pending if policy.apply_overrides(volume.tags).memory_days),
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
