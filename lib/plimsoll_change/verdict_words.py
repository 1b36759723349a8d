"""The words of verdicts: what each rests on, and why nothing can be told. Never that a volume is the same."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from plimsoll_change.evidence import count_busy_hours
from plimsoll_change.watch import ChangeVerdict, ChangeWatch, VerdictCode, Void

if TYPE_CHECKING:
    from plimsoll_change.thresholds import Thresholds
    from plimsoll_change.verdict import HourlyVerdicts  # which gives what is described here

NO_EVIDENCE: Final = "no-evidence"
STOPPED_HALF: Final = "half-the-budget-stopped"
RAISED: Final = "raised"
SLOW_BAND: Final = "slower-in-a-band"
BUSY_UNSEEN: Final = "busy-hours-not-seen"
SLOW_BUSY: Final = "slower-when-busy"
TOO_WIDE: Final = "spread-too-wide"

UNTOLD_WORDS: Final = {
    NO_EVIDENCE: "fewer than 24 hours had 1,000 operations and a past to compare with",
    STOPPED_HALF: "it was stopped for over half of its budget",
    RAISED: "it was slower than four of five unchanged volumes are at some time of a week",
    SLOW_BAND: "it is more than 25 % slower in some hours of the day, as unchanged volumes are at times",
    BUSY_UNSEEN: "fewer than 6 of its busiest hours of the week have come",
    SLOW_BUSY: "it is more than 25 % slower in its busiest hours, as unchanged volumes are at times",
    TOO_WIDE: "its latency varies too much to exclude 25 %",
}


def describe_verdict(
    code: VerdictCode,
    hourly: HourlyVerdicts,
    watch: ChangeWatch,
    thresholds: Thresholds,
    *,
    stopped: float,
    is_direct: bool,
) -> ChangeVerdict:
    """The verdict of a code after the last hour, with what it rests on. `stopped` are the minutes beyond the past's."""
    hours, side = int(hourly.hours[0, -1]), thresholds.slower if code is not VerdictCode.BETTER else thresholds.faster
    level = 0.01 if code in {VerdictCode.WORSE, VerdictCode.BETTER} else 0.05
    verdict = ChangeVerdict(
        code=code,
        reason="watching",
        text=f"Watched for {hours} hours with evidence.",
        hours_watched=hours,
        busy_hours_seen=int(hourly.busy_seen[0, -1]),
        busy_hours=count_busy_hours(watch),
        siblings=len(watch.siblings),
        statistic=float(hourly.statistic[0, -1]),
        slower_pct=100 * math.expm1(float(hourly.mean[0, -1])) if hours else None,
        stopped_minutes=max(0.0, stopped),
        promise=level,
        observed=side.observed.get(level),
        placebo_weeks=side.observed_weeks,
        is_own_calibration=side.is_own,
    )
    if is_direct:
        text = f"Stopped in {stopped:.0f} minutes beyond those of past weeks; {watch.budget_minutes:.0f} are allowed."
        return replace(verdict, reason="stopped-minutes", text=text, is_direct=True)
    reason, text = _reason_of(code, verdict, hourly, is_optimizing=watch.completed_hour is None)
    return replace(verdict, reason=reason, text=text)


def _reason_of(
    code: VerdictCode, verdict: ChangeVerdict, hourly: HourlyVerdicts, *, is_optimizing: bool
) -> tuple[str, str]:
    basis = describe_basis(verdict)
    watching = "optimizing" if is_optimizing else "watching"
    untold = next((name for name, holds in hourly.why.items() if holds[0, -1]), RAISED)
    busy = f"in {verdict.busy_hours_seen} of {verdict.busy_hours} busy hours"
    words = {
        VerdictCode.WORSE: ("slower", f"Slower than 99 % of unchanged volumes are in a week; {basis}."),
        VerdictCode.HOLD: ("slower", f"Slower than 95 % of unchanged volumes are in a week: watched on; {basis}."),
        VerdictCode.BETTER: ("faster", f"Faster, in {verdict.hours_watched} hours; {basis}."),
        VerdictCode.NO_SLOWER: ("within-margin", f"No more than 25 % slower, {busy}; {basis}."),
        VerdictCode.CANNOT_TELL: (untold, f"Cannot tell: {UNTOLD_WORDS[untold]}."),
        VerdictCode.WATCHING: (watching, "The cloud still moves its data." if is_optimizing else verdict.text),
    }
    return words[code]


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
    observed = "" if verdict.observed is None else f", observed {100 * verdict.observed:.1f} %"
    weeks = f" of {verdict.placebo_weeks:,} weeks" if verdict.placebo_weeks else ""
    whose = "own calibration" if verdict.is_own_calibration else "shipped calibration"
    return f"{verdict.siblings} unchanged siblings; promise {100 * verdict.promise:.0f} %{observed}{weeks}; {whose}"
