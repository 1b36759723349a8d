"""Steps: states that call a function of the service, with the retries that all of them share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import aws_stepfunctions_tasks as tasks
from constructs import Construct

from plimsoll.model.errors import Throttled, Unreachable

EVERY_ERROR: Final = "States.ALL"

_BUSY: Final = (Throttled.__name__, Unreachable.__name__, "Lambda.TooManyRequestsException")
"""A cloud that throttles calls, or cannot be reached for a while. A retry helps."""

_BROKEN: Final = (
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.Unknown",
    "Runtime.ExitError",
    "Sandbox.Timedout",
)
"""Lambda itself failed, or the function's process ended (AWS Step Functions Developer Guide, "Handle Lambda service
exceptions", read 2026-11-21)."""

_LOCKED: Final = ("IdempotencyAlreadyInProgressError",)
"""What Powertools raises while the lock stands of a function that died in what may be done once only: it passes with
the time that function had, a quarter of an hour at most."""

_RETRIES: Final = ((_BUSY, 10, 300, 6), (_BROKEN, 2, 60, 5), (_LOCKED, 60, 300, 10), ((EVERY_ERROR,), 5, 30, 2))
"""The errors after which a function is called again, the first and longest wait in seconds, and how often."""

_GRACE_S: Final = 30
"""The time that a state waits beyond its function's, so that a function that ran out of time says so itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callee:
    """A function that states call, and the seconds that it may take."""

    function: lambda_.IFunction
    timeout_s: int


def step(
    scope: Construct,
    name: str,
    callee: Callee,
    payload: Mapping[str, Any],
    *,
    answer_at: str | None = None,
    answer: Mapping[str, str] | None = None,
) -> tasks.LambdaInvoke:
    """A state that calls a function with a payload.

    Its output is the function's answer; with `answer_at` it is the state's input with the answer at that path, or
    without it where that is `sfn.JsonPath.DISCARD`. `answer` says which keys of the answer are kept.

    A busy cloud and a broken function are asked again, later and later and at random moments, so that many that were
    turned away together do not come back together.
    """
    where: dict[str, Any] = {"output_path": "$.Payload"} if answer_at is None else {"result_path": answer_at}
    if answer is not None:
        where["result_selector"] = {key: sfn.JsonPath.object_at(f"$.Payload.{path}") for key, path in answer.items()}
    task = tasks.LambdaInvoke(
        scope,
        name,
        lambda_function=callee.function,
        payload=sfn.TaskInput.from_object(dict(payload)),
        retry_on_service_exceptions=False,  # its retries have no jitter
        task_timeout=sfn.Timeout.duration(Duration.seconds(callee.timeout_s + _GRACE_S)),
        **where,
    )
    for errors, first_s, longest_s, attempts in _RETRIES:
        task.add_retry(
            errors=list(errors),
            interval=Duration.seconds(first_s),
            max_delay=Duration.seconds(longest_s),
            max_attempts=attempts,
            backoff_rate=2,
            jitter_strategy=sfn.JitterType.FULL,
        )
    return task
