"""Endpoints: what holds for every call of every client, whatever a service, a proxy or a network does.

- An answer that botocore's parsers cannot read is asked for again, and ends as one error, ResponseParserError.
- An answer ends within its time, however slowly it comes (`Bounded`).
- Retries end with the deadline of what is being read, and after a second time-out.
- A service that does not answer in a region is left alone for a while, so that its calls fail at once (`Circuit`).
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from xml.sax.saxutils import unescape

from botocore.exceptions import (
    ConnectionError as BotoConnectionError,
)
from botocore.exceptions import (
    ConnectTimeoutError,
    HTTPClientError,
    ReadTimeoutError,
)
from botocore.parsers import ResponseParserError, ResponseParserFactory
from botocore.session import Session
from botocore.utils import parse_timestamp

from plimsoll.clouds.common.answers import LEAST_S, Deadline, carry_out_within, raw_text
from plimsoll.clouds.common.hiding import UNKEPT, without_secrets

TIME_OUTS: Final = 2
"""After so many attempts a call that timed out is given up."""

READINGS: Final = 3
"""How often a call is made whose answer cannot be read."""

_PAUSE_S: Final = 0.2
_ERROR_STATUS: Final = 300
_UNREADABLE: Final = "plimsoll.unreadable"
_NO_ANSWER = (BotoConnectionError, HTTPClientError)
_TIMED_OUT = (ConnectTimeoutError, ReadTimeoutError)
_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def limit_retries(deadline: Deadline) -> Iterator[None]:
    """Calls inside the block begin no retry after that deadline."""
    before = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(before)


class CircuitOpenError(BotoConnectionError):
    """A call that was not made, because the service did not answer those before it."""

    fmt = "{service} in {region} did not answer {calls} calls in a row, so it is left alone for {seconds:.0f} seconds"


@dataclass(slots=True, kw_only=True)
class Circuit:
    """A service in a region, which is not called for a while after too many failures.

    After `most` calls in a row that got no answer, each with its own retries, the next ones fail at once for `rest_s`
    seconds. Then one is let through: its answer lets all through again, and without one the rest begins anew.
    """

    service: str
    region: str
    most: int = 3
    rest_s: float = 20.0
    clock: Callable[[], float] = time.monotonic
    _failed: int = field(default=0, init=False)
    _closed_until: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def enter(self, **_call: object) -> None:
        """CircuitOpenError where the service is to be left alone."""
        with self._lock:
            if self._failed < self.most:
                return
            left_s = self._closed_until - self.clock()
            if left_s <= 0:
                self._closed_until = self.clock() + self.rest_s  # this call is the one that tries
                return
        raise CircuitOpenError(service=self.service, region=self.region, calls=self.most, seconds=left_s)

    def note_answer(self, **_call: object) -> None:
        """Notes that a call was answered, by whatever."""
        with self._lock:
            self._failed = 0

    def note_failure(self, exception: Exception, **_call: object) -> None:
        """Notes what a call ended in. Only one without any answer counts."""
        if not isinstance(exception, _NO_ANSWER):
            return
        with self._lock:
            self._failed += 1
            self._closed_until = self.clock() + self.rest_s


class SlowAnswerError(ReadTimeoutError):
    """An answer that came too slowly to be waited for."""

    fmt = "the answer of {endpoint_url} took longer than {seconds:g} seconds in all"


@dataclass(frozen=True, slots=True)
class Bounded:
    """A client's HTTP session, whose answers end within `answer_s`, or with the deadline of what is being read."""

    session: Any
    answer_s: float

    def send(self, request: Any) -> Any:
        """The answer with its body. SlowAnswerError, as of any time-out, if it takes longer."""
        deadline = _deadline.get()
        seconds = self.answer_s if deadline is None else min(self.answer_s, max(LEAST_S, deadline.left_s))
        try:
            return carry_out_within(seconds, lambda: self.session.send(request))
        except TimeoutError as error:
            raise SlowAnswerError(endpoint_url=request.url, seconds=seconds) from error

    def close(self) -> None:
        """Gives every connection back."""
        self.session.close()


def guard(client: Any, circuit: Circuit, answer_s: float) -> None:
    """Hooks that hold a client's calls to its circuit, the time of an answer and the reading's deadline.

    Clients have no public way to another HTTP session than the one they were made with.
    """
    endpoint = client._endpoint
    if not isinstance(endpoint.http_session, Bounded):
        endpoint.http_session = Bounded(endpoint.http_session, answer_s)
    events = client.meta.events
    events.register("before-call.*.*", circuit.enter, unique_id="plimsoll-enter")
    events.register("after-call.*.*", circuit.note_answer, unique_id="plimsoll-answered")
    events.register("after-call-error.*.*", circuit.note_failure, unique_id="plimsoll-failed")
    events.register_first("needs-retry.*.*", _retry, unique_id="plimsoll-retry")


def read_strictly(session: Session) -> None:
    """Makes the clients of a session answer in dictionaries or raise what is in `errors.FAILURES`, and nothing else."""
    session.register_component("response_parser_factory", _StrictParsers())


class _StrictParsers(ResponseParserFactory):
    """Botocore's parsers, whose failures of every kind are one kind that is asked again."""

    def __init__(self) -> None:
        super().__init__()
        self.set_parser_defaults(timestamp_parser=_time_of)

    def create_parser(self, protocol_name: str) -> Any:
        return _StrictParser(super().create_parser(protocol_name))


def _time_of(value: Any) -> datetime:
    """A time as EC2 writes it, without the guessing of botocore's own parser, which reads all others."""
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        moment = None
    return parse_timestamp(value) if moment is None or moment.tzinfo is None else moment


@dataclass(slots=True)
class _StrictParser:
    """A parser that never raises: what it could not read is marked, for `_retry` to ask again or raise."""

    parser: Any

    def parse(self, response: Mapping[str, Any], shape: Any) -> dict[str, Any]:
        try:
            parsed = self.parser.parse(response, shape)
        except Exception as error:  # noqa: BLE001  # the parsers raise whatever the answer made of them
            return _unreadable(response, error)
        return parsed if isinstance(parsed, dict) else _unreadable(response, TypeError(f"it is {parsed!r:.60}"))


def _unreadable(response: Mapping[str, Any], error: Exception) -> dict[str, Any]:
    status = response["status_code"]
    metadata = {"HTTPStatusCode": status, "HTTPHeaders": dict(response["headers"])}
    if status >= _ERROR_STATUS:
        return {"Error": {"Code": str(status), "Message": "no readable error"}, "ResponseMetadata": metadata}
    body = response.get("body")
    text = body.decode("utf-8", errors="replace") if isinstance(body, bytes) else ""
    tokens = {unescape(xml or json) for xml, json in _TOKENS.findall(text)}
    token = tokens.pop() if len(tokens) == 1 else None
    return {_UNREADABLE: _Unreadable(error, raw_text(text), token), "ResponseMetadata": metadata}


_TOKENS: Final = re.compile(r"<nextToken>([^<>]+)</nextToken>|\"NextToken\"\s*:\s*\"([^\"\\]+)\"", re.IGNORECASE)


class _Unreadable(ResponseParserError):
    """An answer that no parser could read. `raw` is its body as text, shortened and without secrets. `token` is that of
    the next page, if the body names one and no other."""

    def __init__(self, error: Exception, raw: str, token: str | None = None) -> None:
        super().__init__(f"its answer cannot be read ({type(error).__name__}: {without_secrets(str(error))[:200]})")
        self.kind = type(error).__name__
        self.raw = raw
        self.token = token

    def without_answer(self) -> ResponseParserError:
        """The same without anything of the answer."""
        return ResponseParserError(f"its answer cannot be read ({self.kind})")


def _retry(
    response: tuple[Any, Mapping[str, Any]] | None,
    attempts: int,
    caught_exception: Exception | None,
    operation: Any,
    **_call: object,
) -> float | None:
    """Asks again what could not be read; raises where botocore's own rule would go on for too long."""
    deadline = _deadline.get()
    late = deadline is not None and deadline.left_s <= 0
    if caught_exception is not None:
        if late or (isinstance(caught_exception, _TIMED_OUT) and attempts >= TIME_OUTS):
            raise caught_exception
        return None
    unreadable = response[1].get(_UNREADABLE) if response else None
    if unreadable is None:
        return None
    if late or attempts >= READINGS:
        raise unreadable.without_answer() if operation.service_model.service_name in UNKEPT else unreadable
    return _PAUSE_S
