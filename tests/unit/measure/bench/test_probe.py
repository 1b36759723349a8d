"""The probe on a host: what it sees of real block devices, and of EBS's log page made of the documented layout."""

import ast
import json
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.clouds.aws.names import PROBE_DOCUMENT_NAME
from plimsoll.demand.seconds import Source
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import BadInput, NotMeasured
from plimsoll.model.task import Task, TaskMode
from plimsoll_measure.bench.answer import API_CHARACTERS
from plimsoll_measure.bench.document import (
    document,
    document_hash,
    document_name,
    parameters_of,
    render_commands,
)
from plimsoll_measure.bench.probe import on_host
from plimsoll_measure.bench.probe.answer import read_probe
from plimsoll_measure.bench.probe.on_host import Counts, Watched, bin_of, format_answer, parse_page
from plimsoll_measure.probe import MOST_VOLUMES_A_HOST
from tests.unit.measure.bench.hosts import a_volume, commands_at
from tests.unit.measure.bench.loops import a_loop_device

SCRIPT = Path(on_host.__file__)
MIB = 1 << 20


def a_page(*counters, reads=(), writes=(), magic=0x3C23B510):
    """EBS's log page 0xD0: eleven counters from byte 8 on, two histograms of 64 bins from bytes 512 and 2,056 on."""

    def histogram(bins):
        padded = [*bins, *[(0, 0, 0)] * (64 - len(bins))]
        return struct.pack("<Q", len(bins)) + b"".join(struct.pack("<QQII", *one, 0) for one in padded)

    head = struct.pack("<I4x11Q", magic, *counters, *[0] * (11 - len(counters)))
    page = head.ljust(512, b"\0") + histogram(reads) + histogram(writes)
    return page.ljust(4096, b"\0")


def test_the_page_has_its_counters_and_histograms_where_they_are_documented():
    found = parse_page(a_page(10, 20, 4096, 8192, 300, 700, 1, 2, 3, 4, 5, reads=[(0, 256, 9)], writes=[(0, 512, 20)]))
    assert (found.operations, found.size_bytes, found.spent_us, found.queue) == (30, 12_288, 1000, 5)
    assert found.exceeded_us == {"volume_iops": 1, "volume_throughput": 2, "host_iops": 3, "host_throughput": 4}
    assert found.latency_us == [{(0, 256): 9}, {(0, 512): 20}]


@pytest.mark.parametrize("page", [b"", a_page(1)[:4095], a_page(1, magic=0xEC2C0D7E)])
def test_a_page_of_another_device_is_none(page):
    assert parse_page(page) is None


def seen(monkeypatch, pages, *, every_s=1.0):
    """What a probe tells of an EBS device that gives these pages, one a look."""
    left = iter(pages)
    monkeypatch.setattr(on_host, "read_page", lambda _device: next(left))
    watched = Watched("vol-0123456789abcdef0", "nvme1n1")
    for number in range(len(pages)):
        watched.look(100 + every_s * number, 1_800_000_000 + number, {})
    (found,), absent = read_probe(format_answer(1_800_000_000, [watched], []))
    assert absent == []
    return found


def test_a_burst_of_one_second_is_seen_with_what_it_exceeded_and_how_late_it_was(monkeypatch):
    def reads(*counts):
        bins = ((0, 1000), (1000, 4000), (4000, 64_000))
        return [(*bounds, count) for bounds, count in zip(bins, counts, strict=True)]

    pages = [
        a_page(1000, reads=reads(50, 50, 50)),
        a_page(1100, 0, MIB, 0, 50_000, reads=reads(150, 50, 50)),
        a_page(9100, 0, 33 * MIB, 0, 90_000, 0, 700_000, 0, 20_000, 0, 32, reads=reads(7950, 140, 60)),
        a_page(9150, 0, 33 * MIB, 0, 90_000, 0, 700_000, 0, 20_000, 0, 1, reads=reads(8000, 140, 60)),
    ]
    found = seen(monkeypatch, pages)
    assert (found.source, found.seconds, found.missed_s, found.restarts) == (Source.NVME, 3, 0, 0)
    assert (found.iops.peak.rate, found.bytes_s.peak.rate) == (8000, 32 * MIB)
    assert found.iops.peak.at.timestamp() == 1_800_000_002
    assert found.exceeded_volume[Resource.IOPS].us == 700_000
    assert found.exceeded_volume[Resource.IOPS].seconds == 1
    assert found.exceeded_volume[Resource.THROUGHPUT].seconds == 0
    assert found.exceeded_host[Resource.IOPS].us == 20_000
    assert found.most_queue == 32
    assert found.p99_read_us == 4000  # 7,950 of 8,050 under 1 ms are less than 99 %, with 90 more it is more
    assert found.p99_write_us is None
    assert found.mean_latency_us == pytest.approx(90_000 / 8150)
    assert found.lacks == ()


def test_the_busiest_second_of_an_idle_volume_is_one_that_was_seen(monkeypatch):
    found = seen(monkeypatch, [a_page(5), a_page(5), a_page(5)])
    assert (found.iops.peak.rate, found.bytes_s.peak.rate) == (0, 0)
    assert found.iops.peak.at.timestamp() == 1_800_000_001


def test_a_volume_that_is_attached_anew_leaves_a_gap_and_no_rate(monkeypatch):
    found = seen(monkeypatch, [a_page(5000), a_page(6000), a_page(10), a_page(20)])
    assert (found.seconds, found.restarts) == (2, 1)
    assert found.iops.peak.rate == 1000


def test_a_look_that_came_late_has_the_rate_of_its_time_and_says_what_it_missed(monkeypatch):
    found = seen(monkeypatch, [a_page(0), a_page(9000)], every_s=3.0)
    assert (found.iops.peak.rate, found.missed_s) == (3000, 2)
    assert len(found.lacks) == 1


@given(st.floats(1, 1e12))
def test_a_rate_is_within_its_bin(rate):
    number = bin_of(rate)
    assert on_host.RATIO**number <= rate * (1 + 1e-6)
    assert rate <= on_host.RATIO ** (number + 1) * (1 + 1e-6)


@given(st.lists(st.lists(st.integers(0, 10**7), min_size=2, max_size=400), min_size=1, max_size=25))
def test_whatever_is_seen_of_25_volumes_the_answer_is_told_whole_and_counts_every_second(rates):
    watched = []
    for number, one in enumerate(rates):
        found = Watched(f"vol-{number:017x}", "sda")
        total = 0
        for second, rate in enumerate(one):
            total += rate
            found.look(second, second, {"sda": Counts(total, total * 4096, 0, 1)})
        watched.append(found)
    line = format_answer(0, watched, [])
    assert len(line) < API_CHARACTERS
    for one, given_ in zip(read_probe(line)[0], rates, strict=True):
        assert one.iops.seconds == one.bytes_s.seconds == len(given_) - 1
        assert one.iops.peak.rate == max(given_[1:])


def test_the_longest_answer_is_told_whole_and_its_figures_stay_on_the_safe_side(monkeypatch):
    """25 volumes with every bin of both histograms, at the largest counts, and a rate in every bin."""
    bins = [(1 << number, (2 << number) - 1) for number in range(50)]
    pages, operations, size_bytes = [], 0, 0
    for second in range(300):
        operations += round(1.1 ** min(second, 170))
        size_bytes += round(1.1**second)
        counts = [(*bounds, second * 10**6) for bounds in bins]
        pages.append(a_page(operations, 0, size_bytes, 0, *[second * 10**9] * 6, 10**6, reads=counts, writes=counts))
    told = []
    for number in range(MOST_VOLUMES_A_HOST):
        one = Watched(f"vol-{number:017x}", f"nvme{number}n1")
        left = iter(pages)
        monkeypatch.setattr(on_host, "read_page", lambda _device, left=left: next(left))
        for second in range(len(pages)):
            one.look(second, 1_800_000_000 + second, {})
        told.append(one)
    line = format_answer(1_800_000_000, told, [])
    assert len(line) < API_CHARACTERS
    seen_, _ = read_probe(line)
    assert len(seen_) == MOST_VOLUMES_A_HOST
    for one in seen_:
        assert one.iops.seconds == 299
        assert sum(found.count for found in one.reads) == 50 * 299 * 10**6
        assert one.p99_read_us >= bins[49][1]


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=200), st.floats(0, 1e6))
def test_the_seconds_above_a_limit_lie_between_the_two_figures(rates, limit):
    watched = Watched("vol-1", "sda")
    watched.before, watched.before_s, watched.source = Counts(0, 0, 0, 0), 0.0, "diskstats"
    total = 0
    true_above = 0
    for second, rate in enumerate(rates, start=1):
        total += round(rate)
        true_above += round(rate) > limit
        watched.look(second, second, {"sda": Counts(total, total, 0, 0)})
    (found,), _ = read_probe(format_answer(0, [watched], []))
    least, most = found.iops.seconds_above(limit)
    assert least <= true_above <= most
    assert found.iops.quantile(1.0) == found.iops.peak.rate


def test_what_prints_no_probe_is_one_sentence():
    with pytest.raises(NotMeasured, match="python3"):
        read_probe('{"plimsoll":1,"error":{"stage":"tools","text":"the host has no python3"}}')
    with pytest.raises(NotMeasured, match="cannot be used: volumes"):
        read_probe('{"plimsoll":1,"mode":"probe","began_s":1,"absent":[]}')


def test_a_volume_without_a_device_is_named():
    done = subprocess.run(
        [sys.executable, SCRIPT, "vol-0fedcba9876543210", "5"], capture_output=True, text=True, check=True
    )
    assert read_probe(done.stdout) == ([], ["vol-0fedcba9876543210"])


def test_the_script_is_of_python_3_7_and_needs_no_package():
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 7))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    assert imported <= set(sys.stdlib_module_names)


@pytest.mark.needs("fio", "loop")
def test_the_peaks_of_a_real_device_are_those_that_fio_reports(tmp_path):
    with a_loop_device(tmp_path) as device:
        probe = subprocess.Popen([sys.executable, SCRIPT, str(device), "30"], stdout=subprocess.PIPE, text=True)
        try:
            time.sleep(1)
            job = [
                *("fio", "--name=x", f"--filename={device}", "--ioengine=libaio", "--direct=1", "--rw=randread"),
                *("--bs=16k", "--iodepth=8", "--time_based", "--runtime=5", "--rate_iops=500", "--output-format=json"),
            ]
            done = subprocess.run(job, capture_output=True, text=True, check=True)
            time.sleep(1.5)
            probe.terminate()  # what was seen so far is told
            said, _ = probe.communicate(timeout=60)
        finally:
            probe.kill()
    reads = json.loads(done.stdout)["jobs"][0]["read"]
    (found,), _ = read_probe(said)
    assert found.source is Source.DISKSTATS
    assert found.exceeded_volume is None
    assert found.p99_read_us is None
    assert found.lacks
    assert found.iops.quantile(1.0) == found.iops.peak.rate
    # Seconds of the probe and of fio begin at other moments, and a busy machine catches up with what it missed.
    assert found.iops.peak.rate >= 0.9 * reads["iops"]
    assert found.bytes_s.peak.rate == pytest.approx(found.iops.peak.rate * 16_384, rel=0.02)
    operations = sum(count for number, count in found.iops.bins.items() if number >= 0)
    assert 4 <= operations + found.missed_s <= 9
    mean = round(found.mean_latency_us or 0)
    assert mean >= 0


def rendered_probe(*volume_ids, seconds=5):
    task = Task(mode=TaskMode.PROBE, volume_ids=volume_ids, seconds=seconds, limit_s=seconds + 60)
    return "\n".join(render_commands(parameters_of(task), document_name(task)))


@pytest.mark.needs("fio", "loop")
def test_the_document_reads_a_volume_of_this_machine_by_its_id(tmp_path):
    with a_volume(tmp_path) as volume:
        told = subprocess.run(["sh", "-c", rendered_probe(volume.id)], capture_output=True, text=True, check=True)
    (found,), absent = read_probe(told.stdout)
    assert (found.volume_id, absent) == (volume.id, [])
    assert found.seconds + found.missed_s >= 5


def test_a_host_without_python_says_so(tmp_path):
    path = commands_at(tmp_path)
    told = subprocess.run(
        ["/bin/sh", "-c", rendered_probe("vol-0123456789abcdef0").replace("/usr/libexec/platform-python", "python3")],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": path},
    )
    if "Python" in told.stdout:
        assert told.returncode == 1
        with pytest.raises(NotMeasured, match="Install python3 there"):
            read_probe(told.stdout)


@pytest.mark.parametrize(
    "changes", [{"volume_ids": ()}, {"volume_ids": ("vol-1",)}, {"volume_ids": ("/dev/sda",)}, {"seconds": 0}]
)
def test_what_the_document_would_refuse_is_bad_input(changes):
    task = Task(**{"mode": TaskMode.PROBE, "volume_ids": ("vol-0123456789abcdef0",), "seconds": 60, **changes})
    with pytest.raises(BadInput):
        parameters_of(task)


def test_the_document_only_reads_and_is_one_of_its_own():
    content = document(PROBE_DOCUMENT_NAME)
    (step,) = content["mainSteps"]
    assert len(json.dumps(content)) < 64 * 1024
    assert document_hash(PROBE_DOCUMENT_NAME) != document_hash()
    lines = step["inputs"]["runCommand"]
    assert not [line for line in lines[len(content["parameters"]) :] if "{{" in line]
    assert not [line for line in lines if "fio" in line or ("open(" in line and "O_RDONLY" not in line)]


@pytest.mark.needs("shellcheck")
def test_the_shell_around_it_is_clean():
    found = subprocess.run(
        ["shellcheck", "--shell=sh", "--enable=all", "--exclude=SC2310,SC2312", "-"],
        input=rendered_probe("vol-0123456789abcdef0") + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == ""
