"""Posts the result of a validation to whoever asked for it in Slack, once however often its event comes."""

from datetime import timedelta
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from functions.idempotency import once
from functions.slack_secret import bot_token
from plimsoll_service.service import Service
from plimsoll_service.slack.client import slack_client
from plimsoll_service.slack.notifications.verdicts import ValidationEvent, VerdictPosted, post_verdict

REMEMBERED: Final = timedelta(days=1)
"""The time in which an answer is not given again: EventBridge tries an event for 24 hours at most."""


def answer_once(service: Service, message: ValidationEvent, context: LambdaContext) -> VerdictPosted:
    """The outcome: posted or not."""

    def answer(_validation: str) -> dict[str, Any]:
        client = slack_client(bot_token(), api_url=service.settings.slack_api_url)
        return post_verdict(service, message.detail, client).model_dump(mode="json")

    posted = once(answer, message.detail.name, kind="slack-answer", remembered=REMEMBERED, context=context)
    return VerdictPosted.model_validate(posted)


handler = entry(answer_once)
