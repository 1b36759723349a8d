"""One real run of fio, printed in every format that it has, says the same in each within the rounding of the format."""

import subprocess
from pathlib import Path

import pytest

from plimsoll_measure.readers.reading import read_results

pytestmark = pytest.mark.needs("fio")

JOB = """
[global]
ioengine=psync
size=4m
runtime=1
time_based
group_reporting
[mixed]
rw=randrw
bs=8k
numjobs=2
[reads]
stonewall
rw=randread
bs=4k
rate_iops=500
"""


def run(folder: Path, *options: str, text: str = JOB) -> str:
    job = folder / "job.fio"
    job.write_text(text, encoding="ascii")
    words = ["fio", f"--directory={folder}", f"--output={folder / 'out'}", *options, str(job)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return (folder / "out").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """One run as JSON, normal text and terse 3, cut apart."""
    whole = run(tmp_path_factory.mktemp("fio"), "--output-format=json,normal,terse")
    start, end = whole.index('{\n  "fio version"'), whole.rindex("\n}\n") + 3
    terse = "\n".join(line for line in whole.splitlines() if line.startswith("3;"))
    normal = (whole[:start] + whole[end:]).replace(terse, "")
    return {"json": whole[start:end], "normal": normal, "terse": terse, "whole": whole}


def results(text: str) -> list:
    found = read_results(text, name="out")
    assert [one.group for one in found] == [0, 1]
    return found


@pytest.mark.parametrize("form", ["normal", "terse"])
def test_a_run_says_the_same_in_every_format(printed, form):
    for exact, other in zip(results(printed["json"]), results(printed[form]), strict=True):
        assert other.name == exact.name
        assert list(other.directions) == list(exact.directions)
        for name, one in exact.directions.items():
            told = other.directions[name]
            assert told.iops == pytest.approx(one.iops, rel=0.006, abs=1)
            assert told.throughput_mib_s == pytest.approx(one.throughput_mib_s, rel=0.006, abs=0.01)
            assert told.latency.mean_us == pytest.approx(one.latency.mean_us, rel=0.001, abs=0.01)
            assert told.latency.percentile_us(99) == pytest.approx(one.latency.percentile_us(99), rel=0.001, abs=1)
        assert other.job.block_kib == pytest.approx(exact.job.block_kib)
        assert other.tool_version == exact.tool_version


def test_the_jobs_of_a_run_are_told_by_its_json_and_its_text(printed):
    for form in ("json", "normal"):
        mixed, reads = results(printed[form])
        assert (mixed.job.mode, mixed.job.jobs, mixed.job.engine) == ("randrw", 2, "psync")
        assert (reads.job.mode, reads.job.block_kib, reads.job.jobs) == ("randread", 4, 1)
    assert [one.has_rate_cap for one in results(printed["json"])] == [False, True]
    assert (
        results(printed["json"])[1].directions["read"].operations
        == results(printed["normal"])[1].directions["read"].operations
    )


def test_a_run_that_was_printed_in_several_formats_is_not_read_twice(printed):
    assert read_results(printed["whole"], name="out") == read_results(printed["json"], name="out")


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_every_version_of_terse_output_is_read(tmp_path, version):
    mixed, reads = results(run(tmp_path, "--output-format=terse", f"--terse-version={version}"))
    assert list(mixed.directions) == ["read", "write"]
    assert list(reads.directions) == ["read"]
    assert 0 < reads.iops < 600
    assert (mixed.job.block_kib, reads.job.block_kib) == (8, 4)
    assert mixed.latency.percentile_us(99) >= mixed.latency.percentile_us(50) > 0


def test_json_with_bins_says_what_json_says(tmp_path):
    mixed, reads = results(run(tmp_path, "--output-format=json+"))
    assert mixed.latency.percentile_us(99) > 0
    assert 0 < reads.iops < 600


def test_a_run_without_group_reporting_is_still_one_result_a_group(tmp_path):
    alone = JOB.replace("group_reporting\n", "")
    for form in ("json", "normal", "terse"):
        found = read_results(run(tmp_path, f"--output-format={form}", text=alone), name="out")
        assert sum(one.job.jobs for one in found) == 3
        assert {one.group for one in found} == {0, 1}


def test_a_job_that_the_device_refused_is_no_measurement(tmp_path):
    words = ["fio", "--name=full", "--rw=write", "--bs=4k", "--size=1m", "--filename=/dev/full", "--output-format=json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    (found,) = read_results(done.stdout, name="out")
    assert found.fault == "the job full ended with error 28 (No space left on device)"
