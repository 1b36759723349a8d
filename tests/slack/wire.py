"""What goes over the wire to and from the Slack that listens on loopback, and what goes wrong there."""

import json
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal
from urllib.parse import parse_qsl


@dataclass(slots=True, kw_only=True)
class Trouble:
    """What goes wrong with a call: after so many good ones, so many times."""

    skip: int = 0
    times: int = 1
    status: int | None = None
    error: str | None = None
    retry_after_s: int | None = None
    drop: Literal["before", "after"] | None = None
    slow_s: float = 0.0

    def strikes(self) -> bool:
        """Whether this call is one of those that go wrong; counts it."""
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return self.times >= 0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def refused_by(trouble: Trouble) -> Answer | None:
    if trouble.retry_after_s is not None:
        return json_answer({"ok": False, "error": "ratelimited"}, 429, trouble.retry_after_s)
    if trouble.status is not None:
        return Answer(trouble.status, b"<html>Server Error</html>")
    return None if trouble.error is None else json_answer({"ok": False, "error": trouble.error})


def parameters(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    if "json" in (headers.get("Content-Type") or ""):
        return dict(json.loads(body or b"{}"))
    return dict(parse_qsl(body.decode()))


def json_answer(body: Mapping[str, Any], status: int = 200, retry_after_s: int | None = None) -> Answer:
    headers = {"Content-Type": "application/json; charset=utf-8"}
    if retry_after_s is not None:
        headers["Retry-After"] = str(retry_after_s)
    return Answer(status, json.dumps(body).encode(), headers)


def handler_of(answered: Callable[[str, Mapping[str, str], bytes], Answer | None]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # http.server's name
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = answered(self.path, self.headers, body)
            if answer is None:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            with suppress(ConnectionError):  # whoever asked has given up waiting
                self.end_headers()
                self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            """Tests print nothing."""

    return Handler
