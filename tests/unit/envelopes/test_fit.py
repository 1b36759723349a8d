"""The fit: what a roof is, when there is none, who set it, and laws that it keeps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.ceiling import Ceiling
from plimsoll.model.envelope import BoundBy
from tests.unit.envelopes.runs import GP3, a_run, a_sweep, fitted

LARGE_HOST = Ceiling(iops=40_000, throughput_mib_s=2_000)
rates = st.floats(min_value=100, max_value=100_000)


def test_the_roofs_are_the_plateaus_of_small_and_of_large_blocks():
    envelope = fitted(a_sweep(4_000, 200))
    assert (envelope.iops, envelope.throughput_mib_s) == (4_000, 200)


def test_a_roof_is_the_median_of_its_plateau():
    envelope = fitted([a_run(block_kib=size, iops=iops) for size, iops in ((4, 1_000), (8, 960), (16, 950))])
    assert envelope.iops == 960


def test_a_side_that_nothing_stopped_has_no_roof_and_says_so():
    envelope = fitted([a_run(block_kib=16, iops=3_000)])
    assert (envelope.iops, envelope.throughput_mib_s) == (None, None)
    assert "IOPS never reached a roof: the best seen is only a lower bound" in envelope.notes


def test_one_block_size_is_enough_near_the_published_ceiling():
    assert fitted([a_run(iops=3_900)], spec=GP3).iops == 3_900
    assert fitted([a_run(iops=3_500)], spec=GP3).iops is None


def test_what_was_measured_above_the_published_ceiling_is_cut_and_says_so():
    envelope = fitted(a_sweep(4_400, 520), spec=GP3)
    assert (envelope.iops, envelope.throughput_mib_s) == (4_000, 500)
    assert envelope.cut == ("iops", "throughput")
    assert "measured 4,400 IOPS, cut to the published 4,000: short runs overshoot" in envelope.notes


def test_a_roof_at_the_host_s_maximum_is_the_host_s():
    host = Ceiling(iops=40_000, throughput_mib_s=300)
    envelope = fitted(a_sweep(4_000, 310), spec=GP3, host=host)
    assert (envelope.throughput_mib_s, envelope.host_bound, envelope.cut) == (300, ("throughput",), ("throughput",))
    assert any("the host a-host set the MiB/s, not the volume: measured 310" in note for note in envelope.notes)


def test_a_stripe_is_held_to_the_ceilings_of_its_members_together():
    envelope = fitted(a_sweep(8_700, 990), spec=GP3, volumes=2, host=LARGE_HOST)
    assert (envelope.iops, envelope.throughput_mib_s) == (8_000, 990)


def test_the_lowest_mode_counts_because_a_demand_names_none():
    envelope = fitted([*a_sweep(4_000, 200, "randread"), *a_sweep(3_000, 150, "randwrite")])
    assert (envelope.iops, envelope.throughput_mib_s) == (3_000, 150)


def test_sequential_operations_say_nothing_of_iops_where_random_ones_were_measured():
    envelope = fitted([*a_sweep(2_000, 100, "write"), *a_sweep(4_000, 200, "randwrite")])
    assert (envelope.iops, envelope.throughput_mib_s) == (4_000, 100)


def test_a_slower_mode_that_nothing_stopped_is_told():
    slow = a_run("randwrite", 4, 7_090)
    envelope = fitted([a_run("randread", 4, 19_797), slow], published_iops=20_000)
    assert envelope.iops == 19_797
    assert "randwrite was seen at 7,090 IOPS at most: nothing shows what stopped it" in envelope.notes


def test_reads_and_writes_that_stop_at_one_figure_met_one_limit():
    both = [a_run("randread", 4, 3_007), a_run("randwrite", 4, 3_010)]
    assert (fitted(both).iops, fitted(both).throughput_mib_s) == (3_007, None)
    apart = [a_run("randread", 4, 3_007), a_run("randwrite", 4, 2_500)]
    assert fitted(apart).iops is None


def test_what_the_load_held_back_is_no_plateau():
    slow = [a_run(block_kib=size, iops=1_000, bound_by=BoundBy.LOAD) for size in (4, 8)]
    assert fitted(slow).iops is None


def test_what_the_device_never_served_is_not_fitted():
    sweep = a_sweep(4_000, 500)
    cached = a_run("randread", 4, 24_959, device_iops=3_074)
    envelope = fitted([*sweep, cached], spec=GP3, host=LARGE_HOST)
    assert (envelope.iops, envelope.throughput_mib_s) == (4_000, 500)
    assert any("24,959 IOPS reported" in note for note in envelope.notes)


# ---- laws


@given(iops=rates, throughput_mib_s=st.floats(min_value=10, max_value=1_000), scale=st.floats(0.1, 10))
def test_a_device_that_is_twice_as_fast_has_twice_the_roofs(iops, throughput_mib_s, scale):
    one, other = fitted(a_sweep(iops, throughput_mib_s)), fitted(a_sweep(iops * scale, throughput_mib_s * scale))
    assert (one.iops is None, one.throughput_mib_s is None) == (other.iops is None, other.throughput_mib_s is None)
    for roof, scaled in ((one.iops, other.iops), (one.throughput_mib_s, other.throughput_mib_s)):
        assert roof is None or scaled == pytest.approx(roof * scale)


@given(
    noise=st.lists(st.floats(0.97, 1.03), min_size=5, max_size=5),
    where=st.integers(0, 4),
    lie=st.floats(0.01, 100),
)
def test_one_outlier_moves_a_roof_by_no_more_than_its_plateau(noise, where, lie):
    honest = [a_run(block_kib=4 * 2**index, iops=3_000 * share) for index, share in enumerate(noise)]
    lying = a_run(block_kib=honest[where].job.block_kib, iops=3_000 * noise[where] * lie)
    bent = [lying if index == where else one for index, one in enumerate(honest)]
    roof = fitted(bent).iops
    assert roof is not None
    assert 3_000 * 0.9 <= roof <= 3_000 * 1.1 * 1.03


points = st.lists(
    st.tuples(st.sampled_from(["randread", "randwrite", "read", "write"]), st.sampled_from([4, 16, 64, 256]), rates),
    min_size=1,
    max_size=8,
)


@given(points)
def test_no_roof_is_over_what_is_published_for_the_volume_or_its_host(found):
    host = Ceiling(iops=3_500, throughput_mib_s=400)
    envelope = fitted([a_run(*one) for one in found], spec=GP3, host=host)
    assert envelope.iops is None or envelope.iops <= 3_500
    assert envelope.throughput_mib_s is None or envelope.throughput_mib_s <= 400


@given(points)
def test_no_roof_is_over_the_best_that_was_seen(found):
    measurements = [a_run(*one) for one in found]
    envelope = fitted(measurements)
    assert envelope.iops is None or envelope.iops <= max(one.iops for one in measurements)
    assert envelope.throughput_mib_s is None or envelope.throughput_mib_s <= max(
        one.throughput_mib_s for one in measurements
    )


@given(
    found=points,
    share=st.floats(0.01, 1),
    mode=st.sampled_from(["randread", "randwrite", "read"]),
    spec=st.sampled_from([None, GP3]),
)
def test_a_worse_point_never_raises_a_roof(found, share, mode, spec):
    known = {"spec": spec} if spec else {}
    measurements = [a_run(*one) for one in found]
    worse = a_run(
        mode,
        4,
        share * min(one.iops for one in measurements),
        share * min(one.throughput_mib_s for one in measurements),
    )
    before, after = fitted(measurements, **known), fitted([*measurements, worse], **known)
    for old, new in ((before.iops, after.iops), (before.throughput_mib_s, after.throughput_mib_s)):
        assert old is None or new is None or new <= old
