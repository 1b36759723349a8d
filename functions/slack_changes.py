"""Posts the news of a plan of changes to the channels of its volumes."""

from typing import Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import count, entry
from functions.slack_secret import bot_token
from plimsoll_service.service import Service
from plimsoll_service.slack.client import slack_client
from plimsoll_service.slack.notifications.change_posts import ChangesEvent, ChangesPosted, post_news

LEFT_MS: Final = 120_000
"""The remaining time at which it stops posting: a message may have to wait that long (Retry-After)."""


def post_changes(service: Service, message: ChangesEvent, context: LambdaContext) -> ChangesPosted:
    """The channels that have the news; when the event comes again, what is missing is posted."""
    posted = post_news(
        service,
        message.detail,
        slack_client(bot_token(), api_url=service.settings.slack_api_url),
        holder=context.aws_request_id,
        stop=lambda: context.get_remaining_time_in_millis() < LEFT_MS,
    )
    count(slack_channels_told=len(posted.channels))
    return posted


handler = entry(post_changes)
