"""The proxy: HTTP on loopback between the command line and a simulated cloud, which lets an injector answer."""

import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from typing import Any, Final, Protocol

from .calls import Asked
from .injector import Injector
from .plan import Plan
from .refusals import Reply

_HOP: Final = frozenset({"connection", "transfer-encoding", "content-length", "date", "server"})
_DRIPS: Final = 12
_DRIP_S: Final = 0.03
_SLOW_DRIP_S: Final = 0.2
_HANGS_S: Final = 60.0
UNDISTURBED: Final = Plan(seed=-1, scenario="", strikes=())

Reader = Callable[[str, str, Mapping[str, str], bytes], Asked]


class Answering(Protocol):
    """Who answers a call, and may ask the simulated cloud for it."""

    def answer(self, asked: Asked, forward: Callable[[Asked], Reply], /) -> Reply:
        """The answer."""


@dataclass(slots=True, kw_only=True)
class Proxy:
    """What every connection shares: the simulated cloud behind it, how a request is read, and who answers now.

    Good answers are kept: the same question has the same answer. `fresh` names the operations that never are.
    """

    upstream: int
    read: Reader
    injector: Answering = field(default_factory=lambda: Injector(plan=UNDISTURBED))
    fresh: frozenset[str] = frozenset()
    learn: Callable[[Asked, Reply], None] = lambda _asked, _reply: None
    kept: dict[tuple[str, str], Reply] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """What is sent for a request."""
        return self.injector.answer(self.read(method, target, headers, body), self.forward)

    def forward(self, asked: Asked) -> Reply:
        """The simulated cloud's own answer."""
        key = (asked.service, asked.key)
        found = self.kept.get(key)
        if found is not None:
            return found
        connection = HTTPConnection("127.0.0.1", self.upstream, timeout=60)
        try:
            kept = {name: value for name, value in asked.headers.items() if name.lower() not in {"content-length"}}
            connection.request(asked.method, asked.target, asked.body or None, kept)
            answer = connection.getresponse()
            headers = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP}
            reply = Reply(status=answer.status, headers=headers, body=answer.read())
        finally:
            connection.close()
        self.learn(asked, reply)
        if reply.status == 200 and asked.operation not in self.fresh:
            self.kept[key] = reply
        return reply


@contextmanager
def proxied(proxy: Proxy) -> Iterator[int]:
    """Serves the proxy on a free port for as long as the block lasts."""

    class Handler(_Handler):
        shared = proxy

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        proxy.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a command that is killed, or gives up, leaves its connections."""


class _Handler(BaseHTTPRequestHandler):
    shared: Proxy
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answers."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._send(self.shared.answer(self.command, self.path, dict(self.headers.items()), body))

    do_POST = do_GET  # noqa: N815  # the base class's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        """Nothing."""

    def _send(self, reply: Reply) -> None:
        if reply.how == "hanging":
            self._hang()
        if reply.how in {"hanging", "reset"}:
            self._reset()
            return
        if reply.how == "headers-drip":
            self._drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"z")
            return
        self.send_response(reply.status)
        for name, value in {**reply.headers, "Content-Length": str(len(reply.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if reply.how == "endless-drip":
            self._drip(reply.body)
            return
        if reply.how in {"cut", "torn"}:
            self.wfile.write(reply.body[: len(reply.body) // 2])
            self.wfile.flush()
            self.close_connection = True
            if reply.how == "cut":
                self._reset()
            return
        if reply.how == "dripping":
            step = max(1, len(reply.body) // _DRIPS)
            for start in range(0, len(reply.body), step):
                self.wfile.write(reply.body[start : start + step])
                self.wfile.flush()
                time.sleep(_DRIP_S)
            return
        self.wfile.write(reply.body)
        self.wfile.flush()

    def _drip(self, content: bytes, then: bytes = b"") -> None:
        """Sends half of some bytes, then the rest one by one without ever coming to its end."""
        half = len(content) // 2
        self.wfile.write(content[:half])
        until = time.monotonic() + _HANGS_S
        for byte in chain(content[half:-1], repeat(None)):
            if time.monotonic() >= until or self.shared.ended.is_set():
                break
            self.wfile.write(then if byte is None else bytes([byte]))
            self.wfile.flush()
            time.sleep(_SLOW_DRIP_S)
        self._reset()

    def _hang(self) -> None:
        """Waits until the other side gives up."""
        until = time.monotonic() + _HANGS_S
        while time.monotonic() < until and not self.shared.ended.is_set():
            if select.select([self.connection], [], [], 0.1)[0]:
                return

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.rfile.close()
        self.connection.close()
