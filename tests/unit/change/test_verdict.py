"""Verdicts on watches of one volume and of a wave: each code, its reason and what it rests on."""

from dataclasses import replace

import numpy as np
import pytest

from plimsoll_change.group_verdict import judge_wave, permutation_p
from plimsoll_change.thresholds import shipped_thresholds
from plimsoll_change.verdict import judge_change
from plimsoll_change.watch import PAST_H, WEEK_H, ChangeVerdict, ChangeWatch, VerdictCode, Void
from tests.canary.watches import REQUESTED_HOUR, a_watch

THRESHOLDS = shipped_thresholds()
BAKE_H = 48


def quiet(hours: int, *, times: float = 1.0, seed: int = 0, noise: float = 0.08) -> ChangeWatch:
    """A volume with a little noise, which is `times` slower since its change, some hours ago."""
    latency = np.random.default_rng(seed).lognormal(6.7, noise, PAST_H + hours)
    latency[PAST_H:] *= times
    watch = a_watch(latency[:PAST_H], latency[PAST_H:])
    return replace(watch, volume_id=f"vol-{seed}")


def judged(watch: ChangeWatch) -> ChangeVerdict:
    return judge_change(watch, THRESHOLDS)


def with_stopped(watch: ChangeWatch, minutes: float) -> ChangeWatch:
    """The watch with so many stopped minutes in its last hour."""
    stopped = np.array(watch.stopped_minutes)
    stopped[-1] = minutes
    return replace(watch, stopped_minutes=stopped)


@pytest.mark.parametrize(
    ("times", "hours", "code"),
    [
        (1.0, 10, VerdictCode.WATCHING),
        (1.0, 72, VerdictCode.NO_SLOWER),
        (2.0, 48, VerdictCode.WORSE),
        (0.5, 72, VerdictCode.BETTER),
    ],
)
def test_a_quiet_volume_is_told_in_days(times: float, hours: int, code: VerdictCode) -> None:
    assert judged(quiet(hours, times=times)).code is code


def test_a_verdict_says_what_it_rests_on() -> None:
    verdict = judged(quiet(72))
    assert verdict.text.startswith("No more than 25 % slower, in ")
    assert "shipped calibration" in verdict.text
    assert (verdict.hours_watched, verdict.busy_hours, verdict.promise) == (72, WEEK_H, 0.05)
    assert abs(verdict.slower_pct or 100.0) < 5


def test_stopped_minutes_are_told_at_once_even_while_the_cloud_moves_data() -> None:
    watch = replace(quiet(3), completed_hour=None)
    assert (judged(watch).code, judged(watch).reason) == (VerdictCode.WATCHING, "optimizing")
    verdict = judged(with_stopped(watch, 16.0))
    assert (verdict.code, verdict.is_direct, verdict.reason) == (VerdictCode.WORSE, True, "stopped-minutes")
    assert judged(with_stopped(watch, 15.0)).code is VerdictCode.WATCHING


def test_half_the_budget_is_no_reason_to_go_back_and_none_to_go_on() -> None:
    assert judged(with_stopped(quiet(72), 8.0)).code is VerdictCode.WATCHING
    verdict = judged(with_stopped(quiet(WEEK_H), 8.0))
    assert (verdict.code, verdict.reason) == (VerdictCode.CANNOT_TELL, "half-the-budget-stopped")


def test_hours_before_the_change_was_completed_are_not_compared() -> None:
    slow_at_first = quiet(72)
    slow_at_first.signal.latency_us[0, PAST_H : PAST_H + 24] *= 5
    assert judged(slow_at_first).code is VerdictCode.WORSE
    assert judged(replace(slow_at_first, completed_hour=REQUESTED_HOUR + 24)).code is not VerdictCode.WORSE


def test_after_another_host_comparison_begins_anew_and_calls_nothing_back() -> None:
    void = Void(hour=REQUESTED_HOUR + 20, reason="host-changed", text="it was attached to i-2 at 2026-11-03 04:00")
    slow = replace(quiet(72, times=2.0), voids=(void,))
    assert (judged(slow).code, judged(slow).reason) == (VerdictCode.HOLD, "host-changed")
    early = replace(quiet(30), voids=(void,))
    assert (judged(early).code, judged(early).reason) == (VerdictCode.CANNOT_TELL, "host-changed")
    assert judged(replace(quiet(96), voids=(void,))).code is VerdictCode.NO_SLOWER
    assert judged(with_stopped(slow, 60.0)).code is VerdictCode.WORSE


def test_weeks_of_which_nothing_is_known_are_left_out() -> None:
    watch = quiet(72)
    for values in (watch.signal.latency_us, watch.signal.operations, watch.stopped_minutes):
        values[..., : 3 * WEEK_H] = np.nan
    assert judged(watch).hours_watched == 72


def wave(count: int, hours: int, *, times: float = 1.0, first: int = 0) -> list[ChangeWatch]:
    return [quiet(hours, times=times, seed=first + seed) for seed in range(count)]


@pytest.mark.parametrize(
    ("times", "hours", "code"),
    [
        (1.0, BAKE_H - 1, VerdictCode.WATCHING),
        (1.0, BAKE_H, VerdictCode.NO_SLOWER),
        (1.5, BAKE_H, VerdictCode.WORSE),
    ],
)
def test_a_wave_goes_on_after_its_bake_and_stops_where_all_are_slower(
    times: float, hours: int, code: VerdictCode
) -> None:
    verdict = judge_wave(wave(10, hours, times=times), wave(5, hours, first=50), THRESHOLDS, bake_h=BAKE_H)
    assert verdict.verdict.code is code
    assert verdict.may_go_on is (code is VerdictCode.NO_SLOWER)
    assert verdict.verdict.siblings == 5
    assert ("; 5 unchanged siblings; promise" in verdict.verdict.text) is (hours == BAKE_H)
    assert ("; shipped calibration" in verdict.verdict.text) is (hours == BAKE_H)


def test_what_slows_the_controls_as_well_is_no_change() -> None:
    members, controls = wave(10, BAKE_H, times=1.5), wave(12, BAKE_H, times=1.5, first=50)
    verdict = judge_wave(members, controls, THRESHOLDS, bake_h=BAKE_H)
    assert verdict.verdict.code is VerdictCode.NO_SLOWER


def test_controls_were_never_completed_and_count_all_the_same() -> None:
    controls = [replace(watch, completed_hour=None) for watch in wave(5, BAKE_H, times=1.5, first=50)]
    verdict = judge_wave(wave(10, BAKE_H, times=1.5), controls, THRESHOLDS, bake_h=BAKE_H)
    assert verdict.verdict.code is VerdictCode.NO_SLOWER


def test_one_member_that_is_stopped_holds_the_wave_and_two_make_it_worse() -> None:
    members = wave(10, BAKE_H)
    members[3] = with_stopped(members[3], 60.0)
    held = judge_wave(members, (), THRESHOLDS, bake_h=BAKE_H)
    assert (held.verdict.code, held.named, held.verdict.is_direct) == (VerdictCode.HOLD, ("vol-3",), True)
    members[5] = with_stopped(members[5], 60.0)
    worse = judge_wave(members, (), THRESHOLDS, bake_h=BAKE_H)
    assert (worse.verdict.code, worse.named) == (VerdictCode.WORSE, ("vol-3", "vol-5"))


def test_a_wave_of_which_nothing_can_be_told_does_not_go_on() -> None:
    silent = [
        replace(watch, signal=replace(watch.signal, operations=np.zeros_like(watch.signal.operations)))
        for watch in wave(3, 2 * BAKE_H)
    ]
    verdict = judge_wave(silent, (), THRESHOLDS, bake_h=BAKE_H)
    assert (verdict.verdict.code, verdict.may_go_on) == (VerdictCode.CANNOT_TELL, False)


def test_a_wave_waits_until_its_last_member_is_completed() -> None:
    members = wave(3, BAKE_H)
    members[0] = replace(members[0], completed_hour=None)
    assert judge_wave(members, (), THRESHOLDS, bake_h=BAKE_H).verdict.code is VerdictCode.WATCHING
    members[0] = replace(members[0], completed_hour=REQUESTED_HOUR + 10)
    assert judge_wave(members, (), THRESHOLDS, bake_h=BAKE_H).verdict.hours_watched == BAKE_H - 10
    assert judge_wave((), (), THRESHOLDS, bake_h=BAKE_H).verdict.code is VerdictCode.WATCHING


def test_permutation_finds_slower_members_and_not_equal_ones() -> None:
    rng = np.random.default_rng(0)
    members, controls = rng.normal(0, 0.1, (12, 48)), rng.normal(0, 0.1, (12, 48))
    assert permutation_p(members + 0.3, controls) < 0.01
    assert permutation_p(members, controls) > 0.05
