"""What becomes of each format, by examples; what is no result says what was expected, and where it broke."""

import pytest

from plimsoll.model.errors import BadInput
from plimsoll_measure.readers.reading import read_output, read_results
from tests.unit.measure.readers.outputs import IDLE, OLD_JSON, OLD_SYSBENCH, OLD_TEXT, a_job, a_side, fio_json


def read(text: str) -> list:
    return read_results(text, name="out.json")


def read_one(text: str):
    (found,) = read(text)
    return found


# ---- fio's JSON


def test_a_job_of_fio_3_is_read_in_one_unit():
    found = read_one(fio_json(a_job()))
    assert (found.name, found.tool, found.tool_version) == ("job", "fio", "3.36")
    assert (found.iops, found.throughput_mib_s) == (1000, 1000 * 16 / 1024)
    assert (found.latency.mean_us, found.latency.percentile_us(50), found.latency.percentile_us(99)) == (
        1000.0005,
        1000,
        2000,
    )
    assert not found.latency.upper_bound
    assert (found.job.mode, found.job.block_kib, found.job.iodepth) == ("randread", 16, 32)
    assert (found.job.engine, found.job.direct, found.job.jobs) == ("libaio", True, 1)


def test_a_direction_that_fio_did_not_use_is_absent():
    found = read_one(fio_json(a_job()))
    assert list(found.directions) == ["read"]
    assert "write" not in str(found.printed.figures)


def test_fio_2_told_kib_and_microseconds():
    found = read_one(OLD_JSON)
    assert (found.iops, found.throughput_mib_s) == (3000.5, 48000 / 1024)
    assert (found.latency.mean_us, found.latency.percentile_us(99)) == (5291.19, 6816)
    assert dict(found.latency.percentiles_us).keys() == {1, 99}
    assert found.device_iops == 3001
    assert (found.job.mode, found.job.block_kib, found.job.direct) == ("unstated-read", 16, None)
    assert found.directions["read"].operations is None


def test_fio_3_0_had_no_bytes_a_second_yet():
    side = {key: value for key, value in a_side().items() if key != "bw_bytes"}
    assert read_one(fio_json(a_job(read=side))).throughput_mib_s == 16_000 / 1024


def test_percentiles_that_a_setting_moved_to_the_whole_latency_are_found():
    side = a_side()
    clat = side.pop("clat_ns")
    side["lat_ns"] = clat
    side["clat_ns"] = {key: value for key, value in clat.items() if key != "percentile"}
    assert read_one(fio_json(a_job(read=side))).latency.percentile_us(99) == 2000


def test_notes_before_the_first_brace_and_after_the_last_are_no_part_of_it():
    text = fio_json(a_job())
    around = f"note: both iodepth >= 1 and synchronous I/O engine are selected {{really}}\n{text}\n[root@host ~]# exit"
    assert read(around)[0].iops == 1000


def test_two_outputs_in_one_file_are_two_results():
    assert len(read(fio_json(a_job("one")) + "\n" + fio_json(a_job("two")))) == 2


def test_groups_are_results_of_their_own():
    found = read(fio_json(a_job("one", 0), a_job("two", 1, read=a_side(500))))
    assert [(one.name, one.group, one.iops) for one in found] == [("one", 0, 1000), ("two", 1, 500)]


def test_jobs_of_a_group_are_summed_and_their_worst_percentile_is_an_upper_bound():
    slow, fast = a_side(1000, p99_ns=9_000_000), a_side(3000, p99_ns=1_000_000)
    found = read_one(fio_json(a_job(read=slow), a_job(read=fast)))
    assert (found.iops, found.throughput_mib_s, found.job.jobs) == (4000, 4000 * 16 / 1024, 2)
    assert (found.latency.percentile_us(99), found.latency.upper_bound) == (9000, True)
    assert found.directions["read"].operations == 240_000


def test_a_mixed_job_tells_each_direction_and_the_worse_percentile():
    job = a_job(options={"rw": "randrw"}, read=a_side(700), write=a_side(300, p99_ns=5_000_000))
    found = read_one(fio_json(job))
    assert (found.iops, found.job.mode) == (1000, "randrw")
    assert {name: one.iops for name, one in found.directions.items()} == {"read": 700, "write": 300}
    assert [one.latency.percentile_us(99) for one in found.directions.values()] == [2000, 5000]
    assert (found.latency.percentile_us(99), found.latency.upper_bound) == (5000, True)


def test_a_mixed_block_size_is_the_mean_that_was_moved():
    options = {"bssplit": "4k/50:16k/50", "bs": "4k"}
    found = read_one(fio_json(a_job(options=options, read=a_side(1000, block=10_240))))
    assert found.job.block_kib == 10


def test_clients_are_summed_without_their_total():
    clients = [a_job() | {"hostname": name} for name in ("a", "b")]
    found = read_one(fio_json(client_stats=[*clients, a_job("All clients", read=a_side(2000))]))
    assert (found.iops, found.job.jobs) == (2000, 2)


def test_a_job_that_ended_in_error_is_no_measurement_and_says_so():
    found = read_one(fio_json(a_job(error=28)))
    assert found.error == 28
    assert found.fault == "the job job ended with error 28 (No space left on device)"


def test_a_job_that_did_nothing_is_no_measurement_and_has_no_figures():
    found = read_one(fio_json(a_job(read=IDLE)))
    assert found.fault == "the job job did no reads and no writes"
    assert (found.iops, found.throughput_mib_s, found.latency.mean_us, found.directions) == (None, None, None, {})


@pytest.mark.parametrize("option", ["rate", "rate_iops"])
def test_a_job_held_to_a_rate_says_so(option):
    assert read_one(fio_json(a_job(options={option: "300"}))).has_rate_cap
    assert not read_one(fio_json(a_job())).has_rate_cap


def test_what_the_device_counted_is_nobodys_where_two_groups_ran():
    disks = [{"name": "nvme1n1", "read_ios": 60_600, "write_ios": 9}]
    assert read_one(fio_json(a_job(), disk_util=disks)).device_iops == 1010
    found = read(fio_json(a_job(group=0), a_job(group=1), disk_util=disks))
    assert [one.device_iops for one in found] == [None, None]


def test_a_stripes_members_are_not_counted_again():
    disks = [
        {"name": "md0", "read_ios": 60_000, "write_ios": 0, "aggr_read_ios": 30_000},
        {"name": "nvme1n1", "read_ios": 30_000, "write_ios": 0},
        {"name": "nvme2n1", "read_ios": 30_000, "write_ios": 0},
    ]
    assert read_one(fio_json(a_job(), disk_util=disks)).device_iops == 1000
    assert read_one(fio_json(a_job(), disk_util=disks[1:])).device_iops == 1000


# ---- normal output


def test_fio_2s_text_says_kb_for_1024_bytes():
    found = read_one(OLD_TEXT)
    assert (found.tool_version, found.iops, found.throughput_mib_s) == ("2.14", 3000, 48000 / 1024)
    assert (found.latency.mean_us, found.latency.most_us, found.latency.percentile_us(99)) == (5291.19, 34_000, 6816)
    assert (found.job.mode, found.job.block_kib, found.job.iodepth, found.job.jobs) == ("randread", 16, 16, 1)
    assert (found.directions["read"].operations, found.device_iops) == (30_000, 3001)


def test_a_web_page_that_folds_the_output_onto_one_line_changes_nothing():
    assert read(" ".join(OLD_TEXT.split())) == read(OLD_TEXT)


def test_two_runs_of_one_job_are_two_results_and_not_a_group():
    again = OLD_TEXT.replace("04:25:07", "05:25:07")
    short = OLD_TEXT.partition("Run status")[0].partition("Starting 1 process")[2]
    assert [one.iops for one in read(OLD_TEXT + again)] == [3000, 3000]
    assert [one.iops for one in read(short + short.replace("04:25:07", "05:25:07"))] == [3000, 3000]


def test_jobs_of_one_run_and_group_are_one_result():
    head = OLD_TEXT.index("rread: (groupid")
    end = OLD_TEXT.index("Run status")
    other = OLD_TEXT[head:end].replace("pid=3034", "pid=3035")
    both = OLD_TEXT[:end] + other + OLD_TEXT[end:]
    assert [(one.iops, one.job.jobs) for one in read(both)] == [(6000, 2)]


@pytest.mark.parametrize(("unit", "mean_us"), [("nsec", 5.29119), ("usec", 5291.19), ("msec", 5_291_190)])
def test_latency_is_read_in_the_unit_it_is_printed_in(unit, mean_us):
    text = OLD_TEXT.replace("clat (usec)", f"clat ({unit})")
    assert read_one(text).latency.mean_us == pytest.approx(mean_us)


def test_an_error_in_the_text_is_no_measurement():
    text = OLD_TEXT.replace("err= 0:", "err= 5 (file:io_u.c:1747, func=io_u error, error=Input/output error):")
    assert "ended with error 5" in (read_one(text).fault or "")


# ---- sysbench


def test_sysbench_1_0_is_read_with_its_command():
    output = read_output(OLD_SYSBENCH, name="sysbench.txt")
    (found,) = output.results
    assert (found.iops, found.throughput_mib_s) == (2000.75, 31.26)
    assert (found.job.mode, found.job.jobs, found.job.runtime_s, found.job.file_size_gib) == ("rndrw", 4, 60, 2)
    assert (found.job.block_kib, found.job.direct) == (16, True)
    assert (found.latency.mean_us, found.latency.percentile_us(99)) == (220, 1100)


def test_where_sysbench_1_0_leaves_out_a_rate_its_events_and_its_time_are_kept():
    (mutex,) = read_output(OLD_SYSBENCH, name="sysbench.txt").profiles
    assert (mutex.kind, mutex.figures["events"], mutex.figures["time_elapsed_s"]) == ("mutex", "5", "2.0000")
    assert mutex.figures["latency_ms"]["95th percentile"] == "2.50"


def test_a_profile_alone_is_no_result_of_storage():
    with pytest.raises(BadInput, match=r"m\.txt holds no result of storage, only a profile .*mutex"):
        read_results(OLD_SYSBENCH.partition("$ sysbench mutex")[2].join(["sysbench mutex", ""]), name="m.txt")


# ---- what is no result


@pytest.mark.parametrize("text", ["hello", "a: 1\nb: 2", "read: IOPS=806(avg), BW=3226KiB/s", '{"a": 1}', "<html>"])
def test_what_is_no_result_says_what_was_expected(text):
    with pytest.raises(BadInput, match=r"out\.json is no result of a benchmark: expected is what fio .* sysbench"):
        read(text)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_says_so(text):
    with pytest.raises(BadInput, match=r"out\.json is empty: expected"):
        read(text)


TEXT_CUT_AT = ["pid=3034", "bw=48000", "    slat"]


@pytest.mark.parametrize("cut", TEXT_CUT_AT[:2])
def test_normal_output_that_breaks_off_names_the_line(cut):
    with pytest.raises(BadInput, match=r"out\.json looks like fio's normal output, but from line 6 .*breaks off"):
        read(OLD_TEXT[: OLD_TEXT.index(cut)])


def test_json_that_breaks_off_names_the_line_where_it_does():
    text = fio_json(a_job())
    cut = text[: text.index('"clat_ns"')]
    with pytest.raises(BadInput, match=rf"looks like fio's JSON, but from line {cut.count(chr(10)) + 1} .*breaks off"):
        read(cut)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (fio_json(), "holds no jobs"),
        (fio_json(a_job(read=a_side() | {"iops": "fast"})), r"wrong at jobs\.0\.read\.iops.*'fast' is no figure"),
        (fio_json(a_job(read=a_side() | {"iops": -1})), r"jobs\.0\.read\.iops"),
        (fio_json(a_job(read=a_side() | {"iops": None})), "bandwidth without IOPS"),
        (fio_json(a_job(), jobs=3), "wrong at jobs"),
        ('{"fio version": ' + "[" * 100_000, "deeper"),
    ],
)
def test_json_that_is_not_fios_says_where(text, told):
    with pytest.raises(BadInput, match=told) as raised:
        read(text)
    assert "\n" not in str(raised.value)


def test_a_terse_line_that_breaks_off_says_how_many_fields_there_are():
    with pytest.raises(BadInput, match=r"looks like fio's terse output, but from line 2 .*4 fields of at least 82"):
        read("notes\n3;fio-3.33;a;0;0;1;2;3;4")


def test_sysbench_that_breaks_off_says_so():
    with pytest.raises(BadInput, match=r"looks like sysbench's output, but from line 9 the test of files breaks off"):
        read(OLD_SYSBENCH[: OLD_SYSBENCH.index("written, MiB/s")])
