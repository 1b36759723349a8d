"""What is asked of every request that says it comes from Slack, before anything of it is believed.

Slack signs what it sends with the app's signing secret: https://docs.slack.dev/authentication/verifying-requests-from-slack
(version v0, checked 2026-11). Each check raises Refused with the HTTP status of the refusal, and with a reason that
holds nothing of the request, so that it can be logged.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from slack_sdk.signature import Clock as SlackClock
from slack_sdk.signature import SignatureVerifier

from plimsoll.domain.errors import BadInput

if TYPE_CHECKING:
    from plimsoll.ports import Claims  # the ports bring numpy along, which the function in front has no time for

MOST_BYTES: Final = 256 * 1024
"""The longest body that is read. What Slack sends has some KiB; the messages that buttons bring along are the longest,
and Slack takes no message of more than about 12,000 characters."""

MOST_AGE: Final = timedelta(minutes=5)
"""How far a request's time may be from ours, in either direction, as Slack's page on signatures advises."""

REMEMBERED: Final = 2 * MOST_AGE + timedelta(minutes=1)
"""How long a signature is remembered: longer than the time between the earliest and the latest moment it is taken."""

_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}")
_SIGNATURE: Final = re.compile(r"v0=[0-9a-f]{64}")


class Refused(BadInput):
    """A request that is not taken: the HTTP status, and a reason that holds nothing of the request."""

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

    @property
    def is_ssl_check(self) -> bool:
        """Whether Slack only looks if the certificate is good, as it does from time to time with a GET."""
        return self.method == "GET" and parse_qs(self.query).get("ssl_check") == ["1"]

    @property
    def signature(self) -> str:
        """What it is signed with, empty where it is not."""
        return self.headers.get("x-slack-signature", "")

    @property
    def timestamp(self) -> str:
        """When it says that it was sent, in seconds since 1970, empty where it does not."""
        return self.headers.get("x-slack-request-timestamp", "")

    @property
    def form(self) -> str:
        """The body as text; Refused (400) where it is none."""
        try:
            return self.body.decode()
        except UnicodeDecodeError as error:
            raise Refused(HTTPStatus.BAD_REQUEST, "the body is no UTF-8") from error


@dataclass(frozen=True, slots=True)
class _At(SlackClock):
    """The verifier's clock, at one moment."""

    moment: datetime

    def now(self) -> float:
        return self.moment.timestamp()


def check_shape(request: HttpRequest) -> None:
    """Refuses what is too long to read (413), and what is not sent by POST (405)."""
    if len(request.body) > MOST_BYTES:
        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {MOST_BYTES} bytes")
    if request.method != "POST":
        raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "the method is not POST")


def check_age(request: HttpRequest, now: datetime) -> None:
    """Refuses (401) what was sent too long ago, what is from the future, and what does not say when it was sent."""
    if not _TIMESTAMP.fullmatch(request.timestamp):
        raise Refused(HTTPStatus.UNAUTHORIZED, "the timestamp is no number of seconds")
    age_s = now.timestamp() - int(request.timestamp)
    if abs(age_s) > MOST_AGE.total_seconds():
        raise Refused(HTTPStatus.UNAUTHORIZED, f"the timestamp is {'old' if age_s > 0 else 'of the future'}")


def check_signature(request: HttpRequest, signing_secret: str, now: datetime) -> None:
    """Refuses (401) what was not signed with that secret just as it is."""
    if not _SIGNATURE.fullmatch(request.signature):
        raise Refused(HTTPStatus.UNAUTHORIZED, "there is no signature of version v0")
    verifier = SignatureVerifier(signing_secret, _At(now))
    if not verifier.is_valid(request.form, request.timestamp, request.signature):
        raise Refused(HTTPStatus.UNAUTHORIZED, "the signature is not that of the signing secret")


def check_replay(request: HttpRequest, claims: "Claims", holder: str, now: datetime) -> None:
    """Refuses (409) what came before; `holder` is this request's own name. CloudError where nobody can tell."""
    key = f"slack/{sha256(request.signature.encode()).hexdigest()}"
    if not claims.claim(key, holder, now + REMEMBERED, now):
        raise Refused(HTTPStatus.CONFLICT, "the same request came before")
