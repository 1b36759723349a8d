"""Whether points are of a minute or of five is told by what is published without activity, and by nothing else."""

from datetime import timedelta

import numpy as np
import pytest

from plimsoll.domain.metrics.sums import cut_by_age
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import Keep, Reprovision, Upgrade
from plimsoll.domain.refine.judge import judge
from plimsoll.domain.volume import Seen
from tests.builders import NOW, a_basis, a_host, a_market, a_tariff, a_volume
from tests.in_memory.ports import MemoryMetrics
from tests.unit.domain.refine.test_branch_and_bound import DAYS, MINUTES, WINDOW, assert_same, minutes_of

FIFTH = np.arange(MINUTES) % 5 == 0
OLD = a_host("m4.large")


def each_five(values):
    """A figure in each fifth minute, and no point between."""
    return np.where(FIFTH, values, np.nan)


def published_each_five(operations, **series):
    """Sums of five minutes in which so many operations of 16 KiB were written."""
    made = minutes_of(np.full(MINUTES, operations / 60), **series)
    for name in ("read_ops", "write_ops", "read_bytes", "write_bytes"):
        values = getattr(made, name)
        values[~FIFTH] = np.nan
    return made


def judged(volume, sums, *, queue=None, every_minute=False):
    """The answer, and how many datapoints it took."""
    metrics = MemoryMetrics(given={volume.id: sums})

    def read(asks):
        found = metrics.read(asks)
        for ask, series in zip(asks, found, strict=True):
            if queue is not None and "mean_queue_length" in ask.look.series:
                first = (ask.look.window.start_s - WINDOW.start_s) // 60
                series["mean_queue_length"] = queue[first : first + ask.look.window.buckets(60)]
        return found

    found = judge(
        {volume.id: a_basis(Policy(lookback_days=DAYS), market=a_market())},
        [volume],
        read,
        segments=cut_by_age(WINDOW, 60, metrics.retention_days, NOW.timestamp()),
        resolution_s=60,
        query_cost=a_tariff(),
        every_minute=every_minute,
    )
    return found, metrics.usage.datapoints


def answer(volume, sums, **more):
    """The answer of a part, which is that of every minute."""
    part, _ = judged(volume, sums, **more)
    whole, _ = judged(volume, sums, every_minute=True, **more)
    assert_same(part, whole)
    return part[volume.id].recommendation


def volume_on(host, iops, **more):
    return a_volume("gp3", 500, iops=iops, throughput_mib_s=125, on=host, **more)


@pytest.mark.parametrize("idle_s", [0.0, 15.0, 60.0, 61.0, 285.0])
def test_points_that_are_never_neighbors_are_of_five_minutes(idle_s):
    found = answer(volume_on(OLD, 3600), published_each_five(285_491, idle_s=each_five(idle_s)))
    assert found.demand.peak_iops == pytest.approx(951.6, abs=0.1)
    assert (found.demand.resolution_s, found.demand.throttled_minutes, found.demand.gap_hours) == (300, 0, 0)


@pytest.mark.parametrize(
    ("operations", "throttled_minutes"), [(285_491, 0), (296_900, 0), (297_000, MINUTES), (300_000, MINUTES)]
)
@pytest.mark.parametrize("idle_s", [{}, {"idle_s": each_five(15.0)}])
def test_a_point_of_five_minutes_is_at_the_ceiling_if_each_of_its_minutes_must_have_been(
    operations, throttled_minutes, idle_s
):
    """95 % of 1,000 IOPS in each minute is proved by 99 % of them in the mean."""
    volume = a_volume("io1", 400, iops=1000, on=OLD)
    found = answer(volume, published_each_five(operations, **idle_s))
    assert found.demand.throttled_minutes == throttled_minutes
    assert isinstance(found, Upgrade) == bool(throttled_minutes)


def test_a_job_each_five_minutes_is_one_of_a_minute():
    sums = published_each_five(285_491, idle_s=np.where(FIFTH, 5.0, 60.0))
    found = answer(volume_on(OLD, 3600), sums)
    assert found.demand.peak_iops == pytest.approx(4758, abs=1)
    assert found.demand.resolution_s == 60


def test_counts_in_each_minute_are_of_a_minute_without_idle_time():
    found = answer(volume_on(a_host("t2.micro"), 3000), minutes_of(np.where(FIFTH, 3000.0, 0.0)))
    assert isinstance(found, Upgrade)


@pytest.mark.parametrize(("queue", "peak_iops"), [(each_five(1.0), 951.6), (np.where(FIFTH, 1.0, 0.0), 4758.2)])
def test_queue_length_tells_where_there_is_no_idle_time(queue, peak_iops):
    found = answer(volume_on(OLD, 3600), published_each_five(285_491), queue=queue)
    assert found.demand.peak_iops == pytest.approx(peak_iops, abs=0.1)


def test_what_nothing_tells_of_is_neither_relieved_nor_reduced():
    sums = published_each_five(285_491)
    assert isinstance(answer(volume_on(OLD, 3000), sums), Keep)
    wide = answer(volume_on(a_host("t2.micro"), 10_000), sums)
    assert isinstance(wide, Reprovision)
    assert wide.target.spec.iops == 5800


def test_what_nothing_tells_of_is_relieved_where_five_minutes_stand_at_the_ceiling():
    found = answer(volume_on(a_host("t2.micro"), 3000), published_each_five(899_000))
    assert isinstance(found, Upgrade)


def test_a_volume_that_moved_to_a_host_of_each_minute_has_both_steps():
    now_s = int(NOW.timestamp())
    seen = (
        Seen(at_s=WINDOW.start_s - 3600, hosts=(OLD,)),
        Seen(at_s=now_s - 20 * 3600, hosts=(a_host("m5.24xlarge"),), made=True),
    )
    moved = volume_on(a_host("m5.24xlarge"), 10_000, seen=seen)
    first = (now_s - 20 * 3600 - WINDOW.start_s) // 60
    sums = published_each_five(285_491, idle_s=each_five(15.0))
    for name, value in (("write_ops", 2000 * 60.0), ("write_bytes", 2000 * 60.0 * 4096), ("idle_s", 1.0)):
        getattr(sums, name)[first:] = value
    for name in ("read_ops", "read_bytes"):
        getattr(sums, name)[first:] = 0.0
    found = answer(moved, sums)
    assert found.demand.peak_iops == pytest.approx(2000)


def test_what_a_host_measures_has_a_step_of_its_own():
    raised = np.full(MINUTES, np.nan)
    raised[1181:1188] = 1.0
    sums = published_each_five(30_000, idle_s=each_five(285.0), host_iops_exceeded_minutes=raised)
    found = answer(volume_on(OLD, 3600), sums)
    assert (found.demand.resolution_s, found.demand.host_bound_measured_minutes) == (300, 7)


def test_volumes_on_hosts_of_each_minute_are_asked_nothing_more():
    sums = minutes_of(np.full(MINUTES, 100.0), idle_s=np.full(MINUTES, 30.0))
    nitro, few = judged(volume_on(a_host("m5.24xlarge"), 3000), sums)
    old, more = judged(volume_on(a_host("t2.micro"), 3000), sums)
    assert more - few == 2 * 60
    assert_same(nitro, old)


def test_a_volume_without_a_known_host_before_is_a_minutes_where_nothing_tells():
    moved = volume_on(a_host("m5.24xlarge"), 3000, created=NOW - timedelta(days=90))
    found = answer(moved, published_each_five(285_491))
    assert found.demand.peak_iops == pytest.approx(4758, abs=1)
