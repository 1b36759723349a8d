"""Workloads: the same minutes whichever window is asked, within what their volume and host can carry."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloud_simulator.aws.fleet import volume_truth
from cloud_simulator.aws.organization import fleet_of
from cloud_simulator.metrics.series import SERIES
from cloud_simulator.metrics.workloads import Archetype, Workload, minutes
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.model.units import MIB
from plimsoll.reading.window import Window
from tests.profiles import examples

from .served import NOW, named

END_MINUTE = int(NOW.timestamp()) // 60
FORTNIGHT = Window.before(NOW, days=14)
AT_CEILING = {Archetype.THROTTLED_IOPS, Archetype.THROTTLED_THROUGHPUT, Archetype.STARVED}


def workload(archetype, seed=3):
    return Workload(
        archetype=archetype,
        seed=seed,
        low_iops=20,
        high_iops=300,
        ceiling_iops=3000,
        ceiling_throughput_mib_s=125,
        sustained_iops=300,
    )


DIGESTS = {
    Archetype.IDLE: "da6b2b2fa44967b1",
    Archetype.STEADY: "11d79a6ed8127939",
    Archetype.DIURNAL: "06a5a4446e04a7e9",
    Archetype.NIGHTLY: "4951da8b14a75a8c",
    Archetype.BURSTS: "3a1bd1484859e99c",
    Archetype.THROTTLED_IOPS: "dbd75c3ab9adbc58",
    Archetype.THROTTLED_THROUGHPUT: "7fd973cf208de7cb",
    Archetype.STARVED: "f301a109985c5c5b",
    Archetype.MICRO_BURSTS: "cdefed60754b59a8",
    Archetype.SEQUENTIAL: "e7a03f8b36f28690",
    Archetype.GAPS: "066e4a880904d15f",
    Archetype.QUIET_XEN: "360c2f22078b28a0",
    Archetype.HOST_BOUND: "8ddae040e0e65d4f",
    Archetype.MONTH_END: "708eb3f4f4842868",
    Archetype.QUARTER_END: "69b658621d02ab6b",
    Archetype.WEEKLY: "6b17a0bc69ae7fd2",
    Archetype.GROWING: "d3e20ac7f535cd27",
    Archetype.RAN_ONCE: "1a7cdb3362339366",
    Archetype.TURNED_OFF: "ecab40ddf882e2d3",
    Archetype.DEFERRED: "9dbcb359a29ac17f",
}
"""Of all eight series, ten days or 400: recordings and figures of old stay true only while these do."""

LONG_LIVED = {
    Archetype.MONTH_END,
    Archetype.QUARTER_END,
    Archetype.WEEKLY,
    Archetype.GROWING,
    Archetype.RAN_ONCE,
    Archetype.TURNED_OFF,
    Archetype.DEFERRED,
}
"""What is special of them may come once a year."""


def rates(volume):
    """IOPS and MiB/s of each minute, zero where there is no point."""
    sums = volume_truth(volume, FORTNIGHT)
    reads, writes, read_bytes, write_bytes = (np.nan_to_num(series) for series in sums.counters)
    return (reads + writes) / 60, (read_bytes + write_bytes) / 60 / MIB


def of(fleet, *archetypes):
    known = volume_types("aws")
    return [
        (volume, known[volume.spec.type].ceiling(volume.spec))
        for volume in fleet.volumes
        if volume.hosts and volume.spec.type in known and (volume.workload.archetype in archetypes) == bool(archetypes)
    ]


@pytest.mark.parametrize("archetype", Archetype)
@given(first=st.integers(-4000, 0), count=st.integers(1, 3000), skip=st.integers(0, 2999))
@settings(max_examples=examples(8))
def test_any_window_shows_the_same_minutes(archetype, first, count, skip):
    start = END_MINUTE + first
    whole = minutes(workload(archetype), start, count)
    part = minutes(workload(archetype), start + min(skip, count - 1), count - min(skip, count - 1))
    for name in SERIES:
        assert len(whole[name]) == count
        np.testing.assert_array_equal(whole[name][min(skip, count - 1) :], part[name])


@pytest.mark.parametrize("archetype", Archetype)
def test_a_seed_gives_the_same_minutes_for_ever(archetype):
    count = 576_000 if archetype in LONG_LIVED else 14_400
    made = minutes(workload(archetype), END_MINUTE - count, count)
    written = b"".join(np.ascontiguousarray(made[name], dtype="<f8").tobytes() for name in SERIES)
    assert hashlib.sha256(written).hexdigest()[:16] == DIGESTS[archetype]


def test_throttled_volumes_stand_at_their_ceiling_with_the_check_raised(fleet):
    for volume, ceiling in of(fleet, Archetype.THROTTLED_IOPS):
        raised = volume_truth(volume, FORTNIGHT).iops_exceeded > 0
        assert raised.sum() > 14 * 400
        np.testing.assert_allclose(rates(volume)[0][raised], ceiling.iops, rtol=0.02)
    for volume, ceiling in of(fleet, Archetype.THROTTLED_THROUGHPUT):
        raised = volume_truth(volume, FORTNIGHT).throughput_exceeded > 0
        assert raised.sum() > 14 * 400
        np.testing.assert_allclose(rates(volume)[1][raised], ceiling.throughput_mib_s, rtol=0.02)


def test_starved_volumes_are_left_with_their_baseline_while_the_balance_is_empty(fleet):
    for volume, ceiling in of(fleet, Archetype.STARVED):
        empty = volume_truth(volume, FORTNIGHT).burst_balance_pct == 0
        assert empty.sum() > 14 * 600
        np.testing.assert_allclose(rates(volume)[0][empty], ceiling.sustained_iops, rtol=0.02)


@pytest.mark.parametrize("big", [False, True])
def test_everything_else_keeps_well_below_its_ceiling(fleet, big):
    for volume, ceiling in of(fleet_of(66, NOW) if big else fleet, *(set(Archetype) - AT_CEILING)):
        iops, mib_s = rates(volume)
        assert iops.max() < 0.85 * ceiling.iops, volume
        assert mib_s.max() < 0.85 * ceiling.throughput_mib_s, volume


def test_micro_bursts_hide_in_quiet_minutes_and_the_check_sees_them(fleet):
    volume = named(fleet, "ticker")
    sums = volume_truth(volume, FORTNIGHT)
    bursting = sums.iops_exceeded > 0
    assert bursting.sum() == pytest.approx(14 * 4, abs=4)
    assert rates(volume)[0].max() < 0.2 * 3000
    assert (sums.idle_s[bursting] > 45).all()
    within = (sums.read_ops + sums.write_ops)[bursting] / (60 - sums.idle_s[bursting])
    np.testing.assert_allclose(within, 3000, rtol=0.01)
