"""The checks of every request that claims to come from Slack, before any of it is believed.

Slack signs what it sends with the app's signing secret:
https://docs.slack.dev/authentication/verifying-requests-from-slack (version v0, checked 2026-11). The SDK's verifier
holds the signature and its age; it fails on a timestamp that is no number, which is therefore looked at first.
"""

import json
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, parse_qsl, urlencode
from uuid import uuid4

from slack_sdk.signature import Clock as SlackClock
from slack_sdk.signature import SignatureVerifier

from plimsoll.model.errors import BadInput

if TYPE_CHECKING:
    from plimsoll.ports import Claims  # the ports bring numpy along, which the function in front has no time for

MOST_BODY_BYTES: Final = 256 * 1024
"""The longest body that is read. Slack sends some KiB; the longest requests bring along the message with the button,
and Slack takes no message of more than about 12,000 characters."""

MOST_AGE: Final = timedelta(minutes=5)
"""The longest time between a request's and ours, in either direction, as the SDK's verifier has it."""

REMEMBERED: Final = 2 * MOST_AGE + timedelta(minutes=1)
"""The time for which a signature is remembered: longer than a request with it is taken."""

FORM: Final = "application/x-www-form-urlencoded"

_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}")
_SIGNATURE: Final = re.compile(r"v0=[0-9a-f]{64}")


class Refused(BadInput):
    """A request that is not taken: the HTTP status, and a reason for the log that holds nothing of the request."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request as it came: its method, its headers by names in small letters, its query, and the bytes of its body."""

    method: str
    headers: Mapping[str, str]
    query: str = ""
    body: bytes = b""

    @classmethod
    def from_event(cls, event: Mapping[str, Any]) -> "HttpRequest":
        """The request in an event of a function URL (payload format 2.0) or of a REST API (1.0); Refused (413, 400)."""
        body = str(event.get("body") or "")
        if len(body) > 2 * MOST_BODY_BYTES:  # base64 makes four bytes of three
            raise _long_body()
        try:
            content = b64decode(body, validate=True) if event.get("isBase64Encoded") else body.encode()
        except (NotBase64, ValueError) as error:
            raise malformed_content("the body is no base64") from error
        context = event.get("requestContext") or {}
        return cls(
            method=str(context.get("http", {}).get("method") or event.get("httpMethod") or ""),
            headers={str(name).lower(): str(value) for name, value in (event.get("headers") or {}).items()},
            query=str(event.get("rawQueryString") or urlencode(event.get("queryStringParameters") or {})),
            body=content,
        )

    @property
    def is_ssl_check(self) -> bool:
        """True if Slack only checks the certificate, as it does from time to time with a GET."""
        return self.method == "GET" and parse_qs(self.query).get("ssl_check") == ["1"]

    @property
    def signature(self) -> str:
        """Its signature; empty if there is none."""
        return self.headers.get("x-slack-signature", "")

    @property
    def text(self) -> str:
        """The body as text. Raises Refused (400) if it is not UTF-8."""
        try:
            return self.body.decode()
        except UnicodeDecodeError as error:
            raise malformed_content("the body is no UTF-8") from error


@dataclass(frozen=True, slots=True)
class _At(SlackClock):
    moment: datetime

    def now(self) -> float:
        return self.moment.timestamp()


def check_shape(request: HttpRequest) -> None:
    """Raises Refused for a body that is too long (413), and for every method but POST (405)."""
    if len(request.body) > MOST_BODY_BYTES:
        raise _long_body()
    if request.method != "POST":
        raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "the method is not POST")


def check_signature(request: HttpRequest, signing_secret: str, now: datetime) -> None:
    """Raises Refused (401) for a wrong signature, or a time more than 5 minutes from now."""
    timestamp = request.headers.get("x-slack-request-timestamp", "")
    if not _TIMESTAMP.fullmatch(timestamp) or not _SIGNATURE.fullmatch(request.signature):
        raise Refused(HTTPStatus.UNAUTHORIZED, "there is no timestamp, or no signature of version v0")
    verifier = SignatureVerifier(signing_secret, _At(now))
    if not verifier.is_valid(request.text, timestamp, request.signature):
        raise Refused(HTTPStatus.UNAUTHORIZED, "the signature is not that of the signing secret, or is too old")


def check_replay(request: HttpRequest, claims: "Claims", now: datetime) -> None:
    """Raises Refused (409) for a repeated signature, and CloudError if the claims cannot be asked."""
    key = f"slack/{sha256(request.signature.encode()).hexdigest()}"
    if not claims.claim(key, uuid4().hex, now + REMEMBERED, now):
        raise Refused(HTTPStatus.CONFLICT, "the same request came before")


def content_of(request: HttpRequest) -> dict[str, Any]:
    """A request's content in plain values. Raises Refused (400) if it is no form, or its payload is no JSON object."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != FORM:
        raise malformed_content("the body is no form")
    fields = dict(parse_qsl(request.text, keep_blank_values=True))
    if not fields:
        raise malformed_content("the form is empty")
    if "payload" not in fields:
        return fields
    try:
        content = json.loads(fields["payload"])
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, or a number of thousands of digits
        raise malformed_content("the payload is no JSON") from error
    if not isinstance(content, dict):
        raise malformed_content("the payload is no JSON object")
    return content


def malformed_content(reason: str) -> Refused:
    """The refusal (400) of a malformed content."""
    return Refused(HTTPStatus.BAD_REQUEST, reason)


def _long_body() -> Refused:
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {MOST_BODY_BYTES} bytes")
