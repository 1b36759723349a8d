"""The highest minute of a bucket, as a cloud publishes it, is believed as far as the counters bear it out."""

from dataclasses import replace

import numpy as np
import pytest

from cloud_simulator.metrics.sums import Sums
from plimsoll.demand.demand import IOPS
from plimsoll.demand.from_metrics import demand_of
from plimsoll.model.series import WORK_SERIES
from plimsoll.model.units import HOUR_S
from plimsoll.reading.known import Knowledge, Look, plan_first_looks
from plimsoll.reading.window import Window, cut_by_age
from tests.builders import NOW, with_rates
from tests.in_memory.ports import cut

WINDOW = Window.before(NOW, days=3)
MINUTES = WINDOW.buckets(60)
PARTS = cut_by_age(WINDOW, 60, {60: 15}, NOW.timestamp())
DAY = 1440


def minutes(hot=900.0, at=500):
    iops = np.full(MINUTES, 10.0)
    iops[at] = hot
    ops, nothing = iops * 60, np.zeros(MINUTES)
    counters = {**dict.fromkeys(WORK_SERIES, nothing), "write_ops": ops, "write_bytes": ops * 4096}
    return Sums(start_s=WINDOW.start_s, period_s=60, **counters, **with_rates(ops, ops * 4096))


def known(sums, *more):
    knowledge = Knowledge(PARTS)
    for look in (*plan_first_looks(PARTS), *more):
        found = cut(sums, look.window, look.period_s, look.series)
        knowledge.learn(look, {name: values for name in look.series if (values := getattr(found, name)) is not None})
    return demand_of(knowledge, resolution_s=60)


def test_a_day_is_bounded_by_its_highest_minute_and_some_minute_had_that():
    demand = known(minutes())
    assert demand.most[IOPS].max() == pytest.approx(900, abs=0.5)
    assert demand.least_demand.iops.max() == pytest.approx(900, abs=0.5)
    assert np.count_nonzero(demand.least_demand.iops > 100) == 1


def test_without_the_series_a_minute_may_have_had_all_of_the_hour():
    demand = known(minutes().with_series(**dict.fromkeys(with_rates(0, 0))))
    assert demand.least_demand is None
    assert demand.most[IOPS].max() == pytest.approx(10 * (60 - 1) + 900, rel=1e-9)


def test_what_the_series_lacks_may_have_been_done_in_one_minute():
    sums = minutes()
    for name in ("highest_iops", "summed_iops"):
        getattr(sums, name)[500] = np.nan
    demand = known(sums)
    assert demand.most[IOPS].max() == pytest.approx(900, abs=1)
    assert demand.least_demand.iops.max() <= 10


@pytest.mark.parametrize("times", [1.1, 0.9])
def test_a_series_that_is_not_of_the_same_minutes_is_not_believed(times):
    sums = minutes()
    demand = known(sums.with_series(highest_iops=sums.highest_iops * times, summed_iops=sums.summed_iops * times))
    assert demand.spread.rates_disagree == (times > 1)
    assert demand.most[IOPS].max() >= 900
    assert demand.least_demand.iops.max() == 0


def test_where_the_highest_minute_was_read_no_other_is_said_to_have_it():
    hours = Window(start_s=WINDOW.start_s, end_s=WINDOW.start_s + 24 * HOUR_S)
    morning = replace(hours, end_s=hours.start_s + 9 * HOUR_S)
    demand = known(minutes(), Look(window=hours, period_s=HOUR_S), Look(window=morning, period_s=60))
    assert demand.iops.max() == 900
    assert demand.least_demand.iops[demand.starts_s < hours.end_s].max() == 0
