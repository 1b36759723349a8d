"""Jobs that take what they get: told by what a higher ceiling brought a day, and never of work that it did bring."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.decide.case_maker import case_of, tell_days
from plimsoll.demand.days import DaySums, sums_of_demand
from plimsoll.demand.demand import Demand
from plimsoll.model.ceiling import Resource
from plimsoll.model.policy import Policy
from plimsoll.model.units import DAY_S
from plimsoll.model.volume import Seen
from tests.builders import a_basis, a_spec, a_volume, load_of, rates_of
from tests.oracle.days import FOREVER, takes_what_it_gets
from tests.profiles import examples

BEGINS_S = int(datetime(2026, 3, 2, tzinfo=UTC).timestamp())
PAST_DAYS, DAYS, DAY = 30, 14, 288
MADE = datetime(2020, 1, 1, tzinfo=UTC)


def a_life(lower, before_hours, since_hours, raised_day, *, base=50.0, size_kib=8.0, noise=0.0, seed=0):
    """IOPS of every five minutes of 44 days: some hours a night at the lower ceiling, then some at 6,000."""
    rng = np.random.default_rng(seed)
    minute = np.arange((PAST_DAYS + DAYS) * DAY)
    hour, before = minute % DAY / 12, minute < raised_day * DAY
    base = base * np.exp(rng.normal(0, noise, len(minute)))
    busy = hour < np.where(before, before_hours, since_hours)
    return np.where(busy, np.where(before, lower, 6000.0), np.minimum(base, lower)), size_kib


def cases(life, raised_day, lower):
    """The case of the window alone, and that with the days before it."""
    iops, size_kib = life
    at_s = BEGINS_S + raised_day * DAY_S
    seen = Seen(at_s=at_s, spec=a_spec("gp3", iops=lower)), Seen(at_s=at_s, spec=a_spec("gp3", iops=6000), made=True)
    volume = a_volume("gp3", iops=6000, created=MADE, seen=seen)
    past, window = iops[: PAST_DAYS * DAY], iops[PAST_DAYS * DAY :]
    demand = Demand(
        start_s=BEGINS_S + PAST_DAYS * DAY_S,
        resolution_s=300,
        coarsest_s=300,
        rates=rates_of(window, window * size_kib / 1024),
        observed=np.ones(len(window), dtype=bool),
    )
    done = past.reshape(-1, DAY).sum(axis=1) * 300
    days = DaySums(start_s=BEGINS_S, totals=np.stack([done, done * size_kib * 1024]))
    context = a_basis(Policy(resolution_s=300, target_types=("gp3",)))
    known = days.append(sums_of_demand(demand))
    return [case_of(volume, demand, load_of(volume, demand), context, some) for some in (None, known)]


@pytest.mark.parametrize("raised_day", [PAST_DAYS + 6, PAST_DAYS - 10])
def test_a_job_is_told_by_a_lower_ceiling_in_the_window_and_by_one_before_it(raised_day):
    alone, remembered = cases(a_life(3000, 4, 2, raised_day), raised_day, 3000)
    assert remembered.lifted.deferred == {Resource.IOPS}
    assert not remembered.frequent
    assert bool(alone.frequent) is (raised_day < PAST_DAYS)


@pytest.mark.parametrize("raised_day", [PAST_DAYS + 6, PAST_DAYS - 10])
def test_work_that_was_lost_before_is_given_more(raised_day):
    for case in cases(a_life(3000, 6, 6, raised_day), raised_day, 3000):
        assert case.frequent == {Resource.IOPS}


@pytest.mark.parametrize(("raised_day", "told"), [(4, False), (5, True), (39, True), (40, False)])
def test_five_days_of_each_ceiling_are_enough_and_four_are_not(raised_day, told):
    _, remembered = cases(a_life(3000, 4, 2, raised_day), raised_day, 3000)
    assert bool(remembered.lifted.deferred) is told


def test_a_job_that_is_little_of_what_a_day_has_is_not_told_from_chance():
    _, remembered = cases(a_life(3000, 0.5, 0.25, PAST_DAYS - 10, base=2500.0), PAST_DAYS - 10, 3000)
    assert remembered.frequent == {Resource.IOPS}


def test_what_was_held_back_is_not_lifted_of_a_job():
    _, remembered = cases(a_life(3000, 4, 2, PAST_DAYS - 10), PAST_DAYS - 10, 3000)
    assert remembered.load.reducing.work.iops.max() == pytest.approx(6000)
    assert remembered.lifted.demand.iops.max() == pytest.approx(6000)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.sampled_from([1500, 3000, 5000]),
    st.floats(0.5, 8),
    st.floats(0.5, 8),
    st.integers(1, PAST_DAYS + DAYS - 1),
    st.sampled_from([10.0, 400.0, 1400.0]),
    st.sampled_from([0.0, 0.3]),
    st.integers(0, 2**32),
)
def test_the_clever_answer_is_that_of_counting_every_bucket(lower, before, since, raised_day, base, noise, seed):
    life = a_life(lower, before, since, raised_day, base=base, noise=noise, seed=seed)
    _, case = cases(life, raised_day, lower)
    iops = np.repeat(life[0], 5)
    window = iops[PAST_DAYS * 1440 :]
    days = {day - PAST_DAYS: (float(iops[day * 1440 : (day + 1) * 1440].sum()) * 60, 0.0) for day in range(44)}
    first = (raised_day - PAST_DAYS) * 1440
    own = max(first, 0), len(window), {"iops": 6000.0}
    earlier = [(FOREVER, first, {"iops": float(lower)})]
    at = window >= 0.95 * 6000
    at[: own[0]] = False
    right = takes_what_it_gets(window, at, own, earlier, days, "iops")
    assert (Resource.IOPS in case.lifted.deferred) is right


def test_without_days_before_and_without_an_earlier_epoch_nothing_is_told():
    life = a_life(6000, 2, 2, 0)
    volume_case, _ = cases(life, 0, 6000)
    volume = replace(volume_case.volume, seen=())
    demand = volume_case.demand
    case = case_of(volume, demand, load_of(volume, demand), volume_case.context)
    assert tell_days(volume, case.epochs, demand, case.market.types, case.policy) == [None]
    assert case.frequent == {Resource.IOPS}
