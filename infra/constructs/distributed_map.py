"""Distributed Maps: an item of a list in the bucket is an execution of its own."""

from collections.abc import Mapping
from typing import Any, Final

from aws_cdk import Duration
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

UNREAD: Final = "States.ItemReaderFailed"
"""The error of a map that could not read its list (AWS Step Functions Developer Guide, "Handling errors", read
2026-11-27). No item has begun then."""


def each_item(
    scope: Construct,
    name: str,
    first: sfn.IChainable,
    item: str,
    key: str,
    *,
    topic: str,
    bucket: s3.IBucket,
    at_once: int,
    tolerated_pct: int = 100,
) -> sfn.DistributedMap:
    """A Distributed Map over the JSON array at the key that stands at the path `key` of the input.

    Each item is given under its name beside the `topic` that the state has. It ends in what its function answers, which
    is nothing: together they would soon be more than a state may hold.
    """
    each = sfn.DistributedMap(
        scope,
        name,
        item_reader=sfn.S3JsonItemReader(bucket=bucket, key=sfn.JsonPath.string_at(key)),
        item_selector={
            topic: sfn.JsonPath.string_at(f"$.{topic}"),
            item: sfn.JsonPath.object_at("$$.Map.Item.Value"),
        },
        max_concurrency=at_once,
        tolerated_failure_percentage=tolerated_pct,
        map_execution_type=sfn.StateMachineType.STANDARD,
        result_path=sfn.JsonPath.DISCARD,
    )
    each.add_retry(
        errors=[UNREAD],
        interval=Duration.seconds(5),
        max_delay=Duration.seconds(60),
        max_attempts=5,
        backoff_rate=2,
        jitter_strategy=sfn.JitterType.FULL,
    )
    return each.item_processor(first)


def of_item(topic: str, item: str) -> Mapping[str, Any]:
    """The message to a function about an item."""
    return {topic: sfn.JsonPath.string_at(f"$.{topic}"), item: sfn.JsonPath.object_at(f"$.{item}")}


def nothing(scope: Construct, name: str) -> sfn.Pass:
    """The end of an item that leaves nothing."""
    return sfn.Pass(scope, name, result=sfn.Result.from_object({}))
