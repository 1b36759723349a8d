"""Planning: a run's recommendations beside its volumes as they are now become the lines and waves of a plan."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

from plimsoll.decide.answer import StepKind
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.model.kinds import CountsAs
from plimsoll.model.units import HOUR_S
from plimsoll.model.volume import OwnerKind, Volume
from plimsoll.ports import Target
from plimsoll.reports.change_files import CHANGED_IN, is_open_change
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_reader import Matched, Only, matched_records
from plimsoll.reports.steps import STEP_NAMES, Step, step_of
from plimsoll.reports.wording import losses_in_words, risk_in_words
from plimsoll_change.clouds import CHANGE_CLOUDS
from plimsoll_change.drift import find_drifts, name_owner
from plimsoll_change.plan import PLAN_FORMAT, ChangePlan, ControlVolume, PlannedLine
from plimsoll_change.ports import Sights
from plimsoll_change.rules import ChangeRules
from plimsoll_change.waves import WATCH_H, draw_waves

_MOST_CONTROLS: Final = 300
"""Volumes of a run that stay as they are and are looked at as controls: more add nothing to a comparison."""

_QUIET_HOURS: Final = 8
"""The hours of a day that count as a volume's quiet ones: those with the fewest operations."""

_LEAST_OPS_AN_HOUR: Final = 1000
"""Operations from which an hour is evidence of how fast a volume is."""

_GROUP_TAG: Final = "aws:autoscaling:groupName"
_REPLICA: Final = re.compile(r"(.+)-\d+")
"""A claim of a StatefulSet, whose replicas have numbers."""


def plan_volumes(
    folder: Path,
    rules: ChangeRules,
    look: Callable[[Target, Sequence[str]], Sights],
    *,
    scope: Mapping[str, Any],
    now: datetime,
    only: Only | None = None,
    steps: Iterable[Step] = (),
    clouds: Collection[str] = CHANGE_CLOUDS,
) -> ChangePlan:
    """The plan of a run's changes in some clouds, by a look at its volumes as they are now.

    Raises BadInput if none can be planned.
    """
    wanted, others, chosen = list[Matched](), list[RecommendationRecord](), frozenset(steps)
    for record, profile in matched_records(folder, None):
        is_change = record.kind.money in (CountsAs.SAVED, CountsAs.MORE)
        if is_change and (only is None or only(record)) and (not chosen or step_of(record) in chosen):
            wanted.append((record, profile))
        elif _has_work(record) and len(others) < _MOST_CONTROLS:
            others.append(record)
    wanted.sort(key=lambda pair: (pair[0].account, pair[0].region, pair[0].volume_id))
    seen = (record for record in [*(record for record, _ in wanted), *others] if record.provider in clouds)
    sights = _look_at(seen, look)
    lines, left_out = _plan_lines(wanted, sights, rules, clouds)
    if not lines:
        reasons = "; ".join(dict.fromkeys(left_out.values())) or "it has no such change"
        raise BadInput(
            f"nothing of {folder.name} can be planned: {reasons[:500]}. Choose others with --where or --step."
        )
    plan_id = f"{folder.name}-{now.astimezone(UTC):%m%dT%H%M%S}"
    return ChangePlan(
        id=plan_id,
        format=PLAN_FORMAT,
        run=folder.name,
        made=now,
        expires=now + timedelta(days=rules.expires_days),
        rules=rules,
        lines=tuple(lines),
        waves=draw_waves(lines, plan_id),
        left_out=left_out,
        controls=tuple(_find_controls(others, sights, rules)),
        scope=scope,
    )


def _look_at(records: Iterable[RecommendationRecord], look: Callable[[Target, Sequence[str]], Sights]) -> Sights:
    places: dict[Target, list[str]] = {}
    for record in records:
        places.setdefault(_target_of(record), []).append(record.volume_id)
    sights: dict[str, Volume | CloudError] = {}
    for target, names in places.items():
        try:
            sights |= look(target, names)
        except CloudError as error:
            sights |= dict.fromkeys(names, error)
    return sights


def _plan_lines(
    wanted: Iterable[Matched], sights: Sights, rules: ChangeRules, clouds: Collection[str]
) -> tuple[list[PlannedLine], dict[str, str]]:
    """The lines of these changes, and why others are left out, by volume. What changes as one is planned as one."""
    lines, left_out, together = list[PlannedLine](), dict[str, str](), dict[str, frozenset[str]]()
    for record, profile in wanted:
        sight, reason = sights.get(record.volume_id), _find_hindrance(record, clouds)
        if reason is None and isinstance(sight, Volume):
            line = _plan_line(record, profile, sight, rules, f"line-{len(lines) + 1:04}")
            drift = next(find_drifts(line, sight), None)
            if drift is None:
                lines.append(line)
                together[line.volume_id] = frozenset(record.stripe_set.members if record.stripe_set else record.pool)
                continue
            reason = drift.text
        unseen = "it was not looked at: no credentials of the run's scope lead to its account"
        left_out[record.volume_id] = reason or str(sight or unseen)
    planned = frozenset(together)
    for line in lines:
        if missing := ", ".join(sorted(together[line.volume_id] - planned)):
            left_out[line.volume_id] = f"{line.unit} changes as one, and {missing} is not in the plan"
    return [line for line in lines if line.volume_id not in left_out], left_out


def _find_hindrance(record: RecommendationRecord, clouds: Collection[str]) -> str | None:
    """The reason why no plan has a recommendation, whatever its volume is now; None if one may."""
    step = step_of(record)
    if step not in CHANGED_IN:
        return f"its step is {STEP_NAMES[step]}, which changes nothing"
    if record.blockers or not is_open_change(record) or record.target is None:
        return "; ".join(blocker.text for blocker in record.blockers) or "the run does not say how it is changed"
    if record.provider not in clouds or not (CHANGE_CLOUDS[record.provider].has_patches or _is_by_call(record)):
        return "such changes of this cloud are text for the owner: plimsoll report --format changes"
    if record.owner.kind == OwnerKind.OPERATOR:
        return f"it belongs to {record.owner.name}: change it in that service"
    return None


def _plan_line(
    record: RecommendationRecord, profile: DemandProfileRecord | None, volume: Volume, rules: ChangeRules, name: str
) -> PlannedLine:
    now, then = record.current.spec, (record.target or record.current).spec
    unit, losses = _name_unit(record), losses_in_words(record)
    return PlannedLine(
        id=name,
        target=_target_of(record),
        zone=record.zone,
        volume_id=record.volume_id,
        name=record.name or "",
        now=now,
        then=then,
        back=replace(now, size_gib=max(now.size_gib, then.size_gib)),
        owner=name_owner(record.owner),
        is_by_owner=not _is_by_call(record),
        hosts=tuple(sorted(record.hosts)),
        forth_text=record.change,
        back_text=record.way_back,
        change_class=f"{now.type} to {then.type}, {record.owner.kind}",
        application=_application_of(volume, rules),
        unit=unit,
        fails_with=tuple(sorted({*_find_shared(volume, rules), *([unit] if unit else [])})),
        is_proved=not losses and step_of(record) is Step.SAFE,
        usd_month_now=record.monthly_usd_now or 0.0,
        usd_month_then=record.monthly_usd_then or 0.0,
        risk="; gives up ".join([risk_in_words(record), *filter(None, [", ".join(losses)])]),
        usd_at_risk=_usd_at_risk(record, volume.tags, rules),
        budget_minutes=max(rules.stopped_minutes, _promised_minutes(record)),
        quiet_hours=_find_quiet_hours(profile),
        tags=record.tags,
        has_work=_has_work(record),
        is_critical=rules.critical.is_match(volume.tags),
    )


def _target_of(record: RecommendationRecord) -> Target:
    return Target(account=record.account, region=record.region, provider=record.provider)


def _has_work(record: RecommendationRecord) -> bool:
    """True for a volume whose usual hour says how fast it is."""
    return record.demand is not None and record.demand.mean_iops * HOUR_S >= _LEAST_OPS_AN_HOUR


def _find_controls(
    others: Iterable[RecommendationRecord], sights: Sights, rules: ChangeRules
) -> Iterator[ControlVolume]:
    for record in others:
        if isinstance(sight := sights.get(record.volume_id), Volume):
            yield ControlVolume(
                target=_target_of(record),
                zone=record.zone,
                volume_id=record.volume_id,
                application=_application_of(sight, rules),
            )


def _application_of(volume: Volume, rules: ChangeRules) -> str:
    names = (volume.tags[tag] for tag in rules.application_tags if volume.tags.get(tag))
    return next(names, volume.owner.name or "")


def _is_by_call(record: RecommendationRecord) -> bool:
    """True if its steps are the API's own calls and nothing else: an edit or a manifest is its owner's."""
    acts = [step for step in record.change_steps if step.kind is not StepKind.NOTE]
    call = CHANGE_CLOUDS[record.provider].call
    is_call = (step.kind is StepKind.COMMAND and step.text.startswith(call) for step in acts)
    return bool(acts) and all(is_call)


def _name_unit(record: RecommendationRecord) -> str:
    if record.stripe_set is not None:
        return f"stripes {record.stripe_set.name} on {record.stripe_set.host}"
    return f"pool {min([record.volume_id, *record.pool])}" if record.pool else ""


def _find_shared(volume: Volume, rules: ChangeRules) -> Iterator[str]:
    """The names of all that a volume shares with others, which must not change at the same time."""
    details = volume.owner.details
    groups = {details.get("group"), *(dict(host.tags).get(_GROUP_TAG) for host in volume.hosts)}
    yield from (f"host {host.id}" for host in volume.hosts)
    yield from (f"group {group}" for group in groups if group)
    if (replica := _REPLICA.fullmatch(details.get("claim", ""))) is not None:
        yield f"replicas {details.get('namespace', '')}/{replica[1]}"
    yield from (f"{tag} {volume.tags[tag]}" for tag in rules.together_tags if volume.tags.get(tag))


def _usd_at_risk(record: RecommendationRecord, tags: Mapping[str, str], rules: ChangeRules) -> float:
    """The chance that the volume outgrows its size, times what its owner says that costs. An unknown chance is 1."""
    if not record.cuts and not record.losses:
        return 0.0
    tag = tags.get(rules.usd_tag)
    try:
        usd = float(tag) if tag is not None else record.monthly_usd_now or 0.0
    except ValueError as error:
        raise BadInput(f"{record.volume_id}: its tag {rules.usd_tag} is {tag}: write dollars, such as 5000.") from error
    promised = None if record.risk is None else record.risk.promised_pct
    return usd * (1.0 if promised is None else promised / 100)


def _promised_minutes(record: RecommendationRecord) -> float:
    """The minutes of a watch in which the recommendation expects the volume to be stopped."""
    replay, demand = record.replay, record.demand
    if replay is None or replay.throttled_minutes_then is None or demand is None or demand.hours_observed <= 0:
        return 0.0
    return replay.throttled_minutes_then * WATCH_H / demand.hours_observed


def _find_quiet_hours(profile: DemandProfileRecord | None) -> tuple[int, ...]:
    """The hours of a day, UTC, with the fewest operations; empty if not every hour is known."""
    if profile is None:
        return ()
    lengths = np.array(profile.length_s, dtype=float)
    starts = profile.start_s + np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    rates = np.array([np.nan if rate is None else rate for rate in profile.iops], dtype=float)
    known = (lengths <= HOUR_S) & ~np.isnan(rates)
    hours = ((starts + lengths / 2) // HOUR_S % 24).astype(int)[known]
    counts = np.bincount(hours, minlength=24)
    if not counts.all():
        return ()
    means = np.bincount(hours, weights=rates[known], minlength=24) / counts
    return tuple(sorted(np.argsort(means, kind="stable")[:_QUIET_HOURS].tolist()))
