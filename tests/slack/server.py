"""A Slack that listens on loopback: the Web API methods that Plimsoll uses, uploads, response URLs and a webhook.

    with FakeSlack() as slack:
        client = slack_client(slack.token, api_url=slack.api_url)

It refuses what Slack refuses: a wrong token, a missing scope, a channel that the app is not in, blocks beyond the
published limits, more than a message a second in a channel. `fail` makes the next call of a method go wrong.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from typing import Any, Self, TypeVar

from .methods import METHODS, Methods, checked
from .wire import Answer, Trouble, handler_of, json_answer, parameters, refused_by
from .workspace import RESPONSES_MAX, SCOPES, Pace, Refused, Workspace

UPLOAD, WEBHOOK, RESPONSE = "upload", "webhook", "response_url"
"""What can be told to fail besides the methods by their names."""

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was answered: by a method's name, its parameters, and the error (None: it was done)."""

    method: str
    given: Mapping[str, Any]
    error: str | None


class FakeSlack:
    """The server, from `with` on; `there` is the workspace with everything that was posted.

    `scopes` are the app's; `pace_s` seconds a message in each channel after a `burst` of them, told by `now`. `calls`
    are those that were answered, `asked` counts all, also those that went wrong.
    """

    token = "xoxb-0-plimsoll-test-token"

    def __init__(
        self,
        *,
        scopes: Iterable[str] = SCOPES,
        pace_s: float = 1.0,
        burst: int = 4,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.there = Workspace(now=now)
        self.scopes = set(scopes)
        self.calls: list[Call] = []
        self.asked: Counter[str] = Counter()
        self._troubles: dict[str, list[Trouble]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self.answer))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.api_url = f"{self.address}/api/"
        self.webhook_url = f"{self.address}/services/T0PLIMSOLL/B0HOOK/webhook-secret"
        self._pace = Pace(pace_s, burst, now)
        self._methods = Methods(self.there, self._pace, self.address)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def fail(self, method: str, **trouble: Any) -> None:
        """Lets the next call of a method (or `upload`, `webhook`, `response_url`) go wrong; see Trouble."""
        self._troubles.setdefault(method, []).append(Trouble(**trouble))

    def trigger(self) -> str:
        """A trigger id, as a press of a button brings one: it opens one view."""
        with self.there.changed:
            trigger = f"{self.there.serial()}.{self.there.serial()}.trigger"
            self.there.triggers[trigger] = False
            return trigger

    def response_url(self) -> str:
        """An address for answers to one interaction; what comes there is in `there.responses`."""
        with self.there.changed:
            url = f"{self.address}/actions/T0PLIMSOLL/{self.there.serial()}/response-secret"
            self.there.responses[url] = []
            return url

    def called(self, method: str) -> list[Call]:
        """The calls of a method so far."""
        return [call for call in self.calls if call.method == method]

    def wait_for(self, look: Callable[[], _Found], *, timeout_s: float = 120) -> _Found:
        """What `look` finds, once it finds something; AssertionError with the calls so far where it never does."""
        with self.there.changed:
            if not self.there.changed.wait_for(look, timeout_s):
                raise AssertionError(f"waited {timeout_s} s; Slack was called: {self.calls}")
            return look()

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer | None:
        """Answers a request; None: by closing the connection."""
        name, take = self._taken_by(path)
        self.asked[name] += 1
        trouble = next((one for one in self._troubles.get(name, ()) if one.strikes()), None) or Trouble()
        time.sleep(trouble.slow_s)
        if trouble.drop == "before":
            return None
        with self.there.changed:
            answer = refused_by(trouble) or take(path, headers, body)
            self.there.changed.notify_all()
        return None if trouble.drop == "after" else answer

    def _taken_by(self, path: str) -> tuple[str, Callable[[str, Mapping[str, str], bytes], Answer]]:
        if path.startswith("/api/"):
            return path.removeprefix("/api/"), self._method
        if path.startswith("/upload/v1/"):
            return UPLOAD, self._upload
        return (RESPONSE, self._response) if path.startswith("/actions/") else (WEBHOOK, self._webhook)

    def _method(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        name, given = path.removeprefix("/api/"), parameters(headers, body)
        try:
            self._admit(name, headers.get("Authorization") or f"Bearer {given.get('token', '')}")
            found = METHODS[name].answer(self._methods, given)
        except Refused as refused:
            self.calls.append(Call(name, given, refused.code))
            return json_answer(
                {"ok": False, "error": refused.code, **refused.more}, refused.status, refused.retry_after_s
            )
        self.calls.append(Call(name, given, None))
        return json_answer({"ok": True, **found})

    def _admit(self, name: str, authorization: str) -> None:
        if name not in METHODS:
            raise Refused("unknown_method")
        if authorization.strip() == "Bearer":
            raise Refused("not_authed")
        if authorization != f"Bearer {self.token}":
            raise Refused("invalid_auth")
        scope = METHODS[name].scope
        if scope is not None and scope not in self.scopes:
            raise Refused("missing_scope", needed=scope, provided=",".join(sorted(self.scopes)))

    def _upload(self, path: str, _headers: Mapping[str, str], body: bytes) -> Answer:
        file = self.there.files.get(path.rpartition("/")[2])
        if file is None or len(body) != file.length:
            return Answer(400, b"no such upload, or not its length")
        file.data = body
        return Answer(200, f"OK - {len(body)}".encode())

    def _response(self, path: str, _headers: Mapping[str, str], body: bytes) -> Answer:
        taken = self.there.responses.get(self.address + path)
        if taken is None or len(taken) >= RESPONSES_MAX:
            return json_answer({"ok": False, "error": "used_url"}, 404)
        given = json.loads(body)
        try:
            if not given.get("delete_original"):
                checked(given)
        except Refused as refused:
            self.calls.append(Call(RESPONSE, given, refused.code))
            return json_answer({"ok": False, "error": refused.code, **refused.more})
        self.calls.append(Call(RESPONSE, given, None))
        taken.append(given)
        return Answer(200, b"ok")

    def _webhook(self, path: str, _headers: Mapping[str, str], body: bytes) -> Answer:
        if self.address + path != self.webhook_url:
            return Answer(403, b"invalid_token") if path.startswith("/services/") else Answer(404, b"no_service")
        given = json.loads(body)
        try:
            checked(given)
            self._pace.take(WEBHOOK)
        except Refused as refused:
            self.calls.append(Call(WEBHOOK, given, refused.code))
            if refused.status == 429:
                return json_answer({}, 429, refused.retry_after_s)
            return Answer(400, refused.code.encode())
        self.calls.append(Call(WEBHOOK, given, None))
        self.there.hooked.append(given)
        return Answer(200, b"ok")
