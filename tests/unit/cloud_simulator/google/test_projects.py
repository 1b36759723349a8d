"""The simulated projects hold one of everything, and what is measured there follows from what is published."""

import numpy as np
import pytest

from cloud_simulator.google.fleet import disk_truth
from cloud_simulator.google.projects import GOOGLE_REGIONS, LEAST_DISKS, PROJECTS, projects_of
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.model.volume import VolumeSpec
from plimsoll.reading.window import Window
from plimsoll_google.machines import machine

from .served import NOW, named

WEEK = Window.before(NOW, days=7)


def iops(sums):
    return (sums.read_ops + sums.write_ops) / 60


def peak_iops(sums):
    return sums.peak_read_ops + sums.peak_write_ops


def mib_s(sums):
    return (sums.read_bytes + sums.write_bytes) / 60 / 2**20


def test_the_same_arguments_give_the_same_fleet_and_another_seed_another(fleet):
    assert projects_of(NOW) == fleet
    assert {disk.id for disk in projects_of(NOW, seed=2).volumes}.isdisjoint(disk.id for disk in fleet.volumes)


@pytest.mark.parametrize("volumes", [1, 200])
def test_there_are_as_many_disks_as_asked_for_and_everything_odd_in_any_case(volumes):
    fleet = projects_of(NOW, volumes=volumes)
    assert volumes <= len(fleet.volumes) <= max(volumes + 1, LEAST_DISKS)
    assert {disk.name for disk in projects_of(NOW, volumes=1).volumes} <= {disk.name for disk in fleet.volumes}


def test_the_projects_hold_every_type_machine_and_state(fleet):
    assert {disk.spec.type for disk in fleet.volumes} >= {
        *("pd-standard", "pd-balanced", "pd-ssd", "pd-extreme", "regional-pd-ssd", "regional-pd-balanced"),
        *("hyperdisk-balanced", "hyperdisk-extreme", "hyperdisk-throughput", "hyperdisk-ml", "pd-quantum"),
    }
    machines = {vm.type for project in PROJECTS for vm in fleet.vms(project)}
    assert {name.partition("-")[0] for name in machines} == {"n1", "n2", "e2", "c2", "c3", "c4", "x9"}
    assert {name for name in machines if machine(name) is None} == {"x9-standard-4"}
    assert {disk.status for disk in fleet.volumes} == {"READY", "CREATING", "FAILED"}
    places = {(disk.project, disk.region) for disk in fleet.volumes}
    assert places == {(project, region) for project in PROJECTS for region in GOOGLE_REGIONS} - {
        (PROJECTS[-1], GOOGLE_REGIONS[-1])
    }


def test_siblings_stand_together_at_what_is_published_for_the_sum_of_their_sizes(fleet):
    parts = [disk_truth(named(fleet.volumes, f"archive-{part}"), WEEK) for part in "ab"]
    pool = volume_types("google")["pd-standard"].ceiling(VolumeSpec(type="pd-standard", size_gib=400))
    counted = sum((one.read_ops + one.write_ops * pool.write_iops_cost) / 60 for one in parts)
    assert np.nanpercentile(counted, 99) == pytest.approx(pool.iops, rel=0.02)
    assert all(np.nanmax(iops(one)) < 0.8 * pool.iops / 0.8 for one in parts), "neither alone"
    pool = volume_types("google")["pd-balanced"].ceiling(VolumeSpec(type="pd-balanced", size_gib=280))
    parts = [disk_truth(named(fleet.volumes, f"media-{part}"), WEEK) for part in "ab"]
    assert np.nanpercentile(sum(mib_s(one) for one in parts), 99) == pytest.approx(pool.throughput_mib_s, rel=0.02)


def test_a_disk_larger_than_its_machine_stands_at_what_the_machine_lets_pass(fleet):
    disk = named(fleet.volumes, "warehouse-data")
    cap = dict(machine(disk.hosts[0].type).caps)["pd-ssd"]
    assert volume_types("google")["pd-ssd"].ceiling(disk.spec).throughput_mib_s > 4 * cap.throughput_mib_s
    assert np.nanpercentile(mib_s(disk_truth(disk, WEEK)), 99) == pytest.approx(cap.throughput_mib_s, rel=0.02)


def test_readers_and_writers_stand_at_limits_of_their_own(fleet):
    reports, journal = (disk_truth(named(fleet.volumes, f"{name}-data"), WEEK) for name in ("reports", "journal"))
    ceiling = volume_types("google")["pd-standard"].ceiling(VolumeSpec(type="pd-standard", size_gib=600))
    assert np.nanpercentile(iops(reports), 99) == pytest.approx(ceiling.iops, rel=0.05)
    assert np.nanpercentile(iops(journal), 99) == pytest.approx(ceiling.write_iops, rel=0.06)


def test_a_peak_is_never_under_its_minutes_mean_nor_over_what_the_disk_can(fleet):
    for disk in fleet.volumes:
        found = disk_truth(disk, WEEK)
        if found is None:
            continue
        for name in ("read_ops", "write_ops", "read_bytes", "write_bytes"):
            mean, peak = getattr(found, name) / 60, getattr(found, f"peak_{name}")
            there = ~np.isnan(mean)
            assert (np.isnan(peak) == ~there).all(), disk.name
            assert (peak[there] >= mean[there]).all(), disk.name
        ceiling = disk.workload.ceiling_iops
        if ceiling and disk.name != "legacy" and np.isfinite(peak_iops(found)).any():
            assert np.nanmax(peak_iops(found)) <= 1.02 * ceiling + 2, disk.name


def test_micro_bursts_reach_the_ceiling_in_single_seconds_of_quiet_minutes(fleet):
    disk = named(fleet.volumes, "ticker-data")
    found = disk_truth(disk, WEEK)
    assert np.nanmax(iops(found)) < 0.1 * disk.workload.ceiling_iops
    assert np.nanmax(peak_iops(found)) == pytest.approx(disk.workload.ceiling_iops, rel=0.01)
