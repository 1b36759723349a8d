"""Figures and names as every report says them."""

from hypothesis import given
from hypothesis import strategies as some

from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER, SignalsRecord
from plimsoll.reports.wording import (
    NAME_LENGTH,
    change_words,
    coverage_words,
    cut,
    losses_in_words,
    outcome_text,
    plight,
    usd,
)
from tests.builders import a_demand, a_volume, decision
from tests.unit.reports.fleets import special_records
from tests.unit.reports.recommendations import a_record


def test_a_change_to_a_lesser_type_names_its_losses():
    worse = decision(a_volume("io2", 500, iops=3_000), a_demand(200, 10))
    told = losses_in_words(record_of(worse, provider=FIRST_PROVIDER))
    assert [what.partition(" (")[0] for what in told] == ["latency", "durability", "consistency"]


def test_the_latency_that_was_seen_stands_beside_the_class_that_is_given_up():
    worse = record_of(decision(a_volume("io2", 500, iops=3_000), a_demand(200, 10)), provider=FIRST_PROVIDER)
    seen = {"start": "2026-11-10T00:00:00+00:00", "end": "2026-11-24T00:00:00+00:00"}
    figures = dict.fromkeys(SignalsRecord.model_fields) | {"days_observed": 14, "mean_read_latency_ms": 0.41}
    told = losses_in_words(worse.model_copy(update={"signals": SignalsRecord.model_validate(figures | seen)}))
    assert told[0].endswith(": reads take 0.41 ms today")
    assert not any("today" in what for what in told[1:])


@given(some.text(), some.integers(1, 80))
def test_a_cut_name_is_one_line_and_no_longer_than_asked(text, length):
    assert len(cut(text, length)) <= length
    assert len(cut(text, length).splitlines()) <= 1
    assert len(cut(text)) <= NAME_LENGTH


def test_coverage_is_one_line_that_names_what_was_not_received():
    whole = a_record().demand.model_copy(update={"hours_observed": 336.0, "hours_expected": 336.0})
    assert coverage_words(whole) == "observed 336.0 hours"
    assert coverage_words(whole.model_copy(update={"hours_expected": None})) == "observed 336.0 hours"
    part = {
        "hours_observed": 334.0,
        "series_received_pct": {"read_ops": 100.0, "write_ops": 99.4},
        "disputed_hours": 2.0,
    }
    assert coverage_words(whole.model_copy(update=part)) == (
        "observed 334.0 of 336.0 hours; write_ops 99.4 %; 2.0 hours disputed"
    )


def test_money_and_changes_in_words():
    record = a_record()
    assert usd(-7.841) == "-$7.84"
    assert usd(-0.001) == "$0.00"
    assert " → gp3 " in change_words(record)
    assert "→" not in change_words(a_record("keep"))
    assert outcome_text(record).startswith("saves $")
    assert outcome_text(special_records()["dear upgrade"][0]) == "costs $99.50 a month more"
    assert plight(a_record("upgrade")).startswith("throttled in ")
    assert plight(record) == ""
