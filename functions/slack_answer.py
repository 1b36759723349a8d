"""Answers who asked for a validation in Slack that has ended, once however often its event comes."""

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
from functions.slack_secret import bot_token
from plimsoll.service.messages import plain
from plimsoll.service.service import Service
from plimsoll.service.telling.answers import tell_validation
from plimsoll.service.telling.messages import ValidationEvent, ValidationTold
from plimsoll.slack.client import slack_client

REMEMBERED: Final = timedelta(days=1)
"""How long an answer is not given again: EventBridge tries an event for 24 hours at most."""


@entry(ValidationEvent)
def handler(told: ValidationEvent, service: Service, context: LambdaContext) -> ValidationTold:
    """Whether somebody was told."""
    config = IdempotencyConfig(expires_after_seconds=int(REMEMBERED.total_seconds()))
    config.register_lambda_context(context)
    table = DynamoDBPersistenceLayer(table_name=os.environ["PLIMSOLL_COORDINATION_TABLE"])

    def tell(*, validation: str) -> dict[str, Any]:  # noqa: ARG001  # the key of what is done once
        client = slack_client(bot_token(), api_url=service.settings.slack_api_url)
        return plain(tell_validation(service, told.detail, client))

    answer = idempotent_function(
        tell, data_keyword_argument="validation", persistence_store=table, config=config, key_prefix="slack-answer"
    )(validation=told.detail.name)
    return ValidationTold.model_validate(answer)
