"""The server: moto's, with the fleet in front of it for what moto has no answer to."""

import argparse
import io
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from moto.iam.models import get_account_id_from
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from cloud_simulator.aws import cloudtrail, compute_optimizer, control, ec2, keeping, organizations_api, price_list
from cloud_simulator.aws.cloudwatch import CloudWatch, Quotas
from cloud_simulator.aws.fleet import HOME_KEY, Fleet
from cloud_simulator.aws.living import LivingFleet, ModificationRules
from cloud_simulator.aws.organization import LEAST_VOLUMES, Mix, fleet_of
from cloud_simulator.aws.protocols import Call, call_of, refusal, reply
from cloud_simulator.aws.run_command import RunCommand
from cloud_simulator.aws.scratch_volumes import PACE_S, AccountRegion, Scratch
from cloud_simulator.clock import SimulatedClock
from cloud_simulator.devices.block_devices import Devices
from cloud_simulator.faults import Effect, Faults, Refused
from cloud_simulator.metrics.unrest import Unrest

_SKEW_ALLOWED: Final = timedelta(minutes=5)


_LISTS: Final[Mapping[str, Callable[[Any, AccountRegion], Mapping[str, Any]]]] = {
    "GetProducts": lambda asked, _here: price_list.get_products(asked),
    "LookupEvents": cloudtrail.lookup_events,
    "GetEBSVolumeRecommendations": compute_optimizer.recommend_volumes,
    "GetRule": lambda asked, here: keeping.get_rule(asked["Identifier"], here.keeping),
    "ListRules": lambda asked, here: keeping.list_rules(asked, here.keeping),
}


@dataclass(slots=True)
class Front:
    """The WSGI application: who calls, what is asked, what goes wrong, and who answers.

    `pace_s` is how long each passing state of a scratch volume or a command lasts. `living` is the fleet as time
    passes by `clock` (None: as this machine's).
    """

    fleet: Fleet
    cloudwatch: CloudWatch
    faults: Faults = field(default_factory=Faults)
    latency_s: float = 0.0
    clock_offset: timedelta = timedelta()
    devices: Devices = field(default_factory=Devices)
    pace_s: float = PACE_S
    clock: SimulatedClock | None = None
    rules: ModificationRules = field(default_factory=ModificationRules)
    calls: dict[str, int] = field(default_factory=dict)
    living: LivingFleet = field(init=False)
    _scratch: Scratch = field(init=False)
    _commands: RunCommand = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _moto: Any = field(default_factory=lambda: DomainDispatcherApplication(create_backend_app))

    def __post_init__(self) -> None:
        self.living = LivingFleet.begin(self.fleet, self.clock, self.rules)
        self.cloudwatch.attend(self.living)
        self._scratch = Scratch(self.living, self.devices, self.faults, self.pace_s)
        self._commands = RunCommand(self.devices, self.faults, self.pace_s)

    def close(self) -> None:
        """Takes away every device that was made."""
        self.devices.stop()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answers a request. An answer that is lost breaks the connection after its call took effect."""
        request = Request(environ)
        if request.path.startswith(control.PATHS):
            return control.answer_control(request, self.living, self.faults)(environ, start_response)
        self.living.settle()
        call = call_of(request)
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
        if answered is None:
            environ["wsgi.input"] = io.BytesIO(call.body)
            environ["HTTP_X_MOTO_ACCOUNT_ID"] = account
            written: Iterable[bytes] = self._moto(environ, start_response)
        else:
            written = answered(environ, start_response)
        if self.faults.has_effect(Effect.LOST, call.operation, account, call.region):
            raise ConnectionAbortedError(f"the answer to {call.operation} is lost")
        return written

    def _answer(self, call: Call, account: str) -> Response | None:
        """The simulated organization's answer. None if moto answers."""
        here = AccountRegion(fleet=self.living, scratch=self._scratch, account=account, region=call.region)
        if call.service == "ec2":
            written = ec2.answer_ec2(call.operation, call.form, here)
            return None if written is None else Response(written, content_type="text/xml")
        if call.operation == "AssumeRole":
            check_role(call.form, self.fleet)
            return None
        answer = self._data(call, here)
        return None if answer is None else reply(call, answer)

    def _data(self, call: Call, here: AccountRegion) -> Mapping[str, Any] | None:
        """The answer of the services that speak CBOR or JSON."""
        if call.service == "organizations":
            return organizations_api.answer_organizations(call.operation, call.read(), here.account, here.fleet)
        if call.operation in _LISTS:
            return _LISTS[call.operation](call.read(), here)
        match call.operation:
            case "GetMetricData":
                return self.cloudwatch.get_metric_data(call.read(), here.account, here.region)
            case "GetMetricStatistics":
                return self.cloudwatch.get_metric_statistics(call.read(), here.account, here.region)
            case "GetEnrollmentConfiguration" | "GetEnrollmentStatus":
                return {"status": "Active" if here.account in self.fleet.automated else "Inactive"}
            case _:
                is_ssm = call.service == "ssm" and call.protocol == "json"
                return self._commands.answer(call.operation, call.read(), here) if is_ssm else None

    def _check_clock(self, call: Call) -> None:
        if not call.signed_at or not self.clock_offset:
            return
        signed = datetime.strptime(call.signed_at, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        now = datetime.now(UTC) + self.clock_offset
        if abs(now - signed) > _SKEW_ALLOWED:
            meant = "earlier" if now > signed else "later"
            raise Refused(
                "SignatureDoesNotMatch", f"Signature expired: {call.signed_at} is now {meant} than allowed.", 403
            )


class _Quiet(WSGIRequestHandler):
    """Speaks HTTP/1.1 and logs nothing. werkzeug closes the connection after each call."""

    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002  # werkzeug's name
        """Nothing."""

    def connection_dropped(self, error: BaseException, environ: dict[str, Any] | None = None) -> None:  # noqa: ARG002  # werkzeug's
        """Ends the connection, so that a client whose answer is lost does not wait for it."""
        self.close_connection = True


def serve(front: Front, port: int = 0) -> Any:
    """A server bound to loopback, on a free port unless one is named; `server_port` says which."""
    return make_server("127.0.0.1", port, front, threaded=True, request_handler=_Quiet)


@contextmanager
def serve_organization(options: argparse.Namespace, faults: Faults) -> Iterator[dict[str, int]]:
    """The organization that the command line asks for, served for as long as the block lasts; and where."""
    fleet = fleet_of(options.volumes or LEAST_VOLUMES, options.now, seed=options.seed, mix=Mix(options.mix))
    if options.unrest is not None:
        fleet = replace(fleet, unrest=Unrest(seed=options.unrest))
    quotas = Quotas(
        calls_per_s=options.calls_per_s,
        datapoints_per_s=options.datapoints_per_s,
        statistics_per_s=options.statistics_per_s,
    )
    front = Front(
        fleet,
        CloudWatch(fleet, faults, quotas=quotas),
        faults=faults,
        latency_s=options.latency_ms / 1000,
        clock_offset=timedelta(seconds=options.clock_offset_s),
        devices=Devices(plain=options.plain_files),
        pace_s=options.pace_s,
        rules=replace(
            ModificationRules(),
            tag=options.change_tag,
            **({} if options.modifying_gib is None else {"storage_gib": options.modifying_gib}),
        ),
    )
    server = serve(front, options.port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield {"port": server.server_port, "volumes": len(fleet.volumes)}
    finally:
        front.close()


_UNKNOWN_KEY: Final = {"ec2": ("AuthFailure", 401), "sts": ("InvalidClientTokenId", 403)}
"""What each service says of an access key that it has never seen; the JSON and CBOR services have one word for it."""


def account_of(access_key: str, service: str, fleet: Fleet) -> str:
    """The account behind an access key; Refused for one that is neither the home key nor an assumed role's."""
    if access_key == HOME_KEY:
        return fleet.accounts[0]
    account = str(get_account_id_from(access_key))
    if account not in fleet.accounts:
        code, status = _UNKNOWN_KEY.get(service, ("UnrecognizedClientException", 400))
        raise Refused(code, "The security token included in the request is invalid.", status)
    return account


def check_role(asked: Mapping[str, str], fleet: Fleet) -> None:
    """Refuses to assume a role outside the organization."""
    arn = asked.get("RoleArn", "")
    if arn.split(":")[4:5] not in [[account] for account in fleet.accounts]:
        raise Refused(
            "AccessDenied", f"The caller is not authorized to perform: sts:AssumeRole on resource: {arn}", 403
        )
