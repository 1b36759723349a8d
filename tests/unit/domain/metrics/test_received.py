"""What was not received is unknown, never zero: a lost point never makes a target smaller."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloud_simulator.metrics.sums import Sums
from plimsoll.domain.metrics.series import WORK_SERIES
from plimsoll.domain.metrics.sums import Window, cut_by_age
from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.domain.recommendation import Change, InsufficientData
from plimsoll.domain.refine.judge import judge
from plimsoll.domain.units import HOUR_S, KIB
from plimsoll.domain.volume import Attachment
from tests.builders import NOW, a_basis, a_host, a_tariff, a_volume
from tests.in_memory.ports import MemoryMetrics
from tests.oracle.received import disputed
from tests.profiles import examples

DAYS = 2
WINDOW = Window.before(NOW, days=DAYS)
MINUTES = WINDOW.buckets(60)
PEAK_AT = 1234
WORK = (*WORK_SERIES, "idle_s")
POLICY = Policy(lookback_days=DAYS)


def minutes(quiet=20.0, peak=8967.0, *, checks=True, idle=True):
    """A volume that reads two parts and writes three, with one busy minute."""
    iops = np.full(MINUTES, quiet)
    iops[PEAK_AT] = peak
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
        idle_s=np.where(iops > 1000, 6.0, 55.0) if idle else None,
        iops_exceeded=nothing if checks else None,
        throughput_exceeded=nothing if checks else None,
    )


@dataclass(slots=True, kw_only=True)
class Lossy(MemoryMetrics):
    """Metrics of which some points are lost: `lose` changes what a look found, on the how many-th read."""

    lose: object
    reads: int = field(default=0)

    def read(self, asks):
        self.reads += 1
        answers = MemoryMetrics.read(self, asks)
        return [self.lose(self.reads, ask, dict(found)) for ask, found in zip(asks, answers, strict=True)]


def judged(lose, *, volumes=None, sums=None, policy=POLICY, every_minute=False):
    volumes = volumes or [a_volume("io2", 800, iops=12_000)]
    metrics = Lossy(given=sums or {volume.id: minutes() for volume in volumes}, lose=lose)
    found = judge(
        {volume.id: a_basis(policy) for volume in volumes},
        volumes,
        metrics.read,
        segments=cut_by_age(WINDOW, 60, metrics.retention_days, NOW.timestamp()),
        resolution_s=60,
        query_cost=a_tariff(),
        every_minute=every_minute,
    )
    return {name: one.recommendation for name, one in found.items()}


def answered(lose, **others):
    return judged(lose, **others)["vol-1"]


def nothing_lost(_read, _ask, found):
    return found


def losing(*names, reads=10**6):
    """All points of some series are lost, in the first so many reads."""

    def lose(read, _ask, found):
        return {name: values * np.nan if name in names and read <= reads else values for name, values in found.items()}

    return lose


def losing_between(start_s, end_s, *names, reads=10**6):
    """The points of some series in a span of time are lost."""

    def lose(read, ask, found):
        starts_s = ask.look.window.start_s + ask.look.period_s * np.arange(ask.look.window.buckets(ask.look.period_s))
        lost = (starts_s >= start_s) & (starts_s + ask.look.period_s <= end_s) & (read <= reads)
        return {name: np.where(lost, np.nan, values) if name in names else values for name, values in found.items()}

    return lose


def target_of(found):
    return found.target.spec if isinstance(found, Change) else None


WHOLE = pytest.mark.parametrize("every_minute", [False, True])


@WHOLE
def test_the_target_of_the_whole_demand(every_minute):
    found = answered(nothing_lost, every_minute=every_minute)
    assert (round(found.demand.peak_iops), found.target.spec.iops) == (8967, 10800)
    coverage = found.demand.coverage
    assert (coverage.hours_pct, coverage.disputes, coverage.disputed_hours) == (100, (), 0)
    assert dict(coverage.series_pct) == dict.fromkeys((*WORK, "iops_exceeded", "throughput_exceeded"), 100)


@WHOLE
@pytest.mark.parametrize("series", WORK)
def test_a_series_that_is_complete_and_empty_is_asked_once_more_and_never_counts_as_zero(series, every_minute):
    found = answered(losing(series), every_minute=every_minute)
    assert isinstance(found, InsufficientData)
    assert {doubt.series for doubt in found.demand.coverage.disputes} == {series}
    assert found.demand.coverage.disputed_hours == WINDOW.hours
    assert dict(found.demand.coverage.series_pct)[series] == 0
    assert any(series in reason for reason in found.reasons)
    assert answered(losing(series, reads=1), every_minute=every_minute) == answered(
        nothing_lost, every_minute=every_minute
    )


@pytest.mark.parametrize("series", [*WORK_SERIES, "idle_s"])
@pytest.mark.parametrize("minute", [PEAK_AT, PEAK_AT - 100])
def test_a_minute_that_is_lost_where_it_was_read_finely_is_disputed(series, minute):
    policy = replace(POLICY, size_on=SizeOn.BUSY_TIME)
    start_s = WINDOW.start_s + 60 * minute
    whole = answered(nothing_lost, policy=policy)
    found = answered(losing_between(start_s, start_s + 60, series), policy=policy)
    if not isinstance(found, InsufficientData):
        assert (target_of(found), found.demand.peak_iops) == (target_of(whole), whole.demand.peak_iops)
    else:
        assert {doubt.series for doubt in found.demand.coverage.disputes} == {series}
    assert minute != PEAK_AT or isinstance(found, InsufficientData)


def test_a_check_that_was_raised_and_is_not_found_again_is_disputed():
    raised = minutes()
    raised.iops_exceeded[600:900] = 1
    sums = {"vol-1": raised}
    assert answered(nothing_lost, sums=sums).demand.throttled_minutes == 300
    start_s = WINDOW.start_s + 60 * 600
    found = answered(losing_between(start_s, start_s + 300 * 60, "iops_exceeded"), sums=sums)
    assert isinstance(found, InsufficientData)


@WHOLE
def test_bytes_may_be_absent_where_nothing_was_done(every_minute):
    sums = minutes(quiet=0.0)
    for name in ("read_bytes", "write_bytes"):
        values = getattr(sums, name)
        values[values == 0] = np.nan
    found = answered(nothing_lost, sums={"vol-1": sums}, every_minute=every_minute)
    assert found.target.spec.iops == 10800
    assert dict(found.demand.coverage.series_pct)["write_bytes"] == 100


@WHOLE
def test_counts_may_be_absent_where_idle_time_fills_the_time(every_minute):
    idle = minutes(quiet=0.0, peak=0.0).with_series(idle_s=np.full(MINUTES, 60.0))
    whole = answered(nothing_lost, sums={"vol-1": idle}, every_minute=every_minute)
    found = answered(losing("read_ops", "write_ops"), sums={"vol-1": idle}, every_minute=every_minute)
    assert target_of(found) == target_of(whole)


def test_figures_that_contradict_each_other_are_disputed():
    flat = minutes(quiet=100.0, peak=100.0)
    nothing = np.zeros(MINUTES)
    for sums, series in (
        (flat.with_series(write_bytes=nothing), "write_bytes"),
        (flat.with_series(write_ops=nothing), "write_ops"),
        (flat.with_series(idle_s=np.full(MINUTES, 60.0)), "idle_s"),
    ):
        for every_minute in (False, True):
            found = answered(nothing_lost, sums={"vol-1": sums}, every_minute=every_minute)
            assert {doubt.series for doubt in found.demand.coverage.disputes} == {series}


def without(sums, first_hour, hours):
    """The sums with a gap in all series."""
    gap = slice(first_hour * 60, (first_hour + hours) * 60)
    for values in (*sums.counters, sums.idle_s, sums.iops_exceeded, sums.throughput_exceeded):
        values[gap] = np.nan
    return sums


def running_since(moment):
    host = replace(a_host(), running_since=moment)
    attached = Attachment(host=host, device="/dev/sdf", since=NOW - timedelta(days=300))
    return [replace(a_volume("io2", 800, iops=12_000), attachments=(attached,))]


@WHOLE
@pytest.mark.parametrize(("gap_hours", "pct"), [(2, 96.7), (6, 90.0)])
def test_a_gap_counts_where_the_host_ran_and_too_many_hours_of_it_are_insufficient(every_minute, gap_hours, pct):
    def found(since):
        sums = {"vol-1": without(minutes(), 30, gap_hours)}
        volumes = running_since(since)
        return answered(nothing_lost, volumes=volumes, sums=sums, every_minute=every_minute)

    ran = found(NOW - timedelta(days=30))
    assert ran.demand.coverage.hours_expected == WINDOW.hours
    assert ran.demand.coverage.hours_pct == pytest.approx(pct, abs=0.05)
    assert isinstance(ran, InsufficientData) == (pct < 95)
    assert not ran.demand.coverage.disputes
    for since in (None, NOW - timedelta(hours=1)):
        stopped = found(since)
        assert target_of(stopped).iops == 10800
        assert stopped.demand.coverage.hours_pct == 100
        assert stopped.demand.gap_hours == gap_hours


@WHOLE
def test_a_gap_that_one_answer_has_is_asked_once_more(every_minute):
    start_s = WINDOW.start_s + 30 * HOUR_S
    everything = (*WORK, "iops_exceeded", "throughput_exceeded")
    lose = losing_between(0, start_s, *everything, reads=1)
    whole = answered(nothing_lost, every_minute=every_minute)
    assert answered(lose, every_minute=every_minute) == whole


def test_the_traffic_of_a_disputed_volume_is_unknown_to_its_neighbors():
    host = a_host()
    volumes = [a_volume("io2", 800, iops=12_000, id=f"vol-{number}", on=host) for number in (1, 2)]

    def lose(read, ask, found):
        return losing("write_ops")(read, ask, found) if ask.volume.id == "vol-2" else found

    found = judged(lose, volumes=volumes)
    assert isinstance(found["vol-2"], InsufficientData)
    assert isinstance(found["vol-1"], InsufficientData)


@WHOLE
def test_a_check_that_was_there_before_has_to_stay(every_minute):
    start_s = WINDOW.start_s + 24 * HOUR_S
    found = answered(losing_between(start_s, WINDOW.end_s, "iops_exceeded"), every_minute=every_minute)
    assert {doubt.series for doubt in found.demand.coverage.disputes} == {"iops_exceeded"}


@WHOLE
def test_a_balance_has_to_be_there_where_there_is_work(every_minute):
    volumes = [a_volume("gp2", 100)]
    for quiet, series in ((20.0, {"burst_balance_pct"}), (1.0, set())):
        sums = minutes(quiet=quiet, peak=quiet).with_series(burst_balance_pct=np.full(MINUTES, np.nan))
        found = answered(nothing_lost, volumes=volumes, sums={"vol-1": sums}, every_minute=every_minute)
        assert {doubt.series for doubt in found.demand.coverage.disputes} == series


def test_absent_checks_are_unknown_and_said():
    found = answered(losing("iops_exceeded"))
    assert target_of(found) == target_of(answered(nothing_lost))
    assert any("iops_exceeded was not received" in reason for reason in found.reasons)


def plain(sums):
    """Sums as the oracle takes them."""

    def listed(values):
        return None if values is None else [None if np.isnan(value) else float(value) for value in values]

    return {name: listed(getattr(sums, name)) for name in WORK}


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from(WORK), st.sampled_from([0.0003, 0.01, 1.0]), max_size=3),
    st.sampled_from([minutes(), minutes(quiet=0.0), minutes(quiet=0.01, peak=3.0), minutes(idle=False)]),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_what_is_disputed_is_what_the_oracle_disputes(lost, shape, zeros_kept, seed):
    rng = np.random.default_rng(seed)
    series = {name: getattr(shape, name) for name in WORK if getattr(shape, name) is not None}
    for name in lost.keys() & series.keys():
        gone = rng.random(MINUTES) < lost[name]
        series[name] = np.where(gone & ((series[name] > 0) | (not zeros_kept)), np.nan, series[name])
    sums = shape.with_series(**series)
    found = answered(nothing_lost, sums={"vol-1": sums}, every_minute=True)
    assert bool(found.demand.coverage.disputes) == disputed(plain(sums))


FAULTS = st.lists(
    st.tuples(
        st.sets(st.sampled_from(WORK), min_size=1, max_size=4),
        st.sampled_from([0.001, 0.03, 0.5, 1.0]),
        st.sampled_from([1, 2, 10**6]),
        st.sampled_from([60, 3600, 86_400, None]),
    ),
    min_size=1,
    max_size=3,
)
SHAPES = st.sampled_from(
    [minutes(), minutes(quiet=0.0), minutes(quiet=900.0, peak=3100.0), minutes(quiet=0.2, peak=30.0, checks=False)]
)
POLICIES = st.sampled_from([POLICY, replace(POLICY, size_on=SizeOn.BUSY_TIME), replace(POLICY, throttle_budget_min=60)])


@settings(max_examples=examples(600), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(FAULTS, SHAPES, POLICIES, st.booleans(), st.integers(0, 2**32))
def test_whatever_is_lost_the_answer_is_the_same_or_there_is_none(faults, sums, policy, every_minute, seed):
    rng = np.random.default_rng(seed)

    def lose(read, ask, found):
        for names, share, reads, period_s in faults:
            if read <= reads and period_s in (None, ask.look.period_s):
                for name in names & found.keys():
                    found[name] = np.where(rng.random(len(found[name])) < share, np.nan, found[name])
        return found

    given_sums = {"vol-1": sums}
    whole = answered(nothing_lost, sums=given_sums, policy=policy, every_minute=every_minute)
    found = answered(lose, sums=given_sums, policy=policy, every_minute=every_minute)
    if not isinstance(found, InsufficientData):
        assert (found.action, target_of(found)) == (whole.action, target_of(whole))
        assert found.demand.hours_observed == whole.demand.hours_observed
