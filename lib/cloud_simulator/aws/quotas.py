"""Quotas: how much CloudWatch answers an account in a region each second, refusing the rest."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cloud_simulator.faults import Refused


@dataclass(slots=True)
class _Bucket:
    """Tokens that come in at `rate_per_s`, of which a second's worth is held; full at first."""

    rate_per_s: float
    level: float
    filled_at_s: float

    def take(self, amount: float, now_s: float) -> bool:
        """Takes that much and says whether it could. A full bucket lends more than it holds."""
        self.level = min(self.rate_per_s, self.level + (now_s - self.filled_at_s) * self.rate_per_s)
        self.filled_at_s = now_s
        if self.level < min(amount, self.rate_per_s):
            return False
        self.level -= amount
        return True


@dataclass(slots=True, kw_only=True)
class Quotas:
    """Calls of GetMetricData and their datapoints, and calls of GetMetricStatistics, a second; None: no end of them."""

    calls_per_s: float | None = None
    datapoints_per_s: float | None = None
    statistics_per_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    _buckets: dict[tuple[str, str, str], _Bucket] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def call(self, account: str, region: str) -> None:
        """Counts a call of GetMetricData; Refused above the quota, as the others are."""
        self._take("calls", self.calls_per_s, 1, account, region, "ThrottlingException")

    def datapoints(self, count: int, account: str, region: str) -> None:
        """Counts the datapoints that a call of GetMetricData asks for, whether or not there are any."""
        self._take("datapoints", self.datapoints_per_s, count, account, region, "ThrottlingException")

    def statistics(self, account: str, region: str) -> None:
        """Counts a call of GetMetricStatistics."""
        self._take("statistics", self.statistics_per_s, 1, account, region, "Throttling")

    def _take(self, what: str, rate_per_s: float | None, amount: float, account: str, region: str, code: str) -> None:
        if rate_per_s is None:
            return
        with self._lock:
            now_s = self.clock()
            bucket = self._buckets.setdefault((what, account, region), _Bucket(rate_per_s, rate_per_s, now_s))
            taken = bucket.take(amount, now_s)
        if not taken:
            raise Refused(code, "Rate exceeded")
