"""On small hosts no volume is relieved twice in a row on one resource without a rise of work done."""

import numpy as np
import pytest

from plimsoll.model.volume import VolumeSpec
from tests.closed_loop.__main__ import housed_lives
from tests.closed_loop.figures import table_of_hosts
from tests.closed_loop.hosts import a_housed_life, a_lodger, housed_life
from tests.closed_loop.loop import Step
from tests.closed_loop.workload import WEEK, Workload

WEEKS = 12


def hungry(iops, io_kib=8.0):
    """The same demand all day."""
    return Workload("hungry", np.full(WEEKS * WEEK, iops), np.full(WEEKS * WEEK, io_kib))


def moves(lodger):
    return [(step.after.iops, step.after.throughput_mib_s) for step in lodger.relieved]


@pytest.mark.parametrize(
    ("host", "work", "reliefs"),
    [
        ("m5.large", hungry(12_000.0), [(3600, 125)]),
        ("m5.xlarge", hungry(1000.0, 256.0), [(3000, 140)]),
        ("m5.24xlarge", hungry(12_000.0), [(4500, 125), (6800, 125), (10_200, 125), (15_300, 125)]),
    ],
)
def test_what_is_wanted_all_day_is_relieved_as_far_as_the_host_sustains(host, work, reliefs):
    (lodger,) = housed_life(host, [a_lodger("vol-0", work)], WEEKS).lodgers
    assert moves(lodger) == reliefs
    assert not lodger.relieved_in_vain


def test_two_on_one_host_share_what_it_sustains():
    pair = [a_lodger(name, hungry(9000.0), iops=5000) for name in ("vol-0", "vol-1")]
    housed = housed_life("m5.2xlarge", pair, WEEKS)
    assert [moves(one) for one in housed.lodgers] == [[(6000, 125)], [(6000, 125)]]


def test_a_relief_that_brings_no_work_counts():
    lodger = a_lodger("vol-0", hungry(12_000.0))
    lodger.served[:] = 3000.0
    for week, iops in enumerate((4500, 6800, 3000, 4500), start=2):
        before = lodger.spec
        after = VolumeSpec(type="gp3", size_gib=1000, iops=iops, throughput_mib_s=125)
        lodger.follow(Step(week, before, after), is_relief=iops != 3000)
    assert lodger.relieved_in_vain == 1


def test_a_few_hosts_relieve_nothing_in_vain():
    for seed in range(3):
        assert not sum(one.relieved_in_vain for one in a_housed_life(seed, 8).lodgers)


@pytest.mark.release
def test_small_hosts_do_no_worse_than_the_page_says():
    """Nightly jobs do the same work however fast they are."""
    found = housed_lives(20, 12, processes=2)
    in_vain = [one for housed in found for one in housed.lodgers if one.relieved_in_vain]
    assert {one.workload.kind for one in in_vain} <= {"job"}, table_of_hosts(found)
    assert sum(one.relieved_in_vain for one in in_vain) <= 2, table_of_hosts(found)
