"""Sends the command that measures, once however often it is tried."""

import os
from datetime import timedelta
from typing import Any, Final

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.shared import entry
from plimsoll.service.messages import plain
from plimsoll.service.service import Service
from plimsoll.service.validating.messages import Worked, WorkMessage
from plimsoll.service.validating.sending import send_command, sending_of

REMEMBERED: Final = timedelta(days=2)
"""How long the same command is not sent again: longer than one can run."""


@entry(WorkMessage)
def handler(told: WorkMessage, service: Service, context: LambdaContext) -> Worked:
    """The work whose command was sent, now or by an earlier attempt."""
    config = IdempotencyConfig(expires_after_seconds=int(REMEMBERED.total_seconds()))
    config.register_lambda_context(context)
    table = DynamoDBPersistenceLayer(table_name=os.environ["PLIMSOLL_COORDINATION_TABLE"])

    def send(*, sending: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001  # what is remembered as sent
        return plain(send_command(service, told.work))

    once = idempotent_function(
        send, data_keyword_argument="sending", persistence_store=table, config=config, key_prefix="send-command"
    )
    return Worked(**once(sending=sending_of(service, told.work)))
