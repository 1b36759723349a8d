"""CloudWatch: the metrics of the fleet's workloads, with the real one's limits, quotas, paging and rounding."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final

import numpy as np

from cloud_simulator.aws import signals
from cloud_simulator.aws.fleet import Fleet, SimulatedHost, SimulatedVolume, served_minutes
from cloud_simulator.aws.living import LivingFleet
from cloud_simulator.aws.metric_request import (
    AskedData,
    AskedMetrics,
    AskedSeries,
    finest_kept_s,
    parse_data,
    parse_statistics,
    seal,
)
from cloud_simulator.faults import COMPLETE, Faults, Refused
from cloud_simulator.metrics.history import FOLDS_BYTES, MINUTES_BYTES, History, Remembered, fold
from cloud_simulator.metrics.series import ROWS
from cloud_simulator.units import DAY_S, KIB, MINUTE_S, FloatArray

_NAMESPACE: Final = "AWS/EBS"
_HOSTS_NAMESPACE: Final = "AWS/EC2"
_RATES: Final = {"VolumeAvgIOPS": ("mean_iops", "Ops/s"), "VolumeAvgThroughput": ("mean_kib_s", "KiB/s")}
_METRICS: Final = {row.metric: (row.name, row.unit) for row in ROWS} | _RATES
"""The series of each metric, and its unit."""

_SUMMED: Final = {
    "mean_iops": ("read_ops", "write_ops", MINUTE_S),
    "mean_kib_s": ("read_bytes", "write_bytes", MINUTE_S * KIB),
}
"""The two counters whose sum over a divisor is the sum of a series."""

_TIMED: Final = {"VolumeTotalReadTime": "Seconds", "VolumeTotalWriteTime": "Seconds"}
"""The units of what follows from the series, where somebody asks for one."""

USUAL_STATS: Final = {row.name: row.usual_stat for row in ROWS} | {name: "Maximum" for name, _ in _RATES.values()}
"""The statistic that is usually asked of each series."""

UNEVEN: Final = frozenset({"idle_s"})

_version: Final = attrgetter("version")

_NOTHING: Final = (np.empty(0), np.empty(0))

OfHost = Callable[[str, SimulatedHost, Sequence[SimulatedVolume], signals.Each, int], FloatArray | None]
"""The minutes of a metric of a host with some volumes, from a minute since the epoch on that is a midnight (UTC); None
where none is published."""


def _of_what_volumes_did(
    metric: str, host: SimulatedHost, volumes: Sequence[SimulatedVolume], each: signals.Each, _first_minute: int
) -> FloatArray | None:
    return signals.of_host(metric, host, volumes, each)


Points = tuple[FloatArray, FloatArray]
"""Timestamps in epoch seconds, and values."""


@dataclass(slots=True, kw_only=True)
class Quotas:
    """Calls of GetMetricData and their datapoints, and calls of GetMetricStatistics, a second; None: no end of them."""

    calls_per_s: float | None = None
    datapoints_per_s: float | None = None
    statistics_per_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    _levels: dict[tuple[str, tuple[str, str]], tuple[float, float]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def take(self, quota: str, amount: float, place: tuple[str, str], code: str) -> None:
        """Counts that much of a quota, which is named as its field, in an account and region; Refused above it.

        Datapoints are counted as they are asked for, whether or not there are any. A full second's worth lends more
        than it holds.
        """
        rate_per_s: float | None = getattr(self, quota)
        if rate_per_s is None:
            return
        with self._lock:
            now_s = self.clock()
            level, before_s = self._levels.get((quota, place), (rate_per_s, now_s))
            level = min(rate_per_s, level + (now_s - before_s) * rate_per_s)
            enough = level >= min(amount, rate_per_s)
            self._levels[quota, place] = (level - amount if enough else level), now_s
        if not enough:
            raise Refused(code, "Rate exceeded")


@dataclass(slots=True)
class CloudWatch:
    """Answers for the metrics of a fleet. `clock` None: time passes from the fleet's own `now` on. `of_host` says what
    is measured of hosts."""

    fleet: Fleet
    faults: Faults = field(default_factory=Faults)
    clock: Callable[[], float] | None = None
    quotas: Quotas = field(default_factory=Quotas)
    history: History[SimulatedVolume] = field(
        default_factory=lambda: History(served_minutes, USUAL_STATS, UNEVEN, _version)
    )
    of_host: OfHost = _of_what_volumes_did
    _times: History[SimulatedVolume] = field(init=False, repr=False)
    _started: float = field(default_factory=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        minutes, folds = Remembered[Any, Any](MINUTES_BYTES // 3), Remembered[Any, Any](FOLDS_BYTES // 3)
        self._times = History(
            self._timed_minutes, signals.TIMED_STATS, signals.UNEVEN_TIMES, _version, minutes=minutes, folds=folds
        )

    def attend(self, living: LivingFleet) -> None:
        """Answers for a fleet that lives, by its clock where it has none of its own."""
        self.fleet = living
        self.clock = self.clock or living.clock.now_s

    def get_metric_data(self, request: Mapping[str, Any], account: str, region: str) -> dict[str, Any]:
        """One page: values as arrays, timestamps as arrays of epoch seconds. Refused for what breaks the rules."""
        self.quotas.take("calls_per_s", 1, (account, region), "ThrottlingException")
        asked = parse_data(request, self._now_s())
        self.quotas.take("datapoints_per_s", asked.datapoints, (account, region), "ThrottlingException")
        results: list[dict[str, Any]] = []
        room, begin = asked.room, asked.first_point
        answer: dict[str, Any] = {"MetricDataResults": results, "Messages": []}
        for number in range(asked.first_series, len(asked.series)):
            query = asked.series[number]
            if not query.returned:
                continue
            if room <= 0:
                return {**answer, "NextToken": seal(number, 0)}
            (stamps, values), status = self._read_series(query, asked, account, region)
            stamps, values, points_left = stamps[begin:], values[begin:], len(values) - begin
            whole = points_left <= room
            results.append(
                {
                    "Id": query.id,
                    "Label": query.label,
                    "Timestamps": stamps[:room],
                    "Values": values[:room],
                    "StatusCode": status if whole else "PartialData",
                }
            )
            if not whole:
                return {**answer, "NextToken": seal(number, begin + room)}
            room, begin = room - max(0, points_left), 0
        return answer

    def get_metric_statistics(self, request: Mapping[str, Any], account: str, region: str) -> dict[str, Any]:
        """All points of one metric, oldest first. Refused for what breaks the rules."""
        self.quotas.take("statistics_per_s", 1, (account, region), "Throttling")
        asked = parse_statistics(request, self._now_s())
        label = asked.series[0].metric
        unit = _METRICS[label][1] if label in _METRICS else _TIMED.get(label)
        if asked.unit not in {None, unit}:
            return {"Label": label, "Datapoints": []}
        rows: dict[float, dict[str, Any]] = {}
        for query in asked.series:
            stamps, values = self._points(query, asked, account, region)
            for stamp, value in zip(stamps.tolist(), values.tolist(), strict=True):
                rows.setdefault(stamp, {"Timestamp": int(stamp), "Unit": unit})[query.stat] = value
        return {"Label": label, "Datapoints": list(rows.values())}

    def _read_series(self, query: AskedSeries, asked: AskedData, account: str, region: str) -> tuple[Points, str]:
        """The points of a series in the order asked for, and its status; a missing one is complete and empty."""
        status = self.faults.status(query.metric, account, region)
        if status not in {COMPLETE, "PartialData"}:
            return _NOTHING, status
        stamps, values = self._points(query, asked, account, region)
        if not asked.ascending:
            stamps, values = stamps[::-1], values[::-1]
        kept = len(values) if status == COMPLETE else len(values) // 2
        return (stamps[:kept], values[:kept]), status

    def _points(self, query: AskedSeries, asked: AskedMetrics, account: str, region: str) -> Points:
        """The present points; buckets begin at the start of the request, as the real ones do."""
        now_s = self._now_s()
        finest_s = finest_kept_s(asked.start_s, now_s)
        if finest_s is None or query.period_s % finest_s:
            return _NOTHING
        values = self._values(query, asked.start_s, _known_minutes(asked, now_s), (account, region))
        if values is None:
            return _NOTHING
        present = np.flatnonzero(~np.isnan(values))
        stamps = asked.start_s + present.astype(np.float64) * query.period_s
        return stamps, values[present]

    def _values(self, query: AskedSeries, start_s: int, count: int, place: tuple[str, str]) -> FloatArray | None:
        """A statistic of a metric by buckets of the period that is asked for; None where none is published."""
        if query.metric not in signals.METRICS:
            volume, series = self._find_volume(query, *place)
            if volume is None:
                return None
            if series in _SUMMED and query.stat == "Sum":
                return self._sum_counters(volume, series, query, start_s, count)
            return self.history.buckets(volume, series, query.stat, start_s, count, query.period_s)
        if query.metric not in signals.OF_HOSTS:
            return self._time(query, start_s, count, place)
        made = self._host_minutes(query, start_s, count, place)
        if made is None:
            return None
        width = query.period_s // MINUTE_S
        return fold(np.concatenate([made, np.full(-count % width, np.nan)]).reshape(-1, width), query.stat)

    def _host_minutes(self, query: AskedSeries, start_s: int, count: int, place: tuple[str, str]) -> FloatArray | None:
        """The minutes of a metric of a host, which follow from what its volumes did."""
        lead = start_s % DAY_S // MINUTE_S
        each = self._each(start_s - lead * MINUTE_S, lead + count)
        instance_id = query.dimensions.get("InstanceId")
        host = self.fleet.hosts(*place).get(instance_id or "")
        if host is None or query.namespace != _HOSTS_NAMESPACE or set(query.dimensions) != {"InstanceId"}:
            return None
        volumes = [volume for volume in self.fleet.at(*place) if host in volume.hosts and volume.workload is not None]
        made = self.of_host(query.metric, host, volumes, each, start_s // MINUTE_S - lead)
        return None if made is None else made[lead:]

    def _time(self, query: AskedSeries, start_s: int, count: int, place: tuple[str, str]) -> FloatArray | None:
        """A statistic of how long a volume's operations took."""
        volume = self.fleet.volume(query.dimensions.get("VolumeId", ""))
        if volume is None or volume.workload is None or query.namespace != _NAMESPACE:
            return None
        if (volume.account, volume.region) != place or not query.dimensions.keys() <= {"VolumeId", "InstanceId"}:
            return None
        series = signals.timed_series(query.metric, volume, query.dimensions.get("InstanceId"))
        if series is None:
            return None
        return self._times.buckets(volume, series, query.stat, start_s, count, query.period_s)

    def _timed_minutes(self, volume: SimulatedVolume, first_minute: int, count: int) -> dict[str, FloatArray]:
        each = self._each(first_minute * MINUTE_S, count)
        return signals.timed_minutes(volume, first_minute, count, each, self.fleet.unrest)

    def _each(self, start_s: int, count: int) -> signals.Each:
        """The minutes of a series of any volume in a span."""
        return lambda volume, name: self.history.buckets(volume, name, USUAL_STATS[name], start_s, count, MINUTE_S)

    def _sum_counters(
        self, volume: SimulatedVolume, series: str, query: AskedSeries, start_s: int, count: int
    ) -> FloatArray:
        """The sum of a series of rates, from the counters that it is made of."""
        *counters, divisor = _SUMMED[series]
        reads, writes = (
            self.history.buckets(volume, str(name), "Sum", start_s, count, query.period_s) for name in counters
        )
        return (reads + writes) / float(divisor)

    def _find_volume(self, query: AskedSeries, account: str, region: str) -> tuple[SimulatedVolume | None, str]:
        """The volume and series of exactly this metric and set of dimensions in this place."""
        volume = self.fleet.volume(query.dimensions.get("VolumeId", ""))
        series, _ = _METRICS.get(query.metric, ("", ""))
        if volume is None or not series or query.namespace != _NAMESPACE or volume.workload is None:
            return None, series
        here = (volume.account, volume.region) == (account, region)
        exact = query.dimensions.keys() <= {"VolumeId", "InstanceId"}
        published = here and exact and volume.publishes(series, query.dimensions.get("InstanceId"))
        return (volume if published else None), series

    def _now_s(self) -> float:
        if self.clock is not None:
            return self.clock()
        return self.fleet.now.timestamp() + time.monotonic() - self._started


def _known_minutes(asked: AskedMetrics, now_s: float) -> int:
    """The number of the request's minutes that have begun: nothing is known of the future."""
    present_minute_s = (now_s // MINUTE_S + 1) * MINUTE_S
    return max(0, int(min(asked.end_s, present_minute_s) - asked.start_s) // MINUTE_S)
