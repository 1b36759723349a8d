"""The harness itself: Lambda's and Step Functions' own behavior, before any function of ours."""

import json
import time

import pytest

from cloud_simulator.aws.organization import fleet_of
from tests.builders import NOW

from .account import account
from .environments import Function
from .troubles import Trouble

BUCKET = "rehearsal"
ITEMS = [{"name": f"item-{number}"} for number in range(5)]
RETRY = [{"ErrorEquals": ["Lambda.ServiceException", "Busy"], "IntervalSeconds": 20, "MaxAttempts": 2}]

pytestmark = pytest.mark.once


def task(name, **more):
    parameters = {"FunctionName": f"arn:aws:lambda:us-east-1:111111111111:function:{name}", "Payload.$": "$"}
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": parameters,
        "ResultSelector": {"answer.$": "$.Payload"},
        "End": True,
        **more,
    }


def over_items(**more):
    """A Distributed Map over the bucket's list, whose failing items are noted."""
    caught = [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Noted"}]
    return {
        "StartAt": "Each",
        "States": {
            "Each": {
                "Type": "Map",
                "ItemReader": {
                    "Resource": "arn:aws:states:::s3:getObject",
                    "ReaderConfig": {"InputType": "JSON"},
                    "Parameters": {"Bucket": BUCKET, "Key.$": "$.key"},
                },
                "ItemSelector": {"item.$": "$$.Map.Item.Value"},
                "MaxConcurrency": 2,
                "ItemProcessor": {
                    "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                    "StartAt": "Put",
                    "States": {"Put": task("put", Catch=caught, **more), "Noted": {"Type": "Pass", "End": True}},
                },
                "End": True,
            }
        },
    }


@pytest.fixture
def deployed(tmp_path):
    functions = {
        name: Function(
            name=name, handler=f"tests.machines.rehearsal.{name}", variables={"BUCKET": BUCKET}, timeout_s=limit_s
        )
        for name, limit_s in (("put", 60.0), ("refuse", 60.0), ("sleep", 2.0))
    }
    with account(fleet_of(40, NOW), functions, tmp_path) as found:
        found.client("s3").create_bucket(Bucket=BUCKET)
        found.client("s3").put_object(Bucket=BUCKET, Key="items.json", Body=json.dumps(ITEMS))
        yield found


def done(deployed):
    listed = deployed.client("s3").list_objects_v2(Bucket=BUCKET, Prefix="done/").get("Contents", [])
    return {found["Key"].removeprefix("done/") for found in listed}


def test_a_distributed_map_reads_its_items_from_the_bucket(deployed):
    deployed.deploy("each", json.dumps(over_items()))
    ended = deployed.run("each", "first", {"key": "items.json"})

    assert ended.status == "SUCCEEDED"
    assert done(deployed) == {item["name"] for item in ITEMS}
    assert deployed.front.calls["put", "PutObject"] == len(ITEMS)


def test_a_killed_process_and_an_error_of_the_service_cost_their_items_or_a_retry(deployed):
    deployed.front.troubles += [
        Trouble(function="put", operation="PutObject", of=lambda event: event["item"]["name"] == "item-3"),
        Trouble(function="put", of=lambda event: event["item"]["name"] == "item-1"),
    ]
    deployed.deploy("each", json.dumps(over_items(Retry=RETRY)))
    ended = deployed.run("each", "first", {"key": "items.json"})

    (noted,) = [item["error"] for item in ended.output if "error" in item]
    assert noted["Error"] == "Runtime.ExitError"
    assert "signal: killed" in json.loads(noted["Cause"])["errorMessage"]
    assert done(deployed) == {item["name"] for item in ITEMS} - {"item-3"}
    assert [event["item"]["name"] for event in deployed.front.invoked["put"]].count("item-1") == 2


def test_an_exception_is_known_by_its_class_and_a_minute_of_retries_takes_a_second(deployed):
    deployed.deploy("one", json.dumps({"StartAt": "Refuse", "States": {"Refuse": task("refuse", Retry=RETRY)}}))
    begun_s = time.monotonic()
    ended = deployed.run("one", "first", {"why": "not today"})

    assert (ended.status, ended.error) == ("FAILED", "Busy")
    assert json.loads(ended.cause)["errorMessage"] == "not today"
    assert len(deployed.front.invoked["refuse"]) == 3
    assert time.monotonic() - begun_s < 60, "what it waits between retries, were it not hurried"


def test_a_function_that_takes_too_long_is_ended(deployed):
    waiting = {"Type": "Wait", "Seconds": 60, "Next": "Sleep"}
    deployed.deploy("one", json.dumps({"StartAt": "Wait", "States": {"Wait": waiting, "Sleep": task("sleep")}}))
    ended = deployed.run("one", "first", {"seconds": 60})

    assert (ended.status, ended.error) == ("FAILED", "Sandbox.Timedout")
