"""The functions of the validation, with the events that the state machine sends them, and what they answer."""

import json
import os
from unittest.mock import patch

import pytest

from functions import (
    attach_scratch,
    check_job,
    choose_volumes,
    clean_up,
    conclude,
    conclude_sweep,
    create_scratch,
    entry_point,
    plan_sweep,
    propose,
    send_command,
    sweep,
)
from plimsoll.model.errors import BadInput, NotMeasured
from plimsoll_measure.validation.job import JobName, job_document
from tests.contract.service_ports import home_account
from tests.pipelines.lab import Lab
from tests.pipelines.stepping import Stepping

from .calls import Context, ask

NAME = JobName(validation="v", index=0)
JOB = {"job": NAME.key}
ITEM = {"validation": "v", "index": 0, "item": {"volume_id": "vol-1"}}


@pytest.fixture(scope="module")
def account():
    with home_account() as found:
        yield found


@pytest.fixture
def stepping(tmp_path, account):
    """A service over a lab, which the functions are given, with a coordination table of its own."""
    made = Stepping(lab=Lab(tmp_path))
    given = {"PLIMSOLL_COORDINATION_TABLE": account.table("id")}
    with (
        patch.dict(os.environ, {**account.organization.environment, **given}),
        patch.object(entry_point, "service", lambda _more: made.service),
    ):
        yield made


def begun(stepping):
    """A validation that was chosen and proposed."""
    ask(choose_volumes, {"name": "v", "input": {"volume_id": "vol-1"}})
    return ask(propose, ITEM)


def until_ready(stepping, at):
    while not (told := ask(check_job, {**JOB, "at": at}))["ready"]:
        pass
    return told


def test_the_functions_carry_out_a_validation_by_the_events_of_the_state_machine(stepping):
    chosen = ask(choose_volumes, {"name": "v", "input": {"volume_id": "vol-1"}})
    place = {"account": "111122223333", "region": "us-east-1"}
    item = {**place, "volume_id": "vol-1", "target": None, "mode": "canary"}
    assert chosen == {"validation": "v", "items": [item], "left_out": 0, "unmeasured": []}
    assert ask(propose, {**ITEM, "item": item}) == {**JOB, "next": "create"}
    assert ask(create_scratch, JOB) == JOB
    assert until_ready(stepping, "volume") == {**JOB, "ready": True}
    assert ask(attach_scratch, JOB) == JOB
    assert until_ready(stepping, "attachment") == {**JOB, "ready": True}
    assert ask(send_command, JOB) == JOB
    assert until_ready(stepping, "command") == {**JOB, "ready": True}
    assert ask(clean_up, JOB) == {**JOB, "left": []}
    concluded = ask(conclude, JOB)
    assert (concluded["job"], concluded["again"], concluded["passed"]) == (JOB["job"], False, True)
    assert ask(propose, {**ITEM, "item": item}) == {**JOB, "next": "done"}
    assert not stepping.lab.leaked


def test_a_command_is_not_sent_twice_even_where_the_document_of_the_job_forgot_it(stepping):
    begun(stepping)
    ask(create_scratch, JOB)
    before = job_document(NAME).require(stepping.store)
    ask(send_command, JOB)
    job_document(NAME).put(stepping.store, before)
    assert ask(send_command, JOB) == JOB
    assert stepping.lab.bench.calls["send"] == 1


def test_a_failure_is_cleaned_up_after_and_noted_as_people_read_it(stepping):
    begun(stepping)
    ask(create_scratch, JOB)
    cause = json.dumps({"errorType": "NotMeasured", "errorMessage": "no fio there.", "trace": []})
    assert ask(clean_up, {**JOB, "error": {"Error": "NotMeasured", "Cause": cause}}) == {**JOB, "left": []}
    assert job_document(NAME).require(stepping.store).note == "no fio there."
    assert not stepping.lab.leaked
    assert not stepping.claims.held


def test_the_sweep_counts_what_there_is(stepping):
    begun(stepping)
    ask(create_scratch, JOB)
    planned = ask(plan_sweep, {"name": "s", "input": {}})
    assert (planned["sweep"], planned["accounts"]) == ("s", 1)
    (item,) = json.loads(stepping.store.get(planned["accounts_key"]))
    assert ask(sweep, {"sweep": "s", "account": item}) == {}
    told = ask(conclude_sweep, {"sweep": "s"})
    assert told == {"deleted": 0, "left": 0, "alive": 1, "failed": 0, "unswept": 0, "left_behind": []}


@pytest.mark.parametrize(
    ("function", "event", "said"),
    [
        (choose_volumes, {"name": "v", "input": {}}, "give either"),
        (choose_volumes, {"name": "v", "input": {"volume_id": "vol-1", "run_id": "r"}}, "give either"),
        (
            choose_volumes,
            {"name": "v", "input": {"volume_id": "vol-1", "mode": "raw"}},
            r"input\.mode is 'raw'.*canary",
        ),
        (choose_volumes, {"name": "v", "input": {"volume_id": "disk"}}, r"volume_id is 'disk'"),
        (
            choose_volumes,
            {"name": "v", "input": {"volume_id": "vol-1", "typ": "gp3"}},
            r"input\.typ is 'gp3': extra inputs",
        ),
        (choose_volumes, {"name": "v", "input": {"run_id": "r", "target": "gp3"}}, "target and mode are of one volume"),
        (propose, {"validation": "v", "index": -1}, "index is -1"),
        (propose, {"validation": "never", "index": 0}, "there is no job validations/never/0.json"),
        (check_job, {**JOB, "at": "moon"}, "at is 'moon'"),
        (create_scratch, {"job": "runs/v/0.json"}, "runs/v/0.json is no job of a validation"),
        (create_scratch, {"job": "validations/never/0.json"}, "there is no job"),
    ],
)
def test_bad_input_is_a_sentence(function, event, said, stepping):
    with pytest.raises(BadInput, match=said):
        function.handler(event, Context())


def test_steps_out_of_their_order_are_refused(stepping):
    ask(choose_volumes, {"name": "v", "input": {"volume_id": "vol-1"}})
    for function in (create_scratch, attach_scratch, send_command, conclude):
        with pytest.raises(BadInput, match="nothing is being measured for validations/v/0"):
            function.handler(dict(JOB), Context())
    ask(propose, ITEM)
    with pytest.raises(BadInput, match="no scratch volume was made"):
        ask(attach_scratch, JOB)
    with pytest.raises(BadInput, match="no command was sent"):
        ask(check_job, {**JOB, "at": "command"})


def test_a_command_that_may_have_been_sent_is_not_sent_again(stepping):
    begun(stepping)
    job = job_document(NAME).require(stepping.store)
    job_document(NAME).put(stepping.store, job.update_attempt(sending=stepping.lab.clock.now()))
    with pytest.raises(NotMeasured, match="may have been sent already"):
        ask(send_command, JOB)
    assert "send" not in stepping.lab.bench.calls
    assert NAME.holder == "v/0"
