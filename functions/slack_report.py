"""Posts the report of an audit that has been reported to the channels that are told of it."""

from typing import Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.shared import count, entry, logger
from functions.slack_secret import bot_token
from plimsoll.service.service import Service
from plimsoll.slack.blocks.pictures import Draft
from plimsoll.slack.client import slack_client
from plimsoll.slack.notifications.events import AuditEvent, RunTold
from plimsoll.slack.notifications.run import tell_run

LEFT_MS: Final = 120_000
"""What is left of its time when nothing more is posted: a message may have to wait for that long (Retry-After)."""


@entry(AuditEvent)
def handler(told: AuditEvent, service: Service, context: LambdaContext) -> RunTold:
    """The channels that were told; the event may come again, and its retries go on with what is missing."""
    run = tell_run(
        service,
        told.detail.run_id,
        slack_client(bot_token(), api_url=service.settings.slack_api_url),
        Draft.png,
        holder=context.aws_request_id,
        stop=lambda: context.get_remaining_time_in_millis() < LEFT_MS,
    )
    count(slack_channels_told=len(run.channels))
    if run.troubles:
        logger.warning("not all was posted", troubles=run.troubles)
    return run
