"""Judging: which volumes stand beside changed ones, and how long a volume was stopped since its plan."""

from datetime import timedelta

import numpy as np

from plimsoll.ports import Target
from plimsoll_change.judging import _count_new_stops, find_controls
from plimsoll_change.plan import ControlVolume
from plimsoll_change.watch import PAST_H, ChangeWatch, HourlySignal
from plimsoll_change.watching import hour_of
from tests.unit.change.memory import NOW, a_line, a_world

HERE = Target(account="111122223333", region="us-east-1")


def a_control(number, application="shop", zone="us-east-1a"):
    return ControlVolume(target=HERE, zone=zone, volume_id=f"vol-c{number}", application=application)


def a_watch(stopped):
    """The hours until a day after now."""
    silent = np.full(PAST_H, np.nan)
    return ChangeWatch(
        volume_id="vol-1",
        requested_hour=hour_of(NOW) + 24,
        completed_hour=None,
        signal=HourlySignal(latency_us=np.stack([silent, silent]), operations=silent),
        stopped_minutes=np.concatenate([silent[len(stopped) :], stopped]),
        budget_minutes=15.0,
    )


def test_minutes_that_a_volume_is_stopped_for_as_usual_are_no_news():
    assert _count_new_stops(a_watch([60.0] * 124), NOW) == 0
    assert _count_new_stops(a_watch([0.0] * 100 + [2.0] * 24), NOW) == 48
    assert _count_new_stops(a_watch([1.0] * 100 + [3.0] * 24), NOW) == 48
    assert _count_new_stops(a_watch([np.nan] * 100 + [1.0] * 24), NOW) == 24
    assert _count_new_stops(a_watch([0.0] * 124), NOW - timedelta(days=50)) == 0


def test_controls_are_of_the_same_application_and_else_of_the_zone():
    lines = [a_line(1), *(a_line(number, has_work=True) for number in range(2, 5))]
    others = (a_control(1), a_control(2, "search"), a_control(3, "search", "us-east-1b"))
    progress = a_world(*lines, controls=others).process().progress
    assert [control.volume_id for control in find_controls(progress, lines[:1])] == [
        "vol-0002",
        "vol-0003",
        "vol-0004",
        "vol-c1",
    ]
    few = a_world(a_line(1), controls=others).process().progress
    assert [control.volume_id for control in find_controls(few, few.plan.lines)] == ["vol-c1", "vol-c2"]


def test_controls_are_of_the_same_cloud():
    project = Target(account="plimsoll-shop", region="us-central1", provider="google")
    disks = [
        ControlVolume(target=project, zone="us-central1-a", volume_id=str(number), application="shop")
        for number in range(5)
    ]
    progress = a_world(a_line(1), controls=(a_control(1), *disks)).process().progress
    assert [control.volume_id for control in find_controls(progress, progress.plan.lines)] == ["vol-c1"]


def test_a_volume_that_was_begun_is_no_control():
    lines = [a_line(number, has_work=True) for number in range(1, 6)]
    world = a_world(*lines).approve()
    world.process().run(once=True)
    (begun,) = {name for name, _, _ in world.changer.asked}
    controls = find_controls(world.process().progress, world.plan.lines)
    assert begun not in {control.volume_id for control in controls}
    assert len(controls) == 4
