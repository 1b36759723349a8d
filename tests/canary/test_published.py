"""Arrays that the field's judge passes, or judges by nothing, and the odd cases of a watch."""

from collections.abc import Sequence

import numpy as np
import pytest

from plimsoll.model.arrays import FloatArray
from plimsoll_change.thresholds import shipped_thresholds
from plimsoll_change.verdict import judge_change
from plimsoll_change.watch import PAST_H, WEEK_H, VerdictCode
from tests.canary.watches import a_watch

SEVEN_OF_TEN = [100.0] * 7 + [1.0] * 3
"""kayenta#780, the comment of 2021-07-12: passes against a control of ten times 1 (lower confidence 0.00007 against a
bound of 24.7)."""

WIDE_CONTROL = [1.0, 100.0, 4.0, 101.0, 5.0, 102.0, 6.0, 103.0, 7.0, 104.0, 8.0, 105.0, 9.0, 106.0, 17.0]
NARROW_CANARY = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 17.0, 17.1, 17.2, 17.3, 17.4, 17.5, 17.6, 17.7]
"""kayenta#780, case 1. As hours of a disk this canary is quieter and, in the median hour, no slower."""

SPARSE_CANARY = [0.0, 1.0, 2.0, 1.0, 0.0, 0.0]
"""kayenta#426: passes against zeros."""

NAN = float("nan")
GAPPED_CANARY = [
    1.0,
    NAN,
    NAN,
    NAN,
    NAN,
    2.0,
    NAN,
    NAN,
    NAN,
    NAN,
    1.0,
    NAN,
    NAN,
    NAN,
    NAN,
    2.0,
    NAN,
    NAN,
    NAN,
    NAN,
    1.0,
]
"""kayenta#799: the control has no point at all."""


def codes(past: Sequence[float], canary: Sequence[float], operations: float = 50_000.0) -> list[VerdictCode]:
    """The verdict after each hour."""
    return [
        judge_change(a_watch(np.array(past), np.array(canary[:hour]), operations=operations), shipped_thresholds()).code
        for hour in range(1, len(canary) + 1)
    ]


def hour_of(code: VerdictCode, found: list[VerdictCode]) -> int:
    """The first hour, from 1, with a verdict."""
    return found.index(code) + 1


def test_a_canary_that_is_a_hundred_times_worse_in_seven_of_ten_hours_is_worse() -> None:
    assert hour_of(VerdictCode.WORSE, codes([1.0], SEVEN_OF_TEN)) <= 7


def test_a_wide_control_does_not_make_a_quiet_canary_worse() -> None:
    assert VerdictCode.WORSE not in codes(WIDE_CONTROL * 12, NARROW_CANARY * 11)


def stopped(before: float, after: Sequence[float]) -> FloatArray:
    return np.concatenate([np.full(PAST_H, before), after])


@pytest.mark.parametrize(("budget", "code"), [(2.0, VerdictCode.WORSE), (15.0, VerdictCode.WATCHING)])
def test_counts_that_are_usually_zero_are_held_against_a_budget(budget: float, code: VerdictCode) -> None:
    """What is usually zero, as errors there and stopped minutes here, needs no test of ranks."""
    watch = a_watch(np.ones(1), np.ones(6), stopped=stopped(0.0, SPARSE_CANARY), budget_minutes=budget)
    verdict = judge_change(watch, shipped_thresholds())
    assert (verdict.code, verdict.is_direct) == (code, code is VerdictCode.WORSE)


def test_a_control_without_points_is_no_reason_to_pass_or_to_fail() -> None:
    past = np.full(PAST_H, NAN)
    canary = np.resize(GAPPED_CANARY, WEEK_H)
    verdict = judge_change(a_watch(past, canary), shipped_thresholds())
    assert (verdict.code, verdict.reason) == (VerdictCode.CANNOT_TELL, "no-evidence")


def test_gaps_in_counts_are_unknown_and_the_known_ones_count() -> None:
    watch = a_watch(np.ones(1), np.ones(21), stopped=stopped(NAN, GAPPED_CANARY), budget_minutes=6.0)
    assert judge_change(watch, shipped_thresholds()).is_direct


def test_a_job_that_was_stopped_before_is_judged_by_how_much_longer_it_runs() -> None:
    nights = np.where(np.arange(WEEK_H) % 24 == 1, 60.0, 0.0)
    for longer, is_worse in ((1.1, False), (1.6, True)):
        minutes = np.concatenate([np.tile(nights, PAST_H // WEEK_H), longer * nights])
        watch = a_watch(np.ones(1), np.ones(WEEK_H), stopped=minutes)
        assert judge_change(watch, shipped_thresholds()).is_direct is is_worse


def test_three_hours_that_are_a_hundred_times_slower_hold_the_wave() -> None:
    assert hour_of(VerdictCode.HOLD, codes([1.0], [100.0] * 3)) <= 3


@pytest.mark.parametrize(
    ("past", "canary", "operations"),
    [
        pytest.param([1.0], [], 50_000.0, id="empty"),
        pytest.param([1.0], [1.0] * WEEK_H, 500.0, id="sparse and identical"),
        pytest.param([1.0], [1.0] * 9 + [1000.0] + [NAN] * 158, 50_000.0, id="one hour x1000"),
    ],
)
def test_what_shows_nothing_is_never_told(past: list[float], canary: list[float], operations: float) -> None:
    found = codes(past, canary, operations)
    assert set(found) <= {VerdictCode.WATCHING, VerdictCode.HOLD, VerdictCode.CANNOT_TELL}
    assert found[-1:] in ([], [VerdictCode.CANNOT_TELL])
