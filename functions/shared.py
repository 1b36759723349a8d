"""What all functions share: how an event becomes a call, what is logged and counted of it, and the service itself."""

import json
import os
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, TypeVar

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities import parameters
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError
from aws_lambda_powertools.utilities.parser import ValidationError, parse
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel

from plimsoll.bootstrap.service import forget_process, service_of_environment
from plimsoll.domain.errors import BadInput, PlimsollError, Throttled
from plimsoll.service.config import ServiceConfig
from plimsoll.service.messages import Message, plain
from plimsoll.service.service import Service

CONFIG_PARAMETER: Final = "PLIMSOLL_CONFIG_PARAMETER"
CONFIG_AGE_S: Final = 60
"""How long a configuration is believed before it is read again."""

SERVICE: Final = os.environ.get("POWERTOOLS_SERVICE_NAME", "plimsoll")
"""What the service is called in its logs, traces and metrics: each deployment of an account by its own name."""

logger = Logger(service=SERVICE)
tracer = Tracer(service=SERVICE)
metrics = Metrics(namespace="Plimsoll", service=SERVICE)

Told = TypeVar("Told", bound=Message)
Step = Callable[[Told, Service, LambdaContext], BaseModel]
Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]


def entry(message: type[Told]) -> Callable[[Step[Told]], Handler]:
    """Makes a Lambda handler of a step: the event is parsed into that message, and the answer is plain values."""

    def made(step: Step[Told]) -> Handler:
        @wraps(step)
        def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            try:
                told = _parsed(event, message)
                logger.set_correlation_id(told.topic)
                return plain(step(told, service(), context))
            except PlimsollError as error:
                count(throttles=int(isinstance(error, Throttled)))
                logger.exception("failed", kind=type(error).__name__)
                raise
            finally:
                if metrics.metric_set:
                    metrics.flush_metrics()

        traced = tracer.capture_lambda_handler(handler, capture_response=False)
        logged: Handler = logger.inject_lambda_context(traced, clear_state=True)
        return logged

    return made


def count(**figures: float) -> None:
    """Counts figures of the service's own, by name, for its dashboard and alarms."""
    for name, value in figures.items():
        metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)


def service() -> Service:
    """The service as the environment says, with the configuration of the last minute; BadInput where it has none."""
    name = os.environ.get(CONFIG_PARAMETER, "")
    try:
        written = parameters.get_parameter(name, max_age=CONFIG_AGE_S)
    except GetParameterError as error:
        raise BadInput(
            f"the configuration cannot be read from the parameter {name!r} that {CONFIG_PARAMETER} names ({error}): "
            "deploy the service again."
        ) from error
    return service_of_environment(ServiceConfig.parsed(json.loads(written)))


def renew() -> None:
    """Forgets what is kept from event to event, so that another environment holds from now on."""
    parameters.clear_caches()  # type: ignore[no-untyped-call]  # powertools leaves it untyped
    forget_process()


def _parsed(event: Mapping[str, Any], message: type[Told]) -> Told:
    try:
        return parse(event=dict(event), model=message)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "event"
        raise BadInput(f"{key} is {first['input']!r}: {first['msg'].lower()}.") from error
