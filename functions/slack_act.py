"""Answers Slack: the one function that is open to the internet; it checks requests and hands them to the worker.

It imports nothing of what an audit needs, because Slack waits 3 seconds, a cold start included.
"""

import os
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import boto3
from aws_lambda_powertools.utilities.typing import LambdaContext
from botocore.config import Config

from functions.configuration import slack_configuration
from functions.observability import count, logger, observe
from functions.slack_secret import bot_token, signing_secret
from plimsoll.clouds.aws.service import DynamoClaims, LambdaWorker
from plimsoll.model.errors import CloudError
from plimsoll.settings import Settings
from plimsoll_service.slack.actions.asked import SlackRequest
from plimsoll_service.slack.requests.front import LOG, Front, response
from plimsoll_service.slack.requests.signed import Refused

QUICK: Final = Config(connect_timeout=1, read_timeout=1, retries={"total_max_attempts": 2})
"""A call that hangs is given up after a second and tried once more: Slack waits for 3 seconds in all."""

LOG.handlers, LOG.propagate = list(logger.handlers), False  # the package's lines look like the function's own


@observe
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """The answer to a request, as Slack's door passes both on; one log line where it is refused."""
    front = Front(
        signing_secret=signing_secret,
        bot_token=bot_token,
        config=slack_configuration,
        claims=DynamoClaims(table=os.environ["PLIMSOLL_COORDINATION_TABLE"], client=_client("dynamodb")),
        hand_over=_hand_over,
        api_url=Settings.from_environment().slack_api_url,
    )
    try:
        return front.answer(event, datetime.now(UTC))
    except Refused as refused:
        logger.warning("refused", status=refused.status.value, reason=str(refused))
        return response(refused.status)


def _hand_over(asked: SlackRequest) -> None:
    worker = LambdaWorker(function=os.environ["PLIMSOLL_SLACK_WORKER"], client=_client("lambda"))
    logger.set_correlation_id(asked.id)
    try:
        worker.hand_over(asked.model_dump_json())
    except CloudError as error:
        count(lost_requests=1)
        logger.exception("failed", kind=type(error).__name__, do=asked.do)
        raise
    logger.info("asked", do=asked.do, team=asked.team, user=asked.user)


@cache
def _client(service: str) -> Any:
    return boto3.client(service, config=QUICK)  # type: ignore[call-overload]  # the service's name is not a literal
