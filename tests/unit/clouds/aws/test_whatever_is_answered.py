"""Whatever CloudWatch answers, a volume has the answer of the undisturbed run, or none, by name."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloud_simulator.metrics.sums import Sums
from plimsoll.clouds.aws.metrics import AwsMetrics
from plimsoll.clouds.common.calls import Pacer
from plimsoll.domain.errors import CloudError
from plimsoll.domain.metrics.sums import Window, cut_by_age
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import Change, InsufficientData
from plimsoll.domain.refine.judge import judge
from plimsoll.domain.units import KIB
from tests.builders import NOW, a_basis, a_host, a_tariff, a_volume, with_rates
from tests.in_memory.ports import cut
from tests.profiles import examples

DAYS = 2
WINDOW = Window.before(NOW, days=DAYS)
MINUTES = WINDOW.buckets(60)
RATES = {
    ("VolumeAvgIOPS", "Maximum"): "highest_iops",
    ("VolumeAvgIOPS", "Sum"): "summed_iops",
    ("VolumeAvgThroughput", "Maximum"): "highest_throughput_mib_s",
    ("VolumeAvgThroughput", "Sum"): "summed_throughput_mib_s",
}
SERIES = {
    "VolumeReadOps": "read_ops",
    "VolumeWriteOps": "write_ops",
    "VolumeReadBytes": "read_bytes",
    "VolumeWriteBytes": "write_bytes",
    "VolumeIdleTime": "idle_s",
    "BurstBalance": "burst_balance_pct",
    "VolumeIOPSExceededCheck": "iops_exceeded",
    "VolumeThroughputExceededCheck": "throughput_exceeded",
    "InstanceEBSIOPSExceededCheck": "host_iops_exceeded_minutes",
    "InstanceEBSThroughputExceededCheck": "host_throughput_exceeded_minutes",
}


def busy(peak, at):
    iops = np.full(MINUTES, 15.0)
    iops[at] = peak
    ops = np.round(iops * 60)
    reads = np.round(ops * 0.4)
    nothing = np.zeros(MINUTES)
    return Sums(
        start_s=WINDOW.start_s,
        period_s=60,
        read_ops=reads,
        write_ops=ops - reads,
        read_bytes=reads * 16 * KIB,
        write_bytes=(ops - reads) * 16 * KIB,
        idle_s=np.where(iops > 1000, 6.0, 55.0),
        burst_balance_pct=np.full(MINUTES, 90.0),
        iops_exceeded=nothing,
        throughput_exceeded=nothing,
        host_iops_exceeded_minutes=nothing,
        host_throughput_exceeded_minutes=nothing,
        **with_rates(ops, ops * 16 * KIB),
    )


VOLUMES = [
    a_volume("io2", 800, iops=12_000, id="vol-1"),
    a_volume("gp2", 500, id="vol-2", on=a_host(id="i-2")),
    a_volume("gp3", 500, iops=9000, throughput_mib_s=500, id="vol-3", on=a_host(id="i-3")),
]
TRUTH = {"vol-1": busy(8967.0, 1234), "vol-2": busy(1100.0, 3100), "vol-3": busy(5000.0, 20)}
TRUTH["i-1"] = TRUTH["vol-1"]


def emptied(result, _rng):
    return {**result, "Timestamps": [], "Values": []}


def thinned(result, rng):
    kept = np.flatnonzero(rng.random(len(result["Values"])) < 0.7).tolist()
    return {**result, **{name: [result[name][at] for at in kept] for name in ("Timestamps", "Values")}}


def cut_short(result, rng):
    kept = int(rng.integers(0, len(result["Values"]) + 1))
    return {**result, "Timestamps": result["Timestamps"][:kept], "Values": result["Values"][:kept]}


def shuffled(result, rng):
    order = rng.permutation(len(result["Values"])).tolist()
    return {**result, **{name: [result[name][at] for at in order] for name in ("Timestamps", "Values")}}


def first_value(value):
    return lambda result, _rng: {**result, "Values": [value, *result["Values"][1:]]}


SPOILT = {
    "emptied": emptied,
    "thinned": thinned,
    "cut short": cut_short,
    "shuffled": shuffled,
    "null lists": lambda result, _rng: {**result, "Timestamps": None, "Values": None},
    "no figures": lambda result, _rng: {name: value for name, value in result.items() if name != "Values"},
    "a figure less": lambda result, _rng: {**result, "Values": result["Values"][1:]},
    "another Id": lambda result, _rng: {**result, "Id": "q9999"},
    "no Id": lambda result, _rng: {**result, "Id": None},
    "no result": lambda _result, _rng: None,
    "twice": lambda result, _rng: {**result, **{name: result[name] * 2 for name in ("Timestamps", "Values")}},
    "texts": lambda result, _rng: {**result, "Timestamps": [str(stamp) for stamp in result["Timestamps"]]},
    "later": lambda result, _rng: {**result, "Timestamps": [stamp + 1e6 for stamp in result["Timestamps"]]},
    "off the grid": lambda result, _rng: {**result, "Timestamps": [stamp + 7 for stamp in result["Timestamps"]]},
    "negative": first_value(-1.0),
    "infinite": first_value(float("inf")),
    "huge": first_value(1e30),
    "partial": lambda result, rng: {**cut_short(result, rng), "StatusCode": "PartialData"},
    "broken": lambda result, rng: {**emptied(result, rng), "StatusCode": "InternalError"},
    "unknown": lambda result, _rng: {**result, "StatusCode": "Perhaps"},
}


@dataclass
class Spoiling:
    """A CloudWatch that has the truth and spoils some of its results; `faults` say which, how, and for how long."""

    faults: list
    seed: int
    calls: int = 0
    meta: SimpleNamespace = field(
        default_factory=lambda: SimpleNamespace(events=SimpleNamespace(register=lambda *_args, **_named: None))
    )

    def client(self, *_place):
        return self

    def get_metric_data(self, **request):
        self.calls += 1
        rng = np.random.default_rng([self.seed, self.calls])
        found = [self._result(query, request, rng) for query in request["MetricDataQueries"]]
        return {"MetricDataResults": [result for result in found if result is not None]}

    def _result(self, query, request, rng):
        stat = query["MetricStat"]
        metric, period_s = stat["Metric"]["MetricName"], stat["Period"]
        window = Window(start_s=int(request["StartTime"].timestamp()), end_s=int(request["EndTime"].timestamp()))
        whole = TRUTH[stat["Metric"]["Dimensions"][0]["Value"]]
        named = (metric, stat["Stat"])
        values = getattr(cut(whole, window, period_s), RATES.get(named) or SERIES[metric])
        values = values * 1024 if metric == "VolumeAvgThroughput" else values
        at = np.flatnonzero(~np.isnan(values))
        result = {
            "Id": query["Id"],
            "StatusCode": "Complete",
            "Timestamps": [float(window.start_s + period_s * place) for place in at.tolist()],
            "Values": values[at].tolist(),
        }
        for how, metrics, share, calls in self.faults:
            if result is not None and metric in metrics and self.calls <= calls and rng.random() < share:
                result = SPOILT[how](result, rng)
                break
        return result


def answers(cloud):
    metrics = AwsMetrics(
        query_cost=a_tariff(),
        sessions=cloud,
        calls=Pacer(1e9),
        datapoints=Pacer(1e9),
        parallel=1,
        sleep=lambda _seconds: None,
    )
    policy = Policy(lookback_days=DAYS)
    return judge(
        {volume.id: a_basis(policy) for volume in VOLUMES},
        VOLUMES,
        metrics.read,
        segments=cut_by_age(WINDOW, 60, metrics.retention_days, NOW.timestamp()),
        resolution_s=60,
        query_cost=a_tariff(),
    )


WORK = ("VolumeReadOps", "VolumeWriteOps", "VolumeReadBytes", "VolumeWriteBytes", "VolumeIdleTime")
STRUCK = (*WORK, "BurstBalance", "VolumeAvgIOPS", "InstanceEBSIOPSExceededCheck")
EVERY = (*SERIES, "VolumeAvgIOPS", "VolumeAvgThroughput")
FAULTS = st.lists(
    st.tuples(
        st.sampled_from(sorted(SPOILT)),
        st.sampled_from([*((name,) for name in STRUCK), WORK[:2], WORK[2:4], WORK[1::2], WORK[:4], EVERY]),
        st.sampled_from([0.05, 0.3, 1.0]),
        st.sampled_from([1, 2, 5, 10**6]),
    ),
    min_size=1,
    max_size=4,
)


def told(one):
    """What people act on."""
    found = one.recommendation
    then = (found.target.spec, found.usd_month_then) if isinstance(found, Change) else None
    return found.action, then, found.demand.throttled_minutes, found.demand.hours_observed


def test_undisturbed_answers_are_migrations_by_the_peak():
    found = {name: told(one) for name, one in answers(Spoiling([], 0)).items()}
    assert found["vol-1"][1][0].iops == 10_800
    assert all(one[0] == "migrate" or one[1] is not None for one in found.values())


@settings(max_examples=examples(800), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(FAULTS, st.integers(0, 2**32))
def test_whatever_is_answered_each_volume_has_the_same_answer_or_none_by_name(faults, seed):
    whole, found = answers(Spoiling([], 0)), answers(Spoiling(faults, seed))
    assert found.keys() == whole.keys()
    for name, one in found.items():
        if isinstance(one, CloudError):
            assert "us-east-1" in str(one)
        elif isinstance(one.recommendation, InsufficientData) or not getattr(one.recommendation, "measured", True):
            assert one.recommendation.reasons
        else:
            assert told(one) == told(whole[name]), name
