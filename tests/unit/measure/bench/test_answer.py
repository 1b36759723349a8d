import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.errors import NotMeasured
from plimsoll_measure.bench.answer import API_CHARACTERS, MARK, BenchAnswer, read_bench_answer

FIO = {"fio version": "fio-3.36", "jobs": [{"jobname": "a", "error": 0, "read": {"total_ios": 7}}]}
MEASURED = {
    "mode": "file",
    "volume_id": "vol-0123456789abcdef0",
    "device": "/dev/nvme1n1",
    "filesystem": "xfs",
    "filesystem_on": "/dev/md0",
    "simulated": False,
    "stopped": None,
    "shortened": False,
    "fio": FIO,
}


def line(**told):
    return json.dumps({"plimsoll": 1, **told}, separators=(",", ":"))


def measured(**changes):
    return line(**{**MEASURED, **changes})


def test_the_line_is_found_in_whatever_stands_around_it():
    answer = read_bench_answer(f"Loaded plugins\n{{\n{measured()}\nraw: {{}}\n\n")
    assert json.loads(answer.fio) == FIO
    told = asdict(answer)
    assert {key: told[key] for key in MEASURED if key != "fio"} == {k: v for k, v in MEASURED.items() if k != "fio"}
    assert answer.engine_version == "fio-3.36"
    assert answer.inspection is None


def test_a_run_that_was_stopped_before_it_measured_has_no_result():
    answer = read_bench_answer(measured(stopped="latency", fio=None))
    assert (answer.stopped, answer.fio, answer.engine_version) == ("latency", None, None)


def test_a_run_that_was_not_stopped_must_have_a_result():
    with pytest.raises(NotMeasured, match="holds no result of fio"):
        read_bench_answer(measured(fio=None))


NOTHING = {"total_ios": 0, "io_bytes": 0, "iops": 0.0, "bw": 0}
VAIN = {
    "no job": [],
    "a job that says nothing": [{"jobname": "a"}],
    "a job without I/O": [{"jobname": "a", "read": NOTHING, "write": NOTHING, "sync": {"total_ios": 9}}],
    "a job that did some, and one that did none": [*FIO["jobs"], {"jobname": "b", "read": NOTHING}],
    "a job that trimmed": [{"jobname": "a", "trim": {"total_ios": 9, "iops": 1.0}}],
    "an error": [{**FIO["jobs"][0], "error": 5}],
    "rates that are no numbers": [{"jobname": "a", "read": {"iops": None}}],
    "no jobs at all": None,
}


@pytest.mark.parametrize("what", VAIN)
def test_a_run_that_did_no_io_is_no_success_whatever_its_exit_code(what):
    with pytest.raises(NotMeasured, match=r"See on the host why fio fails\.$"):
        read_bench_answer(measured(fio={"fio version": "fio-3.36", "jobs": VAIN[what]}))


@pytest.mark.parametrize("side", ["read", "write", "mixed"])
@pytest.mark.parametrize("counts", [{"total_ios": 1}, {"io_bytes": 4096}, {"iops": 0.5}])
def test_any_count_of_reads_or_writes_says_that_there_was_io(side, counts):
    assert read_bench_answer(measured(fio={"jobs": [{"jobname": "a", side: {**NOTHING, **counts}}]})).fio


def test_a_run_that_was_stopped_may_have_done_nothing_in_a_section():
    jobs = [*FIO["jobs"], {"jobname": "b", "read": NOTHING}]
    assert read_bench_answer(measured(stopped="queue", fio={"jobs": jobs})).stopped == "queue"


@pytest.mark.parametrize("output", ["", "\n \n"])
def test_nothing_printed_is_said_so(output):
    with pytest.raises(NotMeasured, match="printed nothing"):
        read_bench_answer(output)


def test_noise_alone_is_quoted_at_its_end():
    with pytest.raises(NotMeasured, match="no result; its output ends with 'sh: 1: Syntax error'"):
        read_bench_answer("warning\nsh: 1: Syntax error\n")


@given(st.integers(len(MARK), len(measured()) - 1))
def test_a_line_that_was_cut_says_how_the_whole_is_kept(length):
    with pytest.raises(NotMeasured, match=r"ends in the middle.*PLIMSOLL_RESULTS_BUCKET"):
        read_bench_answer("noise\n" + measured()[:length])


def test_noise_that_fills_what_the_api_tells_is_a_cut_output_too():
    with pytest.raises(NotMeasured, match="ends in the middle"):
        read_bench_answer("x" * API_CHARACTERS)


def test_a_line_that_is_damaged_in_its_midst_is_not_called_cut():
    with pytest.raises(NotMeasured, match="damaged"):
        read_bench_answer(measured()[:-9] + "\nand more\n")


@pytest.mark.parametrize(
    ("stage", "remedy"),
    [("install", "package repositories"), ("room", "smaller file"), ("a-later-stage", "error output")],
)
def test_the_scripts_own_error_is_told_with_a_remedy(stage, remedy):
    told = line(error={"stage": stage, "text": "it  went\u001b[31m wrong."})
    with pytest.raises(NotMeasured, match=rf"\({stage}\): it went \[31m wrong\. .*{remedy}"):
        read_bench_answer(told)


@pytest.mark.parametrize(
    "told",
    [
        measured(mode="erase"),
        measured(simulated="no"),
        measured(volume_id=7),
        line(mode="device"),
        line(mode="inspect"),
        line(error="x"),
        line(mode="inspect", lsblk={"blockdevices": [{"name": 3}]}),
    ],
)
def test_an_answer_of_another_shape_is_not_used(told):
    with pytest.raises(NotMeasured, match="cannot be used"):
        read_bench_answer(told)


def _read_or_refused(output):
    """Whether it is an answer, or our own error with a whole sentence; any other error fails the test."""
    try:
        return isinstance(read_bench_answer(output), BenchAnswer)
    except NotMeasured as error:
        said = str(error)
    return said.endswith(".")


@given(st.text())
def test_any_text_is_read_or_said_to_be_no_measurement(text):
    for output in (text, MARK + text, MARK + text + "}", measured() + text):
        assert _read_or_refused(output)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*MEASURED, "error", "lsblk", "links", "mdadm", "lvs"]), VALUES))
def test_any_json_is_read_or_said_to_be_no_measurement(told):
    for mode in ({}, {"mode": "inspect"}):
        assert _read_or_refused(line(**{**told, **mode}))
