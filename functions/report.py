"""Writes a run's report and tells of it, once however often it is tried."""

import os
from datetime import timedelta
from typing import Final

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.shared import count, entry
from plimsoll.service.events import Event
from plimsoll.service.messages import Reported, RunMessage
from plimsoll.service.reporting import report
from plimsoll.service.service import Service

REMEMBERED: Final = timedelta(days=30)
"""How long the same events are not sent again: as long as the work of a run is kept."""


@entry(RunMessage)
def handler(told: RunMessage, service: Service, context: LambdaContext) -> Reported:
    """Where the report is, and its main figures."""
    made = report(service, told)
    failed = made.run["failures"]["targets"]
    count(
        savings_usd=made.answer.saved_usd_month,
        failures=made.run["volumes"]["failed"],
        failed_targets=len(failed),
        audit_usd=made.run["usage"]["estimated_usd"],
    )
    _send_once(service, made.events, context)
    return made.answer


def _send_once(service: Service, events: list[Event], context: LambdaContext) -> None:
    config = IdempotencyConfig(expires_after_seconds=int(REMEMBERED.total_seconds()))
    config.register_lambda_context(context)
    table = DynamoDBPersistenceLayer(table_name=os.environ["PLIMSOLL_COORDINATION_TABLE"])

    def send(*, events: list[Event]) -> None:
        service.events.send(events)

    idempotent_function(
        send, data_keyword_argument="events", persistence_store=table, config=config, key_prefix="audit-events"
    )(events=events)
