"""Which reading a target gets: by price and by time, and of a run no more than its minute."""

from dataclasses import replace

from plimsoll.auditing.ports import BY_MINUTES_S
from plimsoll.auditing.read import ByTheMinute
from tests.builders import NOW, a_host, a_policy, a_volume
from tests.pipelines.test_audit import a_world

POLICY = a_policy(lookback_days=14)


def chosen(reading, count, **ports):
    volumes = [a_volume(id=f"vol-{number}", on=a_host(id=f"i-{number}")) for number in range(count)]
    there, plan = reading.choose(volumes, replace(a_world(volumes), **ports), POLICY, NOW, frozenset())
    return there, plan


def a_run(targets=1, left_s=BY_MINUTES_S):
    return ByTheMinute(left_s=left_s, targets=targets)


def test_a_target_that_takes_under_a_minute_is_read_by_the_minute_and_a_larger_one_sparingly():
    small, plan = chosen(a_run(), 100)
    assert small.by_minutes
    assert plan.least == plan.expected
    large, plan = chosen(a_run(), 400)
    assert not large.by_minutes
    assert plan.expected.datapoints < plan.most.datapoints / 10


def test_of_several_targets_each_takes_at_most_half_of_what_is_left_and_the_last_all():
    run = a_run(targets=3)
    assert not chosen(run, 160)[0].by_minutes
    assert run.left_s == BY_MINUTES_S
    assert chosen(run, 80)[0].by_minutes
    assert run.left_s < BY_MINUTES_S
    assert chosen(run, 160)[0].by_minutes


def test_what_no_time_is_left_for_is_read_sparingly():
    assert not chosen(a_run(left_s=0.0), 1)[0].by_minutes


def test_whoever_asked_for_every_minute_of_everything_has_it():
    there, plan = chosen(a_run(), 400, every_minute=True)
    assert there.every_minute
    assert not there.by_minutes
    assert plan.least == plan.expected == plan.most
