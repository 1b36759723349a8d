"""Who asked for a validation has its verdict in their thread, or why nothing was measured."""

import json
from dataclasses import replace

import pytest

from plimsoll.model.errors import BadInput, CloudError, Throttled
from plimsoll_measure.runs import Mode
from plimsoll_service.slack.actions.asked import SlackRequest, asked_key
from plimsoll_service.slack.notifications.run_report import AuditEvent
from plimsoll_service.slack.notifications.verdicts import ExecutionEnded, ValidationEvent, post_verdict, request_for
from tests.builders import a_volume
from tests.in_memory.faults import Fault
from tests.pipelines.lab import Lab, work
from tests.pipelines.stepping import Stepping
from tests.slack.workspace import CHANNEL, MEMBER, TEAM, text_of
from tests.unit.service.slack.notifications.channels import a_slack

NAME = "slack-0a1b2c3d"
CLOUDY = {
    "version": "0",
    "id": "315c1398-40ff-a850-213b-158f73e60175",
    "detail-type": "Step Functions Execution Status Change",
    "source": "aws.states",
    "account": "111111111111",
    "time": "2026-11-21T19:42:21Z",
    "region": "us-east-1",
    "resources": [f"arn:aws:states:us-east-1:111111111111:execution:validation:{NAME}"],
}


def an_event(status="SUCCEEDED", **detail):
    """As Step Functions sends it (docs.aws.amazon.com/eventbridge/latest/ref/events-ref-states.html)."""
    arn = f"arn:aws:states:us-east-1:111111111111:execution:validation:{NAME}"
    machine = "arn:aws:states:us-east-1:111111111111:stateMachine:validation"
    told = {
        "executionArn": arn,
        "stateMachineArn": machine,
        "name": NAME,
        "status": status,
        "startDate": 1551225146847,
        "stopDate": 1551225151881,
        "input": '{"volume_id": "vol-1"}',
        "inputDetails": {"included": True},
        "output": None,
        "outputDetails": None,
        **detail,
    }
    return {**CLOUDY, "detail": told}


def ended(status="SUCCEEDED", **detail):
    return ValidationEvent.model_validate(an_event(status, **detail)).detail


def asked_in(slack, **facts):
    """Somebody pressed Validate under a message."""
    channel = facts.pop("channel", CHANNEL)
    thread = None
    if channel is not None:
        answer = slack_message(slack, channel)
        thread = answer["ts"]
    usual = {"id": "0a1b2c3d", "team": TEAM, "user": MEMBER, "do": "validate", "volume": "vol-1"}
    return SlackRequest(**{**usual, "channel": channel, "thread": thread, **facts})


def slack_message(slack, channel):
    return slack.client.chat_postMessage(channel=channel, text="the report")


@pytest.fixture
def slack():
    with a_slack() as (there, client):
        there.client = client
        yield there


def keep_asker(service, asked):
    service.store.put(asked_key(NAME), asked.model_dump_json().encode())


def answers(slack, asked):
    return [text_of({"text": one.text, "blocks": one.blocks}) for one in slack.there.in_thread(asked.thread)]


def validated(tmp_path, slack, *volumes, status="SUCCEEDED", detail=None, given=None, **lab):
    """A whole validation that was asked for in Slack, and what was said in the thread when it had ended."""
    stepping = Stepping(lab=Lab(tmp_path, *volumes, **lab))
    asked = asked_in(slack)
    keep_asker(stepping.service, asked)
    stepping.validate(NAME, **(given or {}))
    told = post_verdict(stepping.service, ended(status, **(detail or {})), slack.client)
    assert told.posted
    (said,) = answers(slack, asked)
    return said


def test_a_volume_that_passes_has_measured_against_needed_in_the_thread(tmp_path, slack):
    said = validated(tmp_path, slack)
    assert said.startswith("Passed: gp3 500 GiB")
    assert "1,200 needed" in said
    assert "evidence A" in said
    assert "i-bench" in said
    (message,) = slack.there.in_thread(slack.there.in_channel()[0].ts)
    assert {"type": "user", "user_id": MEMBER} in message.blocks[-1]["elements"][0]["elements"]


def test_one_that_does_not_pass_says_by_what_and_what_is_recommended_now(tmp_path, slack):
    said = validated(tmp_path, slack, work_of={"vol-1": work(1400.0, 100.0)}, shares={"gp3": 0.01, "io2": 0.01})
    assert said.startswith("Did not pass: ")
    assert "why not: delivered only" in said
    assert "Recommended now: " in said
    assert "Before: " in said


def test_each_round_is_told_where_the_first_offer_fails_and_the_next_is_measured(tmp_path, slack):
    volume = a_volume("io2", 500, iops=20_000, id="vol-1")
    said = validated(tmp_path, slack, volume, work_of={"vol-1": work(2500.0, 40.0)}, shares={"gp3": 0.9})
    assert said.startswith("Passed: gp3 500 GiB 3,4")
    assert "gp3 500 GiB 3,000 IOPS 125 MiB/s is not enough for vol-1" in said
    assert "measurements" in said


def test_a_simulated_bench_is_said_to_be_one(tmp_path, slack):
    stepping = Stepping(lab=Lab(tmp_path))
    stepping.lab.simulated = True
    asked = asked_in(slack)
    keep_asker(stepping.service, asked)
    stepping.validate(NAME)
    post_verdict(stepping.service, ended(), slack.client)
    assert "no device was measured" in answers(slack, asked)[0]


def test_where_nothing_could_be_measured_the_sentence_of_the_command_is_said(tmp_path, slack):
    said = validated(tmp_path, slack, faults=[Fault(step="hosts", error=Throttled("no hosts now."))])
    assert said.startswith("Nothing was measured for vol-1: ")
    assert "no hosts now." in said


def test_a_budget_that_allows_nothing_is_said(tmp_path, slack):
    stepping = Stepping(lab=Lab(tmp_path), bounds={"max_usd": 0})
    asked = asked_in(slack)
    keep_asker(stepping.service, asked)
    stepping.validate(NAME)
    post_verdict(stepping.service, ended(), slack.client)
    assert "the budget allows no run of it" in answers(slack, asked)[0]


CAUSE = {"errorMessage": "there is no volume vol-1 in the accounts of this service.", "errorType": "BadInput"}
ENDINGS = {
    "our own error": ("FAILED", {"error": "BadInput", "cause": json.dumps(CAUSE)}, "there is no volume vol-1 in the"),
    "another's": ("FAILED", {"error": "States.Runtime", "cause": "no such path"}, "States.Runtime: no such path"),
    "no word": ("FAILED", {"error": None, "cause": None}, "Step Functions tells no more"),
    "too long": ("TIMED_OUT", {}, "took longer than it may"),
    "stopped": ("ABORTED", {}, "was stopped before its end"),
}


@pytest.mark.parametrize(("status", "detail", "why"), ENDINGS.values(), ids=ENDINGS)
def test_an_execution_that_failed_before_any_work_says_why(status, detail, why, tmp_path, slack):
    stepping = Stepping(lab=Lab(tmp_path))
    asked = asked_in(slack)
    keep_asker(stepping.service, asked)
    assert post_verdict(stepping.service, ended(status, **detail), slack.client).posted
    (said,) = answers(slack, asked)
    assert said.startswith("Nothing was measured for vol-1: ")
    assert why in said


def test_where_no_more_is_kept_of_the_work_that_is_said(tmp_path, slack):
    stepping = Stepping(lab=Lab(tmp_path))
    asked = asked_in(slack)
    keep_asker(stepping.service, asked)
    stepping.validate(NAME)
    for key in list(stepping.service.store.keys("validations/")):
        stepping.service.store.delete(key)
    assert post_verdict(stepping.service, ended(), slack.client).posted
    (said,) = answers(slack, asked)
    assert said.startswith("Nothing was measured for vol-1: it has ended, but its result is no longer kept")


def test_told_by_hand_a_name_and_how_it_ended_are_enough():
    event = ValidationEvent.model_validate({"detail": {"name": NAME, "status": "SUCCEEDED"}})
    assert event.detail.trouble is None
    assert AuditEvent.model_validate({"detail": {"run_id": "first"}}).topic == "first"


def test_what_was_measured_before_an_execution_failed_is_told_as_well(tmp_path, slack):
    said = validated(tmp_path, slack, status="TIMED_OUT")
    assert said.startswith("Passed: ")
    assert "took longer than it may" in said


def test_in_place_and_a_volume_by_its_full_name_are_answered_as_well(tmp_path, slack):
    volume_id = "111122223333/us-east-1/vol-1"
    given = {"volume_id": volume_id, "mode": Mode.IN_PLACE}
    said = validated(tmp_path, slack, given=given, work_of={"vol-1": work(500.0, 8.0)})
    assert "for vol-1" in said.splitlines()[0]
    assert "beside its own workload" in said or "measured" in said


def test_who_asked_outside_a_thread_is_told_alone(tmp_path, slack):
    slack.there.channels[MEMBER] = "anna's own messages with the app"
    stepping = Stepping(lab=Lab(tmp_path))
    keep_asker(stepping.service, asked_in(slack, channel=None, response_url=slack.response_url()))
    stepping.validate(NAME)
    assert post_verdict(stepping.service, ended(), slack.client).posted
    (message,) = slack.there.in_channel(MEMBER)
    assert message.text.startswith("Passed: ")


def test_where_nobody_asked_in_slack_nobody_is_told(tmp_path, slack):
    stepping = Stepping(lab=Lab(tmp_path))
    assert not post_verdict(stepping.service, ended(), slack.client).posted
    keep_asker(stepping.service, asked_in(slack, do="audit", volume=None))
    assert not post_verdict(stepping.service, ended(), slack.client).posted
    assert len(slack.there.messages) == 1, "the message that was there before"


def test_slack_s_refusal_is_raised_with_its_remedy_so_that_it_is_tried_again(tmp_path, slack):
    stepping = Stepping(lab=Lab(tmp_path))
    asked = asked_in(slack)
    keep_asker(stepping.service, asked)
    slack.fail("chat.postMessage", error="not_in_channel")
    with pytest.raises(CloudError, match="/invite @plimsoll"):
        post_verdict(stepping.service, ended("ABORTED"), slack.client)
    assert post_verdict(stepping.service, ended("ABORTED"), slack.client).posted
    assert len(answers(slack, asked)) == 1


def test_what_is_kept_of_the_asker_comes_back_and_damage_is_named(tmp_path, slack):
    service = replace(Stepping(lab=Lab(tmp_path)).service)
    asked = asked_in(slack)
    keep_asker(service, asked)
    assert request_for(NAME, service.store) == asked
    service.store.put(asked_key(NAME), b"{")
    with pytest.raises(BadInput, match=f"slack/asked/{NAME}"):
        request_for(NAME, service.store)


def test_an_event_of_an_execution_that_has_not_ended_is_none_of_ours():
    with pytest.raises(ValueError, match="status"):
        ended("RUNNING")
    assert ended().trouble is None
    assert ExecutionEnded(name=NAME, status="FAILED", error="Throttled", cause="later.").trouble == "later."
