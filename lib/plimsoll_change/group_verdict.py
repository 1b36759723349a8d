"""The verdict on a wave: the rule, for all hours of many groups at once.

    r = d - median of the controls' d (3 or more with evidence), clipped to a factor of three
    G = mean of the members' r in hours in which a fifth of them have evidence
    J = max(bet(G), mean of the members' bet(r)), each in units of its 98 % quantile on placebo groups

    stopped minutes of a member above its budget           worse for that member; the wave holds, twice: it is worse
    J >= T(1 %), mean of G over half the margin, and fewer than 10 controls or permutation p <= 5 %    worse
    J >= T(5 %), or one of these not confirmed             hold; the slowest members are named
    after the bake: mean of G + slack < margin, never held, no member over half its budget, a busy hour seen    go on
    two bakes without any of these                         cannot tell

Controls are unchanged volumes of the same application, with work (the hold-back). Without them a release looks like a
change. Fewer than three are none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll_change.bets import play_bets
from plimsoll_change.evidence import (
    FACTOR_3,
    LEAST_SIBLINGS,
    comparable_hours,
    median_of_known,
    own_spread,
    running_mean,
)
from plimsoll_change.thresholds import DAYS, GroupThresholds, Thresholds
from plimsoll_change.verdict import SLOWER_MARGIN, judge_change
from plimsoll_change.verdict_words import describe_basis
from plimsoll_change.watch import WEEK_H, ChangeVerdict, ChangeWatch, GroupVerdict, VerdictCode

EVIDENCE_SHARE: Final = 0.2
CONFIRMED_BY: Final = 10
"""Fewer controls cannot confirm by permutation."""
CONFIRMED_P: Final = 0.05
_PERMUTATIONS: Final = 999
_NAMED: Final = 3
_STOPPED: Final = "stopped-minutes"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupHours:
    """The verdicts on groups after each hour of the watch, [group, hour]. Direct evidence is not among them."""

    statistic: FloatArray  # the highest so far
    mean: FloatArray
    is_suspect: BoolArray  # worse, if permutation confirms it
    is_held: BoolArray
    is_within: BoolArray  # under the margin, by its slack, and never held
    is_busy_seen: BoolArray


def subtract_controls(members: FloatArray, controls: FloatArray) -> FloatArray:
    """The members' deviations less the median of the controls', [..., volume, hour]; NaN in hours with fewer than 3."""
    if controls.shape[-2] < LEAST_SIBLINGS:
        return members
    known = np.sum(~np.isnan(controls), axis=-2, keepdims=True)
    median = median_of_known(controls, -2)[..., np.newaxis, :]
    return members - np.where(known >= LEAST_SIBLINGS, median, np.nan)


def mean_of_members(relative: FloatArray) -> FloatArray:
    """The mean of the members' deviations, clipped, [..., hour]; NaN in hours with evidence of too few."""
    known = ~np.isnan(relative)
    count = known.sum(axis=-2)
    total = np.where(known, np.clip(relative, -FACTOR_3, FACTOR_3), 0.0).sum(axis=-2)
    return np.where(count >= EVIDENCE_SHARE * relative.shape[-2], total / np.maximum(1, count), np.nan)


def judge_group_hours(
    relative: FloatArray, is_busy: BoolArray, row: GroupThresholds, thresholds: Thresholds
) -> GroupHours:
    """The verdicts on many groups of one size after each hour, [group, member, hour], from a week before the watch."""
    together = mean_of_members(relative)
    by_mean = play_bets(row.mean, together)
    by_members = play_bets(thresholds.slower.mean, relative).mean(axis=-2) / row.members_scale
    statistic = np.maximum.accumulate(np.maximum(by_mean, by_members), axis=-1)
    mean, hours = running_mean(together[..., WEEK_H:])
    slack = np.append(np.inf, row.slack)[np.minimum(hours // 24, DAYS)] * own_spread(together)
    is_held = statistic >= row.levels[0.05]
    busy = is_busy[..., WEEK_H:] & ~np.isnan(relative[..., WEEK_H:])
    return GroupHours(
        statistic=statistic,
        mean=mean,
        is_suspect=(statistic >= row.levels[0.01]) & (mean >= SLOWER_MARGIN / 2),
        is_held=is_held,
        is_within=~is_held & (mean + slack < SLOWER_MARGIN),
        is_busy_seen=np.logical_or.accumulate(busy.any(axis=-2), axis=-1),
    )


def permutation_p(members: FloatArray, controls: FloatArray) -> float:
    """The chance that as many volumes drawn of all are as much slower than the others, [volume, hour]."""
    both = np.concatenate([members, controls])
    means = running_mean(np.clip(both, -FACTOR_3, FACTOR_3))[0][:, -1]
    count, total = len(members), means.sum()
    drawn = np.random.default_rng(0).permuted(np.tile(means, (_PERMUTATIONS, 1)), axis=1)[:, :count].sum(axis=1)
    sums = np.append(drawn, means[:count].sum())
    gap = sums / count - (total - sums) / len(controls)
    return float((gap >= gap[-1] - 1e-12).mean())


def judge_wave(
    members: Sequence[ChangeWatch], controls: Sequence[ChangeWatch], thresholds: Thresholds, *, bake_h: int
) -> GroupVerdict:
    """The verdict on a wave by all of its watches so far.

    Controls are watches of unchanged volumes over the same hours. The bake begins when the last member is completed.
    """
    singly = [(watch, judge_change(watch, thresholds)) for watch in members]
    direct = tuple(watch.volume_id for watch, verdict in singly if verdict.is_direct)
    completed = [watch.completed_hour for watch in members if watch.completed_hour is not None]
    watched = min((watch.end_hour for watch in members), default=0) - max(completed, default=0)
    verdict = ChangeVerdict(code=VerdictCode.WATCHING, reason="watching", text="No member is watched yet.")
    if len(direct) > 1:
        text = f"{len(direct)} members were stopped for longer than allowed."
        return _name(verdict, VerdictCode.WORSE, _STOPPED, text, direct)
    if 0 < len(completed) == len(members) and watched > 0:
        named = tuple(watch.volume_id for watch, _ in sorted(singly, key=lambda pair: -pair[1].statistic)[:_NAMED])
        row = thresholds.group_of(len(members), has_controls=len(controls) >= LEAST_SIBLINGS)
        relative, is_busy, theirs = _relative(members, controls)
        hourly = judge_group_hours(relative[np.newaxis], is_busy[np.newaxis], row, thresholds)
        p = permutation_p(relative[:, WEEK_H:], theirs[:, WEEK_H:]) if len(controls) >= CONFIRMED_BY else 0.0
        is_worse = bool(hourly.is_suspect[0, -1]) and p <= CONFIRMED_P
        level = 0.01 if is_worse else 0.05
        verdict = ChangeVerdict(
            code=VerdictCode.WATCHING,
            reason="baking",
            text=f"Watched for {watched} hours.",
            hours_watched=watched,
            siblings=len(controls),
            statistic=float(hourly.statistic[0, -1]),
            slower_pct=100 * float(np.expm1(hourly.mean[0, -1])),
            stopped_minutes=max(verdict.stopped_minutes for _, verdict in singly),
            promise=level,
            observed=row.observed.get(level),
            placebo_weeks=row.observed_weeks,
        )
        basis = describe_basis(verdict)
        if is_worse:
            slower = f"by {verdict.slower_pct:.0f} % in the mean"
            text = f"Slower together than 99 % of unchanged groups are, {slower}; {basis}."
            return _name(verdict, VerdictCode.WORSE, "slower", text, named)
        if hourly.is_held[0, -1] and not direct:
            text = f"Slower together than 95 % of unchanged groups are; {basis}. The slowest: {', '.join(named)}."
            return _name(verdict, VerdictCode.HOLD, "slower", text, named)
        if watched >= bake_h and not direct:
            return GroupVerdict(verdict=_decide_after_bake(hourly, verdict, singly, is_last=watched >= 2 * bake_h))
    if direct:
        text = f"{direct[0]} was stopped for longer than allowed: it goes back, and the wave holds."
        return _name(verdict, VerdictCode.HOLD, _STOPPED, text, direct)
    return GroupVerdict(verdict=verdict)


def _name(verdict: ChangeVerdict, code: VerdictCode, reason: str, text: str, named: tuple[str, ...]) -> GroupVerdict:
    verdict = replace(verdict, code=code, reason=reason, text=text, is_direct=reason == _STOPPED)
    return GroupVerdict(verdict=verdict, named=named)


def _decide_after_bake(
    hourly: GroupHours, verdict: ChangeVerdict, singly: Sequence[tuple[ChangeWatch, ChangeVerdict]], *, is_last: bool
) -> ChangeVerdict:
    """Go on once all holds; cannot tell after the last bake."""
    over = [watch.volume_id for watch, single in singly if single.stopped_minutes > watch.budget_minutes / 2]
    if over:
        reason, text = "half-the-budget-stopped", f"{', '.join(over)}: stopped for over half of the budget"
    elif not hourly.is_busy_seen[0, -1]:
        reason, text = "busy-hours-not-seen", "none of its busy hours has come"
    elif not hourly.is_within[0, -1]:
        reason, text = "spread-too-wide", "25 % slower cannot be excluded yet"
    else:
        basis = f"after {verdict.hours_watched} hours; {describe_basis(verdict)}"
        text = f"Together no more than 25 % slower {basis}: the next wave may begin."
        return replace(verdict, code=VerdictCode.NO_SLOWER, reason="within-margin", text=text)
    if is_last:
        return replace(verdict, code=VerdictCode.CANNOT_TELL, reason=reason, text=f"Cannot tell: {text}.")
    return replace(verdict, reason=reason, text=f"Watched on: {text}.")


def _relative(
    members: Sequence[ChangeWatch], controls: Sequence[ChangeWatch]
) -> tuple[FloatArray, BoolArray, FloatArray]:
    """The members' deviations less the controls', which hours are busy, and the controls' own, [volume, hour].

    Hours are counted from a week before the first request on, by the clock: members are requested at different times.
    """
    begin = min(watch.requested_hour for watch in members) - WEEK_H
    hours = np.arange(begin, min(watch.end_hour for watch in (*members, *controls)))
    since = max(watch.completed_hour or 0 for watch in members)
    rows, others = ([_cut_by_clock(watch, hours, since) for watch in lot] for lot in (members, controls))
    theirs = np.array([mean for mean, _ in others]).reshape(-1, len(hours))
    mean, is_busy = np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows])
    return subtract_controls(mean, theirs), is_busy, subtract_controls(theirs, theirs)


def _cut_by_clock(watch: ChangeWatch, hours: IntArray, since: int) -> tuple[FloatArray, BoolArray]:
    """A watch's deviations and busy hours in hours of the clock; NaN between their first week and `since`."""
    # A control was not changed, so nothing of it was completed.
    deviations, _ = comparable_hours(replace(watch, completed_hour=since), since)
    place = hours - (watch.requested_hour - WEEK_H)
    inside = (place >= 0) & (place < deviations.mean.shape[-1])
    at = np.clip(place, 0, deviations.mean.shape[-1] - 1)
    is_known = inside & ((hours < hours[0] + WEEK_H) | (hours >= since))
    return np.where(is_known, deviations.mean[0, at], np.nan), inside & deviations.is_busy[0, at]
