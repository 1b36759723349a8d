"""A verdict is read at a glance, whatever the names and however much went wrong, and Slack takes it."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.reports.record import EvidenceRecord
from plimsoll_service.slack.notifications.verdicts import ValidationResult, verdict_message
from tests.profiles import examples
from tests.slack.limits import check_message
from tests.slack.workspace import text_of
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.strategies import HOSTILE, names

PROVED = EvidenceRecord(grade="A", envelope="gp3-us-east-1", text="measured here on 2026-11-20")


def measured(**facts):
    usual = {
        "id": "1a2b3c4d",
        "at": datetime(2026, 11, 20, 12, tzinfo=UTC),
        "class_key": "aws/gp3",
        "mode": "canary",
        "account": "111122223333",
        "region": "us-east-1",
        "zone": "us-east-1a",
        "volume_id": "vol-1",
        "serves": ["vol-1"],
        "spec": {"type": "gp3", "size_gib": 500, "iops": 3000, "throughput_mib_s": 125},
        "ceiling_iops": 3000.0,
        "ceiling_throughput_mib_s": 125.0,
        "need_iops": 1200.0,
        "need_throughput_mib_s": 19.2,
        "bench_host": "i-bench",
        "bench_host_type": "m5.large",
        "passed": True,
        "reasons": [],
        "failures": [],
        "shown_iops": 3012.4,
        "shown_throughput_mib_s": 125.2,
        "p99_latency_us": 812.0,
        "too_slow": False,
        "simulated": False,
        "campaign": "gp3-us-east-1-20261120t120000-1a2b3c4d",
        "usd": 0.0037,
        "seconds": 240.0,
    }
    return ValidationLine.model_validate({**usual, **facts})


def validated(*found, **facts):
    usual = {"user": "U0ANNA", "volume": "111122223333/us-east-1/vol-1", "measured": found, "problems": ()}
    usual["p99_allowed_us"] = 10_000.0
    return ValidationResult(**{**usual, **facts})


def told(found):
    message = verdict_message(found).payload
    check_message(message)
    return message


def lines(found):
    return text_of(told(found)).splitlines()


def test_the_verdict_is_in_the_first_words_of_message_and_notification():
    message = told(validated(measured()))
    assert message["text"] == "Passed: gp3 500 GiB 3,000 IOPS 125 MiB/s for vol-1"
    assert text_of(message["blocks"][0]).startswith("Passed: ")
    failed = told(validated(measured(passed=False, failures=["delivered only 400 IOPS of the 1,200 that are needed"])))
    assert failed["text"].startswith("Did not pass: gp3")
    assert text_of(failed["blocks"][0]).startswith("Did not pass: ")
    assert "why not: delivered only 400 IOPS" in text_of(failed)


def test_measured_stands_against_needed_with_units():
    text = "".join(lines(validated(measured())))
    for words in (
        "3,012 IOPS measured, 1,200 needed",
        "125 MiB/s measured, 19 needed",
        "p99 latency 812 us at the workload's rate, 10,000 us allowed",
        "1 measurement on i-bench (m5.large) in us-east-1a, 4 min, $0.004 for scratch volumes",
        "Kept as gp3-us-east-1-20261120t120000-1a2b3c4d.",
    ):
        assert words in text
    assert "Simulated" not in text


def test_what_is_not_known_is_not_said_to_be_zero():
    text = "".join(lines(validated(measured(p99_latency_us=None, usd=None))))
    assert "p99 latency not known" in text
    assert "$" not in text


def test_a_simulated_bench_is_said_to_be_one():
    assert "Simulated: no device was measured" in "".join(lines(validated(measured(simulated=True))))


def test_what_is_recommended_now_is_told_and_what_was_before_where_it_differs():
    before, after = a_record(), a_record(evidence=PROVED, name="orders")
    text = "".join(lines(validated(measured(), before=before, after=after)))
    assert "Recommended now: migrate, gp2 500 GiB → gp3 500 GiB" in text
    assert "evidence A: Measured in this account and region" in text
    assert "Before: migrate" in text
    assert "vol-1 (orders)" in text
    assert "Before" not in "".join(lines(validated(measured(), before=after, after=after)))


def test_who_asked_is_named_so_that_slack_tells_them():
    for found in (validated(measured()), validated(problems=["there is no volume vol-1."])):
        assert {"type": "user", "user_id": "U0ANNA"} in told(found)["blocks"][-1]["elements"][0]["elements"]


def test_where_nothing_was_measured_the_sentence_says_why():
    message = told(validated(problems=["no host with the tag plimsoll:bench=true is there: tag one."]))
    assert message["text"] == (
        "Nothing was measured for vol-1: no host with the tag plimsoll:bench=true is there: tag one."
    )
    assert "plimsoll:bench" in text_of(message)
    assert "no reason is known" in told(validated())["text"]


def test_a_measurement_and_what_went_wrong_after_it_are_both_told():
    text = text_of(told(validated(measured(passed=False), problems=["States.Timeout: the host was gone."])))
    assert "Did not pass" in text
    assert "the host was gone" in text


def texts_in(value, key=None):
    """Every text of blocks that Slack reads as markup."""
    if isinstance(value, dict):
        if value.get("type") == "mrkdwn":
            yield value["text"]
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


rates = st.floats(0, 1e12)
measurements = st.builds(
    measured,
    passed=st.booleans(),
    shown_iops=rates,
    need_iops=rates,
    p99_latency_us=st.none() | rates,
    usd=st.none() | rates,
    simulated=st.booleans(),
    failures=st.lists(names, max_size=6),
    bench_host=names,
    campaign=names,
)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(measurements, max_size=5), st.lists(names | st.just("x" * 50_000), max_size=5), st.none() | names)
def test_slack_takes_every_verdict_and_no_name_is_markup(found, problems, name):
    record = None if name is None else a_record(name=name)
    message = told(validated(*found, problems=problems, before=record, after=record))
    assert json.loads(json.dumps(message)) == message
    assert not list(texts_in(message["blocks"]))
    assert not set("<>") & set(message["text"])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_does_not_hide_the_verdict(name):
    message = told(validated(measured(), after=a_record(name=name)))
    assert message["text"].startswith("Passed: gp3 500 GiB")
