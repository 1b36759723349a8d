"""A bench that could not have delivered makes no verdict, and hides none: its loss is credited, and no more."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.ceiling import UNBOUNDED, Ceiling, Need, Resource
from plimsoll.model.envelope import DELIVERED
from plimsoll.model.policy import Policy
from plimsoll_measure.verdict import BUSY, BenchLimitCode, BenchLoad, Shown, bench_excuse, judge_need

NEED = Need(iops=10_790, throughput_mib_s=200)
CEILING = Ceiling(iops=11_000, throughput_mib_s=250)
IDLE = BenchLoad(
    cpus=4,
    waited=0.0,
    queued=0.0,
    stolen=0.0,
    other_iops=0.0,
    other_throughput_mib_s=0.0,
    engine_iops=400_000,
    engine_throughput_mib_s=6_000,
)


def a_load(**changes):
    return replace(IDLE, **changes)


def judged(iops=10_790.0, throughput_mib_s=200.0, *, p99=1000.0):
    jobs = [
        Shown(name="paced", iops=9_000, throughput_mib_s=9, mean_latency_us=500, p99_latency_us=p99, paced=True),
        Shown(name="unbounded", iops=iops, throughput_mib_s=throughput_mib_s),
    ]
    jobs[0] = replace(jobs[0], iops=0.0)
    return judge_need(jobs, NEED, today_mean_latency_us=None, policy=Policy())


def excuse(found, load, *, ceiling=CEILING, host=UNBOUNDED):
    return bench_excuse(found, NEED, ceiling=ceiling, host=host, load=load)


def codes(*given, **more):
    return {limit.code for limit in excuse(*given, **more).limits}


def test_a_target_that_was_refuted_on_a_busy_machine_is_not_measured_there():
    """The demo's case: 6,762 of 10,790 IOPS while other work had the CPUs for half of the time."""
    assert codes(judged(6_762), a_load(waited=0.5)) == {BenchLimitCode.CPU}


def test_a_loss_that_is_too_small_to_explain_the_shortfall_leaves_the_verdict_as_it_is():
    assert codes(judged(6_762), a_load(waited=0.3)) == set()
    assert codes(judged(6_762), a_load(waited=0.3, stolen=0.1)) == {BenchLimitCode.CPU}


def test_a_fit_bench_explains_nothing_nor_does_one_that_says_nothing():
    assert codes(judged(6_762), IDLE) == set()
    assert codes(judged(10_570), a_load(waited=BUSY - 0.01)) == set()
    assert codes(judged(6_762), None) == set()
    assert excuse(judged(6_762), None).sides == ()


def test_the_run_queue_stands_in_for_a_kernel_that_does_not_tell_how_long_tasks_waited():
    assert codes(judged(6_762), a_load(waited=None, queued=0.5)) == {BenchLimitCode.CPU}
    assert codes(judged(6_762), a_load(waited=0.0, queued=0.5)) == set()


def test_what_delivers_all_that_is_published_is_too_small_whatever_the_bench_did():
    small = Ceiling(iops=6_800, throughput_mib_s=250)
    assert codes(judged(6_762), a_load(waited=0.9), ceiling=small) == set()


def test_fio_itself_must_have_room_for_twice_what_is_to_be_shown():
    assert codes(judged(6_762), a_load(engine_iops=15_000)) == {BenchLimitCode.ENGINE}
    assert codes(judged(6_762), a_load(engine_iops=30_000)) == set()
    assert codes(judged(6_762), a_load(engine_iops=None)) == set()


def test_the_hosts_own_limit_explains_what_it_held_back_on_that_resource_alone():
    exceeded = a_load(host_exceeded={Resource.IOPS: 0.6, Resource.THROUGHPUT: 0.0})
    assert codes(judged(6_762), exceeded) == {BenchLimitCode.HOST_EXCEEDED}
    assert codes(judged(throughput_mib_s=100.0), exceeded) == set()


def test_what_other_disks_took_counts_when_the_host_was_full():
    host = Ceiling(iops=12_000, throughput_mib_s=1_000)
    assert codes(judged(6_762), a_load(other_iops=5_200.0), host=host) == {BenchLimitCode.HOST_SHARED}
    assert codes(judged(6_762), a_load(other_iops=2_000.0), host=host) == set()
    assert codes(judged(6_762), IDLE, host=Ceiling(iops=6_000, throughput_mib_s=1_000)) == set()


def test_one_failure_that_is_the_volumes_stands_and_the_other_side_is_known_to_be_the_benchs():
    found = excuse(judged(6_762, 20.0), a_load(waited=0.5))
    assert found.limits == ()
    assert found.sides == (Resource.IOPS,)


def test_late_answers_are_explained_by_any_real_loss_and_by_nothing_else():
    late = judged(p99=50_000.0)
    assert late.too_slow
    assert codes(late, a_load(stolen=0.06)) == {BenchLimitCode.CPU}
    assert codes(late, IDLE) == set()


shares = st.floats(0, 1)


@given(st.floats(1, 10_500), shares, shares, st.none() | shares)
def test_what_falls_short_by_more_than_the_bench_lost_is_never_excused(iops, queued, stolen, waited):
    load = a_load(waited=waited, queued=queued, stolen=stolen)
    found = excuse(judged(iops), load)
    if found.limits:
        assert load.lost_share >= BUSY
        assert iops / (1 - load.lost_share) >= DELIVERED * NEED.iops * (1 - 1e-9)


@given(st.floats(1, 10_500), shares, shares)
def test_a_bench_that_lost_less_never_excuses_more(iops, one, other):
    less, more = sorted((one, other))
    if codes(judged(iops), a_load(waited=less)):
        assert codes(judged(iops), a_load(waited=more))


@pytest.mark.parametrize("load", [IDLE, a_load(waited=1.0, stolen=1.0)])
def test_what_passed_has_passed(load):
    assert excuse(judged(), load).limits == ()
