"""Sends the command that measures, once however often it is tried."""

from datetime import timedelta
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from functions.idempotency import once
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.service import Service
from plimsoll_service.validating import command_key, send_command
from plimsoll_service.validation_messages import JobMessage, SteppedJob

REMEMBERED: Final = timedelta(days=2)
"""The time in which the same command is not sent again: longer than one can run."""


def send_once(service: Service, message: JobMessage, context: LambdaContext) -> SteppedJob:
    """The job whose command was sent, now or by an earlier attempt."""

    def send(_sending: dict[str, Any]) -> dict[str, Any]:
        return send_command(service, message).model_dump(mode="json")

    sending = command_key(service, message)
    return SteppedJob(**once(send, sending, kind="send-command", remembered=REMEMBERED, context=context))


handler = entry(send_once, aws_places)
