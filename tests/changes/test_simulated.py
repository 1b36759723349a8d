"""Changes of the simulator: stopped minutes are told while the cloud still moves data, and weeks before calibrate."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

import numpy as np
import pytest

from plimsoll.model.errors import CloudError
from plimsoll.model.units import HOUR_S
from plimsoll.model.volume import Modification, Volume
from plimsoll.ports import Target
from plimsoll.reading.known import Ask, Found
from plimsoll_change.apply import Rollout
from plimsoll_change.ledger import CALIBRATION_ROW, ChangeLedger, FactKind, Leg
from plimsoll_change.thresholds import shipped_thresholds
from plimsoll_change.verdict import judge_change
from plimsoll_change.watch import WEEK_H, OwnLevels, VerdictCode
from tests.canary.watches import a_watch
from tests.changes.simulated import (
    BEFORE,
    CONTROLS,
    NOW,
    SimulatedMetrics,
    begin_rollout,
    draw_changes,
    tell_outcome,
)

THIRTEEN_WEEKS_H: Final = 13 * WEEK_H


def test_minutes_that_are_stopped_while_optimizing_are_told_then_and_taken_back_within_the_hour() -> None:
    """Large volumes, which the cloud optimizes for hours, with targets under what they ask for."""
    drawn = [each for each in draw_changes(60, 3, harmed=1.0, raised=0.0) if each.volume.spec.size_gib >= 400][:8]
    rollout, account = begin_rollout(drawn, 3)
    while rollout.context.now < NOW + timedelta(hours=26):
        rollout.take_pass()
        rollout.context.patience.pause(600)
    jobs = {job.line.volume_id: job for job in rollout.progress.jobs.values()}
    early = 0
    for change in drawn:
        job = jobs[change.volume.id]
        outcome = tell_outcome(change, job, account)
        assert outcome.late_h <= 1, outcome
        told_back = {fact.code for fact in job.facts if fact.kind is FactKind.VERDICT and fact.leg is Leg.BACK}
        assert VerdictCode.WORSE not in told_back, "what was stopped until it was back is no fault of the way back"
        if outcome.waited_h > 0:
            early += 1
            (verdict,) = (fact for fact in job.facts if fact.kind is FactKind.VERDICT and fact.leg is Leg.FORTH)
            assert (verdict.code, verdict.verdict is not None and verdict.verdict.is_direct) == (
                VerdictCode.WORSE,
                True,
            )
            assert outcome.crossed_h is not None
            told_h = (verdict.at - NOW) / timedelta(hours=1)
            assert told_h <= min(outcome.crossed_h + 1, outcome.completed_h)
            assert job.find(FactKind.COMPLETED, Leg.FORTH) is None
    assert early >= 3


@pytest.mark.parametrize(
    ("count", "weeks", "words"),
    [
        (16, 210, "own calibration, 210 weeks"),
        (2, 112, "the larger of the shipped calibration and that of 112 own weeks"),
    ],
)
def test_a_plan_is_calibrated_once_on_weeks_before_it_was_made(count: int, weeks: int, words: str) -> None:
    """Seven weeks of each volume of the plan and of the fourteen beside them."""
    rollout, _ = begin_rollout(draw_changes(count, 7), 7)
    asked = note_asked(rollout)
    while not any(job.find(FactKind.COMPLETED) for job in rollout.progress.jobs.values()):
        rollout.take_pass()
        rollout.context.patience.pause(1800)
    (fact,) = rollout.context.ledger.facts(CALIBRATION_ROW)
    assert fact.own_levels is not None
    assert fact.own_levels.weeks == weeks
    assert (asked.count(THIRTEEN_WEEKS_H), max(asked)) == (count + CONTROLS, THIRTEEN_WEEKS_H)
    asked.clear()
    ledger = ChangeLedger(store=rollout.context.ledger.store, plan=rollout.context.plan)
    ledger.read()
    judge = replace(rollout.judge, ledger=ledger, _thresholds=None)
    verdicts = judge.judge_lines(rollout.progress, list(rollout.progress.jobs.values()), rollout.context.now)
    assert THIRTEEN_WEEKS_H not in asked, "another process reads the ledger"
    assert {verdict.own_weeks for verdict in verdicts.values()} == {weeks}
    slow = judge_change(a_watch(np.ones(1), np.full(WEEK_H, 3.0)), judge._find_thresholds(rollout.context.now))
    assert slow.text.endswith(f"; {words}.")


def test_a_placebo_has_the_siblings_that_its_change_will_have() -> None:
    """The other volumes of a plan change as well: only its controls stay as they are."""
    rollout, _ = begin_rollout(draw_changes(16, 7), 7)
    plan = rollout.context.plan
    apart = tuple(replace(line, application=line.id, zone=line.id) for line in plan.lines)

    def learn(**fields: object) -> OwnLevels:
        rollout.judge.ledger.plan = replace(plan, **fields)
        return rollout.judge._learn_levels(shipped_thresholds(), NOW)

    assert learn(controls=()) == learn(controls=(), lines=apart)
    assert learn() != learn(lines=apart)


def test_weeks_that_cannot_be_read_leave_the_shipped_calibration_until_they_can() -> None:
    rollout, account = begin_rollout(draw_changes(2, 7), 7)
    said: list[str] = []

    class Denied(SimulatedMetrics):
        def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
            raise CloudError("denied")

    denied = Denied(cloudwatch=account.cloudwatch)
    judge = replace(rollout.judge, metrics=lambda _: denied, say=said.append)
    assert judge._find_thresholds(NOW) is shipped_thresholds()
    assert said == ["the shipped calibration holds, as the account's own weeks cannot be read now: denied"]
    judge.metrics = rollout.judge.metrics
    assert judge._find_thresholds(NOW).slower.own_weeks == 112


def test_weeks_since_a_volume_was_modified_are_no_placebos() -> None:
    rollout, account = begin_rollout(draw_changes(2, 7), 7)
    volume_id = rollout.context.plan.lines[0].volume_id
    look = account.look

    def see(target: Target, names: Sequence[str]) -> Mapping[str, Volume | CloudError]:
        modified = Modification(state="completed", started=NOW - timedelta(weeks=3), original=BEFORE, target=BEFORE)
        return {
            name: replace(volume, modification=modified) if name == volume_id and isinstance(volume, Volume) else volume
            for name, volume in look(target, names).items()
        }

    account.look = see  # type: ignore[method-assign]
    assert rollout.judge._find_thresholds(NOW).slower.own_weeks == 112 - 3


def note_asked(rollout: Rollout) -> list[int]:
    """The hours of each look at signals that the judge asks for, as it asks."""
    metrics, hours = rollout.judge.metrics("aws"), list[int]()
    read = metrics.read

    def noted(asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        hours.extend(ask.look.window.buckets(HOUR_S) for ask in asks if ask.look.period_s == HOUR_S)
        return read(asks)

    metrics.read = noted  # type: ignore[method-assign]
    return hours
