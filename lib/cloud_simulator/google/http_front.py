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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from cloud_simulator.faults import Faults, Refused

_KINDS: Final = {
    "INVALID_ARGUMENT": (400, "INVALID_ARGUMENT", "invalid"),
    "FAILED_PRECONDITION": (412, "FAILED_PRECONDITION", "conditionNotMet"),
    "UNAUTHENTICATED": (401, "UNAUTHENTICATED", "authError"),
    "PERMISSION_DENIED": (403, "PERMISSION_DENIED", "forbidden"),
    "SERVICE_DISABLED": (403, "PERMISSION_DENIED", "accessNotConfigured"),
    "NOT_FOUND": (404, "NOT_FOUND", "notFound"),
    "ALREADY_EXISTS": (409, "ALREADY_EXISTS", "alreadyExists"),
    "RESOURCE_IN_USE": (400, "FAILED_PRECONDITION", "resourceInUseByAnotherResource"),
    "RESOURCE_EXHAUSTED": (429, "RESOURCE_EXHAUSTED", "rateLimitExceeded"),
    "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED": (403, "PERMISSION_DENIED", "rateLimitExceeded"),
    "RESOURCE_OPERATION_RATE_EXCEEDED": (400, "FAILED_PRECONDITION", "resourceOperationRateExceeded"),
    "QUOTA_EXCEEDED": (403, "FAILED_PRECONDITION", "quotaExceeded"),
    "RESOURCE_NOT_READY": (400, "FAILED_PRECONDITION", "resourceNotReady"),
    "INTERNAL": (500, "INTERNAL", "backendError"),
    "UNIMPLEMENTED": (501, "UNIMPLEMENTED", "notImplemented"),
    "UNAVAILABLE": (503, "UNAVAILABLE", "backendError"),
    "DEADLINE_EXCEEDED": (504, "DEADLINE_EXCEEDED", "deadlineExceeded"),
}
"""Each code's HTTP status, gRPC status and Compute's word for it."""

_INFO: Final = {
    "PERMISSION_DENIED": "IAM_PERMISSION_DENIED",
    "SERVICE_DISABLED": "SERVICE_DISABLED",
    "RESOURCE_EXHAUSTED": "RATE_LIMIT_EXCEEDED",
    "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED": "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED",
}
"""What ErrorInfo says of a code. Operations that are too many at once have two names: this one and the older."""
_DETAIL: Final = "type.googleapis.com/google.rpc.ErrorInfo"
_TITLES: Final = {
    "compute.googleapis.com": "Compute Engine API",
    "monitoring.googleapis.com": "Cloud Monitoring API",
    "cloudresourcemanager.googleapis.com": "Cloud Resource Manager API",
    "cloudbilling.googleapis.com": "Cloud Billing API",
    "logging.googleapis.com": "Cloud Logging API",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refusal as a service answers: its statuses, sentence and, where there is one, ErrorInfo."""

    http: int
    grpc: str
    message: str
    reason: str
    info: Mapping[str, Any] | None = None

    @property
    def body(self) -> dict[str, Any]:
        """The refusal as JSON over HTTP."""
        error: dict[str, Any] = {
            "code": self.http,
            "message": self.message,
            "status": self.grpc,
            "errors": [{"message": self.message, "domain": "global", "reason": self.reason}],
        }
        return {"error": {**error, "details": [{"@type": _DETAIL, **self.info}]} if self.info else error}


def refusal_of(refused: Refused, service: str, project: str) -> Refusal:
    """A refusal by a service of a project; a code that Google does not have becomes INTERNAL.

    Shapes are those of google.rpc.Status with ErrorInfo (package googleapis-common-protos 1.76) and of Compute's older
    error list beside it.
    """
    http, grpc, reason = _KINDS.get(refused.code, _KINDS["INTERNAL"])
    message, word = refused.message, _INFO.get(refused.code)
    if refused.code == "SERVICE_DISABLED":
        where = f"https://console.developers.google.com/apis/api/{service}/overview?project={project}"
        message = (
            f"{_TITLES.get(service, service)} has not been used in project {project} before or it is disabled. "
            f"Enable it by visiting {where} then retry."
        )
    metadata = {"service": service, "consumer": f"projects/{project}"}
    info = {"reason": word, "domain": "googleapis.com", "metadata": metadata} if word else None
    return Refusal(http=http, grpc=grpc, message=message, reason=reason, info=info)


GLOBAL: Final = "global"
"""The place of what is in no zone or region."""

_SERVICES: Final = (
    ("/compute/", "compute.googleapis.com"),
    ("/v3/", "cloudresourcemanager.googleapis.com"),
    ("/v1/", "cloudbilling.googleapis.com"),
    ("/v2/", "logging.googleapis.com"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request: the parts of its path that the route's pattern names, its query and its JSON body.

    Of a field that the query repeats, `query` has the last value and `fields` all.
    """

    method: str
    path: str
    named: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any]
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def project(self) -> str:
        """The project that it is about, empty where it is about none."""
        return self.named.get("project", "")

    @property
    def place(self) -> str:
        """The zone or region that it is about."""
        return self.named.get("zone") or self.named.get("region") or GLOBAL


Handler = Callable[[Call], Mapping[str, Any]]
Answered = tuple[int, Mapping[str, str], bytes]
"""A status, headers and a body."""


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

    def spoken(self, method: str, target: str, _headers: Message, body: bytes) -> Answered:
        """The answer to a request as it goes over HTTP."""
        status, answered = self.answer(method, target, body)
        return status, {"Content-Type": "application/json; charset=UTF-8"}, json.dumps(answered).encode()

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, Mapping[str, Any]]:
        """The HTTP status and the JSON for a request to a target, which is a path with its query."""
        parts = urlsplit(target)
        path = unquote(parts.path)
        service = next((name for prefix, name in _SERVICES if path.startswith(prefix)), _SERVICES[0][1])
        project = ""
        try:
            route, named = self._route(method, path)
            fields = tuple(parse_qsl(parts.query, keep_blank_values=True))
            call = Call(
                method=method,
                path=path,
                named=named,
                query=dict(fields),
                body=json.loads(body) if body else {},
                fields=fields,
            )
            project = call.project
            self._meet(route.operation, call)
            return 200, route.handler(call)
        except Refused as refused:
            refusal = refusal_of(refused, service, project)
            return refusal.http, refusal.body

    def _route(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        for (verb, pattern), route in self.routes.items():
            match = re.fullmatch(pattern, path) if verb == method else None
            if match is not None:
                return route, match.groupdict()
        raise Refused("NOT_FOUND", f"The simulated projects have no {method} {path}.")

    def _meet(self, operation: str, call: Call) -> None:
        time.sleep(self.latency_s)
        with self._lock:
            self.calls[operation] = self.calls.get(operation, 0) + 1
        self.faults.meet(operation, call.project, call.place)


@contextmanager
def loopback(answer: Callable[[str, str, Message, bytes], Answered], port: int = 0) -> Iterator[int]:
    """Serves what answers a method, target, headers and body on loopback; its port, a free one unless it is named."""

    class Asked(BaseHTTPRequestHandler):
        """One connection that stays open between calls. It logs nothing."""

        protocol_version = "HTTP/1.1"
        wbufsize = -1  # what is answered leaves in one piece
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            """Answers."""
            asked = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, body = answer(self.command, self.path, self.headers, asked)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

        do_POST = do_PATCH = do_PUT = do_DELETE = do_GET  # noqa: N815  # the base class's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
            """Nothing."""

    server = _Server(("127.0.0.1", port), Asked)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
