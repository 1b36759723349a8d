"""Which jobs the script takes: fio runs as root, and its options can name commands and files."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.model.errors import NotMeasured
from plimsoll_measure.bench.answer import read_bench_answer
from tests.profiles import examples
from tests.unit.measure.bench.hosts import MIB, READS, a_task, run


@pytest.fixture
def simulated(tmp_path):
    device = tmp_path / "device"
    with device.open("wb") as file:
        file.truncate(16 * MIB)
    return {"folder": tmp_path, "PLIMSOLL_SIMULATED_DEVICE": str(device)}


DANGEROUS = (
    "exec_prerun=touch /tmp/owned",
    "exec_postrun=reboot",
    "filename=/dev/vda",
    "filename=/etc/passwd",
    "directory=/",
    "filename_format=/etc/$jobname",
    "ioengine=exec",
    "ioengine=external:/tmp/evil.so",
    "ioengine=libaio:/etc",
    "write_bw_log=/etc/cron.d/x",
    "read_iolog=/etc/shadow",
    "write_iolog=/etc/x",
    "include /etc/passwd",
    "opendir=/",
    "unlink=1",
    "thread=0",
    "direct=0",
    "offset=0",
    "size=1t",
    "rw=trim",
    "rw=randtrim",
    "cgroup=x",
    "bs=${HOME}",
    "bs=`id`",
    "allow_mounted_write=1",
    "allow_file_create=1",
    "verify_state_save=1",
    "fallocate=native",
    "[a] filename=/dev/vda",
    "runtime=1; filename=/dev/vda",
    " filename = /dev/vda",
    "FILENAME=/dev/vda",
)


@pytest.mark.parametrize("line", DANGEROUS)
def test_an_option_that_names_a_place_or_a_command_is_refused(line, simulated):
    for job in (f"[a]\nrw=randread\n{line}\n", f"[global]\n{line}\n[a]\nrw=randread\n"):
        told = run(a_task(job=job, limit_s=10), **simulated)
        assert told.returncode == 1
        with pytest.raises(NotMeasured, match=r"\(job\): the job may not say"):
            read_bench_answer(told.stdout)


@pytest.mark.parametrize("job", ["", "rw=randread\n", "# nothing\n"])
def test_a_job_without_a_section_is_refused(job, simulated):
    with pytest.raises(NotMeasured, match=r"\(job\): the job has no section"):
        read_bench_answer(run(a_task(job=job, limit_s=10), **simulated).stdout)


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(alphabet=st.characters(min_codepoint=0, max_codepoint=0x2FF), max_size=40),
    between=st.sampled_from(("=", " ", "")),
)
def test_no_text_gets_an_unlisted_option_into_the_job(text, between, simulated):
    """Whatever a job holds, a line that mentions a place is refused, and the script still answers in its one line."""
    told = run(a_task(job=f"[a]\nrw=randread\nfilename{between}{text}\n", limit_s=10), **simulated)
    assert told.returncode == 1
    assert json.loads(told.stdout)["error"]["stage"] == "job"


@pytest.mark.needs("fio")
def test_a_plain_file_is_measured_instead_of_a_device_and_says_that_it_is_simulated(simulated):
    job = f"  # a comment\n{READS}; another\n bs = 8k \n"
    told = run(a_task(job=job, limit_s=20), **simulated)
    answer = read_bench_answer(told.stdout)
    assert answer.simulated
    assert answer.device == simulated["PLIMSOLL_SIMULATED_DEVICE"]
    assert answer.engine_version.startswith("fio-")
    (reads,) = json.loads(answer.fio)["jobs"]
    assert reads["job options"]["bs"] == "8k"
    assert reads["read"]["total_ios"] > 0
    assert reads["write"]["total_ios"] == 0


@pytest.mark.needs("fio")
def test_names_keep_their_marks_and_many_jobs_make_a_shorter_line_with_the_whole_behind_it(simulated):
    names = [f"job-{number}.of_many" for number in range(10)]
    section = "[{}]\nstonewall\nioengine=psync\nrw=randrw\nbs=4k\nio_size=64k\n"
    told = run(a_task(job="".join(section.format(name) for name in names), limit_s=60), **simulated)
    line, _, whole = told.stdout.partition("\n")
    assert len(line) < 24_000
    answer = read_bench_answer(told.stdout)
    assert answer.shortened
    short, complete = json.loads(answer.fio)["jobs"], json.loads(whole)["jobs"]
    assert [job["jobname"] for job in short] == [job["jobname"] for job in complete] == names
    for brief, full in zip(short, complete, strict=True):
        assert brief["read"]["clat_ns"] == full["read"]["clat_ns"]
        assert brief["read"]["iops"] == full["read"]["iops"]
        assert "latency_us" in full
        assert "latency_us" not in brief


@pytest.mark.needs("fio")
def test_a_job_that_fio_refuses_tells_what_fio_said(simulated):
    with pytest.raises(NotMeasured, match=r"\(fio\): fio ended with 1.*bs"):
        read_bench_answer(run(a_task(job="[a]\nrw=randread\nbs=notasize\n", limit_s=20), **simulated).stdout)
