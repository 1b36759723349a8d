"""Answers Slack: the one function that stands open to the internet, and so does nothing but to check and hand over.

It holds the right to its secret and its configuration, to claims in the coordination table, and to hand what is asked
to one function. Importing it is quick, since Slack waits 3 seconds, a cold start included: it composes what little it
needs itself, and leaves the service's composition, with all that an audit needs, to those who do the work.
"""

import json
import os
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from http import HTTPStatus
from typing import Any, Final
from uuid import uuid4

import boto3
from aws_lambda_powertools.utilities.typing import LambdaContext
from botocore.config import Config
from slack_bolt.adapter.aws_lambda import SlackRequestHandler

from functions.configuration import slack_configuration
from functions.observed import count, logger, observed
from functions.slack_secret import bot_token, signing_secret
from plimsoll.clouds.aws.claims import DynamoClaims
from plimsoll.clouds.aws.worker import LambdaWorker
from plimsoll.domain.errors import CloudError
from plimsoll.settings import Settings
from plimsoll.slack.actions.asked import Asked
from plimsoll.slack.requests.admission import check_address, check_known, check_team
from plimsoll.slack.requests.app import LOG, slack_app
from plimsoll.slack.requests.payloads import content_of, parsed
from plimsoll.slack.requests.signed import (
    MOST_BYTES,
    HttpRequest,
    Refused,
    check_age,
    check_replay,
    check_shape,
    check_signature,
)

QUICK: Final = Config(connect_timeout=1, read_timeout=1, retries={"total_max_attempts": 2})
"""A call that hangs is given up after a second and tried once more: Slack waits for 3 seconds in all."""

LOG.handlers, LOG.propagate = list(logger.handlers), False  # the app's lines look like the function's own


@observed
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """The answer to a request of Slack's, as Lambda's function URL passes both on; one log line where it is refused."""
    try:
        request = _request(event)
        if request.is_ssl_check:
            return _response(HTTPStatus.OK)
        content = _checked(request)
        return _handled(event, content, context)
    except Refused as refused:
        logger.warning("refused", status=refused.status.value, reason=str(refused))
        return _response(refused.status)


def _checked(request: HttpRequest) -> dict[str, Any]:
    """The content of a request that is Slack's, new, from a configured workspace, and about something there is."""
    now = datetime.now(UTC)
    check_shape(request)
    check_age(request, now)
    check_signature(request, signing_secret(), now)
    claims = DynamoClaims(table=os.environ["PLIMSOLL_COORDINATION_TABLE"], client=_client("dynamodb"))
    check_replay(request, claims, uuid4().hex, now)
    content = content_of(request)
    payload = parsed(content)
    check_team(payload, slack_configuration())
    check_known(payload)
    check_address(payload, Settings.of_environment().slack_api_url)
    return content


def _handled(event: Mapping[str, Any], content: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Bolt's answer to the content that was checked, and to no other reading of the body.

    It gets it as JSON: of a form with the word payload in any field, such as a channel's name, it would see nothing.
    """
    config = slack_configuration()
    answers = _bolt(bot_token(), Settings.of_environment().slack_api_url, bool(config and config.user_groups))
    headers = {"content-type": "application/json"}
    given = {**event, "headers": headers, "body": json.dumps(content), "isBase64Encoded": False}
    return dict(answers.handle(given, context))  # type: ignore[no-untyped-call]  # Bolt leaves it untyped


@lru_cache(maxsize=1)
def _bolt(token: str, api_url: str, may_act: bool) -> SlackRequestHandler:  # keys of the cache
    """The app: another one once the token was rotated."""
    return SlackRequestHandler(slack_app(token, api_url=api_url, hand_over=_hand_over, may_act=may_act))


def _hand_over(asked: Asked) -> None:
    worker = LambdaWorker(function=os.environ["PLIMSOLL_SLACK_WORKER"], client=_client("lambda"))
    logger.set_correlation_id(asked.id)
    try:
        worker.hand_over(asked.model_dump_json())
    except CloudError as error:
        count(lost_requests=1)
        logger.exception("failed", kind=type(error).__name__, do=asked.wish.do)
        raise
    logger.info("asked", do=asked.wish.do, team=asked.team, user=asked.user)


def _request(event: Mapping[str, Any]) -> HttpRequest:
    """The request that a function URL passes on (payload format 2.0); Refused (400) where its body is not readable."""
    body = str(event.get("body") or "")
    if len(body) > 2 * MOST_BYTES:  # base64 makes four bytes of three
        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {MOST_BYTES} bytes")
    try:
        content = b64decode(body, validate=True) if event.get("isBase64Encoded") else body.encode()
    except (NotBase64, ValueError) as error:
        raise Refused(HTTPStatus.BAD_REQUEST, "the body is no base64") from error
    return HttpRequest(
        method=str(event.get("requestContext", {}).get("http", {}).get("method", "")),
        headers={str(name).lower(): str(value) for name, value in (event.get("headers") or {}).items()},
        query=str(event.get("rawQueryString") or ""),
        body=content,
    )


def _response(status: HTTPStatus) -> dict[str, Any]:
    return {"statusCode": status.value, "headers": {"content-type": "text/plain"}, "body": status.phrase}


@cache
def _client(service: str) -> Any:
    return boto3.client(service, config=QUICK)  # type: ignore[call-overload]  # the service's name is not a literal
