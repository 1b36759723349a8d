"""What failed for good is kept by name, in a sentence."""

import json

import pytest

from plimsoll.model.errors import BadInput, Throttled
from plimsoll_service.inventory import take_inventory
from plimsoll_service.step_messages import AccountMessage, FailureMessage, StepError
from plimsoll_service.summarizing import note_failure
from tests.builders import NOW
from tests.service_loop import Loop, files, run_json
from tests.unit.service.places import ACCOUNT, places_of, service_of, volumes

LAMBDA = json.dumps({"errorMessage": "AWS kept throttling.", "errorType": "Throttled", "stackTrace": ["a", "b"]})
TIMEOUT = json.dumps({"errorType": "Sandbox.Timedout", "errorMessage": "Error: Task timed out after 900.00 seconds"})


@pytest.mark.parametrize(
    ("error", "cause", "sentence"),
    [
        (Throttled.__name__, LAMBDA, "AWS kept throttling."),
        ("Sandbox.Timedout", TIMEOUT, "Sandbox.Timedout: Error: Task timed out after 900.00 seconds"),
        ("Lambda.Unknown", "The process\nended.", "Lambda.Unknown: The process ended."),
        ("States.Timeout", "", "States.Timeout, and Step Functions tells no more."),
        ("KeyError", '{"errorMessage": "\'x\'"}', "KeyError: 'x'"),
        ("States.TaskFailed", "[1]", "States.TaskFailed: [1]"),
    ],
)
def test_an_error_of_step_functions_is_a_sentence(error, cause, sentence):
    assert StepError(Error=error, Cause=cause).sentence == sentence


def test_a_cause_with_a_long_traceback_is_cut():
    assert len(StepError(Error="MemoryError", Cause="x" * 30_000).sentence) < 1100


def test_a_failure_of_nothing_is_refused(tmp_path):
    told = FailureMessage(run_id="first", error=StepError(Error="Throttled", Cause=LAMBDA))
    with pytest.raises(BadInput, match="neither an account nor a batch"):
        note_failure(service_of(places_of(()), tmp_path), told)


def test_of_an_account_that_kept_failing_the_targets_without_an_inventory_are_named_and_the_others_answered(tmp_path):
    places = places_of([*volumes(2, region="af-south-1"), *volumes(1, region="eu-west-1")])
    loop = Loop(service=service_of(places, tmp_path), now=NOW)
    loop.begin()
    told = {"run_id": "first", "account": {"account": ACCOUNT}}
    assert take_inventory(loop.service, AccountMessage(**told), stop=lambda: True).left == 1
    note_failure(loop.service, FailureMessage(**told, error=StepError(Error="Throttled", Cause=LAMBDA)))
    loop.audit_batches("first")
    assert loop.end("first").status == "partial"
    run = run_json(files(loop.service, "first"))
    assert run["failures"]["targets"] == {f"{ACCOUNT}/eu-west-1": "AWS kept throttling."}
    assert run["volumes"]["answered"] == 2


def test_an_account_that_kept_failing_before_it_was_entered_is_named(tmp_path):
    loop = Loop(service=service_of(places_of(volumes(1)), tmp_path), now=NOW)
    loop.begin()
    told = {"run_id": "first", "account": {"account": ACCOUNT}}
    note_failure(loop.service, FailureMessage(**told, error=StepError(Error="Throttled", Cause=LAMBDA)))
    loop.audit_batches("first")
    assert loop.end("first").status == "partial"
    assert run_json(files(loop.service, "first"))["failures"]["targets"] == {ACCOUNT: "AWS kept throttling."}


@pytest.mark.parametrize("entered", [False, True])
def test_what_nothing_was_kept_of_is_not_missing_in_silence(tmp_path, entered):
    places = places_of([*volumes(1), *volumes(1, region="eu-west-1")])
    loop = Loop(service=service_of(places, tmp_path), now=NOW)
    loop.begin()
    if entered:
        told = AccountMessage(run_id="first", account={"account": ACCOUNT})
        assert take_inventory(loop.service, told, stop=lambda: True).left == 1
    loop.audit_batches("first")
    assert loop.end("first").status == "partial"
    ((name, why),) = run_json(files(loop.service, "first"))["failures"]["targets"].items()
    assert name == (f"{ACCOUNT}/us-east-1" if entered else ACCOUNT)
    assert "run again with the run id first" in why


def test_what_was_kept_as_a_whole_has_not_failed_whatever_its_function_says(tmp_path):
    loop = Loop(service=service_of(places_of(volumes(2)), tmp_path), now=NOW)
    loop.begin()
    loop.take_inventories("first")
    loop.audit_batches("first")
    place = {"account": ACCOUNT, "region": "us-east-1"}
    for what in ({"account": {"account": ACCOUNT}}, {"lot": {"batches": [{**place, "batch": 0}], "sharing": 1}}):
        told = {"run_id": "first", **what, "error": StepError(Error="Sandbox.Timedout", Cause=TIMEOUT)}
        note_failure(loop.service, FailureMessage.model_validate(told))
    assert loop.end("first").status == "complete"
