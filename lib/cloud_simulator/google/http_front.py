"""The front: what speaks HTTP, as a table of routes that anything simulated beside it can add to.

A route's key is a method and a pattern of the whole path. Its value names the operation, which is what faults strike
by, and the handler, which is given the `Call` and answers what becomes JSON, or raises `Refused` with one of Google's
codes:

    front.routes["POST", r"/compute/v1/projects/(?P<project>[^/]+)/zones/(?P<zone>[^/]+)/disks"] = Route(
        "disks.insert", writes.insert
    )

Patterns name `project`, and `zone` or `region`, where their paths do, so that faults know the place.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from cloud_simulator.faults import Faults, Refused
from cloud_simulator.google.refusals import refusal_of

GLOBAL: Final = "global"
"""The place of what is in no zone or region."""

_SERVICES: Final = (
    ("/compute/", "compute.googleapis.com"),
    ("/v3/", "cloudresourcemanager.googleapis.com"),
    ("/v1/", "cloudbilling.googleapis.com"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request: the parts of its path that the route's pattern names, its query and its JSON body."""

    method: str
    path: str
    named: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def project(self) -> str:
        """The project that it is about, empty where it is about none."""
        return self.named.get("project", "")

    @property
    def place(self) -> str:
        """The zone or region that it is about."""
        return self.named.get("zone") or self.named.get("region") or GLOBAL


Handler = Callable[[Call], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Route:
    """An operation's name and who answers it."""

    operation: str
    handler: Handler


@dataclass(slots=True)
class Front:
    """Who answers which path, what goes wrong, and how often each operation was called."""

    routes: dict[tuple[str, str], Route] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    latency_s: float = 0.0
    calls: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, Mapping[str, Any]]:
        """The HTTP status and the JSON for a request to a target, which is a path with its query."""
        parts = urlsplit(target)
        path = unquote(parts.path)
        service = next((name for prefix, name in _SERVICES if path.startswith(prefix)), _SERVICES[0][1])
        project = ""
        try:
            route, named = self._route(method, path)
            call = Call(
                method=method,
                path=path,
                named=named,
                query=dict(parse_qsl(parts.query, keep_blank_values=True)),
                body=json.loads(body) if body else {},
            )
            project = call.project
            self._meet(route.operation, call)
            return 200, route.handler(call)
        except Refused as refused:
            refusal = refusal_of(refused, service, project)
            return refusal.http, refusal.body

    def _route(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        for (verb, pattern), route in self.routes.items():
            found = re.fullmatch(pattern, path) if verb == method else None
            if found is not None:
                return route, found.groupdict()
        raise Refused("NOT_FOUND", f"The simulated projects have no {method} {path}.")

    def _meet(self, operation: str, call: Call) -> None:
        time.sleep(self.latency_s)
        with self._lock:
            self.calls[operation] = self.calls.get(operation, 0) + 1
        self.faults.meet(operation, call.project, call.place)


def http_server(front: Front, port: int = 0) -> ThreadingHTTPServer:
    """A server bound to loopback, on a free port unless one is named; `server_port` says which."""

    class Asked(BaseHTTPRequestHandler):
        """One connection, kept open between calls, of which nothing is logged."""

        protocol_version = "HTTP/1.1"
        wbufsize = -1  # what is answered leaves in one piece
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            """Answers."""
            self._answer()

        do_POST = do_PATCH = do_PUT = do_DELETE = do_GET  # noqa: N815  # the base class's names

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answered = front.answer(self.command, self.path, body)
            text = json.dumps(answered).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=UTF-8")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
            """Nothing."""

    return _Server(("127.0.0.1", port), Asked)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
