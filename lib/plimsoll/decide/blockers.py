"""Blockers: what forbids a change today, although it is recommended, and the evidence behind it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from plimsoll.decide.answer import Blocker
from plimsoll.decide.case import Case
from plimsoll.decide.evidence import Evidence, Place, evidence_for
from plimsoll.decide.offers import find_impossible_uses
from plimsoll.model.ceiling import Ceiling, Need
from plimsoll.model.market import VolumeType, type_of
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Volume, VolumeSpec


def blockers(
    volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType], *, now: datetime
) -> tuple[Blocker, ...]:
    """Everything that forbids changing the volume to the target at that time."""
    return (*_of_operator(volume), *_of_changes(volume, types, now), *_of_target(volume, target, types))


def evidence_blocker(action: str, evidence: Evidence, policy: Policy) -> Iterator[Blocker]:
    """The policy's required grade for the action, where the evidence stays under it."""
    required = policy.require_evidence.get(action, policy.require_evidence.get("*"))
    if required is not None and evidence.grade < required:
        yield Blocker(
            code="evidence",
            text=f"the policy wants evidence of grade {required.name} for {action}, and there is grade "
            f"{evidence.grade.name}: measure this class of volume first.",
        )


def _of_operator(volume: Volume) -> Iterator[Blocker]:
    if volume.operator is not None:
        yield Blocker(
            code="operator-managed", text=f"{volume.operator} manages this volume and refuses changes by others."
        )


def _of_changes(volume: Volume, types: Mapping[str, VolumeType], now: datetime) -> Iterator[Blocker]:
    """Yields the blockers by earlier changes: one that still runs, and a limit of changes that is used up."""
    latest = volume.modification
    if latest is not None and latest.is_running:
        progress = "" if latest.progress_pct is None else f" ({latest.progress_pct} %)"
        yield Blocker(
            code="modification-in-progress",
            text=f"a change begun {latest.started:%Y-%m-%d %H:%M} UTC is {latest.state}{progress}; "
            "wait until it is completed.",
        )
    limit = type_of(volume.spec, types).changes
    if limit is None:
        return
    span = timedelta(hours=limit.hours)
    spent = sorted(start for start in volume.recent_changes if now - span < start <= now)
    if len(spent) >= limit.most:
        free_at = spent[-limit.most] + span
        changes = f"{limit.most} changes" if limit.most > 1 else "only change"
        yield Blocker(
            code="modifications-used-up",
            text=f"its {changes} in {limit.hours:g} hours are used up; "
            f"the next is possible from {free_at:%Y-%m-%d %H:%M} UTC.",
        )


def _of_target(volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType]) -> Iterator[Blocker]:
    """Yields the blockers by the target: what it cannot do for this volume."""
    kind = type_of(target, types)
    if target.size_gib < volume.spec.size_gib:
        yield Blocker(code="shrink", text="a volume cannot shrink; copy its files to a smaller one.")
    for reason in find_impossible_uses(volume, kind):
        yield Blocker(code="impossible", text=f"{reason}.")
    if volume.replicated_to and kind.name != volume.spec.type:
        others = ", ".join(volume.replicated_to)
        yield Blocker(
            code="replicated",
            text=f"{others} receives its writes, and the replication ends with this disk: build the replication of "
            "the new disk first.",
        )
    if volume.multi_attach and kind.name != volume.spec.type:
        yield Blocker(
            code="multi-attach",
            text="it is made for several hosts (Multi-Attach, multi-writer), and the type of such a volume cannot be "
            "changed: disable that first.",
        )
    elif volume.multi_attach and target != volume.spec and not kind.shared_changes:
        yield Blocker(
            code="multi-attach",
            text=f"Multi-Attach is enabled, and an {kind.name} volume that has it cannot be modified at all: copy its "
            "files to another one.",
        )


def evidence_of(case: Case, spec: VolumeSpec, ceiling: Ceiling, need: Need) -> Evidence:
    """The evidence for a configuration. One that shares a pool is measured as large as the pool."""
    shared, volume = case.shared.get(spec.type, ()), case.volume
    pooled = bool(shared) and case.market.types[spec.type].pooled
    own = case.market.types[spec.type].ceiling(replace(spec, size_gib=shared[0].size_gib) if pooled else spec)
    if any(host.caps for host in volume.hosts):
        ceiling = own
    return evidence_for(
        spec.type,
        ceiling,
        need_iops=need.iops,
        need_throughput_mib_s=need.throughput_mib_s,
        envelopes=case.context.envelopes,
        place=Place(
            provider=case.market.provider,
            account=volume.account,
            region=volume.region,
            today=case.context.now.date(),
            max_age_days=case.policy.evidence_max_age_days,
        ),
        hostless=own if own.buckets else None,
        rankings=case.context.rankings,
    )
