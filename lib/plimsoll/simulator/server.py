"""The server: moto's, with the fleet in front of it for what moto has no answer to."""

import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qsl

import cbor2
from moto.iam.models import get_account_id_from
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from plimsoll.simulator import cbor, ec2, pricing
from plimsoll.simulator.cloudwatch import CloudWatch, Refused
from plimsoll.simulator.faults import HOME_KEY, Fault
from plimsoll.simulator.fleet import Fleet

_SCOPE: Final = re.compile(r"Credential=([^/]+)/\d+/([^/]+)/([^/]+)/aws4_request")
_CBOR: Final = "application/cbor"
_OPERATION: Final = re.compile(r"/service/\w+/operation/(\w+)$")
_SKEW_ALLOWED: Final = timedelta(minutes=5)


@dataclass(slots=True)
class Front:
    """The WSGI application: who calls, what is asked, what goes wrong, and who answers."""

    fleet: Fleet
    cloudwatch: CloudWatch
    faults: list[Fault] = field(default_factory=list)
    latency_s: float = 0.0
    clock_offset: timedelta = timedelta()
    calls: dict[str, int] = field(default_factory=dict)
    _struck: dict[int, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _moto: Any = field(default_factory=lambda: DomainDispatcherApplication(create_backend_app))

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answers a request."""
        request = Request(environ)
        body = request.get_data(cache=True, parse_form_data=False)
        scope = _SCOPE.search(request.headers.get("Authorization", ""))
        if scope is None:
            return self._moto(environ, start_response)  # type: ignore[no-any-return]  # moto is untyped
        key, region, _service = scope.groups()
        account = self.fleet.accounts[0] if key == HOME_KEY else get_account_id_from(key)
        asked = dict(parse_qsl(body.decode("utf-8", "replace"))) if _is_form(request) else {}
        operation = _operation(request, asked)
        if self.latency_s:
            time.sleep(self.latency_s)
        with self._lock:
            self.calls[operation] = self.calls.get(operation, 0) + 1
        try:
            self._meet_faults(request, operation, account, region)
            answered = self._answer(request, operation, asked, body, account, region)
        except Refused as refused:
            return _refusal(request, refused)(environ, start_response)
        if answered is not None:
            return answered(environ, start_response)
        environ["wsgi.input"] = io.BytesIO(body)
        environ["HTTP_X_MOTO_ACCOUNT_ID"] = account
        return self._moto(environ, start_response)  # type: ignore[no-any-return]  # moto is untyped

    def _answer(
        self, request: Request, operation: str, asked: Mapping[str, str], body: bytes, account: str, region: str
    ) -> Response | None:
        if operation == "GetMetricData":
            return _reply(request, self.cloudwatch.get_metric_data(_read(request, body), account, region))
        if operation == "GetEnrollmentConfiguration":
            return _reply(request, {"status": "Active" if account in self.fleet.automated else "Inactive"})
        if operation == "GetProducts":
            filters = {part["Field"]: part["Value"] for part in _read(request, body).get("Filters", ())}
            return _reply(request, pricing.get_products(filters))
        if operation == "DescribeRegions":
            return Response(ec2.regions(self.fleet), content_type="text/xml")
        answered = ec2.answer(operation, asked, self.fleet, account, region)
        return None if answered is None else Response(answered, content_type="text/xml")

    def _meet_faults(self, request: Request, operation: str, account: str, region: str) -> None:
        stamp = request.headers.get("X-Amz-Date")
        if stamp and self.clock_offset:
            signed = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            here = datetime.now(UTC) + self.clock_offset
            if abs(here - signed) > _SKEW_ALLOWED:
                raise Refused("SignatureDoesNotMatch", f"Signature expired: {stamp} is now earlier than allowed.", 403)
        for number, fault in enumerate(self.faults):
            if fault.strikes(operation, account, region):
                with self._lock:
                    struck = self._struck.get(number, 0)
                    if fault.times is not None and struck >= fault.times:
                        continue
                    self._struck[number] = struck + 1
                raise Refused(fault.code, f"simulated {fault.code} for {operation}", fault.status)


class _Quiet(WSGIRequestHandler):
    """Keeps connections open between calls and logs nothing."""

    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002  # werkzeug's name
        """Nothing."""


def serve(front: Front, port: int = 0) -> Any:
    """A server bound to loopback, on a free port unless one is named; `server_port` says which."""
    return make_server("127.0.0.1", port, front, threaded=True, request_handler=_Quiet)


def _operation(request: Request, asked: Mapping[str, str]) -> str:
    path = _OPERATION.search(request.path)
    if path:
        return path.group(1)
    target = request.headers.get("X-Amz-Target", "")
    return target.rsplit(".", 1)[-1] if target else asked.get("Action", request.path)


def _is_form(request: Request) -> bool:
    return (request.headers.get("Content-Type") or "").startswith("application/x-www-form-urlencoded")


def _read(request: Request, body: bytes) -> Any:
    """What is asked, in the protocol it is asked in."""
    if _OPERATION.search(request.path):
        return cbor2.loads(body)
    if request.headers.get("X-Amz-Target"):
        return json.loads(body)
    raise Refused(
        "InvalidAction", "The simulator speaks CBOR and JSON here, not the query protocol: update the client."
    )


def _reply(request: Request, answer: Mapping[str, Any], status: int = 200) -> Response:
    """An answer in the protocol of the question."""
    if _OPERATION.search(request.path):
        response = Response(cbor.dumps(answer), status=status, content_type=_CBOR)
        response.headers["smithy-protocol"] = "rpc-v2-cbor"
        return response
    return Response(json.dumps(answer, default=_listed), status=status, content_type="application/x-amz-json-1.1")


def _listed(values: Any) -> list[float]:
    return list(values.tolist())


def _refusal(request: Request, refused: Refused) -> Response:
    if _OPERATION.search(request.path) or request.headers.get("X-Amz-Target"):
        return _reply(request, {"__type": refused.code, "message": refused.message}, refused.status)
    return Response(ec2.error(refused), status=refused.status, content_type="text/xml")
