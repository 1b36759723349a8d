"""Log lines and figures of every function. Lambda itself traces each call."""

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from plimsoll.model.errors import PlimsollError, Throttled

SERVICE: Final = os.environ.get("POWERTOOLS_SERVICE_NAME", "plimsoll")
"""The service's name in its logs, traces and metrics. Each deployment of an account has its own."""

logger = Logger(service=SERVICE)
metrics = Metrics(namespace="Plimsoll", service=SERVICE)

Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]


def observe(handle: Handler) -> Handler:
    """A Lambda handler whose own errors are logged by their kinds, and whose figures are sent."""

    @wraps(handle)
    def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        try:
            return handle(event, context)
        except PlimsollError as error:
            count(throttles=int(isinstance(error, Throttled)))
            logger.exception("failed", kind=type(error).__name__)
            raise
        finally:
            if metrics.metric_set:
                metrics.flush_metrics()

    logged: Handler = logger.inject_lambda_context(handler, clear_state=True)
    return logged


def count(**figures: float) -> None:
    """Counts figures of the service's own, by name, for its dashboard and alarms."""
    for name, value in figures.items():
        metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)
