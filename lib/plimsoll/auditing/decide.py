"""Steps 4 to 6: volumes in batches, and the outcome of each from its demand.

Step 4, batches: the volumes of a target in portions, some of them under way at once.

Step 5, decisions: the outcome of each volume, from its demand where it needs any.

Shown first: in a target that is read sparingly, the volumes that can save the most are shown by the minute.

A report shows those that save the most first. How much a change can save at most is known by prices before anything is
read. One volume in 200, at most 20 of a target, is read by the minute: operations, bytes and idle time. Others are read
by the hour. No metric more is billed for that.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nlargest
from types import MappingProxyType
from typing import Final

from plimsoll.auditing.at_once import LEAST_BATCH
from plimsoll.auditing.batch import decide, is_judged
from plimsoll.auditing.ports import AuditPorts
from plimsoll.auditing.read import with_signals
from plimsoll.decide.answer import NO_CHANGE, Change, ChangeSteps, Recommendation
from plimsoll.decide.case import DecisionContext
from plimsoll.decide.decide import answer_by_state
from plimsoll.decide.groups import Takeover
from plimsoll.decide.offers import most_saved_usd_month
from plimsoll.demand.profile import DemandProfile
from plimsoll.demand.seconds import SecondsSeen
from plimsoll.model.errors import CloudError, UnknownVolumeType
from plimsoll.model.market import type_of
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Volume, sole_host
from plimsoll.outcomes import ANSWERED_BEFORE, EXCLUDED, Answered, FailedVolume, Skipped
from plimsoll.ports import Target
from plimsoll.refine.member import Judged

EVERY_MINUTE_BATCH_VOLUMES = 100
"""Volumes of a batch where every minute of many is read, or may be because types are pooled: about 3 MB a volume."""


def batch_size(ports: AuditPorts, volumes: int, deciders: int) -> int:
    """The number of volumes in a batch: each process that decides is to have one batch at least."""
    members = sum(len(stripes.members) for stripes in ports.stripes)
    pooled = any(kind.pooled for kind in ports.catalog.types.values())
    many_whole = ports.every_minute or ports.by_minutes or pooled or members > EVERY_MINUTE_BATCH_VOLUMES
    most = min(ports.batch_volumes, EVERY_MINUTE_BATCH_VOLUMES) if many_whole else ports.batch_volumes
    return min(most, max(LEAST_BATCH, math.ceil(volumes / deciders))) if deciders else most


def batch_by_host(
    volumes: Iterable[Volume], size: int, together: Iterable[Sequence[Volume]] = ()
) -> Iterator[list[Volume]]:
    """Splits volumes into batches of about `size`.

    All volumes of a host are in one batch, and all that are decided `together`.
    """
    leader = _leaders(together)
    groups: dict[str, list[Volume]] = {}
    for volume in volumes:
        groups.setdefault(_find_leader(leader, _place(volume)), []).append(volume)
    batch: list[Volume] = []
    for group in groups.values():
        if batch and len(batch) + len(group) > size:
            yield batch
            batch = []
        batch = [*batch, *group]
    if batch:
        yield batch


def _place(volume: Volume) -> str:
    """The id of a volume's only host, or its own."""
    host = sole_host(volume)
    return host.id if host else volume.id


def _leaders(together: Iterable[Sequence[Volume]]) -> dict[str, str]:
    """The leading place of each place, for all that belong together; leaders themselves are left out."""
    leader: dict[str, str] = {}
    for volumes in together:
        first = _find_leader(leader, _place(volumes[0]))
        for volume in volumes[1:]:
            place = _find_leader(leader, _place(volume))
            if place != first:
                leader[place] = first
    return leader


def _find_leader(leader: dict[str, str], place: str) -> str:
    """The place that leads all that belong together with one."""
    top = place
    while top in leader:
        top = leader[top]
    while place != top:
        leader[place], place = top, leader[place]
    return top


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
    exclusion = context.policy.find_exclusion(volume, context.now)
    if exclusion is not None:
        kind = "" if exclusion.volume is None else "excluded by the policy"
        return Skipped(target=target, volume_id=volume.id, reason=f"excluded by the policy: {exclusion}", kind=kind)
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


def _answer_of(
    target: Target,
    recommendation: Recommendation,
    policy: Policy,
    *,
    change: ChangeSteps = NO_CHANGE,
    profile: DemandProfile | None = None,
    seen: SecondsSeen | None = None,
) -> Answered:
    """The answer, without the volume's tags that the policy does not show."""
    volume = replace(recommendation.volume, tags=policy.pick_shown_tags(recommendation.volume.tags))
    shown = replace(recommendation, volume=volume)
    return Answered(target=target, recommendation=shown, change=change, profile=profile, seen=seen)


ONE_IN: Final = 200
MOST: Final = 20


def shown_first(
    volumes: Sequence[Volume], ports: AuditPorts, context: DecisionContext, done: frozenset[str]
) -> frozenset[str]:
    """The ids of a target's volumes that are shown by the minute; none where all are read so."""
    most = 0 if ports.every_minute or ports.by_minutes else min(MOST, len(volumes) // ONE_IN)
    if not most:
        return frozenset()
    types = context.market.types
    saved = {
        volume.id: most_saved_usd_month(volume, context.market, context.of(volume).policy)
        for volume in volumes
        if volume.id not in done and volume.spec.type in types and is_judged(volume, context)
    }
    first = nlargest(most, saved.items(), key=lambda entry: (entry[1], entry[0]))
    return frozenset(volume_id for volume_id, usd in first if usd > 0)
