"""Verdicts: what carries the need passes, what does not says by how much, and only that is refuted."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.envelope import DELIVERED
from plimsoll.domain.need import Need
from plimsoll.domain.policy import Policy
from plimsoll.domain.verdict import FailedMeasurement, Shown, refuted, verdict
from plimsoll.domain.volume import VolumeSpec

NEED = Need(iops=2000, throughput_mib_s=100)
SPEC = VolumeSpec(type="gp3", size_gib=100, iops=3000, throughput_mib_s=125)


def shown(iops=3000.0, throughput_mib_s=125.0, *, mean=900.0, p99=2000.0):
    return [
        Shown(name="paced-iops", iops=2000, throughput_mib_s=31, mean_latency_us=mean, p99_latency_us=p99, paced=True),
        Shown(name="unbounded-iops", iops=iops, throughput_mib_s=47, p99_latency_us=90_000),
        Shown(name="unbounded-throughput", iops=500, throughput_mib_s=throughput_mib_s, p99_latency_us=90_000),
    ]


def judged(found, *, need=NEED, today=1000.0, **keys):
    return verdict(found, need, today_mean_latency_us=today, policy=Policy(**keys))


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


def a_refutation(delivered, *, volume_id=None):
    return FailedMeasurement(
        account="1",
        region="r",
        spec=SPEC,
        ceiling=Ceiling(iops=3000, throughput_mib_s=125),
        measured_on=date(2026, 11, 21),
        delivered=delivered,
        volume_id=volume_id,
        text="measured short",
    )


def against(one, iops, throughput_mib_s, *, region="r", type_name="gp3", volume_id="vol-1"):
    spec = VolumeSpec(type=type_name, size_gib=9, iops=int(iops), throughput_mib_s=int(throughput_mib_s))
    ceiling = Ceiling(iops=iops, throughput_mib_s=throughput_mib_s)
    return list(refuted(spec, ceiling, account="1", region=region, volume_id=volume_id, by=[one]))


def test_a_class_that_delivered_less_than_published_is_refused_there_and_nowhere_else():
    one = a_refutation({Resource.IOPS: 2400.0})
    assert against(one, 3000, 125) == ["measured short"]
    assert not against(one, 3000, 125, region="elsewhere")
    assert not against(one, 3000, 125, type_name="io2")


@given(st.floats(100, 6000), st.floats(50, 300))
def test_it_speaks_against_whatever_promises_more_and_not_enough_to_make_up_for_it(iops, throughput_mib_s):
    refused = bool(against(a_refutation({Resource.IOPS: 2400.0}), iops, throughput_mib_s))
    enough = 3000 * 3000 / 2400  # which carries 3,000 at the share that was delivered
    assert refused == (iops <= enough and DELIVERED * iops > 2400.0)


def test_a_slow_answer_speaks_against_the_class_for_that_volume_alone():
    one = a_refutation({}, volume_id="vol-1")
    assert against(one, 3000, 125)
    assert not against(one, 3000, 125, volume_id="vol-2")
