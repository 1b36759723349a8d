"""Verdicts: what carries the need passes, and what does not says by how much."""

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.ceiling import Need, Resource
from plimsoll.model.policy import Policy
from plimsoll_measure.verdict import Shown, judge_need

NEED = Need(iops=2000, throughput_mib_s=100)


def shown(iops=3000.0, throughput_mib_s=125.0, *, mean=900.0, p99=2000.0):
    return [
        Shown(name="paced-iops", iops=2000, throughput_mib_s=31, mean_latency_us=mean, p99_latency_us=p99, paced=True),
        Shown(name="unbounded-iops", iops=iops, throughput_mib_s=47, p99_latency_us=90_000),
        Shown(name="unbounded-throughput", iops=500, throughput_mib_s=throughput_mib_s, p99_latency_us=90_000),
    ]


def judged(found, *, need=NEED, today=1000.0, **keys):
    return judge_need(found, need, today_mean_latency_us=today, policy=Policy(**keys))


def test_what_reaches_the_need_in_time_passes_with_its_figures():
    found = judged(shown())
    assert found.passed
    assert (found.shown_iops, found.shown_throughput_mib_s, found.p99_latency_us) == (3000, 125, 2000)
    assert "delivered 3,000 IOPS of the 2,000 that are needed, headroom included" in found.reasons


def test_what_falls_short_says_on_which_side_and_by_how_much():
    found = judged(shown(throughput_mib_s=80.0))
    assert not found.passed
    assert found.fell_short == {Resource.THROUGHPUT}
    assert "delivered only 80 MiB/s of the 100 that are needed, headroom included" in found.reasons


def test_the_queues_of_unbounded_jobs_do_not_count_as_the_workloads_latency():
    assert judged(shown(p99=9_999.0)).passed
    assert judged(shown(p99=10_001.0)).too_slow


def test_the_mean_is_held_against_todays_and_only_where_today_is_known():
    assert judged(shown(mean=1250.0)).passed
    assert judged(shown(mean=1251.0)).too_slow
    assert judged(shown(mean=1251.0), today=None).passed
    assert judged(shown(mean=1251.0), latency_slack_pct=30.0).passed


def test_a_result_that_tells_nothing_does_not_pass():
    assert not judged([]).passed
    assert not judged([Shown(name="unbounded-iops", iops=None, throughput_mib_s=None)]).passed


rates = st.floats(0, 1e6)


@given(rates, rates, rates, rates)
def test_more_shown_never_turns_a_pass_into_a_failure_and_more_need_never_a_failure_into_a_pass(
    iops, throughput, more, need
):
    passed = judged(shown(iops, throughput), need=Need(iops=need, throughput_mib_s=need)).passed
    if passed:
        assert judged(shown(iops + more, throughput + more), need=Need(iops=need, throughput_mib_s=need)).passed
    else:
        raised = Need(iops=need + more, throughput_mib_s=need + more)
        assert not judged(shown(iops, throughput), need=raised).passed
