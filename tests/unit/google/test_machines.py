"""Machine types: their names, and what their disks carry together."""

from datetime import date

import pytest

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll_google.machines import machine, machines_verified_on


def figures(type_name, disk_type):
    """Read and write IOPS, read and write MiB/s."""
    cap = dict(machine(type_name).caps)[disk_type]
    return (cap.iops, cap.write_iops, cap.throughput_mib_s, cap.write_throughput_mib_s)


def test_the_figures_were_held_against_their_sources_within_a_year():
    assert (date.today() - machines_verified_on()).days < 365, "hold data/machines.yaml against its sources"  # noqa: DTZ011


@pytest.mark.parametrize(
    ("type_name", "disk_type", "found"),
    [
        ("n1-standard-4", "pd-ssd", (15_000, 15_000, 240, 240)),
        ("n1-standard-4", "pd-standard", (3000, 15_000, 240, 240)),
        ("n2-standard-8", "pd-standard", (5000, 15_000, 800, 400)),
        ("n2-standard-64", "pd-extreme", (120_000, 120_000, 4000, 3000)),
        ("e2-medium", "pd-balanced", (12_000, 10_000, 200, 200)),
        ("f1-micro", "pd-balanced", (15_000, 15_000, 240, 204)),
        ("c3-standard-22", "hyperdisk-balanced", (120_000, 120_000, 1800, 1800)),
        ("c4d-standard-48", "hyperdisk-balanced", (75_000, 75_000, 1600, 1600)),
        ("a2-megagpu-16g", "pd-ssd", (100_000, 100_000, 1200, 1200)),
    ],
)
def test_a_machine_has_the_published_caps_of_reads_and_writes(type_name, disk_type, found):
    assert figures(type_name, disk_type) == pytest.approx(found)


@pytest.mark.parametrize(
    ("type_name", "vcpus", "same"),
    [
        ("n2-custom-8-16384", 8, "n2-standard-8"),
        ("n2-custom-8-81920-ext", 8, "n2-standard-8"),
        ("n2d-custom-96-98304", 96, "n2d-standard-96"),
        ("custom-4-5120", 4, "n1-standard-4"),
        ("custom-4-30720-ext", 4, "n1-standard-4"),
        ("e2-custom-medium-2048", 2, "e2-medium"),
        ("c3-standard-22-lssd", 22, "c3-standard-22"),
        ("n1-ultramem-40", 40, "m1-ultramem-40"),
        ("n1-megamem-96", 96, "m1-megamem-96"),
    ],
)
def test_a_custom_machine_is_worth_what_a_predefined_one_of_its_size_is(type_name, vcpus, same):
    assert machine(type_name) == machine(same)
    assert machine(type_name).vcpus == vcpus


@pytest.mark.parametrize(
    ("type_name", "vcpus"), [("e2-micro", 2), ("g1-small", 1), ("f1-micro", 1), ("a2-highgpu-1g", 12)]
)
def test_the_vcpus_of_names_without_them_are_data(type_name, vcpus):
    assert machine(type_name).vcpus == vcpus


def test_bare_metal_has_figures_of_its_own_where_they_differ():
    assert figures("c4d-standard-384", "hyperdisk-balanced")[2] == 12_500
    assert figures("c4d-standard-384-metal", "hyperdisk-balanced")[2] == 10_000
    assert figures("c4d-standard-96-lssd", "hyperdisk-balanced") == figures("c4d-highcpu-96", "hyperdisk-balanced")


@pytest.mark.parametrize(
    "type_name",
    ["z9-standard-4", "c4-standard-8", "c4d-standard-7", "n4-standard-8", "a3-highgpu-8g", "n2", "", "n2-standard"],
)
def test_nothing_is_claimed_of_a_machine_that_is_not_in_the_data(type_name):
    assert machine(type_name) is None


def test_a_machine_carries_in_all_the_most_that_one_type_may():
    limits = machine("n1-standard-4").limits
    assert (limits.baseline_iops, limits.baseline_throughput_mib_s) == (15_000, 240)
    assert (limits.maximum_iops, limits.write_iops_cost) == (15_000, 1)
    shared = machine("e2-micro").limits
    assert shared.maximum_iops / shared.write_iops_cost == 10_000
    large = machine("n2-standard-64").limits
    assert (large.maximum_throughput_mib_s, large.maximum_throughput_mib_s / large.write_throughput_cost) == (
        4000,
        3000,
    )


def test_disks_in_two_zones_go_with_the_series_that_take_them():
    assert figures("e2-standard-4", "regional-pd-ssd") == figures("e2-standard-4", "pd-ssd")
    assert "regional-pd-ssd" not in dict(machine("c3-standard-8").caps)


def test_only_series_that_are_known_to_take_a_hyperdisk_have_it():
    assert not [name for name, _ in machine("n2-standard-8").caps if name.startswith("hyperdisk")]
    assert [name for name, _ in machine("c4d-standard-8").caps if not name.startswith("hyperdisk")] == []


@pytest.mark.parametrize("type_name", ["n1-standard-4", "m3-ultramem-64", "c3-standard-44", "c4-standard-192"])
def test_every_cap_is_of_a_published_type(type_name):
    assert {name for name, _ in machine(type_name).caps} <= set(volume_types("google"))
