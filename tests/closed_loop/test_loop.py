"""Volumes that are audited weekly, each recommendation followed, come to rest and are not hurt."""

import numpy as np
import pytest

from plimsoll.model.volume import VolumeSpec
from tests.closed_loop.__main__ import lives
from tests.closed_loop.figures import BEGIN, END, table, write
from tests.closed_loop.loop import WITHIN, Life, Step, a_life, lived
from tests.closed_loop.workload import DAY, KINDS, WEEK, Workload


def gp3(iops, mib_s):
    return VolumeSpec(type="gp3", size_gib=500, iops=iops, throughput_mib_s=mib_s)


def up_to(peak, weeks, io_kib=8.0):
    """A day's curve with the same peak every day."""
    hour = np.arange(weeks * WEEK) % DAY / DAY * 24
    iops = peak * (0.7 + 0.3 * np.cos(2 * np.pi * (hour - 14) / 24))
    return Workload("curve", iops, np.full(len(iops), io_kib))


def moves(life):
    return [(step.after.iops, step.after.throughput_mib_s) for step in life.steps]


def test_a_demand_of_4000_is_given_4500_and_does_not_overshoot_itself():
    life = lived(up_to(4000.0, 12), gp3(3000, 125), 12)
    assert moves(life) == [(4500, 125)]


def test_what_is_too_large_is_cut_once():
    life = lived(up_to(4000.0, 12), gp3(16_000, 125), 12)
    assert moves(life) == [(4800, 125)]
    assert not life.hurt


def test_a_demand_of_three_times_the_ceiling_is_reached_in_three_steps():
    life = lived(up_to(9500.0, 12), gp3(3000, 125), 12)
    assert moves(life) == [(4500, 125), (6800, 125), (10_200, 125)]


def test_a_job_that_takes_what_it_gets_is_raised_once_and_no_more_when_that_is_out_of_sight():
    raised = [step for step in a_life("job", 1, 12).steps if step.after.iops > step.before.iops]
    assert len(raised) == 1


def test_what_grows_is_given_room_for_that_and_not_cut_to_what_it_is_now():
    """From 4,000 IOPS by 20 a day: 5,680 after twelve weeks, and 8,080 four months later, with headroom 9,700."""
    grows = up_to(4000.0, 12)
    grows.iops *= 1 + 0.005 * np.arange(len(grows.iops)) / DAY
    life = lived(grows, gp3(16_000, 125), 12)
    ((iops, _),) = moves(life)
    assert 9500 <= iops <= 10_500
    assert not life.hurt


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "ramps"])
def test_a_few_of_each_kind_are_never_turned_around_twice_nor_hurt(kind):
    for seed in range(2):
        life = a_life(kind, seed, 12)
        assert life.reversals <= 1
        assert life.hurt <= 5


def test_what_rises_to_a_multiple_weeks_after_a_cut_is_relieved_within_two_hours_and_cut_back_once():
    """Nothing rose when it was cut, so that no rule could know."""
    for seed in range(2):
        life = a_life("ramps", seed, 12)
        assert life.reversals <= 3
        assert life.hurt <= 24


def test_the_table_stands_between_its_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}old\n{END}after\n")
    life = Life("diurnal", 12, 1.0, [Step(1, gp3(3000, 125), gp3(4500, 125))])
    write(table([life]), page)
    assert page.read_text() == f"before\n{BEGIN}{table([life])}{END}after\n"
    page.write_text("without marks")
    with pytest.raises(ValueError, match="add both"):
        write(table([life]), page)


LEAST_SETTLED = {
    "diurnal": 0.7,
    "bursty": 0.9,
    "growing": 0.5,
    "mixed": 0.6,
    "job": 0.9,
    "young": 0.5,
    "ramps": 0.2,
}
MOST_REVERSED = {
    "diurnal": 0.15,
    "bursty": 0.15,
    "growing": 0.15,
    "mixed": 0.3,
    "job": 0.05,
    "young": 0.1,
    "ramps": 0.75,
}
MOST_HURT = {"growing": 2, "ramps": 40}
"""Buckets a volume, in the mean: what grows outgrows a cut after months, and what rises to a multiple outgrows any."""


@pytest.mark.release
def test_volumes_over_a_year_do_no_worse_than_the_page_says_of_a_thousand():
    """The goals are beside the table in README.md; growing demand is farthest from them."""
    found = lives(250, 52, processes=2)
    for kind in KINDS:
        some = [life for life in found if life.kind == kind]
        near = [life for life in some if life.ratio <= WITHIN]
        assert sum(life.settled for life in near) >= LEAST_SETTLED[kind] * len(near), table(found)
        assert sum(life.reversals >= 2 for life in some) <= MOST_REVERSED[kind] * len(some), table(found)
        if kind in MOST_HURT:
            assert sum(life.hurt for life in some) <= MOST_HURT[kind] * len(some), table(found)
        else:
            assert max(life.hurt for life in some) <= 12, table(found)  # an hour of a year
