"""Serving: the simulated projects on two ports of loopback, HTTP and gRPC."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from cloud_simulator.clock import CLOCK_PATH, SimulatedClock
from cloud_simulator.faults import Faults, Refused
from cloud_simulator.google.audit_log import add_audit_log
from cloud_simulator.google.billing import add_billing
from cloud_simulator.google.compute import Compute
from cloud_simulator.google.compute_writes import benches
from cloud_simulator.google.disk_updates import DiskUpdates
from cloud_simulator.google.fleet import GoogleFleet
from cloud_simulator.google.http_front import Call, Front, Refusal, Route, loopback, refusal_of
from cloud_simulator.google.monitoring import Monitoring, Request
from cloud_simulator.google.projects import LEAST_DISKS, projects_of
from cloud_simulator.google.resource_manager import add_hierarchy

_METHOD: Final = "/google.monitoring.v3.MetricService/ListTimeSeries"
_SERVICE: Final = "monitoring.googleapis.com"
_THREADS: Final = 16


@dataclass(slots=True)
class Cloud:
    """Everything that answers for a fleet; `front.routes` is where more can be added before it is served.

    `time` passes from the fleet's `now` on, and can be moved; metrics go by `clock` if there is one.
    """

    fleet: GoogleFleet
    faults: Faults = field(default_factory=Faults)
    latency_s: float = 0.0
    clock: Callable[[], float] | None = None
    time: SimulatedClock = field(init=False)
    front: Front = field(init=False)
    compute: Compute = field(init=False)
    monitoring: Monitoring = field(init=False)
    updates: DiskUpdates = field(init=False)

    def __post_init__(self) -> None:
        self.time = SimulatedClock(self.fleet.now)
        self.front = Front(faults=self.faults, latency_s=self.latency_s)
        self.compute = Compute(self.fleet, self.faults)
        self.monitoring = Monitoring(self.fleet, self.faults, self.clock or self.time.now_s, self.latency_s)
        self.compute.add_to(self.front)
        self.updates = DiskUpdates(compute=self.compute, faults=self.faults, clock=self.time)
        self.updates.add_to(self.front)
        add_clock(self.front, self.time)
        add_hierarchy(self.front)
        add_billing(self.front)
        add_audit_log(self.front, self.fleet)


def add_clock(front: Front, time: SimulatedClock) -> None:
    """Adds the simulator's own path, by which the time is read and moved forward."""

    def tell(_call: Call) -> Mapping[str, Any]:
        return {"now": time.now().isoformat()}

    def move(call: Call) -> Mapping[str, Any]:
        time.pause(float(call.body["move_s"]))
        return tell(call)

    front.routes["GET", CLOCK_PATH] = Route("clock", tell)
    front.routes["POST", CLOCK_PATH] = Route("clock", move)


@contextmanager
def serve(cloud: Cloud, port: int = 0, monitoring_port: int = 0) -> Iterator[tuple[int, int]]:
    """Serves a cloud on loopback: the ports of HTTP and gRPC, free ones unless named. OSError where one is taken."""
    with loopback(cloud.front.spoken, port) as http_port:
        server = grpc.server(
            ThreadPoolExecutor(_THREADS),
            handlers=[_Handler(cloud.monitoring)],
            options=[("grpc.so_reuseport", 0), ("grpc.max_send_message_length", -1)],
        )
        try:
            bound = server.add_insecure_port(f"127.0.0.1:{monitoring_port}")
        except RuntimeError as error:
            raise OSError(f"port {monitoring_port} on 127.0.0.1 is not free") from error
        server.start()
        try:
            yield http_port, bound
        finally:
            server.stop(None)


class _Handler(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc is untyped
    """Answers ListTimeSeries, with responses that are serialized already."""

    def __init__(self, monitoring: Monitoring) -> None:
        self._monitoring = monitoring

    def service(self, details: Any) -> Any:
        """Who answers a method; None for one that is not simulated."""
        if details.method != _METHOD:
            return None
        return grpc.unary_unary_rpc_method_handler(self._answer, request_deserializer=type(Request).FromString)

    def _answer(self, request: Any, context: Any) -> bytes:
        try:
            return self._monitoring.list_time_series(request)
        except Refused as refused:
            refusal = refusal_of(refused, _SERVICE, request.name.removeprefix("projects/"))
        context.set_trailing_metadata((("grpc-status-details-bin", _details(refusal)),))
        context.abort(getattr(grpc.StatusCode, refusal.grpc), refusal.message)
        raise AssertionError("an aborted call has ended")


def _details(refusal: Refusal) -> bytes:
    status = status_pb2.Status(code=getattr(grpc.StatusCode, refusal.grpc).value[0], message=refusal.message)
    if refusal.info is not None:
        packed = any_pb2.Any()
        packed.Pack(error_details_pb2.ErrorInfo(**refusal.info))
        status.details.append(packed)
    written: bytes = status.SerializeToString()
    return written


@contextmanager
def serve_projects(options: argparse.Namespace, faults: Faults) -> Iterator[dict[str, int]]:
    """The projects that the command line asks for, served for as long as the block lasts; and where."""
    fleet = projects_of(options.now, volumes=options.volumes or LEAST_DISKS, seed=options.seed)
    cloud = Cloud(fleet, faults, latency_s=options.latency_ms / 1000)
    with (
        benches(cloud.front, cloud.compute, plain=options.plain_files, pace_s=options.pace_s),
        serve(cloud, options.port, options.monitoring_port) as (port, monitoring_port),
    ):
        yield {"port": port, "monitoring_port": monitoring_port, "volumes": len(fleet.volumes)}
