"""The workload-shaped job: real fio does what the shape says."""

import json
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plimsoll.demand.workload import SIZES_KIB, Moment, WorkloadShape, mean_size_kib
from plimsoll_measure.bench.jobs import job_seconds, job_sections, workload_job
from plimsoll_measure.bench.mix import bssplit, mean_as_run_kib, percents


def a_moment(iops, sizes, *, read_share=0.0, write_sizes=None):
    mixed = Moment(
        iops=iops,
        throughput_mib_s=0.0,
        read_share=read_share,
        read_sizes_kib=sizes if read_share else (),
        write_sizes_kib=(write_sizes or sizes) if read_share < 1 else (),
    )
    return Moment(
        iops=iops,
        throughput_mib_s=iops * mixed.mean_kib / 1024,
        read_share=read_share,
        read_sizes_kib=mixed.read_sizes_kib,
        write_sizes_kib=mixed.write_sizes_kib,
    )


def a_shape(at_most_iops, at_most_throughput=None, *, sequential=False):
    return WorkloadShape(
        at_most_iops=at_most_iops, at_most_throughput=at_most_throughput or at_most_iops, sequential=sequential
    )


def section(job, name):
    lines = job.split(f"[{name}]\n")[1].split("\n[")[0].splitlines()
    return dict(line.partition("=")[::2] for line in lines if line)


def test_four_sections_wait_for_each_other_in_this_order():
    job = workload_job(a_shape(a_moment(1_000, ((16, 1.0),))), runtime_s=180, ramp_s=10)
    assert job_sections(job) == ("paced-iops", "paced-throughput", "unbounded-iops", "unbounded-throughput")
    assert job_seconds(job) == 4 * 190


@pytest.mark.parametrize(
    ("read_share", "sequential", "mode"),
    [
        (0, False, "randwrite"),
        (0.004, False, "randwrite"),
        (0.5, False, "randrw"),
        (1, False, "randread"),
        (0, True, "write"),
        (0.5, True, "rw"),
        (1, True, "read"),
    ],
)
def test_the_mode_follows_the_read_share_and_whether_large_io_is_sequential(read_share, sequential, mode):
    job = workload_job(
        a_shape(a_moment(1_000, ((128, 1.0),), read_share=read_share), sequential=sequential), runtime_s=1, ramp_s=0
    )
    assert {section(job, name)["rw"] for name in job_sections(job)} == {mode}


def test_small_io_is_asked_at_random_also_beside_a_sequential_peak():
    shape = a_shape(a_moment(1_000, ((8, 1.0),)), a_moment(500, ((256, 1.0),)), sequential=True)
    job = workload_job(shape, runtime_s=1, ramp_s=0)
    assert section(job, "unbounded-iops")["rw"] == "randwrite"
    assert section(job, "unbounded-throughput")["rw"] == "write"


@pytest.mark.parametrize(("iops", "depth"), [(100, 32), (16_000, 32), (16_001, 33), (80_000, 160), (1_000_000, 512)])
def test_the_queue_is_twice_what_the_rate_needs_and_32_at_least(iops, depth):
    job = workload_job(a_shape(a_moment(iops, ((4, 1.0),))), runtime_s=1, ramp_s=0)
    assert section(job, "unbounded-iops")["iodepth"] == str(depth)


def test_only_the_paced_sections_have_a_rate():
    job = workload_job(a_shape(a_moment(1_000, ((4, 1.0),), read_share=0.25)), runtime_s=1, ramp_s=0)
    assert section(job, "paced-iops")["rate"] == f"{250 * 4096},{750 * 4096}"
    assert all("rate" not in section(job, f"unbounded-{side}") for side in ("iops", "throughput"))


def test_a_rate_of_next_to_nothing_is_never_the_zero_that_means_no_limit():
    job = workload_job(a_shape(a_moment(1e-6, ((4, 1.0),), read_share=0.5)), runtime_s=1, ramp_s=0)
    assert section(job, "paced-iops")["rate"] == "1,1"


MIXES = st.dictionaries(st.sampled_from(SIZES_KIB), st.floats(0.001, 1), min_size=1).map(
    lambda mix: tuple(sorted((size, share / sum(mix.values())) for size, share in mix.items()))
)


@example(((4, 11 / 13), (8, 1 / 13), (128, 1 / 13)))
@given(MIXES)
def test_a_mix_in_whole_percents_is_whole_and_keeps_its_mean(sizes):
    found = percents(sizes)
    assert sum(found.values()) == 100
    assert set(found) <= set(SIZES_KIB)
    assert mean_as_run_kib(sizes) == pytest.approx(mean_size_kib(sizes), rel=0.005)


def test_one_large_write_in_three_hundred_still_makes_half_of_the_bytes():
    sizes = ((4, 0.996), (1024, 0.004))
    assert mean_as_run_kib(sizes) == pytest.approx(mean_size_kib(sizes), abs=0.05)


def test_a_mix_is_written_as_fio_reads_it():
    assert bssplit(((4, 0.9), (16, 0.1))) == "4k/90:16k/10"


def run_fio(job, folder):
    """Each section's IOPS, MiB/s, read share and mean KiB of reads and of writes, from real fio on a temporary file."""
    (folder / "job.fio").write_text(job.replace("[global]\n", "[global]\nfilename=data\nsize=64m\n", 1))
    subprocess.run(["fio", "--output=out.json", "--output-format=json", "job.fio"], cwd=folder, check=True, timeout=300)
    return {one["jobname"]: one for one in json.loads((folder / "out.json").read_text())["jobs"]}


def run_paced(job, folder, *, iops_paced, throughput_mib_s):
    """The sections of the first run of fio that kept its rates: a busy machine may lag behind, and none runs ahead."""
    for _ in range(10):
        seen = run_fio(job, folder)
        shares = iops(seen["paced-iops"]) / iops_paced, mib_s(seen["paced-throughput"]) / throughput_mib_s
        assert max(shares) < 1.1
        if min(shares) > 0.9:
            return seen
    raise AssertionError(f"fio never kept its rates: {shares}")


def iops(one):
    return one["read"]["iops"] + one["write"]["iops"]


def mib_s(one):
    return (one["read"]["bw_bytes"] + one["write"]["bw_bytes"]) / 2**20


def mean_kib(direction):
    return direction["io_bytes"] / direction["total_ios"] / 1024


@pytest.mark.needs("fio")
def test_fio_runs_the_rates_mixes_and_sizes_of_a_mixed_shape(tmp_path):
    small, large = ((4, 0.5), (8, 0.2), (16, 0.3)), ((16, 0.5), (32, 0.4), (64, 0.1))
    shape = a_shape(a_moment(400, small, read_share=0.7, write_sizes=((8, 1.0),)), a_moment(150, large, read_share=0.4))
    job, throughput_mib_s = workload_job(shape, runtime_s=3, ramp_s=1), shape.at_most_throughput.throughput_mib_s
    seen = run_paced(job, tmp_path, iops_paced=400, throughput_mib_s=throughput_mib_s)
    paced = seen["paced-iops"]
    assert paced["read"]["iops"] / iops(paced) == pytest.approx(0.7, abs=0.05)
    assert mean_kib(paced["read"]) == pytest.approx(mean_size_kib(small), rel=0.15)
    assert mean_kib(paced["write"]) == pytest.approx(8, rel=0.05)
    free = seen["unbounded-iops"]
    assert free["read"]["total_ios"] / (free["read"]["total_ios"] + free["write"]["total_ios"]) == pytest.approx(
        0.7, abs=0.05
    )
    assert set(paced["read"]["clat_ns"]["percentile"]) == {"50.000000", "95.000000", "99.000000", "99.900000"}


@pytest.mark.needs("fio")
@pytest.mark.parametrize("read_share", [0, 1])
def test_fio_runs_the_rates_of_a_shape_of_one_direction(tmp_path, read_share):
    shape = a_shape(a_moment(300, ((4, 0.5), (32, 0.5)), read_share=read_share), sequential=True)
    job, throughput_mib_s = workload_job(shape, runtime_s=2, ramp_s=0), shape.at_most_throughput.throughput_mib_s
    seen = run_paced(job, tmp_path, iops_paced=300, throughput_mib_s=throughput_mib_s)
    assert seen["paced-iops"]["write" if read_share else "read"]["total_ios"] == 0
