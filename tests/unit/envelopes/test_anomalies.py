"""Results that lie, each as it was met in a published campaign."""

import pytest

from plimsoll.domain.ceiling import UNBOUNDED, Ceiling, Resource
from plimsoll.domain.volume import VolumeSpec
from plimsoll.envelopes.anomalies import Limits, anomalies
from tests.builders import TYPES
from tests.unit.envelopes.runs import a_run

OPEN = Limits(volume=UNBOUNDED, host=UNBOUNDED, host_baseline=UNBOUNDED)


def codes(one, limits=OPEN):
    return {found.code for found in anomalies(one, limits)}


def rejected(one, limits=OPEN):
    return {side.value for found in anomalies(one, limits) for side in found.rejects}


def test_an_honest_result_has_none():
    job = {"engine": "libaio", "iodepth": 32, "jobs": 4, "runtime_s": 180, "direct": True, "file_size_gib": 10}
    assert codes(a_run(iops=3_000, device_iops=3_010, job=job)) == set()


def test_operations_that_the_device_did_not_count_are_rejected():
    lying = a_run("randread", 4, 24_959, device_iops=3_074)
    assert codes(lying) == {"not-the-device"}
    assert rejected(lying) == {"iops", "throughput"}


@pytest.mark.parametrize(("device_iops", "lies"), [(2_500, False), (2_499, True)])
def test_a_fifth_more_than_the_device_counted_is_still_believed(device_iops, lies):
    assert ("not-the-device" in codes(a_run(iops=3_000, device_iops=device_iops))) == lies


def test_large_io_that_the_device_splits_is_no_lie():
    limits = Limits(volume=Ceiling(iops=300, throughput_mib_s=128, io_kib=256), host=UNBOUNDED, host_baseline=UNBOUNDED)
    split = a_run("randwrite", 1024, 89, device_iops=719)
    assert codes(split, limits) == {"split-io"}
    assert rejected(split, limits) == set()


def test_throughput_out_of_a_page_cache_is_rejected():
    limits = Limits(volume=Ceiling(iops=16_000, throughput_mib_s=1_000), host=UNBOUNDED, host_baseline=UNBOUNDED)
    cached = a_run("rndrd", 16, 900, 35 * 1024)
    assert rejected(cached, limits) == {"throughput"}


def test_more_than_the_host_can_carry_is_rejected_too():
    limits = Limits(
        volume=Ceiling(iops=30_000, throughput_mib_s=500),
        host=Ceiling(iops=20_000, throughput_mib_s=566),
        host_baseline=UNBOUNDED,
    )
    assert rejected(a_run("seqrewr", 16, 30_228.99, 472.33), limits) == {"iops"}


def test_ten_second_runs_are_told():
    assert codes(a_run(iops=3_000, job={"runtime_s": 10})) == {"short-run"}
    assert codes(a_run(iops=3_000, job={"runtime_s": 11})) == set()


def test_a_gp2_above_its_baseline_is_seen_to_burst():
    spec = VolumeSpec(type="gp2", size_gib=100)
    limits = Limits(volume=TYPES["gp2"].ceiling(spec), host=UNBOUNDED, host_baseline=UNBOUNDED)
    assert "volume-burst" in codes(a_run(iops=2_900, spec=spec), limits)
    assert "volume-burst" not in codes(a_run(iops=299, spec=spec), limits)
    assert "volume-burst" in codes(a_run("randread", 1024, 143, device_iops=718, spec=spec), limits)


def test_a_host_above_its_baseline_is_seen_to_burst():
    limits = Limits(
        volume=UNBOUNDED,
        host=Ceiling(iops=43_333, throughput_mib_s=1_192),
        host_baseline=Ceiling(iops=5_417, throughput_mib_s=149),
    )
    assert codes(a_run(iops=16_000), limits) == {"host-burst"}
    assert codes(a_run(iops=4_000), limits) == set()


def test_a_synchronous_engine_ignores_iodepth():
    assert codes(a_run(iops=9_212, job={"engine": "psync", "iodepth": 8})) == {"ignored-depth"}
    assert codes(a_run(iops=9_212, job={"engine": "libaio", "iodepth": 8})) == set()


def test_a_working_set_of_256_kib_is_told():
    job = {"file_size_gib": 16 / (1 << 20), "jobs": 16}
    (found,) = anomalies(a_run(iops=40_000, job=job), OPEN)
    assert (found.code, found.text[:27]) == ("small-set", "the working set was 256 KiB")


def test_sysbench_without_direct_io_goes_through_the_page_cache():
    assert codes(a_run("rndrw", 16, 3_798, tool="sysbench")) == {"buffered"}
    assert codes(a_run("rndrw", 16, 3_798, tool="sysbench", job={"direct": True})) == set()


def test_what_a_source_leaves_out_is_no_anomaly():
    assert codes(a_run(iops=None, device_iops=10)) == set()
    assert not any(a_run(iops=3_000).rejected(side) for side in Resource)
