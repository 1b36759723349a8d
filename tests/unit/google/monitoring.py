"""A Cloud Monitoring on loopback that answers ListTimeSeries from raw points of a minute, in plain Python."""

import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc
from google.cloud.monitoring_v3 import Aggregation, ListTimeSeriesRequest, ListTimeSeriesResponse
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

METHOD = "/google.monitoring.v3.MetricService/ListTimeSeries"
ALIGNED = {Aggregation.Aligner.ALIGN_SUM: sum, Aggregation.Aligner.ALIGN_MAX: max}
_CLAUSE = re.compile(r'([\w.]+) = (?:"([^"]*)"|one_of\(([^)]*)\))')


@dataclass(frozen=True)
class Raw:
    """One series as it is kept: its metric, where it is of, and a value at the end of each minute that has one."""

    metric: str
    instance_id: str
    device: str
    points: Mapping[int, float]
    zone: str = "us-central1-a"
    project: str = "shop-prod"

    @property
    def labels(self) -> dict[str, str]:
        """What a filter compares."""
        return {
            "metric.type": f"compute.googleapis.com/instance/disk/{self.metric}",
            "resource.type": "gce_instance",
            "resource.labels.project_id": self.project,
            "resource.labels.instance_id": self.instance_id,
            "resource.labels.zone": self.zone,
            "metric.labels.device_name": self.device,
        }


@dataclass
class Monitoring:
    """What is kept, how it is handed out, and what was asked. `refusals` are given first, one a call.

    `spoil` changes an answer before it is sent.
    """

    kept: list[Raw] = field(default_factory=list)
    page: int = 100_000
    refusals: list[tuple[grpc.StatusCode, str | None, str]] = field(default_factory=list)
    lacking: list[int] = field(default_factory=list)
    doubles: bool = False
    stuck: bool = False
    spoil: Callable[[ListTimeSeriesRequest, ListTimeSeriesResponse], object] | None = None
    port: int = 0
    requests: list[ListTimeSeriesRequest] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Its host and port."""
        return f"127.0.0.1:{self.port}"

    def answer(self, request: ListTimeSeriesRequest, context: grpc.ServicerContext) -> ListTimeSeriesResponse:
        """A page of the wanted series, as Cloud Monitoring's reference describes it."""
        self.requests.append(request)
        if self.refusals:
            _refuse(context, *self.refusals.pop(0))
        answer = ListTimeSeriesResponse.pb(ListTimeSeriesResponse())
        if self.lacking:
            answer.execution_errors.add(code=self.lacking.pop(0), message="a shard did not answer")
            return answer
        offset, room = int(request.page_token or 0), min(request.page_size, self.page)
        points = [(raw, at_s, value) for raw in self._wanted(request) for at_s, value in aligned(raw, request)]
        held = None
        for raw, at_s, value in points[offset : offset + room]:
            if raw is not held:
                held, series = raw, answer.time_series.add(value_type=3 if self.doubles else 2)
                series.metric_kind = 1 if raw.metric.startswith("max_") else 2
                series.resource.type = raw.labels["resource.type"]
                series.metric.type = raw.labels["metric.type"]
                series.metric.labels["device_name"] = raw.device
                for name in ("project_id", "instance_id", "zone"):
                    series.resource.labels[name] = raw.labels[f"resource.labels.{name}"]
            point = series.points.add()
            point.interval.end_time.seconds = at_s
            if self.doubles:
                point.value.double_value = value
            else:
                point.value.int64_value = int(value)
        if offset + room < len(points):
            answer.next_page_token = "7" if self.stuck else str(offset + room)
        if self.spoil is not None:
            self.spoil(request, answer)
        return answer

    def _wanted(self, request: ListTimeSeriesRequest) -> Iterator[Raw]:
        wanted = {}
        for name, one, several in _CLAUSE.findall(request.filter):
            wanted[name] = {one} if one else set(re.findall(r'"([^"]*)"', several))
            assert len(wanted[name]) <= 100
        for raw in self.kept:
            if all(raw.labels[name] in values for name, values in wanted.items()):
                yield raw


def aligned(raw: Raw, request: ListTimeSeriesRequest) -> Iterator[tuple[int, float]]:
    """The buckets with points, newest first: counted back from the end of the interval, each without its start."""
    wanted = ListTimeSeriesRequest.pb(request)
    start_s, end_s = wanted.interval.start_time.seconds, wanted.interval.end_time.seconds
    period_s = wanted.aggregation.alignment_period.seconds
    assert period_s >= 60
    assert start_s < end_s
    buckets: dict[int, list[float]] = {}
    for minute_s, value in raw.points.items():
        if start_s < minute_s <= end_s:
            buckets.setdefault(end_s - (end_s - minute_s) // period_s * period_s, []).append(value)
    for at_s in sorted(buckets, reverse=True):
        yield at_s, ALIGNED[request.aggregation.per_series_aligner](buckets[at_s])


def _refuse(context: grpc.ServicerContext, code: grpc.StatusCode, reason: str | None, message: str) -> None:
    status = status_pb2.Status(code=code.value[0], message=message)
    if reason is not None:
        info = error_details_pb2.ErrorInfo(reason=reason, domain="googleapis.com")
        info.metadata["service"] = "monitoring.googleapis.com"
        status.details.add().Pack(info)
    context.abort_with_status(rpc_status.to_status(status))


@contextmanager
def serving(monitoring: Monitoring) -> Iterator[Monitoring]:
    """Serves it on a free port of loopback."""
    server = grpc.server(ThreadPoolExecutor(max_workers=4))
    handler = grpc.unary_unary_rpc_method_handler(
        monitoring.answer,
        request_deserializer=ListTimeSeriesRequest.deserialize,
        response_serializer=lambda answer: answer.SerializeToString(),
    )
    service, method = METHOD.strip("/").split("/")
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
    monitoring.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield monitoring
    finally:
        server.stop(grace=None).wait()
