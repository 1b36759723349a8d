"""`plimsoll probe`: hosts look at their volumes once a second, what they saw is kept, and nothing is asked twice."""

import json
import re
import signal
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cloud_simulator.running import running
from plimsoll.clouds.local_store import FolderStore
from plimsoll.clouds.probe_book import ProbeBook
from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import BadInput, CloudError, DiskFull, NotMeasured, Throttled
from plimsoll.model.task import TaskEnd, TaskOutcome
from plimsoll.ports import BenchHost
from plimsoll_measure.probe import (
    MOST_SECONDS,
    PROBES,
    HostProbe,
    NotProbed,
    ProbeContext,
    Probed,
    ProbeStep,
    cancel,
    group_by_host,
    probe_hosts,
)
from tests.builders import NOW, a_host, a_volume
from tests.in_memory.bench import MemoryBench
from tests.in_memory.faults import Fault
from tests.in_memory.ports import MemoryClock, MemoryMetrics

from .commands import command, environment, plimsoll
from .test_audit import a_world
from .test_validate import named

ONE, TWO = a_host(id="i-1"), a_host(id="i-2")


def told_of(volume_id, *, iops=8000.0, seconds=60):
    """What a host with EBS's statistics tells of a volume that had one busy second."""
    return {
        "volume": volume_id,
        "device": "/dev/nvme1n1",
        "source": "nvme",
        "seconds": seconds,
        "missed_s": 0,
        "restarts": 0,
        "operations": 9000,
        "bytes": 9000 * 4096,
        "spent_us": 90_000,
        "peaks": {"iops": [iops, 1_800_000_030], "bytes_s": [iops * 4096, 1_800_000_030]},
        "ratio": 1.1,
        "bins": {"iops": [[-1, seconds - 1], [94, 1]], "bytes_s": [[-1, seconds - 1], [181, 1]]},
        "most_queue": 32,
        "mean_queue": 0.5,
        "exceeded": {"volume_iops": [700_000, 1], "host_iops": [0, 0]},
        "latency_us": [[[0, 1000, 990], [1000, 64_000, 10]], []],
    }


class Lab:
    def __init__(self, folder, *volumes, faults=(), ready=True, answer=None):
        self.clock = MemoryClock(time=NOW)
        self.folder, self.said, self.tasks = folder, [], []
        self.answer = answer or self.seen
        hosts = {host.id: host for volume in volumes for host in volume.hosts}
        first = volumes[0]
        self.bench = MemoryBench(
            given=[
                BenchHost(
                    host=host,
                    account=first.account,
                    region=first.region,
                    zone=first.zone,
                    ready=ready,
                    not_ready="" if ready else f"{host.id} is not managed by SSM: manage it.",
                )
                for host in hosts.values()
            ],
            measure=self.measured,
            clock=self.clock,
            looks=3,
            faults=faults,
        )
        self.ports = a_world(volumes, metrics=MemoryMetrics(given={}))
        self.book = ProbeBook(folder=folder)
        self.store = FolderStore(folder / "documents")

    def measured(self, _spec, task):
        self.tasks.append(task)
        return self.answer(task)

    def seen(self, task):
        volumes = [told_of(volume_id, seconds=task.seconds) for volume_id in task.volume_ids]
        told = {"plimsoll": 1, "mode": "probe", "began_s": 1_800_000_000, "volumes": volumes, "absent": []}
        return json.dumps(told, separators=(",", ":"))

    @property
    def context(self):
        def pause(seconds):
            self.clock.time += timedelta(seconds=seconds)

        patience = BenchPatience(now=self.clock.now, pause=pause, grace_s=60)
        return ProbeContext(bench=self.bench, store=self.store, book=self.book, patience=patience, say=self.said.append)

    def hosts(self, *volume_ids, seconds=60):
        return list(group_by_host(volume_ids, seconds, self.ports, self.clock.now()))

    def probe(self, *volume_ids, seconds=60):
        return list(probe_hosts(self.hosts(*volume_ids, seconds=seconds), self.context))


@pytest.fixture
def volumes():
    return [a_volume("gp3", 100, id=f"vol-{number:017x}", on=ONE if number < 2 else TWO) for number in range(3)]


@pytest.fixture
def lab(tmp_path, volumes):
    return Lab(tmp_path, *volumes)


def test_each_host_is_asked_once_for_all_its_volumes_and_what_it_saw_is_kept(lab, volumes):
    events = lab.probe(*(volume.id for volume in volumes))
    assert {event.line.seen.volume_id for event in events} == {volume.id for volume in volumes}
    assert sorted(len(task.volume_ids) for task in lab.tasks) == [1, 2]
    kept = lab.book.latest(volumes[0].id, volumes[0].account, volumes[0].region)
    assert kept.host_id == "i-1"
    assert kept.seen.iops.peak.rate == 8000
    assert kept.seen.exceeded_volume[Resource.IOPS].us == 700_000
    assert kept.seen.p99_read_us == 1000
    assert kept.seen.seconds_above(iops=3000, throughput_mib_s=125)[Resource.IOPS] == (1, 1)
    assert list(lab.store.keys("probes/")) == []


def test_what_was_interrupted_is_gone_on_with_and_asked_for_once(tmp_path, volumes):
    lab = Lab(tmp_path, *volumes, faults=[Fault(step="outcome", error=KeyboardInterrupt(), at=1)])
    with pytest.raises(KeyboardInterrupt):
        lab.probe(volumes[0].id)
    assert len(list(lab.store.keys("probes/"))) == 1
    (event,) = lab.probe(volumes[0].id)
    assert isinstance(event, Probed)
    assert lab.bench.calls["send"] == 1
    assert any("going on with i-1" in said for said in lab.said)


def test_reading_an_answer_again_keeps_it_once(lab, volumes):
    lab.probe(volumes[0].id)
    again = Lab(lab.folder, *volumes)
    again.probe(volumes[0].id)
    assert len(list(lab.book.lines())) == 1


def test_a_host_that_looks_at_other_volumes_says_until_when(lab, volumes):
    lab.bench.looks = 10**6
    running_ = probe_hosts(lab.hosts(volumes[0].id), replace_pause(lab))
    with pytest.raises(StopLooking):
        next(running_)
    (event,) = lab.probe(volumes[1].id)
    assert isinstance(event, NotProbed)
    assert f"reads {volumes[0].id} until" in str(event.error)


class StopLooking(Exception):
    pass


def replace_pause(lab):
    def stop(_seconds):
        raise StopLooking

    return replace(lab.context, patience=replace(lab.context.patience, pause=stop))


def test_what_is_under_way_can_be_ended(lab, volumes):
    lab.bench.looks = 10**6
    with pytest.raises(StopLooking):
        next(probe_hosts(lab.hosts(volumes[0].id), replace_pause(lab)))
    (ended,) = cancel(lab.hosts(volumes[0].id), lab.context)
    assert ended.volume_ids == (volumes[0].id,)
    assert lab.bench.calls["cancel"] == 1
    assert list(lab.store.keys("probes/")) == []
    assert list(cancel(lab.hosts(volumes[0].id), lab.context)) == []


def test_a_volume_without_one_known_host_and_one_that_is_not_there_cost_themselves_alone(tmp_path, volumes):
    loose = a_volume("gp3", 10, id="vol-0aaaaaaaaaaaaaaaa", on=())
    lab = Lab(tmp_path, *volumes, loose)
    found = lab.hosts(volumes[0].id, loose.id, "vol-0ffffffffffffffff")
    wrong = [one for one in found if isinstance(one, NotProbed)]
    assert [type(one.error) for one in wrong] == [NotMeasured, BadInput]
    assert [one.volume_ids for one in found if isinstance(one, HostProbe)] == [(volumes[0].id,)]


@pytest.mark.parametrize("seconds", [0, MOST_SECONDS + 1])
def test_a_probe_is_bounded_in_time(lab, volumes, seconds):
    with pytest.raises(BadInput, match="--for"):
        lab.hosts(volumes[0].id, seconds=seconds)


def test_a_host_that_takes_no_commands_is_asked_for_nothing(tmp_path, volumes):
    lab = Lab(tmp_path, *volumes, ready=False)
    (event,) = lab.probe(volumes[0].id)
    assert "is not managed by SSM" in str(event.error)
    assert "send" not in lab.bench.calls


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (TaskOutcome(end=TaskEnd.FAILED, output="", reason="exit code 1"), "failed"),
        (TaskOutcome(end=TaskEnd.UNDELIVERED, output=""), "could not be delivered"),
        ('{"plimsoll":1,"error":{"stage":"python","text":"the host has no Python"}}', "Install python3"),
        ('{"plimsoll":1,"mode":"probe","began_s":1,"volumes":[],"absent":["vol-00000000000000000"]}', "saw no second"),
    ],
)
def test_what_a_host_did_not_see_is_one_sentence_and_can_be_asked_again(tmp_path, volumes, outcome, says):
    lab = Lab(tmp_path, *volumes, answer=lambda _task: outcome)
    (event,) = lab.probe(volumes[0].id)
    assert says in str(event.error)
    assert list(lab.store.keys("probes/")) == []


def test_a_host_that_fails_at_once_can_be_asked_again(tmp_path, volumes):
    lab = Lab(tmp_path, *volumes, answer=lambda _task: TaskOutcome(end=TaskEnd.FAILED, output="", reason="exit code 1"))
    lab.bench.looks = 0
    (event,) = lab.probe(volumes[0].id)
    assert isinstance(event.error, NotMeasured)
    assert list(lab.store.keys("probes/")) == []


def test_what_a_host_saw_waits_for_a_book_that_has_no_room(lab, volumes, monkeypatch):
    def refuse(_book, _line):
        raise DiskFull("no room.")

    with monkeypatch.context() as full:
        full.setattr(ProbeBook, "add", refuse)
        (event,) = lab.probe(volumes[0].id)
        assert isinstance(event.error, DiskFull)
    (again,) = lab.probe(volumes[0].id)
    assert isinstance(again, Probed)
    assert lab.bench.calls["send"] == 1
    assert list(lab.store.keys("probes/")) == []


@pytest.mark.parametrize("step", [ProbeStep.LOOK, ProbeStep.KEEP])
def test_a_probe_whose_process_was_killed_before_a_step_is_gone_on_with(step, lab, volumes):
    (probe,) = lab.hosts(volumes[0].id)
    while probe.next is not step:
        probe = PROBES.take(probe, lab.context)
    (event,) = lab.probe(volumes[0].id)
    assert event.line.seen.volume_id == volumes[0].id
    assert lab.bench.calls["send"] == 1
    assert list(lab.store.keys("probes/")) == []


def test_a_cancelled_command_that_told_what_it_saw_until_then_is_kept(tmp_path, volumes):
    lab = Lab(tmp_path, *volumes)
    lab.answer = lambda task: TaskOutcome(end=TaskEnd.CANCELLED, output=lab.seen(task))
    (event,) = lab.probe(volumes[0].id)
    assert event.line.seen.seconds == 60


def test_looks_that_fail_are_made_again_and_a_cloud_that_is_away_loses_nothing(tmp_path, volumes):
    lab = Lab(tmp_path, *volumes, faults=[Fault(step="outcome", error=Throttled("slow."), times=2)])
    (event,) = lab.probe(volumes[0].id)
    assert isinstance(event, Probed)
    away = Lab(tmp_path / "away", *volumes, faults=[Fault(step="outcome", error=Throttled("slow."), times=5)])
    (event,) = away.probe(volumes[0].id)
    assert isinstance(event.error, CloudError)
    (again,) = away.probe(volumes[0].id)
    assert isinstance(again, Probed)
    assert away.bench.calls["send"] == 1


@pytest.mark.needs("fio", "loop")
def test_a_burst_on_a_hosts_own_device_is_seen_by_the_command_and_explain_shows_it(tmp_path):
    with running(datetime.now(UTC), volumes=120, pace_s=0.1) as organization:
        volume, fast = named(organization, "web"), {"PLIMSOLL_POLL_S": "0.2"}
        asked = ("probe", volume, "--for", "15s", "--region", "us-east-1")
        interrupted = subprocess.Popen(
            command(*asked), cwd=tmp_path, env=environment(organization, **fast), stdout=subprocess.PIPE, text=True
        )
        device = _device(volume)
        interrupted.send_signal(signal.SIGINT)
        said, _ = interrupted.communicate(timeout=120)
        assert interrupted.returncode == 130
        assert "The hosts go on reading" in said
        job = ["fio", "--name=x", f"--filename={device}", "--ioengine=libaio", "--direct=1", "--rw=randread"]
        paced = ["--bs=16k", "--iodepth=4", "--time_based", "--runtime=3", "--rate_iops=400", "--output-format=json"]
        done = subprocess.run([*job, *paced], capture_output=True, text=True, check=True)
        read = json.loads(done.stdout)["jobs"][0]["read"]["iops"]
        done = plimsoll(organization, tmp_path, *asked, **fast)
        assert done.returncode == 0
        assert "going on with i-" in done.stdout
        (peak,) = re.findall(r"busiest second: ([\d,]+) IOPS", done.stdout)
        assert float(peak.replace(",", "")) >= 0.9 * read
        told = plimsoll(
            organization, tmp_path, "explain", volume, "--region", "us-east-1", "--set", "lookback_days=2", "--all"
        )
        assert f"busiest second: {peak} IOPS" in told.stdout
        assert "seen by the second: " in told.stdout
        stopped = plimsoll(organization, tmp_path, *asked, "--stop", **fast)
        assert (stopped.returncode, "is under way" in stopped.stdout) == (0, True)
        unknown = plimsoll(organization, tmp_path, "probe", "no-such-volume", "--region", "us-east-1")
        assert (unknown.returncode, unknown.stderr.count("no-such-volume"), unknown.stdout) == (2, 1, "")


def _device(volume_id):
    """The device of a simulated volume, once its host looks at it."""
    serial, end = volume_id.replace("-", ""), time.monotonic() + 120
    while time.monotonic() < end:
        for link in Path("/dev/disk/by-id").glob(f"*{serial}"):
            return link.resolve()
        time.sleep(0.1)
    raise AssertionError(volume_id)
