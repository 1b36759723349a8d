"""The server: moto's, with the fleet in front of it for what moto has no answer to."""

import io
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from plimsoll.simulator import ec2, pricing
from plimsoll.simulator.callers import account_of, check_role
from plimsoll.simulator.cloudwatch import CloudWatch
from plimsoll.simulator.faults import Faults, Refused
from plimsoll.simulator.fleet import Fleet
from plimsoll.simulator.protocols import Call, call_of, refusal, reply

_SKEW_ALLOWED: Final = timedelta(minutes=5)
_ENROLLMENTS: Final = {"GetEnrollmentConfiguration", "GetEnrollmentStatus"}


@dataclass(slots=True)
class Front:
    """The WSGI application: who calls, what is asked, what goes wrong, and who answers."""

    fleet: Fleet
    cloudwatch: CloudWatch
    faults: Faults = field(default_factory=Faults)
    latency_s: float = 0.0
    clock_offset: timedelta = timedelta()
    calls: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _moto: Any = field(default_factory=lambda: DomainDispatcherApplication(create_backend_app))

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answers a request."""
        call = call_of(Request(environ))
        if call is None:
            return self._moto(environ, start_response)  # type: ignore[no-any-return]  # moto is untyped
        time.sleep(self.latency_s)
        with self._lock:
            self.calls[call.operation] = self.calls.get(call.operation, 0) + 1
        try:
            self._check_clock(call)
            account = account_of(call.access_key, call.service, self.fleet)
            self.faults.meet(call.operation, account, call.region)
            answered = self._answer(call, account)
        except Refused as refused:
            return refusal(call, refused)(environ, start_response)
        if answered is not None:
            return answered(environ, start_response)
        environ["wsgi.input"] = io.BytesIO(call.body)
        environ["HTTP_X_MOTO_ACCOUNT_ID"] = account
        return self._moto(environ, start_response)  # type: ignore[no-any-return]  # moto is untyped

    def _answer(self, call: Call, account: str) -> Response | None:
        """What the fleet answers; None for what moto does."""
        metrics = {
            "GetMetricData": self.cloudwatch.get_metric_data,
            "GetMetricStatistics": self.cloudwatch.get_metric_statistics,
        }.get(call.operation)
        if metrics is not None:
            return reply(call, metrics(call.read(), account, call.region))
        if call.operation in _ENROLLMENTS:
            return reply(call, {"status": "Active" if account in self.fleet.automated else "Inactive"})
        if call.operation == "GetProducts":
            return reply(call, pricing.get_products(call.read()))
        if call.operation == "AssumeRole":
            check_role(call.form, self.fleet)
            return None
        if call.service != "ec2":
            return None
        answered = ec2.answer(call.operation, call.form, self.fleet, account, call.region)
        return None if answered is None else Response(answered, content_type="text/xml")

    def _check_clock(self, call: Call) -> None:
        if not call.signed_at or not self.clock_offset:
            return
        signed = datetime.strptime(call.signed_at, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        here = datetime.now(UTC) + self.clock_offset
        if abs(here - signed) > _SKEW_ALLOWED:
            meant = "earlier" if here > signed else "later"
            raise Refused(
                "SignatureDoesNotMatch", f"Signature expired: {call.signed_at} is now {meant} than allowed.", 403
            )


class _Quiet(WSGIRequestHandler):
    """Keeps connections open between calls and logs nothing."""

    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002  # werkzeug's name
        """Nothing."""


def serve(front: Front, port: int = 0) -> Any:
    """A server bound to loopback, on a free port unless one is named; `server_port` says which."""
    return make_server("127.0.0.1", port, front, threaded=True, request_handler=_Quiet)
