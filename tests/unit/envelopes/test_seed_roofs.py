"""The roofs fitted to the seed campaigns, and that no shipped roof lies above what may be carried."""

import math

import pytest

from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.domain.ceiling import Resource

LIBRARY = envelope_library(None)


def test_gp3_of_4_000_iops_and_1_000_mib_s_is_fitted_to_what_it_was_sold_as():
    found = LIBRARY.get("gp3-4000-1000")
    assert (found.iops, found.throughput_mib_s) == (4_000, 1_000)
    assert set(found.cut) == {"iops", "throughput"}
    assert found.host_bound == ()


def test_two_gp3_in_raid_0_carry_8_000_iops_and_then_their_host_stops_them():
    found = LIBRARY.get("gp3-raid0-2x4000-1000")
    assert found.iops == 8_000
    assert found.host_bound == ("throughput",)
    assert found.throughput_mib_s == pytest.approx(1_250e6 / 1024**2)
    assert any("the host r5b.large set the MiB/s" in note and "measured 1,317" in note for note in found.notes)


def test_io2_measured_above_its_16_000_iops_is_cut_to_them():
    found = LIBRARY.get("io2-16000")
    assert found.iops == 16_000
    assert "iops" in found.cut
    assert any("cut to the published 16,000" in note for note in found.notes)


def test_gp3_of_16_000_iops_reaches_both_its_roofs():
    found = LIBRARY.get("gp3-16000-1000")
    assert (found.iops, found.throughput_mib_s) == (16_000, 1_000)


@pytest.mark.parametrize(("host", "most"), [("r6g.4xlarge", "20,000"), ("r5.4xlarge", "18,750")])
def test_io1_of_30_000_iops_never_reached_them_and_its_host_never_could(host, most):
    found = LIBRARY.get(f"io1-30000-{host}")
    assert found.iops is None
    assert max((one.iops for one in found.measurements if not one.is_kept_out(Resource.IOPS)), default=0) < 30_000
    assert f"no {host} can carry the volume's 30,000 IOPS: its maximum is {most}" in found.notes


@pytest.mark.parametrize("name", ["gp2-1tb", "gp3-1tb-3000-250"])
def test_gp2_and_gp3_of_3_000_iops_were_both_seen_to_stop_there(name):
    found = LIBRARY.get(name)
    assert 2_970 <= found.iops <= 3_000
    assert found.throughput_mib_s is None


@pytest.mark.parametrize("name", LIBRARY.envelopes)
def test_no_shipped_roof_lies_above_what_volumes_or_host_may_carry(name):
    found = LIBRARY.get(name)
    limits = [one for one in (found.published, found.host) if one is not None]
    assert (found.iops or 0) <= min((one.iops for one in limits), default=math.inf)
    assert (found.throughput_mib_s or 0) <= min((one.throughput_mib_s for one in limits), default=math.inf)
