"""Step 5, decisions: the outcome of each volume, from its demand where it needs any."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from plimsoll.auditing.decision_batch import DecisionBatch
from plimsoll.auditing.metrics_plan import metrics_segments, past_segments
from plimsoll.auditing.ports import AuditPorts
from plimsoll.auditing.signals import with_signals
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.demand.demand_profile import DemandProfile
from plimsoll.domain.errors import CloudError, UnknownVolumeType
from plimsoll.domain.groups.decide_stripes import reason_to_stay
from plimsoll.domain.groups.group import Takeover
from plimsoll.domain.groups.hosting import with_neighbors
from plimsoll.domain.metrics.knowledge import Ask, Found
from plimsoll.domain.metrics.seconds_seen import SecondsSeen
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import Change, Recommendation
from plimsoll.domain.refine.member import Judged
from plimsoll.domain.unweighed import answer_by_state, kind_by_state
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import type_of
from plimsoll.outcomes import ANSWERED_BEFORE, EXCLUDED, Answered, FailedVolume, Skipped
from plimsoll.ports import NO_CHANGE, ChangeText, Target

VolumeOutcome = Answered | Skipped | FailedVolume


def decide_batch(
    target: Target,
    batch: Sequence[Volume],
    ports: AuditPorts,
    context: DecisionContext,
    done: frozenset[str],
    takeovers: Mapping[str, Takeover] = MappingProxyType({}),
) -> list[VolumeOutcome]:
    """One outcome for each volume of a batch: first those that need no metrics, then those that do.

    `takeovers` are those of its volumes, by volume id: all volumes of each are in the batch.
    """
    early = {
        volume.id: outcome_without_metrics(target, volume, context, done, takeovers.get(volume.id)) for volume in batch
    }
    outcomes = [outcome for outcome in early.values() if outcome is not None]
    pending = [volume for volume in batch if early[volume.id] is None]
    if pending:
        decisions = with_signals(decide(pending, batch, ports, context, takeovers), ports, context)
        outcomes += [outcome_of(target, volume, decisions[volume.id], ports, context.policy) for volume in pending]
    return outcomes


def outcome_without_metrics(
    target: Target,
    volume: Volume,
    context: DecisionContext,
    done: frozenset[str],
    takeover: Takeover | None = None,
) -> VolumeOutcome | None:
    """The outcome of a volume that needs no metrics. None for a volume that needs them."""
    if volume.id in done:
        return Skipped(target=target, volume_id=volume.id, reason=ANSWERED_BEFORE)
    match = context.policy.excluding(volume.tags)
    if match is not None:
        return Skipped(target=target, volume_id=volume.id, reason=f"excluded by the policy: tag {match}")
    if volume.id in context.excluded:
        return Skipped(target=target, volume_id=volume.id, reason=context.excluded[volume.id], kind=EXCLUDED)
    try:
        answer = answer_by_state(volume, context.of(volume), takeover)
        if answer is not None:
            return _answer_of(target, answer, context.policy)
        type_of(volume.spec, context.market.types)
    except UnknownVolumeType as error:
        return FailedVolume(target=target, volume_id=volume.id, reason=str(error))
    return None


def decide(
    pending: Sequence[Volume],
    volumes: Sequence[Volume],
    ports: AuditPorts,
    context: DecisionContext,
    takeovers: Mapping[str, Takeover] = MappingProxyType({}),
    *,
    keep_demand: bool = False,
) -> Mapping[str, Judged | CloudError]:
    """The decision on each pending volume, or why its metrics could not be read.

    Among the `volumes` are all on their hosts, and those that they take over from, by `takeovers`, with all on theirs.
    """
    by_volume = (takeovers.get(volume.id) for volume in pending)
    whole = list({id(takeover): takeover for takeover in by_volume if takeover is not None}.values())
    peers = [volume for takeover in whole for volume in takeover.volumes if is_judged(volume, context)]
    pending = list({volume.id: volume for volume in (*pending, *peers)}.values())
    wanted = {volume.id for volume in pending}
    batch = DecisionBatch(
        volumes=with_neighbors(pending, volumes),
        pending=pending,
        takeovers=whole,
        context=context,
        stripes=[stripes for stripes in ports.stripes if wanted & set(stripes.members)],
        segments=metrics_segments(ports, context.policy, context.now),
        memory=past_segments(ports, context.policy, context.now),
        query_cost=ports.query_cost,
        every_minute=ports.every_minute,
        by_minutes=ports.by_minutes,
        keep_demand=keep_demand,
        shown=ports.shown & wanted,
    )
    with ports.stages.stage("decide"):
        return ports.deciders.decide(batch, lambda asks: _read_metrics(asks, ports))


def is_judged(volume: Volume, context: DecisionContext) -> bool:
    """True for a volume whose answer rests on its metrics."""
    return kind_by_state(volume) is None and reason_to_stay(volume, context) is None


def outcome_of(
    target: Target, volume: Volume, decision: Judged | CloudError, ports: AuditPorts, policy: Policy
) -> Answered | FailedVolume:
    """The outcome that a decision is reported as."""
    if isinstance(decision, CloudError):
        return FailedVolume.from_error(target, volume.id, decision)
    recommendation, change = decision.recommendation, NO_CHANGE
    if isinstance(recommendation, Change):
        change = ports.catalog.change(volume, recommendation.target.spec)
    seen = ports.seen.get((volume.account, volume.region, volume.id))
    return _answer_of(target, recommendation, policy, change=change, profile=decision.profile, seen=seen)


def _read_metrics(asks: Sequence[Ask], ports: AuditPorts) -> Sequence[Found | CloudError]:
    with ports.stages.stage("metrics", within="decide"):
        try:
            return ports.metrics.read(asks)
        except CloudError as error:
            return [error] * len(asks)


def _answer_of(
    target: Target,
    recommendation: Recommendation,
    policy: Policy,
    *,
    change: ChangeText = NO_CHANGE,
    profile: DemandProfile | None = None,
    seen: SecondsSeen | None = None,
) -> Answered:
    """The answer, without the volume's tags that the policy does not show."""
    volume = replace(recommendation.volume, tags=policy.shown(recommendation.volume.tags))
    shown = replace(recommendation, volume=volume)
    return Answered(target=target, recommendation=shown, change=change, profile=profile, seen=seen)
