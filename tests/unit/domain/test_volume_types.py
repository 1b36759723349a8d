import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.demand.trial import plain, trial
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import UnknownVolumeType
from plimsoll.model.market import FromIops, Provisioned, Sized, Stepped, type_of
from tests.builders import TYPES, a_spec
from tests.unit.domain.demand.test_replay import a_steady_demand


def ceiling(type_name, size_gib, **provisioned):
    return TYPES[type_name].ceiling(a_spec(type_name, size_gib, **provisioned))


@pytest.mark.parametrize(
    ("size_gib", "baseline_iops", "highest_iops", "throughput_mib_s"),
    [
        (1, 100, 3000, 128),
        (33, 100, 3000, 128),
        (34, 102, 3000, 128),
        (100, 300, 3000, 128),
        (170, 510, 3000, 128),
        (171, 513, 3000, 250),
        (333, 999, 3000, 250),
        (334, 1002, 3000, 250),
        (999, 2997, 3000, 250),
        (1000, 3000, 3000, 250),
        (5333, 15_999, 15_999, 250),
        (5334, 16_000, 16_000, 250),
        (16_384, 16_000, 16_000, 250),
    ],
)
def test_gp2_grows_with_its_size_and_bursts_to_3000(size_gib, baseline_iops, highest_iops, throughput_mib_s):
    carries = ceiling("gp2", size_gib)
    assert (carries.sustained_iops, carries.iops) == (baseline_iops, highest_iops)
    assert carries.throughput_mib_s == throughput_mib_s
    assert bool(carries.buckets) == (size_gib < 1000)


@pytest.mark.parametrize(("size_gib", "sustained"), [(33, 25), (100, 75), (170, 127.5), (171, 128.25), (333, 249.75)])
def test_gp2_throughput_for_ever_is_its_baseline_in_operations_of_256_kib(size_gib, sustained):
    assert ceiling("gp2", size_gib).sustained_throughput_mib_s == sustained


@pytest.mark.parametrize("size_gib", [334, 1000, 16_384])
def test_gp2_from_334_gib_has_its_250_mib_s_for_ever(size_gib):
    assert ceiling("gp2", size_gib).sustained_throughput_mib_s == 250


@pytest.mark.parametrize("size_gib", [1, 100, 500, 999])
def test_a_full_gp2_bucket_bursts_for_credits_over_burst_less_baseline(size_gib):
    carries = ceiling("gp2", size_gib)
    burst_s = 5_400_000 / (3000 - carries.sustained_iops)
    while_it_lasts, longer = math.floor(burst_s / 60), math.floor(burst_s / 60) + 1
    assert trial(plain(a_steady_demand(iops=3000, minutes=while_it_lasts)), carries).throttled_minutes == 0
    assert trial(plain(a_steady_demand(iops=3000, minutes=longer)), carries).throttled_minutes == 1


def test_a_gp2_of_500_gib_bursts_for_an_hour():
    hour = a_steady_demand(iops=3000, minutes=60)
    assert trial(plain(hour), ceiling("gp2", 500)).throttled_minutes == 0
    assert trial(plain(a_steady_demand(iops=3000, minutes=61)), ceiling("gp2", 500)).throttled_minutes == 1


def test_a_gp3_has_3000_iops_and_125_mib_s_unless_more_is_bought():
    assert (ceiling("gp3", 1).iops, ceiling("gp3", 1).throughput_mib_s) == (3000, 125)
    bought = ceiling("gp3", 500, iops=16_000, throughput_mib_s=1000)
    assert (bought.iops, bought.throughput_mib_s, bought.buckets) == (16_000, 1000, ())


@pytest.mark.parametrize(
    ("size_gib", "most_iops"), [(1, 3000), (6, 3000), (7, 3500), (16, 8000), (159, 79_500), (160, 80_000)]
)
def test_gp3_sells_500_iops_a_gib_up_to_80000(size_gib, most_iops):
    assert TYPES["gp3"].iops.most_at(size_gib) == most_iops


@pytest.mark.parametrize(("iops", "most"), [(3000, 750), (4000, 1000), (7999, 1999), (8000, 2000), (80_000, 2000)])
def test_gp3_sells_a_quarter_mib_s_an_iops_up_to_2000(iops, most):
    assert TYPES["gp3"].throughput.most_at(500, iops) == most


@pytest.mark.parametrize(
    ("iops", "throughput_mib_s"),
    [(100, 25), (1999, 499.75), (2000, 500), (32_000, 500), (33_000, 515.625), (64_000, 1000)],
)
def test_io1_throughput_follows_its_iops_in_two_bands(iops, throughput_mib_s):
    assert ceiling("io1", 2000, iops=iops).throughput_mib_s == throughput_mib_s


@pytest.mark.parametrize(
    ("size_gib", "most"), [(4, 200), (100, 5000), (1279, 63_950), (1280, 64_000), (16_384, 64_000)]
)
def test_io1_sells_50_iops_a_gib_up_to_64000(size_gib, most):
    assert TYPES["io1"].iops.most_at(size_gib) == most


@pytest.mark.parametrize(("iops", "throughput_mib_s"), [(100, 25.6), (10_000, 2560), (15_625, 4000), (256_000, 4000)])
def test_io2_throughput_is_0_256_mib_s_an_iops_up_to_4000(iops, throughput_mib_s):
    assert ceiling("io2", 2000, iops=iops).throughput_mib_s == pytest.approx(throughput_mib_s)


@pytest.mark.parametrize(("size_gib", "most"), [(4, 4000), (255, 255_000), (256, 256_000), (65_536, 256_000)])
def test_io2_sells_1000_iops_a_gib_up_to_256000(size_gib, most):
    assert TYPES["io2"].iops.most_at(size_gib) == most


@pytest.mark.parametrize(
    ("type_name", "size_gib", "baseline", "burst"),
    [
        ("st1", 125, 40 * 125 / 1024, 250 * 125 / 1024),
        ("st1", 1024, 40, 250),
        ("st1", 2048, 80, 500),
        ("st1", 12_288, 480, 500),
        ("st1", 12_800, 500, 500),
        ("st1", 16_384, 500, 500),
        ("sc1", 125, 12 * 125 / 1024, 80 * 125 / 1024),
        ("sc1", 1024, 12, 80),
        ("sc1", 3200, 37.5, 250),
        ("sc1", 16_384, 192, 250),
    ],
)
def test_hdd_types_have_a_baseline_and_a_burst_by_the_tib(type_name, size_gib, baseline, burst):
    carries = ceiling(type_name, size_gib)
    assert carries.throughput_mib_s == pytest.approx(burst)
    assert carries.sustained_throughput_mib_s == pytest.approx(baseline)
    assert bool(carries.buckets) == (burst > baseline)


@pytest.mark.parametrize(("type_name", "size_gib"), [("st1", 1024), ("st1", 2048), ("sc1", 1024), ("sc1", 16_384)])
def test_an_hdd_bucket_holds_a_tib_a_tib(type_name, size_gib):
    (bucket,) = ceiling(type_name, size_gib).buckets
    assert bucket.resource is Resource.THROUGHPUT
    assert bucket.capacity == size_gib * 1024
    assert bucket.least_charge_mib == 1


def test_a_full_st1_bucket_of_a_tib_carries_250_mib_s_for_83_minutes():
    carries = ceiling("st1", 1024)
    assert trial(plain(a_steady_demand(throughput_mib_s=250, minutes=83)), carries).throttled_minutes == 0
    assert trial(plain(a_steady_demand(throughput_mib_s=250, minutes=84)), carries).throttled_minutes == 1


@pytest.mark.parametrize(("type_name", "io_kib"), [("gp2", 256), ("gp3", 256), ("io1", 256), ("io2", 256)])
def test_ssd_types_count_operations_of_256_kib(type_name, io_kib):
    assert TYPES[type_name].io_kib == io_kib


@pytest.mark.parametrize("type_name", ["st1", "sc1"])
def test_hdd_types_count_operations_of_1024_kib_and_boot_nothing(type_name):
    assert TYPES[type_name].io_kib == 1024
    assert not TYPES[type_name].boots


@pytest.mark.parametrize(("type_name", "most_iops"), [("st1", 500), ("sc1", 250)])
def test_hdd_types_carry_few_operations(type_name, most_iops):
    assert ceiling(type_name, 16_384).iops == most_iops


@pytest.mark.parametrize(
    ("type_name", "least", "most"),
    [
        ("gp2", 1, 16_384),
        ("gp3", 1, 65_536),
        ("io1", 4, 16_384),
        ("io2", 4, 65_536),
        ("st1", 125, 16_384),
        ("sc1", 125, 16_384),
        ("standard", 1, 1024),
    ],
)
def test_types_come_in_published_sizes(type_name, least, most):
    assert (TYPES[type_name].least_size_gib, TYPES[type_name].most_size_gib) == (least, most)


def test_only_io1_and_io2_attach_to_several_hosts():
    assert {name for name, kind in TYPES.items() if kind.multi_attach} == {"io1", "io2"}


def test_only_io2_answers_under_a_millisecond_and_lasts_99_999_percent():
    best = max(kind.latency for kind in TYPES.values())
    assert {name for name, kind in TYPES.items() if kind.latency is best} == {"io2"}
    assert {name for name, kind in TYPES.items() if kind.durability_pct >= 99.999} == {"io2"}


def test_only_the_previous_generation_is_not_sold_and_billed_by_operation():
    assert [name for name, kind in TYPES.items() if not kind.sold] == ["standard"]
    assert [name for name, kind in TYPES.items() if kind.billed_per_io] == ["standard"]


def test_an_unknown_type_is_named_with_what_to_do():
    with pytest.raises(UnknownVolumeType, match=r"gp9 has no published limits .*update Plimsoll"):
        type_of(a_spec("gp9"), TYPES)


@given(st.sampled_from(sorted(TYPES)), st.integers(1, 65_536), st.integers(1, 65_536))
def test_a_larger_volume_of_a_type_carries_no_less(type_name, one, other):
    kind = TYPES[type_name]
    small, large = (
        kind.ceiling(a_spec(type_name, min(max(size, kind.least_size_gib), kind.most_size_gib)))
        for size in sorted((one, other))
    )
    assert small.iops <= large.iops
    assert small.throughput_mib_s <= large.throughput_mib_s
    assert small.sustained_iops <= large.sustained_iops
    assert small.sustained_throughput_mib_s <= large.sustained_throughput_mib_s


@given(st.sampled_from(["io1", "io2"]), st.integers(100, 256_000), st.integers(100, 256_000))
def test_more_iops_bring_no_less_throughput(type_name, one, other):
    rule = TYPES[type_name].throughput
    assert rule.figure_at(min(one, other)) <= rule.figure_at(max(one, other))


@given(st.sampled_from(["io1", "io2"]), st.floats(1, 4000))
def test_the_fewest_iops_that_bring_a_throughput_bring_it(type_name, throughput_mib_s):
    rule = TYPES[type_name].throughput
    iops = rule.least_iops(throughput_mib_s)
    if math.isinf(iops):
        assert throughput_mib_s > rule.figure_at(256_000)
    else:
        assert rule.figure_at(iops) == pytest.approx(throughput_mib_s)
        assert rule.figure_at(iops * 0.999) < throughput_mib_s


def test_shapes_of_formulas():
    assert [Sized(per_gib=3, floor=100, cap=16_000).figure_at(size) for size in (1, 100, 10_000)] == [100, 300, 16_000]
    assert [Stepped(steps=((170, 128), (None, 250))).figure_at(size) for size in (170, 170.5, 9999)] == [128, 250, 250]
    assert Stepped(steps=((170, 128),)).figure_at(500) == 128
    assert Provisioned(least=100, most=64_000, per_gib=50).most_at(1) == 100
    assert FromIops(bands=((100, 1, 50),)).figure_at(200) == 50
