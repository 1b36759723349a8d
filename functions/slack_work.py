"""Carries out what people ask for in Slack, once however often its event comes."""

from datetime import timedelta
from functools import cache
from typing import Any, Final

from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyAlreadyInProgressError
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry, logger
from functions.idempotency import once
from functions.slack_secret import bot_token
from plimsoll_service.bootstrap.google_places import all_places
from plimsoll_service.service import Service
from plimsoll_service.slack.actions.asked import SlackRequest
from plimsoll_service.slack.actions.members import Members
from plimsoll_service.slack.actions.worker import AskedMessage, act
from plimsoll_service.slack.client import slack_client

REMEMBERED: Final = timedelta(days=1)
"""The time in which the same event is not carried out again; Lambda keeps an event for six hours at most (AWS Lambda
Developer Guide, "Asynchronous invocation", read 2026-11-22)."""


def work_once(service: Service, message: AskedMessage, context: LambdaContext) -> None:
    """Answers in Slack.

    Events are told apart by all of the request, the address for its answer included. A second press of the same button
    is another event: it is answered, and does nothing, because it has the id of the first.
    """

    def carry_out(plain: dict[str, Any]) -> None:
        slack = slack_client(bot_token(), api_url=service.settings.slack_api_url)
        act(service, SlackRequest.model_validate(plain), slack, members=members(), request=context.aws_request_id)

    try:
        once(carry_out, message.model_dump(mode="json"), kind="slack-asked", remembered=REMEMBERED, context=context)
    except IdempotencyAlreadyInProgressError:
        logger.info("under way already", do=message.do)


@cache
def members() -> Members:
    """The members of user groups, as Slack listed them within the last minutes to this process."""
    return Members()


handler = entry(work_once, all_places)
