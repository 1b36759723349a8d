"""kill -9 while a plan is applied, verified and taken back: nothing is changed twice, nothing lost, no slot unknown."""

import random

import pytest

from plimsoll_change.watch import GroupVerdict
from tests.changes.killed import ENDED, KILLED, killed_world
from tests.changes.simulated import Fate
from tests.unit.change.memory import a_verdict


def kill_until_done(world, chance, most_kills):
    """Processes one after another, killed at random points, until one ends by itself or so many were killed."""
    while world.kills < most_kills:
        if world.run_process(chance) == ENDED:
            break
        assert world.endings[-1] in {ENDED, KILLED}, world.endings
    assert world.run_process(None) == ENDED
    assert list(world.find_wrongs()) == []


def check_harm_is_back(world):
    """At least one change that does harm was taken back, and what was is as it was before."""
    before = {change.volume.id: change.volume.spec for change in world.changes}
    harmed = {change.volume.id for change in world.changes if change.fate is Fate.HARMED}
    made = [each for each in world.modifications if not each.is_failed]
    assert {each.volume_id for each in made if each.after == before[each.volume_id]} & harmed


class HarmJudge:
    """Tells direct evidence on every volume whose name says that its change does harm."""

    def judge_lines(self, _progress, jobs, _now):
        return {job.line.id: a_verdict("worse", is_direct=True) for job in jobs if job.line.name.startswith("harmed")}

    def count_stopped(self, _lines, _made, _now):
        return {}

    def judge_group(self, _progress, _members, _bake_h, _now):
        return GroupVerdict(verdict=a_verdict())


def test_a_plan_is_carried_out_whole_by_processes_that_are_killed(tmp_path):
    chance = random.Random(1)
    with killed_world(tmp_path, seed=1, judge=HarmJudge()) as world:
        kill_until_done(world, chance, most_kills=4)
        assert world.kills >= 2
        check_harm_is_back(world)


@pytest.mark.release
def test_two_hundred_kills_change_nothing_twice_and_lose_nothing(tmp_path):
    kills, chance, seed = 0, random.Random(2), 100
    while kills < 200:
        seed += 1
        with killed_world(tmp_path, seed=seed) as world:
            kill_until_done(world, chance, most_kills=min(50, 200 - kills))
            check_harm_is_back(world)
            kills += world.kills
