"""Requests as Slack sends and signs them, and as Lambda's function URL passes them on (payload format 2.0)."""

import hashlib
import hmac
import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, urlencode

SIGNING_SECRET = "5f0c2e0e6d7b41f58a8e1c9d3b7a6f24"
TEAM, ENTERPRISE, USER, CHANNEL = "T0PLIMSOLL", "E0PLIMSOLL", "U0ANNA", "C0STORAGE"
VOLUME = "111122223333/eu-west-1/vol-0123456789abcdef0"
FORM = "application/x-www-form-urlencoded"


_TRIGGERS = count(1)


def another_trigger() -> str:
    """A trigger's id: each request has one of its own."""
    return f"{next(_TRIGGERS)}.0.trigger"


def signature_of(body: bytes, timestamp: str, secret: str = SIGNING_SECRET) -> str:
    """Written apart from the SDK's, by Slack's page on it."""
    digest = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256)
    return "v0=" + digest.hexdigest()


def passed_on(
    body: bytes | str, headers: Mapping[str, str], *, method: str = "POST", query: str = ""
) -> dict[str, Any]:
    """The event of a function URL; forms come in base64, as everything that is no text to Lambda."""
    body = body.encode() if isinstance(body, str) else body
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/",
        "rawQueryString": query,
        "headers": {"host": "abc.lambda-url.eu-west-1.on.aws", "user-agent": "Slackbot 1.0", **headers},
        "requestContext": {"http": {"method": method, "path": "/", "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1"}},
        "body": b64encode(body).decode(),
        "isBase64Encoded": True,
    }


def through_rest_api(event: Mapping[str, Any]) -> dict[str, Any]:
    """The same request as a REST API of API Gateway passes it on: Lambda's payload format 1.0, base64 of every body."""
    headers = {name.title(): value for name, value in event["headers"].items()}
    method, query = event["requestContext"]["http"]["method"], dict(parse_qsl(event["rawQueryString"]))
    return {
        "resource": "/",
        "path": "/",
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": query or None,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {"httpMethod": method, "path": "/slack/", "stage": "slack", "resourcePath": "/"},
        "body": event["body"],
        "isBase64Encoded": event["isBase64Encoded"],
    }


def signed(
    body: bytes | str,
    *,
    secret: str = SIGNING_SECRET,
    at: datetime | str | None = None,
    content_type: str = FORM,
    method: str = "POST",
) -> dict[str, Any]:
    """A request with that body as Slack signs it, now or at that time."""
    body = body.encode() if isinstance(body, str) else body
    timestamp = at if isinstance(at, str) else str(int((at or datetime.now(UTC)).timestamp()))
    headers = {
        "content-type": content_type,
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": signature_of(body, timestamp, secret),
    }
    return passed_on(body, headers, method=method)


def interaction(payload: Any, **how: Any) -> dict[str, Any]:
    """A request about something that was pressed or submitted."""
    return signed(urlencode({"payload": payload if isinstance(payload, str) else json.dumps(payload)}), **how)


def pressed(
    action_id: str,
    volume: str = VOLUME,
    *,
    trigger_id: str | None = None,
    response_url: str | None = None,
    ts: str = "1700000000.000100",
    thread_ts: str | None = None,
    user: Mapping[str, Any] | None = None,
    selected: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """The payload of a button in a message, or of a menu with the line that was selected; `more` replaces keys."""
    message = {"type": "message", "ts": ts, "text": "Savings", "blocks": []}
    container = {"type": "message", "message_ts": ts, "channel_id": CHANNEL, "is_ephemeral": False}
    thread = {"thread_ts": thread_ts} if thread_ts else {}
    action = {"type": "button", "action_id": action_id, "block_id": f"volume:{volume}", "value": "run-1"}
    if selected is not None:
        action |= {"type": "overflow", "selected_option": {"value": selected}}
    return {
        "type": "block_actions",
        "api_app_id": "A0PLIMSOLL",
        "token": "verification-token-of-old",
        "team": {"id": TEAM, "domain": "plimsoll"},
        "enterprise": None,
        "is_enterprise_install": False,
        "user": user or {"id": USER, "username": "anna", "team_id": TEAM},
        "channel": {"id": CHANNEL, "name": "storage"},
        "container": container | thread,
        "message": message | thread,
        "trigger_id": trigger_id or another_trigger(),
        "response_url": response_url,
        "state": {"values": {}},
        "actions": [action],
    } | more


def submitted(
    view: Mapping[str, Any], values: Mapping[str, Any], *, view_id: str = "V1", **more: Any
) -> dict[str, Any]:
    """The payload of a dialog that was opened as `view`, with what was entered by the ids of blocks and elements."""
    return {
        "type": "view_submission",
        "team": {"id": TEAM, "domain": "plimsoll"},
        "enterprise": None,
        "user": {"id": USER, "username": "anna", "team_id": TEAM},
        "trigger_id": another_trigger(),
        "response_urls": [],
        "view": {**view, "id": view_id, "team_id": TEAM, "hash": "1.abc", "state": {"values": dict(values)}},
    } | more


def command(text: str, *, trigger_id: str | None = None, at: Any = None, **more: str) -> dict[str, Any]:
    """A request of the slash command."""
    fields = {
        "token": "verification-token-of-old",
        "team_id": TEAM,
        "team_domain": "plimsoll",
        "enterprise_id": "",
        "channel_id": CHANNEL,
        "channel_name": "storage",
        "user_id": USER,
        "user_name": "anna",
        "command": "/plimsoll",
        "text": text,
        "response_url": "",
        "trigger_id": trigger_id or another_trigger(),
    }
    return signed(urlencode(fields | more), at=at)


def ssl_check() -> dict[str, Any]:
    """What Slack sends from time to time to see whether the certificate is good: a GET that nobody signs."""
    event = passed_on("", {}, method="GET", query="token=verification-token-of-old&ssl_check=1")
    return event | {"isBase64Encoded": False, "body": None}


def snoozed(days: str = "30", reason: str | None = "a release") -> dict[str, Any]:
    """What is entered in the dialog for a snooze."""
    chosen = {"type": "radio_buttons", "selected_option": {"value": days, "text": {"type": "plain_text", "text": days}}}
    return {"days": {"days": chosen}} | because(reason)


def because(reason: str | None) -> dict[str, Any]:
    """A reason that is entered in a dialog."""
    return {"reason": {"reason": {"type": "plain_text_input", "value": reason}}}
