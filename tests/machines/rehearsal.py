"""Functions of a rehearsal: they do next to nothing, so that what Lambda and Step Functions do themselves is seen."""

import os
import time
from typing import Any

import boto3


class Busy(Exception):
    """A thing that is tried again."""


def put(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Keeps an item in the bucket."""
    boto3.client("s3").put_object(Bucket=os.environ["BUCKET"], Key=f"done/{event['item']['name']}", Body=b"{}")
    return {"left_ms": context.get_remaining_time_in_millis()}


def refuse(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Raises what the event says."""
    raise Busy(event["why"])


def sleep(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Takes its time."""
    time.sleep(event["seconds"])
    return {}
