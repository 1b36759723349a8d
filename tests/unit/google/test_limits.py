"""Google's published disk types: what their formulas give, and what is fitted to a need."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.clouds.common.dated_data import published_limits, volume_types
from plimsoll.decide.offers import fit_spec
from plimsoll.model.ceiling import Need
from plimsoll.model.market import FromThroughput, Provisioned
from plimsoll.model.volume import VolumeSpec

TYPES = volume_types("google")
SOLD_BY_THE_FIGURE = [name for name, kind in TYPES.items() if isinstance(kind.throughput, Provisioned)]
SIZES = st.integers(4, 65_536)
NEEDS = st.builds(Need, iops=st.floats(0, 400_000), throughput_mib_s=st.floats(0, 5_000))


def ceiling(name, size_gib, **figures):
    return TYPES[name].ceiling(VolumeSpec(type=name, size_gib=size_gib, **figures))


def fit(name, size_gib, iops=0.0, throughput_mib_s=0.0):
    found = fit_spec(TYPES[name], size_gib, Need(iops=iops, throughput_mib_s=throughput_mib_s))
    return found.iops, found.throughput_mib_s


def test_the_limits_were_held_against_their_sources_within_a_year():
    today = date.today()  # noqa: DTZ011  # days are all that is compared
    assert (today - published_limits("google").verified_on).days < 365, "hold data/types.yaml against its sources again"


@pytest.mark.parametrize(
    ("name", "size_gib", "read_iops", "write_iops", "throughput_mib_s"),
    [
        ("pd-standard", 500, 375, 750, 60),
        ("pd-standard", 65_536, 7500, 15_000, 1200),
        ("pd-balanced", 500, 6000, 6000, 280),
        ("pd-ssd", 10, 6300, 6300, 244.8),
        ("pd-ssd", 500, 21_000, 21_000, 480),
        ("regional-pd-ssd", 500, 21_000, 21_000, 480),
    ],
)
def test_a_persistent_disk_carries_what_its_size_brings(name, size_gib, read_iops, write_iops, throughput_mib_s):
    found = ceiling(name, size_gib)
    assert (found.iops, found.write_iops) == pytest.approx((read_iops, write_iops))
    assert found.throughput_mib_s == found.write_throughput_mib_s == pytest.approx(throughput_mib_s)


def test_extreme_disks_write_three_quarters_of_the_throughput_that_they_read():
    found = ceiling("pd-extreme", 1000, iops=20_000)
    assert (found.iops, found.throughput_mib_s) == (20_000, 4000)
    assert found.write_throughput_mib_s == pytest.approx(3000)


@pytest.mark.parametrize(("size_gib", "iops"), [(4, 2000), (5, 2500), (6, 3000), (100, 3000)])
def test_a_hyperdisk_balanced_without_figures_has_three_thousand_iops_if_it_is_large_enough(size_gib, iops):
    assert fit("hyperdisk-balanced", size_gib)[0] == iops
    assert TYPES["hyperdisk-balanced"].iops.least_at(size_gib) == iops


@pytest.mark.parametrize(
    ("need", "found"),
    [
        ({}, (3000, 140)),
        ({"iops": 35_840}, (35_840, 140)),
        ({"iops": 40_000}, (40_000, 157)),
        ({"iops": 999_999}, (160_000, 625)),
        ({"throughput_mib_s": 1000}, (4000, 1000)),
        ({"throughput_mib_s": 9999}, (9600, 2400)),
    ],
)
def test_a_hyperdisk_balanced_gets_the_throughput_and_iops_that_imply_each_other(need, found):
    assert fit("hyperdisk-balanced", 1000, **need) == found


def test_a_hyperdisk_extreme_gets_at_least_two_iops_a_gib_and_throughput_with_its_iops():
    assert fit("hyperdisk-extreme", 64) == (128, None)
    assert fit("hyperdisk-extreme", 10_000, iops=500) == (20_000, None)
    assert fit("hyperdisk-extreme", 10_000, throughput_mib_s=5000) == (20_000, None)
    assert ceiling("hyperdisk-extreme", 10_000, iops=350_000).throughput_mib_s == 5000


@pytest.mark.parametrize(
    ("size_gib", "need", "throughput_mib_s"),
    [
        (2048, {}, 20),
        (10_240, {}, 50),
        (2048, {"iops": 400}, 100),
        (2048, {"iops": 5000}, 180),
        (2048, {"throughput_mib_s": 999}, 180),
        (32_768, {"iops": 99_999}, 2400),
    ],
)
def test_a_hyperdisk_throughput_gets_the_throughput_that_its_iops_need(size_gib, need, throughput_mib_s):
    assert fit("hyperdisk-throughput", size_gib, **need) == (None, throughput_mib_s)


def test_iops_follow_the_throughput_that_was_bought():
    assert ceiling("hyperdisk-throughput", 2048, throughput_mib_s=100).iops == 400
    assert ceiling("hyperdisk-ml", 100, throughput_mib_s=1000).iops == 16_000
    assert ceiling("hyperdisk-throughput", 10_240).iops == 4 * 50


def test_no_more_iops_follow_the_throughput_than_the_cap():
    rule = FromThroughput(per_mib_s=4, cap=100)
    assert (rule.figure_at(20), rule.figure_at(50)) == (80, 100)
    assert (rule.least_throughput(80), rule.least_throughput(101)) == (20, float("inf"))


@given(st.sampled_from(SOLD_BY_THE_FIGURE), SIZES, NEEDS)
def test_what_is_fitted_is_sold(name, size_gib, need):
    kind, found = TYPES[name], fit_spec(TYPES[name], size_gib, need)
    iops = found.iops or 0
    assert kind.throughput.least_at(size_gib, iops) <= found.throughput_mib_s
    assert found.throughput_mib_s <= kind.throughput.most_at(size_gib, found.iops or float("inf"))
    if isinstance(kind.iops, Provisioned):
        assert kind.iops.least_at(size_gib) <= found.iops <= kind.iops.most_at(size_gib)


@given(st.sampled_from(SOLD_BY_THE_FIGURE), SIZES, NEEDS)
def test_what_is_fitted_carries_the_need_unless_it_is_the_most_that_is_sold(name, size_gib, need):
    kind, found = TYPES[name], fit_spec(TYPES[name], size_gib, need)
    carried = kind.ceiling(found)
    largest = found.throughput_mib_s == kind.throughput.most_at(size_gib, found.iops or float("inf"))
    if isinstance(kind.iops, Provisioned):
        largest |= found.iops == kind.iops.most_at(size_gib)
    assert largest or carried.iops >= need.iops - 1e-5
    assert largest or carried.throughput_mib_s >= need.throughput_mib_s - 1e-5


def test_types_that_share_their_performance_on_a_machine_are_persistent_disks_sized_by_the_gib():
    pooled = {name for name, kind in TYPES.items() if kind.pooled}
    assert pooled == {f"{zones}pd-{kind}" for zones in ("", "regional-") for kind in ("standard", "balanced", "ssd")}


def test_no_hard_disk_is_offered_where_the_policy_names_no_types():
    targets = {name for name, kind in TYPES.items() if kind.target}
    assert {"pd-balanced", "pd-ssd", "hyperdisk-balanced"} <= targets
    assert not any("standard" in name or "throughput" in name for name in targets)


def test_a_disk_is_kept_in_two_zones_where_its_type_says_so():
    two = {name for name, kind in TYPES.items() if kind.zones == 2}
    assert two == {
        "regional-pd-standard",
        "regional-pd-balanced",
        "regional-pd-ssd",
        "hyperdisk-balanced-high-availability",
    }


def test_nothing_becomes_another_type_in_place():
    assert not any(kind.in_place for kind in TYPES.values())
