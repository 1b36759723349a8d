"""What to do first: every volume in one step, steps in the order in which to act, and what matters most named."""

import shlex
from pathlib import Path

import pytest
from hypothesis import given

from plimsoll.model.policy import SizeOn
from plimsoll.reports.record import BlockerRecord
from plimsoll.reports.steps import Step, observed_words, requirement_words, step_of, step_words
from tests.builders import a_policy
from tests.unit.reports.fleets import FLEETS, steps_of
from tests.unit.reports.recommendations import a_record

FOLDER = Path("plimsoll-runs/a run")


@given(FLEETS)
def test_every_volume_is_in_one_step_and_steps_come_in_their_order(records):
    found = list(steps_of(records, a_policy(), FOLDER).steps)
    assert [todo.step for todo in found] == [step for step in Step if any(step_of(one) is step for one in records)]
    assert sum(len(todo.first) + todo.more for todo in found) == len(records)
    for todo in found:
        assert all(step_of(record) is todo.step for record in todo.first)


def test_the_volumes_named_first_are_those_that_matter_most():
    fleet = [a_record("detached", volume_id=f"vol-{usd}", monthly_usd_now=float(usd)) for usd in (3, 9, 1, 7, 5)]
    (todo,) = steps_of(fleet, a_policy(), FOLDER).steps
    assert [record.volume_id for record in todo.first] == ["vol-9", "vol-7", "vol-5"]
    assert todo.more == 2


def test_a_measurement_is_asked_for_by_a_command_that_can_be_pasted():
    evidence = a_record().evidence.model_copy(update={"grade": "C"})
    record = a_record(evidence=evidence, monthly_usd_saved=10.0, monthly_usd_saved_drop_in=0.0)
    (todo,) = steps_of([record], a_policy(), FOLDER).steps
    assert todo.step is Step.MEASURE
    assert todo.command == "plimsoll validate --recommendation 'plimsoll-runs/a run'"


def test_the_changes_that_give_nothing_up_are_had_by_one_command():
    (todo,) = steps_of([a_record(cuts=[], losses=[])], a_policy(), FOLDER).steps
    assert todo.step is Step.SAFE
    words = ["plimsoll", "report", str(FOLDER), "--format", "changes", "--where", "step = 'safe'", "--out", "changes"]
    assert shlex.split(todo.command) == words


def test_volumes_that_wait_are_named_with_the_first_day_and_what_may_be_saved():
    later = a_record("wait", volume_id="vol-2").wait.model_copy(update={"until": "2026-12-02"})
    (todo,) = steps_of([a_record("wait", wait=later), a_record("wait")], a_policy(), FOLDER).steps
    assert todo.volumes == "2 volumes, from 2026-11-30 on"
    assert todo.money.endswith(" a month possible later")
    assert {record.wait.until for record in todo.first} == {"2026-11-30", "2026-12-02"}


def test_every_step_has_words_under_every_policy():
    for step in Step:
        words = step_words(step, a_policy(lookback_days=1, resolution_s=3600, throttle_budget_min=5))
        assert all((words.name, words.title, words.why))
    assert requirement_words(a_policy(lookback_days=1, resolution_s=3600, headroom_pct=12.5)) == (
        "every hour of the last day with 12.5 % headroom"
    )
    assert requirement_words(a_policy(throttle_budget_min=5)).endswith(", but for 5 throttled minutes in 30 days")


@pytest.mark.parametrize("step", [Step.PROVED, Step.TRADE])
def test_what_is_proved_names_the_risks_that_are_left(step):
    why = step_words(step, a_policy()).why
    assert "bursts within a minute, which its average hides where the cloud keeps no busiest second" in why
    assert "did not run in the last 14 days" in why
    assert "which its average hides, and" in step_words(step, a_policy(size_on=SizeOn.AVERAGE)).why
    assert "bursts" not in step_words(step, a_policy(size_on=SizeOn.BUSY_TIME)).why


def test_what_is_proved_elsewhere_or_long_ago_is_told_as_that():
    assert "elsewhere or longer ago for grade B" in step_words(Step.PROVED, a_policy()).why


@pytest.mark.parametrize("step", [Step.THROTTLED, Step.PROVED, Step.TRADE, Step.MEASURE])
def test_one_volume_is_judged_by_the_hours_that_it_was_observed(step):
    why = step_words(step, a_policy(), observed_words(30.4)).why
    assert "of the 30 hours observed" in why
    assert "14 days" not in why


def test_blocked_upgrades_stand_with_what_is_blocked():
    blocked = a_record("upgrade", blockers=[BlockerRecord(code="state", text="it is being changed")])
    found = steps_of([blocked, a_record("upgrade"), a_record("upgrade")], a_policy(), FOLDER).steps
    assert [(todo.step, todo.volumes) for todo in found] == [
        (Step.THROTTLED, "2 volumes"),
        (Step.BLOCKED, "1 volume"),
    ]


def test_the_step_that_holds_the_money_is_named_where_several_save():
    one = a_record("upgrade", monthly_usd_saved=1.0, monthly_usd_saved_drop_in=0.0)
    other = a_record(monthly_usd_saved=20.0, monthly_usd_saved_drop_in=0.0)
    assert steps_of([one, a_record("keep"), other], a_policy(), FOLDER).most_money == (
        "The most money is in step 1, which saves $20.00 of the $21.00 a month."
    )
    assert steps_of([other, other], a_policy(), FOLDER).most_money == ""
