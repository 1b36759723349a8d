"""Slack as the command line reaches it: a token or a webhook's URL from the environment, which no command shows."""

import os
from typing import Final

from pydantic import SecretStr
from slack_sdk import WebClient

from plimsoll.domain.errors import BadInput
from plimsoll.settings import PREFIX, Settings
from plimsoll.slack.client import slack_client
from plimsoll.slack.notifications.webhook import Webhook

BOT_TOKEN: Final = PREFIX + "SLACK_BOT_TOKEN"
WEBHOOK_URL: Final = PREFIX + "SLACK_WEBHOOK_URL"


def client_of_environment(settings: Settings) -> WebClient:
    """The client with the bot token of PLIMSOLL_SLACK_BOT_TOKEN; BadInput where it is not there."""
    token = _secret(BOT_TOKEN, "the app's bot token (xoxb-...), from OAuth & Permissions on its page")
    return slack_client(token.get_secret_value(), api_url=settings.slack_api_url)


def webhook_of_environment(settings: Settings) -> Webhook:
    """The webhook of PLIMSOLL_SLACK_WEBHOOK_URL; BadInput where it is not there, or is none of Slack's."""
    url = _secret(WEBHOOK_URL, "the incoming webhook's URL (https://hooks.slack.com/services/...)")
    return Webhook.of(url.get_secret_value(), settings.slack_api_url)


def _secret(name: str, what: str) -> SecretStr:
    found = SecretStr(os.environ.get(name, "").strip())
    if not found:
        raise BadInput(f"the environment has no {name}: set it to {what}. `--dry-run` needs none.")
    return found
