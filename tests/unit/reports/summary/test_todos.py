"""What to do first: every volume in one step, steps in the order in which to act, and what matters most named."""

from pathlib import Path

from hypothesis import given

from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.summary.step_words import judged_by, step_words
from plimsoll.reports.summary.todos import todos
from tests.builders import a_policy
from tests.unit.reports.fleets import FLEETS, fleet_of
from tests.unit.reports.recommendations import a_record

FOLDER = Path("plimsoll-runs/a run")


@given(FLEETS)
def test_every_volume_is_in_one_step_and_steps_come_in_their_order(records):
    found = list(todos(fleet_of(records), a_policy(), FOLDER))
    assert [todo.step for todo in found] == [step for step in Step if any(step_of(one) is step for one in records)]
    assert sum(len(todo.first) + todo.more for todo in found) == len(records)
    for todo in found:
        assert all(step_of(record) is todo.step for record in todo.first)


def test_the_volumes_named_first_are_those_that_matter_most():
    fleet = fleet_of(
        [a_record("detached", volume_id=f"vol-{usd}", monthly_usd_now=float(usd)) for usd in (3, 9, 1, 7, 5)]
    )
    (todo,) = todos(fleet, a_policy(), FOLDER)
    assert [record.volume_id for record in todo.first] == ["vol-9", "vol-7", "vol-5"]
    assert todo.more == 2


def test_a_measurement_is_asked_for_by_a_command_that_can_be_pasted():
    evidence = a_record().evidence.model_copy(update={"grade": "C"})
    record = a_record(evidence=evidence, monthly_usd_saved=10.0, monthly_usd_saved_at_parity=0.0)
    (todo,) = todos(fleet_of([record]), a_policy(), FOLDER)
    assert todo.step is Step.MEASURE
    assert todo.command == "plimsoll validate --recommendation 'plimsoll-runs/a run'"


def test_every_step_has_words_under_every_policy():
    for step in Step:
        words = step_words(step, a_policy(lookback_days=1, resolution_s=3600, peak_quantile=0.99))
        assert all((words.name, words.title, words.why))
    assert judged_by(a_policy(lookback_days=1, resolution_s=3600, peak_quantile=0.99, headroom_pct=12.5)) == (
        "the 99th percentile by the hour of the last day with 12.5 % headroom"
    )
