"""Every figure that the five seed articles print comes back to the digit; nothing absent became a figure.

The regular expressions here are the tests' own. Each consumes what it reads, and what is left over may hold no digit.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.main import app

SEEDS = Path(__file__).parents[2] / "seeds"

Printed = dict[str, str]


@cache
def shown(name: str) -> dict:
    answer = CliRunner().invoke(app, ["envelopes", "show", name, "--json"])
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


def measured(name: str, mode: str, block_kib: float) -> dict:
    (found,) = [one for one in shown(name)["measurements"] if (one["mode"], one["block_kib"]) == (mode, block_kib)]
    return found


def read_seed(name: str) -> str:
    return (SEEDS / name).read_text(encoding="utf-8")


# ---- fio, as 000 and 001 print it

ASKED = re.compile(
    r"root@test-0:/#|fio --directory.*?(?=\w[\w-]*: \(g=0\))|\w[\w-]*: \(g=0\): rw=\w+, bs=.*?ioengine=psync, iodepth=1"
    r"|fio-3\.33|Starting 10 processes|[\w-]+: Laying out IO file \(1 file / 1024MiB\)"
    r"|Jobs: \d+ \(f=\d+\): \[[rw]\(\d+\)\]\[100\.0%\]|\[eta 00m:00s\]"
    r"|[\w-]+: \(groupid=0, jobs=\d+\): err= 0:|Run status group 0|# GP[23] Random \w+|IO depths|0 zone resets",
    re.DOTALL,
)
"""What a run was asked to do, and words: no results."""

NUMBER = r"[\d.]+"
SIMPLE = {
    r"pid=(\d+): (\w{3} \w{3} +\d+ [\d:]{8} \d{4})": ("pid", "finished"),
    r"\[[rw]=(\S+?)\]\[[rw]=(\S+) IOPS\]": ("last_status.bw", "last_status.iops"),
    r"(read|write): IOPS=(\S+), BW=(\S+) \((\S+?)\)\((\S+?)/(\d+)msec\);?": (
        "direction",
        "iops",
        "throughput",
        "bw_decimal",
        "io",
        "runtime_ms",
    ),
    rf" clat \(usec\): min=({NUMBER}), max=({NUMBER}), avg=({NUMBER}), stdev=({NUMBER})": (
        "clat_us.min",
        "clat_us.max",
        "clat_us.avg",
        "clat_us.stdev",
    ),
    rf" lat \(usec\): min=({NUMBER}), max=({NUMBER}), avg=({NUMBER}), stdev=({NUMBER})": (
        "lat_us.min",
        "lat_us.max",
        "lat_us.avg",
        "lat_us.stdev",
    ),
    rf"bw \( *KiB/s\): min= *({NUMBER}), max= *({NUMBER}), per=({NUMBER})%, avg=({NUMBER}), stdev= *({NUMBER}), "
    r"samples=(\d+)": tuple(f"bw_kib_s.{key}" for key in ("min", "max", "per_pct", "avg", "stdev", "samples")),
    rf"iops *: min= *({NUMBER}), max= *({NUMBER}), avg=({NUMBER}), stdev= *({NUMBER}), samples=(\d+)": tuple(
        f"iops_samples.{key}" for key in ("min", "max", "avg", "stdev", "samples")
    ),
    rf"cpu *: usr=({NUMBER})%, sys=({NUMBER})%, ctx=(\d+), majf=(\d+), minf=(\d+)": tuple(
        f"cpu.{key}" for key in ("usr_pct", "sys_pct", "ctx", "majf", "minf")
    ),
    r"issued rwts: total=(\S+) short=(\S+) dropped=(\S+)": tuple(
        f"issued_rwts.{key}" for key in ("total", "short", "dropped")
    ),
    rf"latency *: target=(\d+), window=(\d+), percentile=({NUMBER})%, depth=(\d+)": tuple(
        f"latency_target.{key}" for key in ("target", "window", "percentile_pct", "depth")
    ),
    r"(?:READ|WRITE): bw=(\S+) \((\S+?)\), (\S+) \((\S+?)\), io=(\S+) \((\S+?)\), run=(\S+?)msec": tuple(
        f"run_status.{key}"
        for key in ("bw", "bw_decimal", "bw_range", "bw_range_decimal", "io", "io_decimal", "run_ms")
    ),
    rf"(\w+): ios=(\S+), merge=(\S+), ticks=(\S+), in_queue=(\d+), util=({NUMBER})%": tuple(
        f"disk.{key}" for key in ("name", "ios", "merge", "ticks", "in_queue", "util_pct")
    ),
}


def fio_figures(text: str) -> Printed:
    """The figures of one run of fio by their names in a campaign, and no digit left over."""
    found: Printed = {}
    left = ASKED.sub(" ", text)

    def take(pattern: str, names: tuple[str, ...]) -> None:
        nonlocal left
        match = re.search(pattern, left)
        if match:
            found.update(zip(names, match.groups(), strict=True))
            left = left[: match.start()] + " " + left[match.end() :]

    for pattern, names in SIMPLE.items():
        take(pattern, names)
    for percent, value in re.findall(r"([\d.]+)th=\[ *(\d+)\]", left):
        found[f"clat_percentiles_us.{percent}"] = value
    left = re.sub(r"[\d.]+th=\[ *\d+\]", " ", left)
    for unit, bins in re.findall(r"lat \((usec|msec)\) *: ((?:\d+=[\d.]+%,? ?)+)", left):
        for edge, share in re.findall(r"(\d+)=([\d.]+)%", bins):
            found[f"lat_distribution_pct.{edge} {unit}"] = share
    left = re.sub(r"lat \((usec|msec)\) *: (?:\d+=[\d.]+%,? ?)+", " ", left)
    for words, name in (("submit *", "submit_pct"), ("complete *", "complete_pct"), ("", "io_depths_pct")):
        (row,) = re.findall(rf"{words}: ((?:(?:>=)?\d+=[\d.]+%,? ?)+)", left)[:1]
        for depth, share in re.findall(r"((?:>=)?\d+)=([\d.]+)%", row):
            found[f"{name}.{depth}"] = share
        left = left.replace(row, " ", 1)
    assert not re.search(r"\d", left), f"not read: {left}"
    return found


def fio_runs() -> Iterator[tuple[str, str, float, str]]:
    """(envelope, mode, KiB, output) of every run in 000 and 001."""
    for block in re.split(r"^(?=# GP)", read_seed("000-fio.txt"), flags=re.MULTILINE)[1:]:
        name = {"GP2": "gp2-1tb", "GP3": "gp3-1tb-3000-250"}[block[2:5]]
        yield name, re.search(r"--rw=(\w+)", block)[1], 16, block
    for line in read_seed("001-fio.txt").splitlines():
        medium, size = re.search(r"--name (hdd|ssd|nas)-\w+(?:-(\d+))?", line).groups()
        size = size if size else "500"
        yield f"naver-{medium}-{size}", re.search(r"--rw=(\w+)", line)[1], 4, line.removeprefix("[root@iotest-srv ~]# ")


RUNS = list(fio_runs())
IDS = [f"{name}-{mode}" for name, mode, _, _ in RUNS]


def test_the_two_articles_with_fio_hold_thirteen_runs():
    assert len(RUNS) == 13
    assert len(set(IDS)) == 13


@pytest.mark.parametrize(("name", "mode", "block_kib", "output"), RUNS, ids=IDS)
def test_every_figure_of_fio_comes_back_to_the_digit_and_no_other_does(name, mode, block_kib, output):
    assert measured(name, mode, block_kib)["printed"] == fio_figures(output)


@pytest.mark.parametrize(("name", "mode", "block_kib", "output"), RUNS, ids=IDS)
def test_all_seventeen_percentiles_of_fio_are_there(name, mode, block_kib, output):
    printed = {float(percent): float(value) for percent, value in re.findall(r"([\d.]+)th=\[ *(\d+)\]", output)}
    told = measured(name, mode, block_kib)["latency_percentiles_us"]
    assert len(printed) == 17
    assert {float(percent): value for percent, value in told.items()} == printed


@pytest.mark.parametrize(("name", "mode", "block_kib", "output"), RUNS, ids=IDS)
def test_what_is_computed_with_is_what_fio_printed(name, mode, block_kib, output):
    iops, bw, unit = re.search(r"(?:read|write): IOPS=(\S+), BW=([\d.]+)([KM])iB/s", output).groups()
    samples = re.search(r"iops *: .*?avg=([\d.]+)", output)[1]
    found = measured(name, mode, block_kib)
    assert found["iops"] == (float(samples) if iops.endswith("k") else float(iops))
    assert found["throughput_mib_s"] == pytest.approx(float(bw) / (1024 if unit == "K" else 1))
    assert found["mean_latency_us"] == float(re.search(r" clat \(usec\):.*?avg=([\d.]+)", output)[1])


def test_what_naver_publishes_for_its_ssd_stands_beside_its_measurements():
    (campaign,) = [one for one in library().campaigns if one.name == "naver-block-nas-2022"]
    (formula,) = [dict(one) for one in campaign.published]
    assert {key: value for key, value in formula.items() if key.startswith("figures.")} == {
        "figures.least_gb": "10",
        "figures.flat_to_gb": "100",
        "figures.flat_iops": "4000",
        "figures.iops_per_gb": "40",
        "figures.most_iops": "20000",
        "figures.io_kib": "4",
    }
    assert formula.items() <= shown("naver-ssd-500")["beside"].items()


# ---- sysbench, as 002 prints it

HOSTS = {"graviton2": "r6g.4xlarge", "x64": "r5.4xlarge"}
SYSBENCH = dict(re.findall(r"^# (.*?)\n(.*?)(?=^# |\Z)", read_seed("002-sysbench.txt"), re.DOTALL | re.MULTILINE))
LATENCY = ("min", "avg", "max", "95th percentile", "sum")


def library():
    return envelope_library(None)


def sysbench_latency(block: str) -> Printed:
    return {f"latency_ms.{key}": re.search(rf"^ +{key}: +({NUMBER})", block, re.MULTILINE)[1] for key in LATENCY}


def sysbench_file_io(block: str) -> Printed:
    found = sysbench_latency(block)
    for side in ("read", "write"):
        figures = re.search(rf"{side}: +IOPS=({NUMBER}) ({NUMBER}) MiB/s \(({NUMBER}) MB/s\)", block).groups()
        found |= dict(zip((f"{side}.iops", f"{side}.mib_s", f"{side}.mb_s"), figures, strict=True))
    found["fsync.iops"] = re.search(rf"fsync: IOPS=({NUMBER})", block)[1]
    return found


def sysbench_rates(block: str) -> Printed:
    return {
        "events_per_s": re.search(rf"events/s \(eps\): +({NUMBER})", block)[1],
        "time_elapsed_s": re.search(rf"time elapsed: +({NUMBER})s", block)[1],
        "events": re.search(r"total number of events: +(\d+)", block)[1],
        "fairness.events": re.search(r"events \(avg/stddev\): +(\S+)", block)[1],
        "fairness.execution_time": re.search(r"execution time \(avg/stddev\): +(\S+)", block)[1],
        **sysbench_latency(block),
    }


def digits_of(block: str) -> list[str]:
    return sorted(re.findall(r"\d+(?:\.\d+)?", re.sub(r"95th", "", block)))


def digits_in(figures: Mapping[str, str]) -> list[str]:
    return sorted(number for text in figures.values() for number in re.findall(r"\d+(?:\.\d+)?", text))


def profile(host: str, part: str) -> Printed:
    (campaign,) = [one for one in library().campaigns if one.name == "aws-io1-graviton2-sysbench"]
    told = dict(campaign.profiles[host])
    return {key.removeprefix(f"{part}."): text for key, text in told.items() if key.startswith(f"{part}.")}


@pytest.mark.parametrize("machine", HOSTS)
@pytest.mark.parametrize("mode", ["rndrw", "seqrewr"])
def test_every_figure_of_sysbench_s_file_io_comes_back_to_the_digit(machine, mode):
    block = SYSBENCH[f"{mode} {machine}"]
    expected = sysbench_file_io(block)
    found = measured(f"io1-30000-{HOSTS[machine]}", mode, 16)
    assert digits_in(expected) == digits_of(block)
    assert found["printed"] == expected
    assert found["iops"] == pytest.approx(float(expected["read.iops"]) + float(expected["write.iops"]))
    assert found["throughput_mib_s"] == pytest.approx(float(expected["read.mib_s"]) + float(expected["write.mib_s"]))
    assert found["mean_latency_us"] == pytest.approx(float(expected["latency_ms.avg"]) * 1000)


@pytest.mark.parametrize("machine", HOSTS)
def test_every_figure_of_sysbench_s_cpu_run_is_in_the_host_s_profile(machine):
    block = SYSBENCH[f"cpu {machine}"]
    expected = sysbench_rates(block) | {"events_per_s_headline": re.search(rf"per second: +({NUMBER})", block)[1]}
    threads_32 = re.search(rf"{machine} - ({NUMBER})s", SYSBENCH["cpu --threads=32"], re.IGNORECASE)[1]
    assert digits_in(expected) == digits_of(block)
    found = profile(HOSTS[machine], "cpu")
    assert found.pop("job") == "sysbench cpu --cpu-max-prime=100000 --threads=1 --time=0 --events=10000 run"
    assert found == {**expected, "threads_32_time_elapsed_s": threads_32}


@pytest.mark.parametrize("machine", HOSTS)
def test_every_figure_of_sysbench_s_memory_run_is_in_the_host_s_profile(machine):
    block = SYSBENCH[f"memory {machine}"]
    pattern = rf"operations: (\d+) \(({NUMBER}) per second\)\s+({NUMBER}) MiB transferred \(({NUMBER}) MiB/sec\)"
    figures = re.search(pattern, block).groups()
    expected = dict(zip(("operations", "operations_per_s", "mib", "mib_s"), figures, strict=True))
    assert digits_in(expected) == digits_of(block)
    assert profile(HOSTS[machine], "memory") == {**expected, "job": "sysbench memory --threads=8 run"}


@pytest.mark.parametrize("machine", HOSTS)
def test_every_figure_of_sysbench_s_mutex_run_is_in_the_host_s_profile(machine):
    block = SYSBENCH[f"mutex {machine}"]
    expected = sysbench_rates(block)
    assert digits_in(expected) == digits_of(block)
    found = profile(HOSTS[machine], "mutex")
    assert found.pop("job") == "sysbench mutex --threads=32 --mutex-locks=500000 --mutex-loops=100000 run"
    assert found == expected


@pytest.mark.parametrize("host", HOSTS.values())
def test_the_host_s_profile_stands_beside_its_volumes_when_one_is_shown(host):
    beside = shown(f"io1-30000-{host}")["beside"]
    for part in ("cpu", "memory", "mutex"):
        assert {f"{part}.{key}": text for key, text in profile(host, part).items()}.items() <= beside.items()


# ---- the tables of 003

MODES = {"seq read": "read", "seq write": "write", "random read": "randread", "random write": "randwrite"}
DISKS = {"標準永続ディスク(HDD)": "pd-standard-500", "SSD 永続ディスク": "pd-ssd-500"}


def table_rows() -> Iterator[tuple[str, str, float, str, str, str]]:
    """(envelope, mode, KiB, IOPS, throughput, latency) of every row."""
    for line in read_seed("003-tables.txt").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        head = re.fullmatch(r"(Seq|Random) ?(read|write) \N{EN DASH} (\d+)(KB?|MB)", cells[0], re.IGNORECASE)
        if head:
            mode = MODES[f"{head[1]} {head[2]}".lower()]
            block_kib = float(head[3]) * (1024 if head[4] == "MB" else 1)
        elif cells[0] in DISKS:
            yield DISKS[cells[0]], mode, block_kib, cells[1], cells[2], re.sub(r"\s*※ ?1$", "", cells[3])
        else:
            assert set(cells) <= {"---", ""}


ROWS = list(table_rows())


def test_the_tables_hold_four_modes_of_six_sizes_on_two_disks():
    assert len({row[:3] for row in ROWS}) == len(ROWS) == 4 * 6 * 2


@pytest.mark.parametrize(("name", "mode", "block_kib", "iops", "throughput", "latency"), ROWS)
def test_every_row_of_the_tables_comes_back_to_the_digit(name, mode, block_kib, iops, throughput, latency):
    printed = measured(name, mode, block_kib)["printed"]
    assert printed == {"iops": iops, "throughput": throughput, "latency_bin": latency}


@pytest.mark.parametrize(("name", "mode", "block_kib", "iops", "throughput", "latency"), ROWS)
def test_the_tables_units_become_iops_and_mib_s(name, mode, block_kib, iops, throughput, latency):
    found = measured(name, mode, block_kib)
    figure, unit = re.fullmatch(r"([\d.]+)([kM])B/s", throughput).groups()
    assert found["iops"] == pytest.approx(float(iops.rstrip("k")) * (1000 if iops.endswith("k") else 1))
    assert found["throughput_mib_s"] == pytest.approx(float(figure) * {"k": 1e3, "M": 1e6}[unit] / 1024**2)


def test_82_4_mb_s_are_78_58_mib_s():
    assert measured("pd-standard-500", "read", 4)["printed"]["throughput"] == "82.4MB/s"
    assert round(measured("pd-standard-500", "read", 4)["throughput_mib_s"], 2) == 78.58


@pytest.mark.parametrize(("name", "mode", "block_kib", "iops", "throughput", "latency"), ROWS)
def test_the_tables_latencies_are_upper_bounds_and_never_means(name, mode, block_kib, iops, throughput, latency):
    found = measured(name, mode, block_kib)
    edge = None if latency.startswith(">=") else float(latency.removesuffix(" msec")) * 1000
    assert found["latency_under_us"] == edge
    assert found["mean_latency_us"] is None
    assert found["latency_percentiles_us"] == {}
    (one,) = [
        one for one in library_envelope(name).measurements if (one.job.mode, one.job.block_kib) == (mode, block_kib)
    ]
    assert one.latency.upper_bound


@cache
def library_envelope(name: str):
    return library().get(name)


# ---- the CSV of 004

TESTS = {
    "gp3_throughput_1000": "gp3-4000-1000",
    "gp3_throughput_2000_with_raid_0": "gp3-raid0-2x4000-1000",
    "io2_iops_16000": "io2-16000",
    "gp3_iops_16000": "gp3-16000-1000",
}
POINTS = list(csv.DictReader(read_seed("004-ebs-gp3-perf.csv").splitlines()))


def test_the_csv_holds_seven_sizes_on_four_volumes():
    assert len(POINTS) == 28


@pytest.mark.parametrize("point", POINTS, ids=[f"{one['test_name']}-{one['block_size']}" for one in POINTS])
def test_every_row_of_the_csv_comes_back_to_the_digit(point):
    found = measured(TESTS[point["test_name"]], point["mode"], float(point["block_size"]))
    printed = found["printed"]
    assert printed["iops"] == point["w_iops"]
    assert printed["throughput"] == f"{point['bw_in_mibs']} MiB/s"
    assert {key: printed[key] for key in ("test_name", "threads", "dev")} == {
        key: point[key] for key in ("test_name", "threads", "dev")
    }
    assert (found["iops"], found["throughput_mib_s"]) == (float(point["w_iops"]), float(point["bw_in_mibs"]))


# ---- sources, and what no source says

SOURCES = {
    "gp2-1tb": "000_dbdcd04f67148b39.txt",
    "gp3-1tb-3000-250": "000_dbdcd04f67148b39.txt",
    "naver-hdd-500": "001_733813de996d4497.txt",
    "naver-nas-6000": "001_733813de996d4497.txt",
    "io1-30000-r6g.4xlarge": "002_dc1e13280dd4185b.txt",
    "io1-30000-r5.4xlarge": "002_dc1e13280dd4185b.txt",
    "pd-ssd-500": "003_f01d61deea64d893.txt",
    "gp3-raid0-2x4000-1000": "004_a9f4415ca5890b7d.txt",
}


@pytest.mark.parametrize(("name", "source"), SOURCES.items())
def test_the_source_of_every_figure_is_named(name, source):
    assert source in shown(name)["source"]
    assert all(source in one["source"] for one in shown(name)["measurements"])


def test_a_volume_whose_size_the_source_leaves_out_has_no_size():
    assert shown("io1-30000-r6g.4xlarge")["size_gib"] is None
    assert shown("io1-30000-r6g.4xlarge")["provisioned_throughput_mib_s"] is None


def test_nothing_absent_became_zero():
    names = [*TESTS.values(), *SOURCES, *DISKS.values(), *{name for name, *_ in RUNS}]
    for one in [one for name in names for one in shown(name)["measurements"]]:
        figures = (one["iops"], one["throughput_mib_s"], one["mean_latency_us"], one["latency_under_us"])
        assert all(figure is None or figure > 0 for figure in figures), one
        printed_zeros = [key for key, text in one["printed"].items() if key == "iops" and float(text.strip("k")) == 0]
        assert not printed_zeros


def test_only_the_percentiles_that_the_source_tells_are_there():
    assert list(measured("io1-30000-r5.4xlarge", "rndrw", 16)["latency_percentiles_us"]) == ["95"]
    assert list(measured("gp3-16000-1000", "randwrite", 4)["latency_percentiles_us"]) == ["50", "99"]
