"""Refusals and broken replies: what a cloud, a proxy or a network sends in the place of an answer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cloud_simulator.aws.protocols import Call, refusal
from cloud_simulator.faults import Refused
from cloud_simulator.google.http_front import refusal_of

from .calls import Asked

PAGE: Final = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Welcome, guest<br></h1></body></html>"
XHTML: Final = (
    b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Sign in</title></head>'
    b"<body><h1>Welcome</h1></body></html>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is sent, and how.

    Whole; cut (a length is promised that does not come) or torn (the same, but the connection is closed in order);
    reset (nothing, the connection is reset), hanging (nothing at all), dripping, or a byte at a time without an end,
    from its body or its headers on (endless-drip, headers-drip). Of gRPC it can be a status's name.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    how: str = "whole"


AWS_CODES: Final[Mapping[str, tuple[str, int]]] = {
    "throttled": ("ThrottlingException", 400),
    "denied": ("AccessDenied", 403),
    "expired": ("ExpiredTokenException", 403),
    "clock-skew": ("RequestTimeTooSkewed", 403),
    "error-500": ("InternalError", 500),
    "error-503": ("ServiceUnavailable", 503),
}
EC2_CODES: Final[Mapping[str, tuple[str, int]]] = {
    "throttled": ("RequestLimitExceeded", 503),
    "denied": ("UnauthorizedOperation", 403),
}
GOOGLE_CODES: Final[Mapping[str, str]] = {
    "throttled": "RESOURCE_EXHAUSTED",
    "denied": "PERMISSION_DENIED",
    "expired": "UNAUTHENTICATED",
    "error-500": "INTERNAL",
    "error-503": "UNAVAILABLE",
}
REFUSED: Final = frozenset(AWS_CODES)
WIRE: Final = frozenset(
    {
        "reset-before", "reset-after", "cut", "torn", "cut-in-order", "html-200", "xhtml-200", "html-503", "empty-body",
        "garbage", "control-character", "hang", "drip", "endless-drip", "headers-drip",
    }
)  # fmt: skip
"""The faults that need no answer to change."""
SLOW: Final = frozenset({"hang", "endless-drip", "headers-drip"})
"""Those whose answer never comes to its end."""


def refused(asked: Asked, fault: str) -> Reply:
    """The refusal in the protocol of the call."""
    said = f"simulated {fault} for {asked.operation}"
    if asked.protocol == "grpc":
        return Reply(how=GOOGLE_CODES[fault])
    if asked.cloud == "google":
        found = refusal_of(Refused(GOOGLE_CODES[fault], said), "compute.googleapis.com", "a-project")
        return Reply(status=found.http, headers=_as("application/json"), body=json.dumps(found.body).encode())
    code, status = (EC2_CODES if asked.service == "ec2" else AWS_CODES).get(fault, AWS_CODES[fault])
    call = Call(
        access_key="",
        region=asked.region,
        service=asked.service,
        operation=asked.operation,
        protocol=asked.protocol,
        signed_at=None,
        form={},
        body=b"",
    )
    answer = refusal(call, Refused(code, said, status))
    kept = {name: value for name, value in answer.headers.items() if name.lower() != "content-length"}
    return Reply(status=status, headers=kept, body=answer.get_data())


def broken(fault: str, good: Reply) -> Reply:
    """What becomes of a good answer on its way."""
    half = good.body[: len(good.body) // 2]
    replies = {
        "reset-before": Reply(how="reset"),
        "reset-after": Reply(how="reset"),
        "hang": Reply(how="hanging"),
        "drip": Reply(headers=good.headers, body=good.body, how="dripping"),
        "endless-drip": Reply(headers=good.headers, body=good.body, how="endless-drip"),
        "headers-drip": Reply(headers=good.headers, body=good.body, how="headers-drip"),
        "cut": Reply(headers=good.headers, body=good.body, how="cut"),
        "torn": Reply(headers=good.headers, body=good.body, how="torn"),
        "cut-in-order": Reply(headers=good.headers, body=half),
        "empty-body": Reply(headers=good.headers),
        "garbage": Reply(headers=good.headers, body=bytes(range(256)) * 3),
        "control-character": Reply(headers=good.headers, body=half + b"\x07" + good.body[len(half) :]),
        "html-200": Reply(headers=_as("text/html"), body=PAGE),
        "xhtml-200": Reply(headers=_as("text/xml"), body=XHTML),
        "html-503": Reply(status=503, headers=_as("text/html"), body=PAGE),
    }
    return replies[fault]


def _as(content_type: str) -> dict[str, str]:
    return {"Content-Type": content_type}
