"""`plimsoll benchmark` as a user runs it: real fio, and nothing left behind but the result."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from plimsoll.envelopes.admissibility.sweep import climbing as at_the_edge
from tests.unit.envelopes.runs import a_run, a_sweep, fitted
from tests.unit.measure.bench.loops import a_loop_device
from tests.unit.measure.bench.processes import working_in

from .commands import command
from .forking import run

QUICK = ("--runtime-s", "1", "--ramp-s", "0", "--file-mib", "64", "--yes")


def alone(**more: str) -> dict[str, str]:
    """An environment without any cloud."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "PLIMSOLL_"))}
    return {**kept, "COLUMNS": "160", "NO_COLOR": "1", **more}


def plimsoll(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    done = run(*words, folder=folder, environment=alone(**more))
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done


@pytest.fixture
def place(tmp_path):
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


@pytest.mark.needs("fio")
def test_a_job_on_a_directory_joins_the_library_and_leaves_the_directory_empty(tmp_path, place):
    done = plimsoll(tmp_path, "benchmark", "place", "--job", "aws-psync-16k", "--as", "mine", *QUICK)
    assert done.returncode == 0, done.stderr
    assert f") in {place}.\nIt first fills 1.00 GiB, then measures for 2 s, then removes what it wrote." in done.stdout
    assert "IOPS, randread, randwrite by KiB" in done.stdout
    assert "added to the library as mine" in done.stdout
    assert list(place.iterdir()) == []
    shown = json.loads(plimsoll(tmp_path, "envelopes", "show", "mine", "--json").stdout)
    assert [(one["mode"], one["block_kib"]) for one in shown["measurements"]] == [("randread", 16), ("randwrite", 16)]
    assert all(one["iops"] > 0 and one["latency_percentiles_us"]["99"] > 0 for one in shown["measurements"])
    assert (shown["provider"], shown["type"]) == ("local", "unknown")


@pytest.mark.needs("fio")
def test_what_the_user_tells_of_the_volume_is_kept_and_this_machines_name_is_not(tmp_path, place):
    told = ("--type", "gp3", "--size-gib", "100", "--iops", "3000", "--throughput-mib-s", "125")
    where = ("--account", "111122223333", "--region", "eu-west-1", "--host-type", "r5.large")
    done = plimsoll(tmp_path, "benchmark", "place", "--job", "aws-hdd", "--as", "mine", *QUICK, *told, *where)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "plimsoll-runs" / "measured" / "mine.yaml").read_text(encoding="utf-8")
    campaign = yaml.safe_load(written)
    assert (campaign["provider"], campaign["account"], campaign["region"]) == ("aws", "111122223333", "eu-west-1")
    assert campaign["systems"]["mine"]["spec"] == {
        "type": "gp3", "size_gib": 100, "iops": 3000, "throughput_mib_s": 125
    }  # fmt: skip
    assert campaign["host"]["type"] == "r5.large"
    assert os.uname().nodename not in written
    assert str(place) not in written


@pytest.mark.needs("fio", "loop")
def test_a_job_on_an_empty_device_leaves_it_empty(tmp_path):
    with a_loop_device(tmp_path) as device:
        (tmp_path / "link").symlink_to(device)
        done = plimsoll(tmp_path, "benchmark", "link", "--job", "aws-ssd", "--as", "mine", *QUICK)
        assert done.returncode == 0, done.stderr
        assert f"on the empty device {device} (which link leads to)" in done.stdout
        assert not any(device.read_bytes())


@pytest.mark.needs("fio", "loop")
def test_a_device_that_holds_something_is_left_alone(tmp_path):
    with a_loop_device(tmp_path) as device:
        subprocess.run(["mkfs.ext4", "-q", str(device)], check=True)
        before = device.read_bytes()
        done = plimsoll(tmp_path, "benchmark", str(device), *QUICK)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"plimsoll: {device} has the signature of ext4" in done.stderr
        assert device.read_bytes() == before


def files_under(place: Path) -> list[Path]:
    return [found for found in place.rglob("*") if found.is_file()]


@pytest.mark.needs("fio")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_fio_and_removes_what_it_wrote(tmp_path, place, sign):
    for_ten_minutes = ("--job", "aws-hdd", "--runtime-s", "600", "--file-mib", "64", "--as", "mine", "--yes")
    running = subprocess.Popen(
        command("benchmark", "place", *for_ten_minutes), cwd=tmp_path, env=alone(), stdout=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 300
        while not (files_under(place) and working_in(place)):
            assert running.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        running.send_signal(sign)
        said, _ = running.communicate(timeout=300)
    finally:
        running.kill()
    assert running.returncode == 130
    assert "interrupted: fio is stopped, and what it wrote is removed" in said
    assert list(place.iterdir()) == []
    assert working_in(place) == []
    assert not (tmp_path / "plimsoll-runs").exists()


@pytest.mark.needs("fio")
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--job", "sweeep"), "there is no job sweeep: choose one of aws-hdd"),
        (("--max-minutes", "10"), "takes 57.0 minutes, and 10 are allowed: shorten its sections with --runtime-s"),
        (("--max-gib", "4"), "writes to 16.0 GiB, and 4 are allowed: take smaller files with --file-mib"),
        (("--iops", "3000"), "mean nothing without the volume's type: add --type"),
        (("--type", "gp9", *QUICK), "there is no volume type gp9 in aws"),
        (("--region", "eu-west-1", *QUICK), "give both or neither"),
        (("--as", "../up", *QUICK), "'../up' is no name for a campaign"),
        (("--as", "gp2-1tb", *QUICK), "there is an envelope gp2-1tb already: choose another name with --as"),
        (QUICK[:-1], "there is no terminal to ask for consent: add --yes"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_written(tmp_path, place, words, reason):
    done = plimsoll(tmp_path, "benchmark", "place", *words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert list(place.iterdir()) == []


@pytest.mark.needs("loop")
def test_a_directory_without_room_is_refused(tmp_path, place):
    with a_loop_device(tmp_path, mib=1200) as device:
        subprocess.run(["mkfs.ext4", "-q", str(device)], check=True)
        subprocess.run(["mount", str(device), str(place)], check=True)
        try:
            done = plimsoll(tmp_path, "benchmark", "place", *QUICK)
        finally:
            subprocess.run(["umount", str(place)], check=True)
    assert done.returncode == 2
    assert f"{place} can spare 0.0 GiB" in done.stderr


def test_a_missing_fio_is_told_with_how_to_install_it(tmp_path, place):
    done = plimsoll(tmp_path, "benchmark", "place", *QUICK, PATH=str(tmp_path))
    assert done.returncode == 3
    assert "plimsoll: fio is not installed" in done.stderr
    assert "apt-get install fio" in done.stderr


def climbing(*measurements):
    return list(at_the_edge(fitted(measurements).measurements))


def test_a_throughput_that_still_rises_at_the_largest_size_is_no_maximum():
    runs = [a_run("randwrite", size, 1_000) for size in (4, 64, 512, 1024)]
    assert climbing(*runs) == [
        "randwrite: MiB/s still climbing at 1,024 KiB (1,000), the last size: that is no maximum, so measure beyond it"
    ]


def test_iops_that_still_rise_at_the_smallest_size_are_no_maximum():
    runs = [a_run("randread", size, 100 * 1024 / size) for size in (4, 8, 16)]
    assert climbing(*runs) == [
        "randread: IOPS still climbing at 4 KiB (25,600), the last size: that is no maximum, so measure beyond it"
    ]


def test_a_roofline_with_both_its_roofs_has_nothing_to_climb():
    assert climbing(*a_sweep(3_000, 125)) == []


def test_a_single_size_climbs_nowhere():
    assert climbing(a_run("randread", 16, 3_000)) == []
