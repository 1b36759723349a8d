"""How fast demand grows: the clever figures are those of counting every pair, and headroom has room for them."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.demand.days import DaySums, sums_by_day
from plimsoll.demand.from_metrics import sums_of_knowledge
from plimsoll.model.policy import Headroom, Policy
from plimsoll.model.units import DAY_S, HOUR_S, MIB
from plimsoll.model.volume import Seen
from plimsoll.past.memory import find_growth, find_weeks
from plimsoll.reading.known import Knowledge, Look
from plimsoll.reading.window import Segment, Window
from tests.builders import a_spec, a_volume
from tests.oracle.days import headroom_with_growth
from tests.profiles import examples

BEGINS_S = int(datetime(2026, 3, 2, tzinfo=UTC).timestamp())
DAYS = 70
POLICY = Policy()
LARGE, SMALL = a_spec("gp3", iops=6000), a_spec("gp3", iops=3000)
MADE = datetime(2020, 1, 1, tzinfo=UTC)


def a_large(*seen):
    return a_volume("gp3", iops=6000, created=MADE, seen=seen)


def days_of(operations, moved=None):
    rows = [np.asarray(operations, dtype=float), np.asarray(operations if moved is None else moved, dtype=float)]
    return DaySums(start_s=BEGINS_S, totals=np.stack(rows))


def line(a_day, days=DAYS, now=1e6):
    """Totals that come to `now` a week ago and have risen by that share each day."""
    return now * np.exp(a_day * (np.arange(days) - days + 7.5))


def grown_pct(usual_pct, growth):
    return Headroom(pct=usual_pct, usual_pct=usual_pct).with_room_for(growth).pct


def test_a_line_has_its_slope():
    found = find_growth(days_of(line(0.005)), a_large(), POLICY)
    assert found.iops_pct_a_day == pytest.approx(0.5, rel=0.01)
    assert found.weeks == 8
    assert found.times == pytest.approx(np.exp(40 * 0.005), rel=0.01)
    assert grown_pct(20, found) == pytest.approx(120 * np.exp(40 * 0.005) - 100, abs=0.5)


def test_a_reduction_has_room_for_all_days_and_relief_for_a_third_of_them():
    relief, less = (find_growth(days_of(line(0.005)), a_large(), POLICY, reduces=reduces) for reduces in (False, True))
    assert (relief.days, less.days) == (40, 120)
    assert less.times == pytest.approx(relief.times**3)


def test_operations_and_bytes_grow_each_for_itself_and_the_faster_one_counts():
    found = find_growth(days_of(line(0.0), line(0.004)), a_large(), POLICY)
    assert (found.iops_pct_a_day, found.throughput_pct_a_day) == pytest.approx((0, 0.4), rel=0.01)
    assert found.times == pytest.approx(np.exp(40 * 0.004), rel=0.01)


@pytest.mark.parametrize("a_day", [0.0, -0.002])
def test_what_does_not_rise_does_not_grow(a_day):
    assert find_growth(days_of(line(a_day)), a_large(), POLICY) is None


def test_nobody_keeps_room_who_does_not_want_to():
    assert find_growth(days_of(line(0.005)), a_large(), replace(POLICY, growth_days=0)) is None


def test_no_room_is_kept_for_more_than_three_times_nor_beyond_what_a_policy_may_ask_for():
    found = find_growth(days_of(line(0.018)), a_large(), replace(POLICY, growth_days=365))
    assert found.times == 3
    assert grown_pct(20, found) == 260
    assert grown_pct(100, found) == 400
    assert grown_pct(400, found) == 400


def test_one_strange_week_decides_nothing():
    strange = line(0.005)
    strange[-20:-13] *= 6
    found = find_growth(days_of(strange), a_large(), POLICY)
    assert found is None or found.iops_pct_a_day < 1
    calm = line(0.0)
    calm[-7:] *= 3
    assert find_growth(days_of(calm), a_large(), POLICY) is None


def test_a_ceiling_that_is_raised_every_week_is_no_growth():
    """It takes all that it gets, and gets more each week. It speaks against less, all the same."""
    done = 1e6 * (1 + np.arange(DAYS) // 7)
    specs = [a_spec("gp3", iops=3000 + 300 * week) for week in range(11)]
    raised = [
        Seen(at_s=BEGINS_S + week * 7 * DAY_S, spec=specs[week + changed], made=bool(changed))
        for week in range(10)
        for changed in (0, 1)
    ]
    volume = a_volume("gp3", iops=6000, created=MADE, seen=tuple(raised))
    assert find_growth(days_of(done), volume, POLICY) is None
    assert find_growth(days_of(done), volume, POLICY, reduces=True) is not None
    assert find_growth(days_of(done), a_large(), POLICY) is not None


def test_four_weeks_of_one_epoch_are_enough_and_three_are_not():
    for days, right in ((29, True), (27, False)):
        changed_s = BEGINS_S + (DAYS - days) * DAY_S + HOUR_S
        seen = Seen(at_s=changed_s, spec=SMALL), Seen(at_s=changed_s, spec=LARGE, made=True)
        only_since = np.where(np.arange(DAYS) < DAYS - days, np.nan, line(0.005))
        assert (find_growth(days_of(only_since), a_large(*seen), POLICY) is not None) is right, days


def test_weeks_of_several_epochs_are_held_against_one_another_for_a_reduction_alone():
    """Three weeks, three and two: too few pairs of one epoch, enough of all."""
    first_s, then_s = (BEGINS_S + (DAYS - days) * DAY_S for days in (35, 14))
    volume = a_large(
        Seen(at_s=first_s, spec=LARGE),
        Seen(at_s=first_s, spec=SMALL, made=True),
        Seen(at_s=then_s, spec=SMALL),
        Seen(at_s=then_s, spec=LARGE, made=True),
    )
    assert find_growth(days_of(line(0.005)), volume, POLICY) is not None  # three and three are six pairs
    earlier = tuple(replace(one, at_s=one.at_s - 4 * DAY_S) for one in volume.seen[2:])
    later = replace(volume, seen=(*volume.seen[:2], *earlier))
    assert find_growth(days_of(line(0.005)), later, POLICY) is None
    found = find_growth(days_of(line(0.005)), later, POLICY, reduces=True)
    assert found.iops_pct_a_day == pytest.approx(0.5, rel=0.01)


@st.composite
def histories(draw):
    """70 days that grow, shrink or jump, with days that are not known, and what the volume was."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    slope, noise = draw(st.sampled_from([-0.003, 0.0, 0.0005, 0.004, 0.02])), draw(st.sampled_from([0.0, 0.01, 0.2]))
    rows = []
    for _ in range(2):
        row = np.round(np.maximum(0, line(slope) * np.exp(rng.normal(0, noise, DAYS)) * rng.choice([0, 1, 1, 1])))
        rows.append(row)
    absent = draw(st.lists(st.integers(0, DAYS - 1), max_size=12))
    for row in rows:
        row[absent] = np.nan
    seen, epochs, specs = [], [{"first": 0, "spec": None}], [LARGE]
    for after in sorted(draw(st.lists(st.integers(1, DAYS * 24 - 1), max_size=2, unique=True)))[::-1]:
        specs.insert(0, SMALL if specs[0] == LARGE else LARGE)
        at_s = BEGINS_S + after * HOUR_S
        seen = [Seen(at_s=at_s, spec=specs[0]), Seen(at_s=at_s, spec=specs[1], made=True), *seen]
        epochs.insert(1, {"first": (after - 24 * (DAYS - 14)) * 60, "spec": None})
    for epoch, spec in zip(epochs, specs, strict=True):
        epoch["spec"] = spec
    return rows, a_large(*seen), epochs


@settings(max_examples=examples(400), deadline=None)
@given(histories(), st.sampled_from([0, 20, 100]), st.sampled_from([0.0, 30.0, 90.0, 365.0]), st.booleans())
def test_headroom_for_growth_is_that_of_counting_every_pair(history, headroom_pct, growth_days, less):
    rows, volume, epochs = history
    policy = replace(POLICY, headroom_pct=headroom_pct, growth_days=growth_days)
    found = find_growth(days_of(*rows), volume, policy, reduces=less)
    counted = {day - (DAYS - 14): done for day, done in enumerate(zip(*rows, strict=True)) if not np.isnan(done[0])}
    rules = {"headroom_pct": headroom_pct, "growth_days": growth_days}
    right = headroom_with_growth({"epochs": epochs, "spec": volume.spec}, counted, 14, rules, less)
    assert (found is None) == (right is None)
    if found is not None:
        assert grown_pct(headroom_pct, found) == right
        assert headroom_pct <= right <= 400


@settings(max_examples=examples(200), deadline=None)
@given(histories(), st.floats(0.1, 50))
def test_growth_does_not_depend_on_the_unit(history, times):
    rows, volume, _ = history
    (one, other) = (find_growth(days_of(*(row * unit for row in rows)), volume, POLICY) for unit in (1.0, 2.0**6))
    assert one == other
    weeks = find_weeks(days_of(*rows), volume)
    assert set(weeks.number.tolist()) <= set(range(8))
    assert len(weeks.epoch) == weeks.a_day.shape[1]


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 9))
def test_days_are_the_same_however_finely_they_were_read(seed, gone):
    """Day by day, or by the minute: with days, or minutes of them, that are not there."""
    rng = np.random.default_rng(seed)
    window = Window(start_s=BEGINS_S, end_s=BEGINS_S + 10 * DAY_S + 5 * HOUR_S)
    minutes = rng.integers(0, 10**7, window.buckets(60)).astype(float)
    minutes[rng.random(len(minutes)) < 0.2] = np.nan
    minutes[gone * 1440 : (gone + 1) * 1440] = np.nan
    found = []
    for period_s in (60, 300, 3600, DAY_S):
        knowledge = Knowledge([Segment(window=window, period_s=60)])
        whole = Window(start_s=window.start_s, end_s=window.end_s // period_s * period_s)
        for part, length_s in ((whole, period_s), (Window(start_s=whole.end_s, end_s=window.end_s), HOUR_S)):
            if part.start_s < part.end_s:
                at = slice((part.start_s - window.start_s) // 60, (part.end_s - window.start_s) // 60)
                by_bucket = minutes[at].reshape(-1, length_s // 60)
                done = np.where(np.isnan(by_bucket).all(axis=1), np.nan, np.nansum(by_bucket, axis=1))
                series = {"read_ops": done, "write_ops": done, "read_bytes": done * 512, "write_bytes": done * 512}
                knowledge.learn(Look(window=part, period_s=length_s, groups=("operations", "bytes")), series)
        found.append(sums_of_knowledge(knowledge))
    assert all(np.array_equal(one.totals, found[0].totals, equal_nan=True) for one in found)
    assert (found[0].start_s, found[0].end_s) == (BEGINS_S, BEGINS_S + 10 * DAY_S)
    assert np.isnan(found[0].totals[:, gone]).all()
    assert found[0].known_days.sum() == 9


def test_what_is_not_of_the_workload_is_no_history():
    volume = a_volume("gp3", created=datetime.fromtimestamp(BEGINS_S + HOUR_S, UTC))
    moved = datetime.fromtimestamp(BEGINS_S + 20 * DAY_S + HOUR_S, UTC)
    volume = replace(volume, attachments=tuple(replace(one, since=moved) for one in volume.attachments))
    found = days_of(line(0)).as_history(volume, POLICY)
    assert np.flatnonzero(~found.known_days).tolist() == [*range(8), 20]


def test_days_join_those_before_and_what_lies_between_is_not_known():
    later = DaySums(start_s=BEGINS_S + (DAYS + 2) * DAY_S, totals=np.ones((2, 3)))
    found = days_of(line(0)).append(later)
    assert found.end_s == later.end_s
    assert np.flatnonzero(~found.known_days).tolist() == [DAYS, DAYS + 1]


def test_days_of_nothing_are_none():
    window = Window(start_s=BEGINS_S + HOUR_S, end_s=BEGINS_S + DAY_S - HOUR_S)
    nothing = np.array([window.start_s]), np.array([float(MIB)]), np.array([True])
    assert sums_by_day(window, [nothing, nothing]).totals.shape == (2, 0)
