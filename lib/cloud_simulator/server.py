"""The server: moto's, with the fleet in front of it for what moto has no answer to."""

import io
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from cloud_simulator import ec2, ec2_writes, pricing, units
from cloud_simulator.callers import account_of, check_role
from cloud_simulator.cloudwatch import CloudWatch
from cloud_simulator.devices import Devices
from cloud_simulator.faults import Faults, Refused
from cloud_simulator.fleet import Fleet
from cloud_simulator.here import Here
from cloud_simulator.protocols import Call, call_of, refusal, reply
from cloud_simulator.run_command import RunCommand
from cloud_simulator.scratch import PACE_S, Scratch

_SKEW_ALLOWED: Final = timedelta(minutes=5)


@dataclass(slots=True)
class Front:
    """The WSGI application: who calls, what is asked, what goes wrong, and who answers.

    `pace_s` is how long each passing state of a scratch volume or a command lasts.
    """

    fleet: Fleet
    cloudwatch: CloudWatch
    faults: Faults = field(default_factory=Faults)
    latency_s: float = 0.0
    clock_offset: timedelta = timedelta()
    devices: Devices = field(default_factory=Devices)
    pace_s: float = PACE_S
    calls: dict[str, int] = field(default_factory=dict)
    _scratch: Scratch = field(init=False)
    _commands: RunCommand = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _moto: Any = field(default_factory=lambda: DomainDispatcherApplication(create_backend_app))

    def __post_init__(self) -> None:
        self._scratch = Scratch(self.fleet, self.devices, self.faults, self.pace_s)
        self._commands = RunCommand(self.devices, self.faults, self.pace_s)

    def close(self) -> None:
        """Takes away every device that was made."""
        self.devices.stop()

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
        """What the simulated organization answers; None for what moto does."""
        here = Here(fleet=self.fleet, scratch=self._scratch, account=account, region=call.region)
        if call.service == "ec2":
            written = ec2.answer(call.operation, call.form, here) or ec2_writes.answer(call.operation, call.form, here)
            return None if written is None else Response(written, content_type="text/xml")
        if call.operation == "AssumeRole":
            check_role(call.form, self.fleet)
            return None
        told = self._told(call, here)
        return None if told is None else reply(call, told)

    def _told(self, call: Call, here: Here) -> Mapping[str, Any] | None:
        """The answer of the services that speak CBOR or JSON."""
        if call.service == "organizations":
            return units.answer(call.operation, call.read(), here.account, here.fleet)
        match call.operation:
            case "GetMetricData":
                return self.cloudwatch.get_metric_data(call.read(), here.account, here.region)
            case "GetMetricStatistics":
                return self.cloudwatch.get_metric_statistics(call.read(), here.account, here.region)
            case "GetEnrollmentConfiguration" | "GetEnrollmentStatus":
                return {"status": "Active" if here.account in self.fleet.automated else "Inactive"}
            case "GetProducts":
                return pricing.get_products(call.read())
            case _:
                is_ssm = call.service == "ssm" and call.protocol == "json"
                return self._commands.answer(call.operation, call.read(), here) if is_ssm else None

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
