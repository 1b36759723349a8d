"""The state machines: their definitions, written down, and what has to hold of them whatever they look like.

PLIMSOLL_RENEW_SNAPSHOTS=1 pytest tests/infra/test_state_machines.py writes the snapshots anew; look at the difference.
"""

import json
import os
from pathlib import Path

import pytest

from infra.settings import CALLED_AT_ONCE
from plimsoll.model.errors import Throttled, Unreachable
from plimsoll_measure.validation.fio_job import LONGEST_TASK_S

SNAPSHOTS = Path(__file__).parent / "snapshots"
MACHINES = ("audit", "validation", "probe", "change", "sweep")
MOST_EVENTS = 25_000
"""Of the history of an execution (AWS Step Functions Developer Guide, "Service quotas", read 2026-11-21)."""
EVENTS_A_LOOK = 9
"""Of a task five, of a choice and of a wait two each."""


def states_of(definition):
    """Every state by name, those within a Map included."""
    for name, state in definition["States"].items():
        yield name, state
        if "ItemProcessor" in state:
            yield from states_of(state["ItemProcessor"])


def tasks_of(definition):
    return {name: state for name, state in states_of(definition) if state["Type"] == "Task"}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_definition_is_the_one_that_is_written_down(templates, machine):
    snapshot = SNAPSHOTS / f"{machine}.json"
    text = json.dumps(templates.definition(machine), indent=2) + "\n"
    if os.environ.get("PLIMSOLL_RENEW_SNAPSHOTS"):
        snapshot.write_text(text, encoding="utf-8")
    assert text == snapshot.read_text(encoding="utf-8")


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_of_a_function_is_retried_with_jitter_when_a_cloud_is_busy_or_lambda_fails(templates, machine):
    for name, task in tasks_of(templates.definition(machine)).items():
        retried = {error for retry in task["Retry"] for error in retry["ErrorEquals"]}
        assert {Throttled.__name__, Unreachable.__name__, "Lambda.ServiceException"} <= retried, name
        assert all(retry["JitterStrategy"] == "FULL" and retry["MaxDelaySeconds"] for retry in task["Retry"]), name


@pytest.mark.parametrize(("machine", "maps"), [("audit", 3), ("sweep", 1)])
def test_a_map_reads_its_list_again_when_that_failed_and_does_nothing_twice(templates, machine, maps):
    found = [state for _, state in states_of(templates.definition(machine)) if "ItemReader" in state]
    assert len(found) == maps
    for state in found:
        (retry,) = state["Retry"]
        assert retry["ErrorEquals"] == ["States.ItemReaderFailed"], "no item has begun then"
        assert (retry["JitterStrategy"], retry["MaxAttempts"]) == ("FULL", 5)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_state_waits_longer_than_its_function_may_take(templates, machine):
    timeouts_s = {found["Handler"]: found["Timeout"] for found in templates.resources("AWS::Lambda::Function").values()}
    for name, task in tasks_of(templates.definition(machine)).items():
        called = task["Parameters"]["FunctionName"].removeprefix("${").removesuffix("}")
        assert task["TimeoutSeconds"] > timeouts_s[called], name


@pytest.mark.parametrize(("each", "item"), [("Inventory", "account"), ("Batches", "lot")])
def test_what_fails_is_noted_and_ends_its_own_item_alone(templates, each, item):
    found = dict(states_of(templates.definition("audit")))[each]
    states = found["ItemProcessor"]["States"]
    first = states[found["ItemProcessor"]["StartAt"]]
    assert found["ToleratedFailurePercentage"] == 100
    assert found["ItemProcessor"]["ProcessorConfig"] == {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    ((caught,),) = (first["Catch"],)
    note = states[caught["Next"]]
    assert caught["ErrorEquals"] == ["States.ALL"]
    assert note["Parameters"]["FunctionName"] == "${functions.note_failure.handler}"
    assert set(note["Parameters"]["Payload"]) == {"run_id.$", f"{item}.$", "error.$"}


def test_an_account_that_cannot_be_swept_stops_no_other_and_the_end_counts_it(templates):
    sweep = dict(states_of(templates.definition("sweep")))
    assert sweep["Accounts"]["ToleratedFailurePercentage"] == 100
    assert sweep["Accounts"]["Next"] == "ConcludeSweep"
    assert sweep["Accounts"]["ItemReader"]["Parameters"]["Key.$"] == "$.accounts_key"
    assert (sweep["Accounts"]["ResultPath"], sweep["SweepAccount"]["OutputPath"]) == (None, "$.Payload")
    assert sweep["PlanSweep"]["Parameters"]["Payload"]["input.$"] == "$$.Execution.Input"


def test_between_states_pass_keys_of_the_store_and_never_what_stands_there(templates):
    audit = dict(states_of(templates.definition("audit")))
    for each, key in (("Inventory", "$.accounts_key"), ("Batches", "$.pending_key"), ("Shards", "$.shards_key")):
        assert audit[each]["ItemReader"]["Parameters"]["Key.$"] == key
        assert audit[each]["ResultPath"] is None


def test_batches_are_looked_for_again_until_none_is_pending(templates):
    audit = dict(states_of(templates.definition("audit")))
    assert audit["Batches"]["Next"] == "FindPending"
    assert audit["IsAnyPending"]["Default"] == "IsAnyShard"


def test_the_functions_that_many_items_call_at_once_are_known_where_concurrency_is_set_apart(templates):
    called = {
        state["Parameters"]["FunctionName"].split(".")[1]
        for machine in MACHINES
        for _, each in states_of(templates.definition(machine))
        if "ItemReader" in each
        for _, state in states_of(each["ItemProcessor"])
        if state["Type"] == "Task"
    }
    assert called == {*CALLED_AT_ONCE}


def test_nothing_is_summarized_before_every_shard_is_combined(templates):
    audit = dict(states_of(templates.definition("audit")))
    assert audit["Shards"].get("ToleratedFailurePercentage", 0) == 0
    assert "Catch" not in audit["Shards"]["ItemProcessor"]["States"]["Combine"]
    assert audit["Shards"]["Next"] == audit["IsAnyShard"]["Default"] == "Summarize"


def test_an_audit_waits_for_another_and_is_then_planned_anew_from_what_it_was_given(templates):
    audit = dict(states_of(templates.definition("audit")))
    assert audit["WaitForTheOtherAudit"]["Next"] == "Plan"
    assert audit["Plan"]["Parameters"]["Payload"]["input.$"] == "$$.Execution.Input"


def test_every_state_of_a_measurement_leads_to_the_clean_up_when_it_fails(templates):
    items = templates.definition("validation")["States"]["Items"]["ItemProcessor"]["States"]
    tasks = {name: state for name, state in items.items() if state["Type"] == "Task"}
    rescue, cleaning = tasks.pop("CleanUpAfterFailure"), tasks.pop("CleanUp")
    assert cleaning["Parameters"]["FunctionName"] == rescue["Parameters"]["FunctionName"]
    assert {"Propose", "CreateScratch", "AttachScratch", "SendCommand", "Conclude"} <= set(tasks)
    for name, task in tasks.items():
        assert [(each["ErrorEquals"], each["Next"]) for each in task["Catch"]] == [
            (["States.ALL"], "CleanUpAfterFailure")
        ], name
    assert rescue["Parameters"]["FunctionName"] == "${functions.clean_up.handler}"
    assert rescue["Catch"][0]["Next"] == rescue["Next"] == "ItemDone"


def test_what_was_measured_is_concluded_although_the_volume_cannot_be_deleted_now(templates):
    items = templates.definition("validation")["States"]["Items"]["ItemProcessor"]["States"]
    assert items["CleanUp"]["Next"] == "Conclude"
    assert [(each["ErrorEquals"], each["Next"]) for each in items["CleanUp"]["Catch"]] == [(["States.ALL"], "Conclude")]


def test_the_longest_measurement_is_looked_at_within_the_events_that_an_execution_may_have(templates):
    items = templates.definition("validation")["States"]["Items"]["ItemProcessor"]["States"]
    looks = LONGEST_TASK_S / items["WaitForCommand"]["Seconds"]
    assert looks * EVENTS_A_LOOK < MOST_EVENTS


def test_what_the_items_of_a_distributed_map_answer_does_not_add_up(templates):
    """A Distributed Map gathers the outputs of its items, and fails where they are more than 256 KB."""
    for name, state in states_of(templates.definition("audit")):
        if name in {"Combine", "NoteAccountFailure", "NoteBatchFailure"}:
            assert (state["End"], state["OutputPath"]) == (True, "$.Payload")
            assert "ResultPath" not in state
        if name in {"InventoryTaken", "BatchesAudited"}:
            assert (state["End"], state["Type"], state["Result"]) == (True, "Pass", {})


def test_the_job_to_clean_up_is_known_before_anything_is_proposed(templates):
    items = templates.definition("validation")["States"]["Items"]
    begun = items["ItemSelector"]["proposed"]["job.$"]
    assert begun == "States.Format('validations/{}/{}.json', $.validation, $$.Map.Item.Index)"
