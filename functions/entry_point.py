"""The common part of the service's functions: how an event becomes a call, and the service itself.

Their logs and figures come from `functions.observability`, and their configuration from `functions.configuration`,
which a function that stands in front of the service uses without it.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, get_type_hints

from aws_lambda_powertools.utilities import parameters
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ValidationError

from functions.configuration import written_configuration
from functions.observability import Handler, count, logger, observe
from plimsoll.model.errors import BadInput
from plimsoll_service.bootstrap.service import PlacesMaker, forget_process, no_places, service_of_environment
from plimsoll_service.config import ServiceConfig
from plimsoll_service.service import Service
from plimsoll_service.step_messages import StepMessage

__all__ = ["count", "entry", "logger", "renew", "service"]

MessageT = TypeVar("MessageT", bound=StepMessage)
Step = Callable[[Service, MessageT], BaseModel | None] | Callable[[Service, MessageT, LambdaContext], BaseModel | None]
"""A step of the service, or one with the context of its call. Without an answer it leaves what it did in the store."""


def entry(step: Step[MessageT], places: PlacesMaker = no_places) -> Handler:
    """The Lambda handler of a step. An event is parsed into the step's own message, and its answer is plain values.

    `places` are the clouds that the step works in: a function imports, and its zip has, the libraries of these alone.
    """
    types = message_types(step)

    @wraps(step)
    def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        message = _parse(event, types["message"])
        logger.set_correlation_id(message.topic)
        told = (context,) if "context" in types else ()
        answer = step(service(places), message, *told)
        return {} if answer is None else answer.model_dump(mode="json")

    return observe(handler)


def message_types(step: Callable[..., Any]) -> dict[str, Any]:
    """The types of a step's `message`, of its `context` if it takes one, and of its answer under `return`."""
    return {name.lstrip("_"): kind for name, kind in get_type_hints(step).items()}


def service(places: PlacesMaker = no_places) -> Service:
    """The service of the environment, with the configuration of the last minute. Raises BadInput if it has none."""
    return service_of_environment(ServiceConfig.parse(written_configuration()), places)


def renew() -> None:
    """Forgets what is kept from event to event, so that another environment holds from now on."""
    parameters.clear_caches()  # type: ignore[no-untyped-call]  # powertools leaves it untyped
    forget_process()


def _parse(event: Mapping[str, Any], message: type[MessageT]) -> MessageT:
    try:
        return message.model_validate(event)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "event"
        # What was told may hold secrets, which the error of such a message hides as well.
        value = "" if message.model_config.get("hide_input_in_errors") else f" is {first['input']!r}"
        raise BadInput(f"{key}{value}: {first['msg'].lower()}.") from error
