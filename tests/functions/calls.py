"""Calling the functions as Lambda does: their events and answers are JSON, and each call has a context."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Context:
    """What Lambda tells a function of its call."""

    function_name: str = "any"
    memory_limit_in_mb: int = 256
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:111111111111:function:any"
    aws_request_id: str = "00000000-0000-4000-8000-000000000000"
    remaining_ms: int = 60_000

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


def ask(function: Any, event: dict[str, Any], context: Context | None = None) -> dict[str, Any]:
    """What a function answers to an event."""
    return dict(json.loads(json.dumps(function.handler(json.loads(json.dumps(event)), context or Context()))))
