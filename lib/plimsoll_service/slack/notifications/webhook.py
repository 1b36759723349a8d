"""An incoming webhook, for those who have no app: one message in the one channel that it is bound to."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from slack_sdk.webhook import WebhookClient

from plimsoll.model.errors import AccessDenied, BadInput, CloudError, Throttled, Unanswered, Unexpected
from plimsoll_service.slack.blocks.message import SlackMessage
from plimsoll_service.slack.client import SILENT_LOGGER, SlackRetries, is_hook, slack_errors
from plimsoll_service.slack.notifications.posting import MAIN, PostingLedger

_PATH: Final = re.compile(r"/services/T[A-Z0-9]+/(B[A-Z0-9]+)/[\w-]+")
_TRIGGER: Final = "/triggers/"
_WHAT: Final = "post the report by the webhook"
_DOUBT: Final = (
    "It is not known whether the report arrived by the webhook: Slack's answer was lost. Look into the channel, and "
    "where it is missing post the run again (plimsoll slack post --webhook --again)."
)
_REMEDIES: Final = {
    "invalid_token": "the webhook's URL is not as Slack made it: copy it again from the app's page",
    "no_service": "the webhook was removed or switched off: make another",
    "no_team": "the workspace is gone: make a webhook in another",
    "channel_not_found": "the webhook's channel is gone: make one for another channel",
    "channel_is_archived": "the webhook's channel is archived: make one for another channel",
    "action_prohibited": "the workspace's administrators forbid it: ask them",
    "posting_to_general_channel_denied": "the workspace lets few people post in that channel: make one for another",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A webhook: its URL, which is a secret, and its id, which is none."""

    url: str = field(repr=False)
    id: str

    @classmethod
    def from_url(cls, url: str, api_url: str) -> "Webhook":
        """The webhook of a URL. Raises BadInput, which does not tell the URL, if it is none of Slack's.

        An address of this machine is one if Slack's Web API is on this machine as well.
        """
        if not is_hook(url.strip(), api_url):
            raise BadInput("the webhook's URL is not Slack's, which begins with https://hooks.slack.com/services/.")
        parts = urlsplit(url.strip())
        match = _PATH.fullmatch(parts.path)
        if match is None:
            fault = "is a workflow's, which takes no reports" if parts.path.startswith(_TRIGGER) else "is not whole"
            raise BadInput(f"the webhook's URL {fault}: it reads https://hooks.slack.com/services/T.../B.../...")
        return cls(url=url.strip(), id=match.group(1))

    @property
    def channel(self) -> str:
        """A name for its channel in a ledger, because a webhook does not tell its channel."""
        return f"webhook-{self.id}"


def post_by_webhook(
    message: SlackMessage, webhook: Webhook, ledger: PostingLedger, *, pause: Callable[[float], None] = time.sleep
) -> None:
    """Posts a message unless the ledger has it as posted; there is no thread, no picture and no way to change it.

    Raises Unanswered if it is not known whether it arrived, now or when it was tried before; another CloudError if
    Slack refuses it. No error tells the URL.
    """
    progress = ledger.load()
    if MAIN in progress.posted:
        return
    if MAIN in progress.doubtful or progress.sending == MAIN:
        raise Unanswered(_DOUBT)
    ledger.keep(progress.model_copy(update={"sending": MAIN}))
    try:
        _send(message, webhook, pause)
    except Unanswered as error:
        ledger.keep(progress.model_copy(update={"doubtful": (MAIN,)}))
        raise Unanswered(_DOUBT) from error
    except CloudError:
        ledger.keep(progress)
        raise
    ledger.keep(progress.model_copy(update={"posted": {MAIN: ""}}))


def _send(message: SlackMessage, webhook: Webhook, pause: Callable[[float], None]) -> None:
    client = WebhookClient(
        webhook.url, timeout=10, retry_handlers=[SlackRetries(once=True, pause=pause)], logger=SILENT_LOGGER
    )
    with slack_errors(_WHAT):
        answer = client.send_dict({**message.payload, "unfurl_links": False, "unfurl_media": False})
    if answer.status_code == 200:
        return
    if answer.status_code == 429:
        raise Throttled(f"Slack refused to {_WHAT}: too many messages; try later.")
    if answer.status_code >= 500:
        raise Unanswered(_DOUBT)
    remedy = _REMEDIES.get(answer.body)
    if remedy is not None:
        raise AccessDenied(f"Slack refused to {_WHAT}: {answer.body}: {remedy}.")
    raise Unexpected(f"Slack refused to {_WHAT}: {answer.body[:200]}: this is a bug in Plimsoll: please report it.")
