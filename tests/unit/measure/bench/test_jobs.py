"""The jobs that ship are what fio takes, say nothing of where to write, and tell beforehand what they take."""

import configparser
import subprocess

import pytest

from plimsoll.model.errors import BadInput
from plimsoll_measure.bench.jobs import job_files, job_names, job_seconds, job_sections, load_job

GIB = 1 << 30
DANGEROUS = {"filename", "directory", "exec_prerun", "exec_postrun", "write_iolog", "read_iolog", "opendir"}


@pytest.mark.parametrize("name", job_names())
def test_no_job_says_where_to_write_or_what_to_run(name):
    parser = configparser.RawConfigParser(allow_no_value=True, delimiters=("=",))
    parser.read_string(load_job(name, runtime_s=180, ramp_s=10))
    assert {option for section in parser.sections() for option in parser[section]} & DANGEROUS == set()


@pytest.mark.parametrize("name", job_names())
def test_each_section_measures_as_long_as_asked_and_waits_for_the_one_before(name):
    job = load_job(name, runtime_s=7, ramp_s=2)
    assert job_seconds(job) == 9 * len(job_sections(job))


@pytest.mark.needs("fio")
@pytest.mark.parametrize("name", job_names())
def test_fio_takes_every_job(name, tmp_path):
    (tmp_path / "job.fio").write_text(load_job(name, runtime_s=1, ramp_s=0))
    done = subprocess.run(["fio", "--parse-only", "job.fio"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_sweep_goes_from_4_kib_to_1_mib_in_both_directions():
    sizes = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
    wanted = tuple(f"{mode}-{size}k" for mode in ("randwrite", "randread") for size in sizes)
    assert job_sections(load_job("sweep", runtime_s=1, ramp_s=0)) == wanted


@pytest.mark.parametrize(
    ("name", "files"),
    [("sweep", (16, GIB)), ("google-64-jobs", (1, 2 * GIB)), ("aws-hdd", (1, 16 * GIB))],
)
def test_what_a_job_takes_up_counts_files_that_its_processes_share_once(name, files):
    job = load_job(name, runtime_s=1, ramp_s=0)
    assert job_files(job) == files


def test_sections_that_do_not_wait_run_together():
    job = "[global]\nruntime=10\nsize=1m\n[a]\nstonewall\n[b]\nramp_time=5\n[c]\nstonewall\n"
    assert job_seconds(job) == 15 + 10


def test_a_job_that_does_not_ship_names_those_that_do():
    with pytest.raises(BadInput, match=r"no job sweeep: choose one of aws-hdd, .*sweep"):
        load_job("sweeep", runtime_s=1, ramp_s=0)
