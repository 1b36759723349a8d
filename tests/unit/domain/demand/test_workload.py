"""A workload's shape says what the demand said at its peaks, and asks for the need and no more."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from plimsoll.demand.demand import IOPS, MIB_S, Spread
from plimsoll.demand.trial import plain, trial
from plimsoll.demand.workload import SIZES_KIB, mean_size_kib, recount_need, shape_of, split
from plimsoll.model.ceiling import PLAIN, Accounting, Ceiling, Need
from plimsoll.model.errors import NotMeasured
from tests.builders import a_demand, rates_of


def as_peaks(iops, throughput_mib_s, headroom=1.2):
    return Need(iops=iops * headroom, throughput_mib_s=throughput_mib_s * headroom)


def test_a_steady_workload_is_asked_for_at_its_own_size_mix_and_direction():
    demand = a_demand(2_000, 31.25, read_iops=np.full(2880, 500.0))
    shape = shape_of(demand, as_peaks(2_000, 31.25))
    assert shape.at_most_iops.read_share == shape.at_most_throughput.read_share == 0.25
    assert shape.at_most_iops.read_sizes_kib == shape.at_most_iops.write_sizes_kib == ((16, 1.0),)
    assert (shape.at_most_iops.iops, shape.at_most_iops.throughput_mib_s) == (2_400, 37.5)
    assert (shape.at_most_throughput.iops, shape.at_most_throughput.throughput_mib_s) == (2_400, 37.5)
    assert not shape.sequential


def test_the_two_moments_are_the_buckets_of_the_two_peaks():
    """Many small reads at one time, few large writes at another."""
    demand = a_demand([3_000, 400], [23.4375, 100], read_iops=[3_000, 0])
    shape = shape_of(demand, as_peaks(3_000, 100))
    assert (shape.at_most_iops.read_share, shape.at_most_iops.read_sizes_kib) == (1.0, ((8, 1.0),))
    assert shape.at_most_iops.write_sizes_kib == ()
    assert (shape.at_most_throughput.read_share, shape.at_most_throughput.write_sizes_kib) == (0.0, ((256, 1.0),))
    assert shape.at_most_throughput.read_sizes_kib == ()
    assert shape.at_most_throughput.iops == pytest.approx(480)


def test_buckets_from_nine_tenths_of_the_peak_on_belong_to_it():
    demand = a_demand([1_000, 900, 899], [1_000 * 8 / 1024, 900 * 32 / 1024, 899 * 64 / 1024])
    sizes = shape_of(demand, as_peaks(1_000, 60)).at_most_iops.write_sizes_kib
    assert sizes == ((8, pytest.approx(10 / 19)), (32, pytest.approx(9 / 19)))


def test_a_longer_bucket_weighs_by_all_its_operations():
    spread = Spread(
        lengths_s=np.array([60, 180]),
        most=rates_of(np.array([100.0, 300.0]), np.array([1.0, 9.0]), read_share=0.0),
        least=np.zeros((2, 2)),
        begins=np.full((2, 2), True),
        unread=np.full((2, 2), False),
    )
    demand = replace(a_demand([100, 100], [100 * 4 / 1024, 100 * 8 / 1024]), spread=spread)
    sizes = shape_of(demand, as_peaks(100, 1)).at_most_iops.write_sizes_kib
    assert sizes == ((4, pytest.approx(0.25)), (8, pytest.approx(0.75)))


@pytest.mark.parametrize(("size_kib", "sequential"), [(127, False), (128, True)])
def test_io_of_128_kib_and_more_is_taken_to_be_sequential(size_kib, sequential):
    demand = a_demand(100, 100 * size_kib / 1024)
    assert shape_of(demand, as_peaks(100, 100 * size_kib / 1024)).sequential is sequential


def test_io_that_the_need_counts_in_pieces_is_asked_for_in_these_pieces():
    """100 I/Os of 1 MiB are 400 to a type that counts them by 256 KiB."""
    shape = shape_of(a_demand(100, 100), Need(iops=480, throughput_mib_s=120))
    assert shape.at_most_iops.write_sizes_kib == ((256, 1.0),)
    assert shape.at_most_iops.throughput_mib_s == 120
    assert shape.at_most_throughput.write_sizes_kib == ((1024, 1.0),)


def test_a_need_raised_to_a_throughput_that_the_workload_never_had_asks_for_no_more_iops_than_the_need():
    shape = shape_of(a_demand(3_000, 46.875), Need(iops=4_000, throughput_mib_s=250))
    assert shape.at_most_throughput.iops == pytest.approx(4_000)
    assert mean_size_kib(shape.at_most_throughput.write_sizes_kib) == pytest.approx(64)


@pytest.mark.parametrize("need", [Need(), Need(iops=100, throughput_mib_s=1)])
def test_a_volume_without_operations_has_no_shape(need):
    with pytest.raises(NotMeasured, match="no operations"):
        shape_of(a_demand(0), need)


@given(st.lists(st.tuples(st.floats(4, 1024), st.floats(1, 1e6)), min_size=1, max_size=20))
def test_a_split_keeps_the_mean_and_uses_whole_powers_of_two(pairs):
    sizes_kib, weights = (np.array(column) for column in zip(*pairs, strict=True))
    found = split(sizes_kib, weights)
    assert mean_size_kib(found) == pytest.approx(np.average(sizes_kib, weights=weights))
    assert sum(share for _, share in found) == pytest.approx(1)
    assert all(size_kib in SIZES_KIB and share > 0 for size_kib, share in found)


RATES = st.lists(st.tuples(st.floats(0, 1e5), st.floats(4, 1024), st.floats(0, 1)), min_size=1, max_size=30)


@given(RATES, st.floats(1, 2), st.floats(1, 2))
def test_each_moment_asks_for_its_side_of_the_need_in_full_and_for_no_more_of_the_other(buckets, raised, wider):
    iops, sizes_kib, shares = (np.array(column) for column in zip(*buckets, strict=True))
    assume(iops.max() > 1)
    throughput_mib_s = iops * sizes_kib / 1024
    demand = a_demand(list(iops), list(throughput_mib_s), read_iops=iops * shares)
    need = as_peaks(demand.peak(demand.iops) * raised, demand.peak(demand.throughput_mib_s) * wider)
    assume(4 <= need.throughput_mib_s * 1024 / need.iops <= 1024)  # the sizes that a shape is made of
    shape = shape_of(demand, need)
    for moment in (shape.at_most_iops, shape.at_most_throughput):
        assert moment.throughput_mib_s == pytest.approx(moment.iops * moment.mean_kib / 1024)
        assert 0 <= moment.read_share <= 1
        for sizes, of_them in ((moment.read_sizes_kib, moment.read_share), (moment.write_sizes_kib, moment.read_share)):
            assert sum(share for _, share in sizes) == pytest.approx(1 if sizes else 0)
            assert sizes or of_them in {0, 1}
    assert shape.at_most_iops.iops == need.iops
    assert shape.at_most_iops.throughput_mib_s <= need.throughput_mib_s * 1.000001
    assert shape.at_most_throughput.throughput_mib_s == need.throughput_mib_s
    assert shape.at_most_throughput.iops <= need.iops * 1.000001


def counted_of(moment, accounting):
    """What an accounting counts of a moment's own reads and writes, direction by direction."""
    reads, writes = moment.iops * moment.read_share, moment.iops * (1 - moment.read_share)
    read_mib_s = reads * mean_size_kib(moment.read_sizes_kib) / 1024
    write_mib_s = writes * mean_size_kib(moment.write_sizes_kib) / 1024
    return (
        reads + writes * accounting.write_iops_cost,
        read_mib_s + write_mib_s * accounting.write_throughput_cost,
    )


COSTS = st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0])


@given(RATES, COSTS, COSTS, st.floats(1, 2), st.floats(1, 2))
def test_of_a_need_in_reads_each_moment_asks_its_side_in_full_and_no_more_of_the_other(
    buckets, iops_cost, throughput_cost, raised, wider
):
    iops, sizes_kib, shares = (np.array(column) for column in zip(*buckets, strict=True))
    assume(iops.max() > 1)
    throughput_mib_s = iops * sizes_kib / 1024
    demand = a_demand(
        list(iops), list(throughput_mib_s), read_iops=iops * shares, read_throughput_mib_s=throughput_mib_s * shares
    )
    accounting = Accounting(write_iops_cost=iops_cost, write_throughput_cost=throughput_cost)
    need = as_peaks(
        demand.peak(demand.count(accounting)[IOPS]) * raised,
        demand.peak(demand.count(accounting)[MIB_S]) * wider,
    )
    shape = shape_of(demand, need, accounting)
    moments = (shape.at_most_iops, shape.at_most_throughput)
    for moment in moments:
        costs = (accounting.mean_iops_cost(moment.read_share), accounting.mean_throughput_cost(moment.read_share))
        ridge_kib = need.throughput_mib_s / costs[1] * 1024 / (need.iops / costs[0])
        assume(4 <= ridge_kib <= 1024)  # the sizes that a shape is made of
    (iops_asked, beside_mib_s), (beside_iops, mib_s_asked) = (counted_of(moment, accounting) for moment in moments)
    assert iops_asked == pytest.approx(need.iops)
    assert mib_s_asked == pytest.approx(need.throughput_mib_s)
    assert beside_mib_s <= need.throughput_mib_s * 1.000001
    assert beside_iops <= need.iops * 1.000001


@pytest.mark.parametrize("read_share", [0.0, 0.3, 1.0])
def test_a_ceiling_of_just_the_need_carries_the_shape_and_not_a_hundredth_more(read_share):
    """The shape against the accounting of a replay: disks that read 750 and write 1,500, as pd-standard does."""
    demand = a_demand(1_000, 16, read_iops=np.full(2880, 1_000 * read_share), read_throughput_mib_s=16 * read_share)
    ceiling = Ceiling(iops=750.0, throughput_mib_s=120.0, write_iops_cost=0.5, write_throughput_cost=2.0)
    moment = shape_of(demand, Need(iops=750.0, throughput_mib_s=120.0), ceiling.accounting).at_most_iops

    def throttled(times):
        rate = moment.iops * times
        asked = a_demand(
            rate,
            moment.throughput_mib_s * times,
            read_iops=rate * moment.read_share,
            read_throughput_mib_s=moment.throughput_mib_s * times * moment.read_share,
        )
        return trial(plain(asked), ceiling).throttled_minutes

    assert moment.iops == pytest.approx(750 / (read_share + (1 - read_share) / 2))
    assert throttled(0.9999) == 0
    assert throttled(1.01) == 2880


@given(st.floats(0, 1), COSTS, COSTS)
def test_a_need_counted_another_way_and_back_is_the_same(read_share, iops_cost, throughput_cost):
    demand = a_demand(1_000, 16, read_iops=np.full(2880, 1_000 * read_share))
    need = Need(iops=900, throughput_mib_s=20, sustained_iops=500, sustained_throughput_mib_s=10)
    other = Accounting(write_iops_cost=iops_cost, write_throughput_cost=throughput_cost)
    there = recount_need(need, demand, PLAIN, other)
    assert there.iops == pytest.approx(900 * (read_share + (1 - read_share) * iops_cost))
    back = recount_need(there, demand, other, PLAIN)
    assert (back.iops, back.throughput_mib_s) == (pytest.approx(900), pytest.approx(20))
    assert (back.sustained_iops, back.sustained_throughput_mib_s) == (pytest.approx(500), pytest.approx(10))


def test_a_need_without_any_work_counts_the_same_everywhere():
    need = Need(iops=900, throughput_mib_s=20)
    assert recount_need(need, a_demand(0), PLAIN, Accounting(write_iops_cost=2.0)) == need
