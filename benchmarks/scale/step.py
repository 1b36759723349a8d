"""A step of the audit: what its function took of its limits, what it asked, and what that costs at list prices."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from benchmarks.scale.functions import Function, Spent
from plimsoll.clouds.aws.stores import WRITES_A_CALL
from plimsoll.model.units import KIB

USD_GIB_S: Final = 0.0000133334
USD_LAMBDA: Final = 0.20 / 1e6
USD_TRANSITION: Final = 0.025 / 1e3
USD_METRIC: Final = 0.01 / 1e3
_USD_PUT, _USD_GET = 0.005 / 1e3, 0.0004 / 1e3
_USD_WRITTEN, _USD_READ = 0.625 / 1e6, 0.125 / 1e6
_USD_EVENT: Final = 1.0 / 1e6
"""us-east-1 list prices without a free tier: Lambda on arm64, Step Functions' standard workflows, CloudWatch's metrics
asked, S3's writes and lists, and reads, DynamoDB's items on demand, EventBridge's events (infra/costs.md says when
each was read, 2026-11-21)."""

_USD: Final = {
    "s3:Put": _USD_PUT,
    "s3:Post": _USD_PUT,
    "s3:List": _USD_PUT,
    "s3:Get": _USD_GET,
    "dynamodb:BatchWriteItem": WRITES_A_CALL * _USD_WRITTEN,
    "events:PutEvents": 10 * _USD_EVENT,
}
"""By call; of a call with several items, as many as it holds at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One function's part of a run."""

    name: str
    memory_mib: int
    timeout_s: float
    disk_mib: int
    spent: Mapping[str, Any]
    calls: Mapping[str, int]
    metrics: int
    datapoints: int
    world_s: float

    @classmethod
    def of(cls, function: Function, spent: Spent, tallies: Iterable[Mapping[str, Any]]) -> "Step":
        """The step of a function, by what every world was asked by it."""
        calls, metrics, datapoints, world_s = Counter[str](), 0, 0, 0.0
        for told in (one[function.name] for one in tallies if function.name in one):
            calls.update(told["calls"])
            metrics += told["metrics"]
            datapoints += told["datapoints"]
            world_s += told["world_s"]
        limits = function.limits
        return cls(
            name=function.name,
            memory_mib=limits.memory_mib,
            timeout_s=limits.timeout_s,
            disk_mib=limits.tmp_mib,
            spent=asdict(spent),
            calls=dict(calls),
            metrics=metrics,
            datapoints=datapoints,
            world_s=world_s,
        )

    @property
    def usd(self) -> dict[str, float]:
        """What it costs, by service; Step Functions' transitions are of the whole run."""
        gib_s = self.spent["seconds"] * self.memory_mib / KIB
        by_call = {call: count * _USD.get(call, 0.0) for call, count in self.calls.items()}
        return {
            "Lambda": gib_s * USD_GIB_S + self.spent["invocations"] * USD_LAMBDA,
            "S3": sum(usd for call, usd in by_call.items() if call.startswith("s3:")),
            "DynamoDB": sum(usd for call, usd in by_call.items() if call.startswith("dynamodb:"))
            + self.calls.get("dynamodb:BatchGetItem", 0) * 100 * _USD_READ,
            "EventBridge": by_call.get("events:PutEvents", 0.0),
            "GetMetricData": self.metrics * USD_METRIC,
        }

    @property
    def plain(self) -> dict[str, Any]:
        """The step as JSON."""
        return {**asdict(self), "usd": self.usd}
