"""Posts the report of an audit to its channels."""

from typing import Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import count, entry, logger
from functions.slack_secret import bot_token
from plimsoll_service.service import Service
from plimsoll_service.slack.blocks.pictures import Draft
from plimsoll_service.slack.client import slack_client
from plimsoll_service.slack.notifications.run_report import AuditEvent, RunPosted, post_run_report

LEFT_MS: Final = 120_000
"""The remaining time at which it stops posting: a message may have to wait that long (Retry-After)."""


def post_report(service: Service, message: AuditEvent, context: LambdaContext) -> RunPosted:
    """The channels that have it; when the event comes again, what is missing is posted."""
    run = post_run_report(
        service,
        message.detail.run_id,
        slack_client(bot_token(), api_url=service.settings.slack_api_url),
        Draft.png,
        holder=context.aws_request_id,
        stop=lambda: context.get_remaining_time_in_millis() < LEFT_MS,
    )
    count(slack_channels_told=len(run.channels))
    if run.troubles:
        logger.warning("not all was posted", troubles=run.troubles)
    return run


handler = entry(post_report)
