"""Making a plan: a run's recommendations beside the volumes as they are now become lines and waves."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np

from plimsoll.clouds.registry import AWS
from plimsoll.decide.answer import StepKind
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.model.units import HOUR_S
from plimsoll.model.volume import OwnerKind, Volume
from plimsoll.ports import Target
from plimsoll.reports.change_files import CHANGED_IN, is_open_change
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.steps import STEP_NAMES, step_of
from plimsoll.reports.wording import losses_in_words
from plimsoll_change.drift import find_drift
from plimsoll_change.plan import PLAN_FORMAT, ChangedBy, ChangePlan, ControlVolume, LeftOut, PlannedLine
from plimsoll_change.rules import ChangeRules
from plimsoll_change.waves import WATCH_H, draw_waves

_QUIET_HOURS: Final = 8
"""The hours of a day that count as a volume's quiet ones: those with the fewest operations."""

_LEAST_OPS_AN_HOUR: Final = 1000
"""Operations from which an hour is evidence of how fast a volume is."""

_GROUP_TAG: Final = "aws:autoscaling:groupName"
_REPLICA: Final = re.compile(r"(.+)-\d+")
"""A claim of a StatefulSet, whose replicas have numbers."""

AdvisedChange = tuple[RecommendationRecord, DemandProfileRecord | None]


def make_plan(
    planned: Iterable[AdvisedChange],
    others: Iterable[RecommendationRecord],
    sights: Mapping[str, Volume | CloudError],
    rules: ChangeRules,
    *,
    run: str,
    scope: Mapping[str, Any],
    now: datetime,
) -> ChangePlan:
    """The plan of these recommendations, by volumes as they are seen now. Raises BadInput if no volume is left.

    `others` are the run's volumes that stay as they are, of which the working ones become controls.
    """
    lines, left_out, together = list[PlannedLine](), list[LeftOut](), dict[str, frozenset[str]]()
    for record, profile in sorted(planned, key=lambda pair: (pair[0].account, pair[0].region, pair[0].volume_id)):
        line = _line_or_reason(record, profile, sights.get(record.volume_id), rules, f"line-{len(lines) + 1:04}")
        if isinstance(line, PlannedLine):
            lines.append(line)
            together[record.volume_id] = frozenset(_members_of(record))
        else:
            left_out.append(LeftOut(volume_id=record.volume_id, reason=line))
    left_out += _leave_out_broken_units(lines, together)
    if not lines:
        reasons = "; ".join(dict.fromkeys(entry.reason for entry in left_out)) or "it has no such change"
        raise BadInput(f"nothing of {run} can be planned: {reasons[:500]}. Choose others with --where or --step.")
    plan_id = f"{run}-{now.astimezone(UTC):%m%dT%H%M%S}"
    return ChangePlan(
        id=plan_id,
        format=PLAN_FORMAT,
        run=run,
        made=now,
        expires=now + timedelta(days=rules.expires_days),
        seed=plan_id,
        rules=rules,
        lines=tuple(lines),
        waves=draw_waves((line.as_member() for line in lines), plan_id),
        left_out=tuple(left_out),
        controls=tuple(_find_controls(others, sights, rules)),
        scope=scope,
    )


def _find_hindrance(record: RecommendationRecord) -> str | None:
    """The reason why no plan has a recommendation, whatever its volume is now; None if one may."""
    step = step_of(record)
    if step not in CHANGED_IN:
        return f"its step is {STEP_NAMES[step]}, which changes nothing"
    if record.blockers or not is_open_change(record) or record.target is None:
        return "; ".join(blocker.text for blocker in record.blockers) or "the run does not say how it is changed"
    if record.provider != AWS:
        return "changes of this cloud are text for the owner: plimsoll report --format changes"
    if record.owner.kind == OwnerKind.OPERATOR:
        return f"it belongs to {record.owner.name}: change it in that service"
    return None


def _line_or_reason(
    record: RecommendationRecord,
    profile: DemandProfileRecord | None,
    sight: Volume | CloudError | None,
    rules: ChangeRules,
    name: str,
) -> PlannedLine | str:
    reason = _find_hindrance(record)
    if reason is not None:
        return reason
    if sight is None:
        return "it was not looked at: no credentials of the run's scope lead to its account"
    if isinstance(sight, CloudError):
        return str(sight)
    line = _line_of(record, profile, sight, rules, name)
    drift = find_drift(line, sight)
    return line if drift is None else drift.text


def _line_of(
    record: RecommendationRecord, profile: DemandProfileRecord | None, volume: Volume, rules: ChangeRules, name: str
) -> PlannedLine:
    now, then = record.current.spec, (record.target or record.current).spec
    unit, tags = _unit_of(record), volume.tags
    return PlannedLine(
        id=name,
        provider=record.provider,
        account=record.account,
        region=record.region,
        zone=record.zone,
        volume_id=record.volume_id,
        name=record.name or "",
        now=now,
        then=then,
        back=replace(now, size_gib=max(now.size_gib, then.size_gib)),
        owner_kind=record.owner.kind,
        owner_name=record.owner.name or "",
        hosts=tuple(sorted(record.hosts)),
        changed_by=_find_changer(record),
        forth_text=record.change,
        back_text=record.way_back,
        change_class=f"{now.type} to {then.type}, {record.owner.kind}",
        application=_application_of(volume, rules),
        unit=unit,
        fails_with=tuple(sorted({*_find_shared(volume, rules), *([unit] if unit else [])})),
        step=step_of(record),
        usd_month_now=record.monthly_usd_now or 0.0,
        usd_month_then=record.monthly_usd_then or 0.0,
        promised_pct=None if record.risk is None else record.risk.promised_pct,
        usd_at_risk=_usd_at_risk(record, tags, rules),
        budget_minutes=max(rules.stopped_minutes, _promised_minutes(record)),
        losses=tuple(losses_in_words(record)),
        quiet_hours=find_quiet_hours(profile),
        has_work=has_work(record),
        is_critical=rules.critical.is_match(tags),
    )


def has_work(record: RecommendationRecord) -> bool:
    """True for a volume whose usual hour says how fast it is."""
    return record.demand is not None and record.demand.mean_iops * HOUR_S >= _LEAST_OPS_AN_HOUR


def _find_controls(
    others: Iterable[RecommendationRecord], sights: Mapping[str, Volume | CloudError], rules: ChangeRules
) -> Iterator[ControlVolume]:
    for record in others:
        sight = sights.get(record.volume_id)
        if isinstance(sight, Volume) and has_work(record):
            yield ControlVolume(
                target=Target(account=record.account, region=record.region, provider=record.provider),
                zone=record.zone,
                volume_id=record.volume_id,
                application=_application_of(sight, rules),
            )


def _application_of(volume: Volume, rules: ChangeRules) -> str:
    return rules.pick_tag(rules.application_tags, volume.tags) or volume.owner.name or ""


def _find_changer(record: RecommendationRecord) -> ChangedBy:
    """The API only if the steps are its own calls and nothing else: an edit or a manifest is its owner's."""
    acts = [step for step in record.change_steps if step.kind is not StepKind.NOTE]
    by_call = all(step.kind is StepKind.COMMAND and step.text.startswith("aws ec2 modify-volume ") for step in acts)
    return ChangedBy.API if acts and by_call else ChangedBy.OWNER


def _unit_of(record: RecommendationRecord) -> str:
    if record.stripe_set is not None:
        return f"stripes {record.stripe_set.name} on {record.stripe_set.host}"
    return f"pool {min([record.volume_id, *record.pool])}" if record.pool else ""


def _members_of(record: RecommendationRecord) -> Iterable[str]:
    return record.stripe_set.members if record.stripe_set is not None else record.pool


def _find_shared(volume: Volume, rules: ChangeRules) -> Iterator[str]:
    """The names of all that a volume shares with others, which must not change at the same time."""
    for host in volume.hosts:
        yield f"host {host.id}"
        if group := dict(host.tags).get(_GROUP_TAG):
            yield f"group {group}"
    details = volume.owner.details
    if "group" in details:
        yield f"group {details['group']}"
    if (replica := _REPLICA.fullmatch(details.get("claim", ""))) is not None:
        yield f"replicas {details.get('namespace', '')}/{replica[1]}"
    for tag in rules.together_tags:
        if value := volume.tags.get(tag):
            yield f"{tag} {value}"


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


def find_quiet_hours(profile: DemandProfileRecord | None) -> tuple[int, ...]:
    """The hours of a day, UTC, with the fewest operations; empty if not every hour is known."""
    if profile is None:
        return ()
    lengths = np.array(profile.length_s, dtype=float)
    starts = profile.start_s + np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    rates = np.array([np.nan if rate is None else rate for rate in profile.iops], dtype=float)
    known = (lengths <= HOUR_S) & ~np.isnan(rates)
    hours = ((starts + lengths / 2) // HOUR_S % 24).astype(int)
    means = [rates[known & (hours == hour)] for hour in range(24)]
    if any(values.size == 0 for values in means):
        return ()
    order = np.argsort([values.mean() for values in means], kind="stable")
    return tuple(sorted(int(hour) for hour in order[:_QUIET_HOURS]))


def _leave_out_broken_units(lines: list[PlannedLine], together: Mapping[str, frozenset[str]]) -> Iterator[LeftOut]:
    """Removes the lines of units that are not whole: their volumes change together or not at all."""
    planned = {line.volume_id for line in lines}
    broken = {line.id for line in lines if not together[line.volume_id] <= planned}
    for line in lines:
        if line.id in broken:
            missing = ", ".join(sorted(together[line.volume_id] - planned))
            yield LeftOut(
                volume_id=line.volume_id, reason=f"{line.unit} changes as one, and {missing} is not in the plan"
            )
    lines[:] = [line for line in lines if line.id not in broken]
