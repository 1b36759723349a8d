"""Results that lie, each as it was met in a published campaign or is known of fio and sysbench."""

from dataclasses import replace

import pytest

from plimsoll.domain.ceiling import UNBOUNDED, Ceiling, Resource
from plimsoll.domain.evidence.envelope import Admission, Latency, RunFacts
from plimsoll.domain.evidence.evidence import LOCAL
from plimsoll.domain.volume import VolumeSpec
from plimsoll.envelopes.admissibility import RULES, judge_measurements, rulings
from plimsoll.envelopes.admissibility.load import ENGINES
from plimsoll.envelopes.admissibility.rule import SystemLimits
from tests.builders import TYPES
from tests.unit.envelopes.measured import on_a_volume
from tests.unit.envelopes.runs import a_run

OPEN = SystemLimits(volume=UNBOUNDED, host=UNBOUNDED, host_baseline=UNBOUNDED)


def codes(one, limits=OPEN):
    return {found.rule for found in rulings(one, limits)}


def rejected(one, limits=OPEN):
    (found,) = judge_measurements([one], limits)
    return {side.value for side in Resource if found.is_kept_out(side)}


def verdict(one, limits=OPEN, side=Resource.IOPS):
    (found,) = judge_measurements([one], limits)
    return found.admission(side)


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
    limits = SystemLimits(
        volume=Ceiling(iops=300, throughput_mib_s=128, io_kib=256), host=UNBOUNDED, host_baseline=UNBOUNDED
    )
    split = a_run("randwrite", 1024, 89, device_iops=719)
    assert codes(split, limits) == {"split-io", "host-unknown"}
    assert rejected(split, limits) == set()


def test_throughput_out_of_a_page_cache_is_rejected():
    limits = SystemLimits(volume=Ceiling(iops=16_000, throughput_mib_s=1_000), host=UNBOUNDED, host_baseline=UNBOUNDED)
    cached = a_run("rndrd", 16, 900, 35 * 1024)
    assert rejected(cached, limits) == {"iops", "throughput"}


def test_more_than_the_host_can_carry_is_rejected_too():
    limits = SystemLimits(
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
    limits = SystemLimits(volume=TYPES["gp2"].ceiling(spec), host=UNBOUNDED, host_baseline=UNBOUNDED)
    assert "volume-burst" in codes(a_run(iops=2_900, spec=spec), limits)
    assert "volume-burst" not in codes(a_run(iops=299, spec=spec), limits)
    assert "volume-burst" in codes(a_run("randread", 1024, 143, device_iops=718, spec=spec), limits)


def test_a_host_above_its_baseline_is_seen_to_burst():
    limits = SystemLimits(
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
    (found,) = rulings(a_run(iops=40_000, job=job), OPEN)
    assert (found.rule, found.text[:27]) == ("small-set", "the working set was 256 KiB")


def test_sysbench_without_direct_io_goes_through_the_page_cache():
    cached = a_run("rndrw", 16, 3_798, tool="sysbench", job={"direct": False})
    assert (codes(cached), rejected(cached)) == ({"buffered"}, {"iops", "throughput"})
    assert codes(a_run("rndrw", 16, 3_798, tool="sysbench", job={"direct": True})) == set()


def test_buffered_writes_that_are_synced_have_a_throughput_that_is_the_devices_but_never_grade_a():
    synced = a_run("seqwr", 16, 3_798, tool="sysbench", job={"direct": False, "synced": True})
    assert rejected(synced) == {"iops"}
    assert verdict(synced, side=Resource.THROUGHPUT) is Admission.UNKNOWN


@pytest.mark.parametrize("tool", ["fio", "sysbench"])
def test_what_does_not_say_whether_it_was_direct_is_unknown(tool):
    one = a_run(iops=3_000, tool=tool, job={"direct": None})
    assert (codes(one), verdict(one)) == ({"direct-unknown"}, Admission.UNKNOWN)


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_that_reach_no_device_are_rejected(engine):
    for direct in (True, False, None):
        assert verdict(a_run(iops=3_000, job={"engine": engine, "direct": direct})) is Admission.REJECTED


def test_a_job_that_failed_or_did_nothing_is_rejected():
    assert verdict(a_run(iops=3_000, run=RunFacts(error=28))) is Admission.REJECTED
    assert codes(a_run(iops=None)) == {"no-io"}
    assert codes(a_run(iops=0.0)) == {"no-io"}


@pytest.mark.parametrize(
    ("lost", "then"), [(0.0, Admission.COUNTS), (0.0005, Admission.UNKNOWN), (0.5, Admission.SHOWN)]
)
def test_short_and_dropped_operations_make_figures_doubtful_and_then_wrong(lost, then):
    assert verdict(a_run(iops=3_000, run=on_a_volume(lost_share=lost))) is then


def test_writes_that_were_read_back_are_no_rate_of_both():
    assert verdict(a_run("randwrite", iops=3_000, run=on_a_volume(read_too=True))) is Admission.SHOWN
    assert verdict(a_run("randrw", iops=3_000, run=on_a_volume(read_too=True))) is Admission.COUNTS
    assert verdict(a_run("randwrite", iops=3_000, job={"verify": True})) is Admission.UNKNOWN


@pytest.mark.parametrize(
    ("name", "then"),
    [
        ("loop0", Admission.REJECTED),
        ("nullb0", Admission.REJECTED),
        ("/dev/shm/file", Admission.REJECTED),
        ("zram1", Admission.REJECTED),
        ("/dev/disk/by-id/google-local-nvme-ssd-0", Admission.REJECTED),
        ("/dev/md0", Admission.SHOWN),
        ("md127", Admission.SHOWN),
        ("dm-0", Admission.UNKNOWN),
        ("/dev/mapper/data-pg", Admission.UNKNOWN),
        ("nvme1n1", Admission.COUNTS),
        ("/dev/xvdf", Admission.COUNTS),
        ("sdb", Admission.COUNTS),
    ],
)
def test_what_the_name_of_a_device_gives_away(name, then):
    assert verdict(a_run(iops=3_000, run=RunFacts(devices=(name.removeprefix("/dev/"),)))) is then
    assert verdict(a_run(iops=3_000, job={"target": name})) is then


def test_several_devices_told_as_one_volume_are_shown_only_until_their_number_is_told():
    assert verdict(a_run(iops=6_000, run=RunFacts(devices=("dm-0",), members=2))) is Admission.SHOWN
    assert verdict(a_run(iops=6_000, run=RunFacts(devices=("nvme1n1", "nvme2n1")))) is Admission.SHOWN
    assert verdict(a_run(iops=6_000, run=RunFacts(devices=("md0",), members=2), volumes=2)) is Admission.COUNTS
    assert verdict(a_run(iops=3_000, run=RunFacts(devices=("dm-0",), members=1))) is Admission.COUNTS


@pytest.mark.parametrize(
    ("host", "unknown"),
    [("m5d.large", True), ("i4i.xlarge", True), ("r6gd.large", True), ("m5.large", False), ("r5b.large", False)],
)
def test_a_host_with_disks_of_its_own_makes_an_nvme_device_unknown(host, unknown):
    one = a_run(iops=3_000, host_type=host, run=RunFacts(devices=("nvme1n1",)))
    assert verdict(one) is (Admission.UNKNOWN if unknown else Admission.COUNTS)


@pytest.mark.parametrize(("mean_us", "quick"), [(99.0, True), (101.0, False)])
def test_no_network_volume_answers_in_less_than_a_tenth_of_a_millisecond(mean_us, quick):
    one = a_run(iops=3_000, latency=Latency(mean_us=mean_us))
    assert ("too-quick" in codes(one)) == quick


def test_what_is_no_volume_of_a_cloud_may_be_what_it_likes_but_not_nothing():
    here = a_run(iops=3_000, latency=Latency(mean_us=9.0), run=RunFacts(devices=("loop0",)), job={"runtime_s": 1})
    here = replace(here, provenance=replace(here.provenance, provider=LOCAL))
    assert verdict(here) is Admission.COUNTS
    assert verdict(replace(here, job=replace(here.job, engine="null"))) is Admission.REJECTED


def test_a_burst_lasts_for_what_it_did_beyond_all_credits():
    limits = SystemLimits(
        volume=TYPES["gp2"].ceiling(VolumeSpec(type="gp2", size_gib=100)), host=UNBOUNDED, host_baseline=UNBOUNDED
    )
    capacity = 5_400_000
    (short,) = judge_measurements([a_run(iops=3_000, job={"runtime_s": 180})], limits)
    (long,) = judge_measurements([a_run(iops=1_800, job={"runtime_s": 3_600})], limits)
    (steady,) = judge_measurements([a_run(iops=299, job={"runtime_s": 180})], limits)
    assert short.lasting(Resource.IOPS) == 0
    assert long.lasting(Resource.IOPS) == pytest.approx(1_800 - capacity / 3_600)
    assert steady.lasting(Resource.IOPS) == 299
    assert (short.served_figure(Resource.IOPS), long.served_figure(Resource.IOPS)) == (3_000, 1_800)


def test_seconds_show_nothing_that_lasts():
    (short,) = judge_measurements([a_run(iops=3_000, job={"runtime_s": 10})], OPEN)
    assert (short.served_figure(Resource.IOPS), short.lasting(Resource.IOPS)) == (3_000, 0)


def test_every_rule_has_a_name_of_its_own_and_a_source():
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(len(rule.source) > 10 for rule in RULES)


def test_what_a_source_leaves_out_is_no_anomaly():
    assert codes(a_run(iops=None, throughput_mib_s=40.0, device_iops=10)) == set()
    assert not any(a_run(iops=3_000).is_kept_out(side) for side in Resource)
