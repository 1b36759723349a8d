"""The roofs of what ships, checked against what is known of each system, and where the files are found."""

from pathlib import Path

import pytest

from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.domain.ceiling import Resource
from plimsoll.envelopes import library
from plimsoll.envelopes.library import shipped_campaigns

HOST_MIB_S = 1_250e6 / 2**20
"""What the r5b.large of seed 004 carries: 1,250 MB/s."""


def shipped(name):
    return envelope_library(None).get(name)


@pytest.mark.parametrize(
    ("name", "iops", "throughput_mib_s"),
    [
        ("gp2-1tb", 2_980, None),
        ("gp3-1tb-3000-250", 2_997, None),
        ("gp3-4000-1000", 4_000, 1_000),
        ("gp3-raid0-2x4000-1000", 8_000, HOST_MIB_S),
        ("io2-16000", 16_000, HOST_MIB_S),
        ("gp3-16000-1000", 16_000, 1_000),
        ("io1-30000-r6g.4xlarge", None, 472.33),
        ("io1-30000-r5.4xlarge", None, None),
        ("pd-standard-500", 375, 60),
        ("pd-ssd-500", 15_000, 240),
        ("naver-hdd-500", None, None),
        ("naver-ssd-500", 19_797.29, None),
        ("naver-nas-500", 3_007, None),
        ("naver-nas-3000", 4_010, None),
        ("naver-nas-6000", None, None),
        ("io1-40000-m5.8xlarge", 30_000, None),
        ("gp3-10000-360-m5zn.2xlarge", 9_980, 360),
    ],
)
def test_the_roofs_are_these(name, iops, throughput_mib_s):
    envelope = shipped(name)
    assert envelope.iops == iops
    assert envelope.throughput_mib_s == (None if throughput_mib_s is None else pytest.approx(throughput_mib_s))


def test_seed_003_stands_beside_what_google_publishes_of_reads_and_writes():
    standard, ssd = shipped("pd-standard-500"), shipped("pd-ssd-500")
    assert (standard.published.iops, standard.published.write_iops) == (375, 750)
    assert (standard.host.iops, standard.host.write_iops) == (3_000, 15_000)
    assert (ssd.published.iops, ssd.published.throughput_mib_s) == (21_000, 480)
    assert (ssd.host.iops, ssd.host.throughput_mib_s) == (15_000, 240)
    assert ssd.host_bound == ("iops", "throughput")


def test_what_a_disk_was_lent_by_others_of_its_type_is_kept_and_cut():
    standard = shipped("pd-standard-500")
    (random,) = [one for one in standard.measurements if (one.job.mode, one.job.block_kib) == ("randread", 4)]
    assert random.served_figure(Resource.IOPS) == 770
    assert standard.cut == ("iops", "throughput")
    assert (
        "measured 751 IOPS, cut to the published 375: other volumes of the type on the host lent their share"
        in standard.notes
    )


def test_reads_that_no_machine_carries_of_a_type_are_not_fitted_though_it_carries_as_many_writes():
    sequential = {
        one.job.mode: one
        for one in shipped("pd-standard-500").measurements
        if one.job.mode in {"read", "write"} and one.job.block_kib == 8
    }
    assert sequential["read"].is_kept_out("iops")
    assert not sequential["write"].is_kept_out("iops")


@pytest.mark.parametrize("host", ["r6g.4xlarge", "r5.4xlarge"])
def test_the_merged_writes_of_seed_002_are_no_operations_of_the_device(host):
    (cached,) = [one for one in shipped(f"io1-30000-{host}").measurements if one.job.mode == "seqrewr"]
    assert cached.is_kept_out("iops")
    assert not cached.is_kept_out("throughput")


def test_reads_that_the_device_of_a_public_campaign_cannot_have_served_are_not_fitted():
    (cached,) = [one for one in shipped("gp2-100-c4.xlarge").measurements if one.job.mode == "randread"]
    assert cached.throughput_mib_s == 143.3
    assert cached.is_kept_out("throughput")


def test_the_files_are_found_in_a_checkout():
    assert shipped_campaigns() == Path(__file__).parents[3] / "benchmarks" / "measured"


def test_the_files_are_found_in_an_installed_package(tmp_path, monkeypatch):
    (tmp_path / "measured").mkdir()
    monkeypatch.setattr(library, "files", lambda _package: tmp_path)
    assert shipped_campaigns() == tmp_path / "measured"
