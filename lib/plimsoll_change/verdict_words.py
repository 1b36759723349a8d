"""The words of verdicts: what each rests on, and why nothing can be told. Never that a volume is the same."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from plimsoll_change.watch import ChangeVerdict, ChangeWatch, VerdictCode, Void

if TYPE_CHECKING:
    from plimsoll_change.thresholds import Thresholds
    from plimsoll_change.verdict import HourlyVerdicts  # which gives what is described here

UNTOLD_WORDS: Final = {
    "no-evidence": "fewer than 24 hours had 1,000 operations and a past to compare with",
    "half-the-budget-stopped": "it was stopped for over half of its budget",
    "raised": "it was slower than four of five unchanged volumes are at some time of a week",
    "slower-in-a-band": "it is more than 25 % slower in some hours of the day, as unchanged volumes are at times",
    "busy-hours-not-seen": "fewer than 6 of its busiest hours of the week have come",
    "slower-when-busy": "it is more than 25 % slower in its busiest hours, as unchanged volumes are at times",
    "spread-too-wide": "its latency varies too much to exclude 25 %",
}
"""The reasons against no slower, in the order in which they are named."""


def describe_verdict(
    code: VerdictCode, hourly: HourlyVerdicts, watch: ChangeWatch, thresholds: Thresholds, *, stopped: float
) -> ChangeVerdict:
    """The verdict of a code after the last hour, with what it rests on. `stopped` are the minutes beyond the past's."""
    hours, busy_seen, busy = int(hourly.hours[0, -1]), int(hourly.busy_seen[0, -1]), int(hourly.busy_hours[0])
    side = thresholds.faster if code is VerdictCode.BETTER else thresholds.slower
    level = 0.01 if code in {VerdictCode.WORSE, VerdictCode.BETTER} else 0.05
    is_optimizing = watch.completed_hour is None
    verdict = ChangeVerdict(
        code=code,
        reason="optimizing" if is_optimizing else "watching",
        text="The cloud still moves its data." if is_optimizing else f"Watched for {hours} hours with evidence.",
        hours_watched=hours,
        busy_hours_seen=busy_seen,
        busy_hours=busy,
        siblings=len(watch.siblings),
        statistic=float(hourly.statistic[0, -1]),
        slower_pct=100 * math.expm1(float(hourly.mean[0, -1])) if hours else None,
        stopped_minutes=max(0.0, stopped),
        promise=level,
        observed=side.observed.get(level),
        placebo_weeks=side.observed_weeks,
        own_weeks=side.own_weeks,
        is_own_calibration=side.is_own(level),
    )
    basis, untold = (
        describe_basis(verdict),
        next((name for name, holds in hourly.why.items() if holds[0, -1]), "raised"),
    )
    words = {
        VerdictCode.WORSE: ("slower", f"Slower than 99 % of unchanged volumes are in a week; {basis}."),
        VerdictCode.HOLD: ("slower", f"Slower than 95 % of unchanged volumes are in a week: watched on; {basis}."),
        VerdictCode.BETTER: ("faster", f"Faster, in {hours} hours; {basis}."),
        VerdictCode.NO_SLOWER: (
            "within-margin",
            f"No more than 25 % slower, in {busy_seen} of {busy} busy hours; {basis}.",
        ),
        VerdictCode.CANNOT_TELL: (untold, f"Cannot tell: {UNTOLD_WORDS[untold]}."),
    }
    reason, text = words.get(code, (verdict.reason, verdict.text))
    return replace(verdict, reason=reason, text=text)


def describe_stops(verdict: ChangeVerdict, budget_minutes: float) -> ChangeVerdict:
    """The verdict by stopped minutes alone."""
    stopped = verdict.stopped_minutes
    text = f"Stopped in {stopped:.0f} minutes beyond those of past weeks; {budget_minutes:.0f} are allowed."
    return replace(verdict, reason="stopped-minutes", text=text, is_direct=True)


def describe_after_void(verdict: ChangeVerdict, void: Void) -> ChangeVerdict:
    """The verdict where something else changed in the watch: worse becomes hold, and a person decides."""
    match verdict.code:
        case VerdictCode.NO_SLOWER | VerdictCode.BETTER | VerdictCode.HOLD:
            return replace(verdict, text=f"{verdict.text} Compared only since {void.text}.")
        case VerdictCode.WORSE:
            text = f"Slower since {void.text}: a person decides."
            return replace(verdict, code=VerdictCode.HOLD, reason=void.reason, text=text)
        case _:
            text = f"Cannot tell yet: {void.text}."
            return replace(verdict, code=VerdictCode.CANNOT_TELL, reason=void.reason, text=text)


def describe_basis(verdict: ChangeVerdict) -> str:
    """The basis of a comparison: siblings, the promise, what was observed of it, whose calibration."""
    observed, whose = "", "shipped calibration"
    if verdict.observed is not None:
        observed = f", observed {100 * verdict.observed:.1f} % of {verdict.placebo_weeks:,} weeks"
    if verdict.is_own_calibration:
        observed, whose = "", f"own calibration, {verdict.own_weeks:,} weeks"
    elif verdict.own_weeks:
        whose = f"the larger of the shipped calibration and that of {verdict.own_weeks:,} own weeks"
    return f"{verdict.siblings} unchanged siblings; promise {100 * verdict.promise:.0f} %{observed}; {whose}"
