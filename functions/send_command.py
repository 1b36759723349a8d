"""Sends the command that measures, once however often it is tried."""

from datetime import timedelta
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.once import once
from functions.shared import entry
from plimsoll.service.messages import plain
from plimsoll.service.service import Service
from plimsoll.service.validating.messages import Worked, WorkMessage
from plimsoll.service.validating.steps import send_command, sending_of

REMEMBERED: Final = timedelta(days=2)
"""How long the same command is not sent again: longer than one can run."""


@entry(WorkMessage)
def handler(told: WorkMessage, service: Service, context: LambdaContext) -> Worked:
    """The work whose command was sent, now or by an earlier attempt."""

    def send(_sending: dict[str, Any]) -> dict[str, Any]:
        return plain(send_command(service, told.work))

    sending = sending_of(service, told.work)
    return Worked(**once(send, sending, kind="send-command", remembered=REMEMBERED, context=context))
