"""Settling: a reduction waits after a raise that was needed, and while a change is under way."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from plimsoll.demand.epochs import Epoch, Unsettled, find_settling
from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Modification
from plimsoll.reading.window import Window
from tests.builders import a_volume

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LOW, HIGH = Ceiling(iops=3000.0, throughput_mib_s=125.0), Ceiling(iops=16_000.0, throughput_mib_s=125.0)
IOPS, THROUGHPUT = frozenset({Resource.IOPS}), frozenset({Resource.THROUGHPUT})


def stand(days_ago, ceiling, saturated=frozenset()):
    start_s = int((NOW - timedelta(days=days_ago)).timestamp())
    window = Window(start_s=start_s, end_s=int(NOW.timestamp()))
    return Epoch(window=window, spec=None, ceiling=ceiling, saturated=saturated)


def test_a_raise_after_being_throttled_settles_in_a_week():
    found = find_settling(a_volume(), [stand(14, LOW, IOPS), stand(2, HIGH)], (), NOW, Policy())
    assert (found.why, found.on) == (Unsettled.RAISED, NOW + timedelta(days=5))


@pytest.mark.parametrize(
    "epochs",
    [
        [stand(14, LOW, IOPS), stand(8, HIGH)],
        [stand(14, LOW), stand(2, HIGH)],
        [stand(14, LOW, THROUGHPUT), stand(2, HIGH)],
        [stand(14, HIGH, IOPS), stand(2, LOW)],
        [stand(14, None), stand(2, HIGH)],
        [stand(14, HIGH)],
    ],
)
def test_nothing_waits_without_a_late_raise_of_what_held_back(epochs):
    assert find_settling(a_volume(), epochs, (), NOW, Policy()) is None


def test_a_change_under_way_waits_a_day_at_least():
    changing = Modification(state="optimizing", started=NOW - timedelta(hours=2), progress_pct=40)
    found = find_settling(replace(a_volume(), modification=changing), [stand(14, HIGH)], (), NOW, Policy())
    assert (found.why, found.on) == (Unsettled.CHANGING, NOW + timedelta(days=1))


def test_the_first_raise_counts_and_one_more_that_was_not_needed_does_not():
    epochs = [stand(14, LOW, IOPS), stand(5, HIGH), stand(1, replace(HIGH, iops=20_000.0))]
    assert find_settling(a_volume(), epochs, (), NOW, Policy()).on == NOW + timedelta(days=2)


def test_a_volume_that_was_restored_settles_a_week_after_it_was_made():
    restored = replace(a_volume(), created=NOW - timedelta(days=2), restored_from="snap-1")
    found = find_settling(restored, [stand(2, HIGH)], (), NOW, Policy())
    assert (found.why, found.on) == (Unsettled.RESTORED, NOW + timedelta(days=5))
    assert (
        find_settling(replace(restored, created=NOW - timedelta(days=8)), [stand(8, HIGH)], (), NOW, Policy()) is None
    )
