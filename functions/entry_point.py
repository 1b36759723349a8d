"""What the functions of the service share: how an event becomes a call, and the service itself.

What is seen of them comes from `functions.observability`, and their configuration from `functions.configuration`, which
a function that stands in front of the service uses without it.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from aws_lambda_powertools.utilities import parameters
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ValidationError

from functions.configuration import written_configuration
from functions.observability import Handler, count, logger, observed
from plimsoll.bootstrap.service import PlacesMaker, forget_process, no_places, service_of_environment
from plimsoll.domain.errors import BadInput
from plimsoll.service.config import ServiceConfig
from plimsoll.service.service import Service
from plimsoll.service.step_messages import StepMessage

__all__ = ["count", "entry", "logger", "renew", "service"]

Told = TypeVar("Told", bound=StepMessage)
Step = Callable[[Told, Service, LambdaContext], BaseModel | None]
"""A step without an answer leaves what it did in the store."""


def entry(message: type[Told], places: PlacesMaker = no_places) -> Callable[[Step[Told]], Handler]:
    """Makes a Lambda handler of a step: the event is parsed into that message, and the answer is plain values.

    `places` are the clouds that the step works in: a function imports, and its zip has, the libraries of these alone.
    """

    def made(step: Step[Told]) -> Handler:
        @wraps(step)
        def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            told = _parsed(event, message)
            logger.set_correlation_id(told.topic)
            answer = step(told, service(places), context)
            return {} if answer is None else answer.model_dump(mode="json")

        return observed(handler)

    return made


def service(places: PlacesMaker = no_places) -> Service:
    """The service as the environment says, with the configuration of the last minute; BadInput where it has none."""
    return service_of_environment(ServiceConfig.parse(written_configuration()), places)


def renew() -> None:
    """Forgets what is kept from event to event, so that another environment holds from now on."""
    parameters.clear_caches()  # type: ignore[no-untyped-call]  # powertools leaves it untyped
    forget_process()


def _parsed(event: Mapping[str, Any], message: type[Told]) -> Told:
    try:
        return message.model_validate(event)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "event"
        # What was told may hold secrets, which the error of such a message hides as well.
        given = "" if message.model_config.get("hide_input_in_errors") else f" is {first['input']!r}"
        raise BadInput(f"{key}{given}: {first['msg'].lower()}.") from error
