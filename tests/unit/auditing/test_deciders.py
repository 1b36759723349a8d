"""Processes that decide give the answers of this one, whatever becomes of them."""

import io
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plimsoll.auditing.at_once import ENDED, ENOUGH_VOLUMES, LEAST_BATCH, Deciders
from plimsoll.auditing.audit import run_audit
from plimsoll.auditing.ports import AuditPorts
from plimsoll.model.errors import AccessDenied, BadAnswer, CloudError
from plimsoll.outcomes import Answered, FailedVolume
from plimsoll.reading.window import Window
from plimsoll.reports.answers import answered_record
from tests.builders import NOW, TYPES, US_EAST_1, a_host, a_policy, a_stripe_set, a_tariff, a_volume, some_sums
from tests.in_memory.ports import MemoryCatalog, MemoryInventory, MemoryMetrics, MemoryPrices

POLICY = a_policy(lookback_days=2)
WINDOW = Window.before(NOW, days=2)
MINUTES = WINDOW.buckets(60)
DENIED = AccessDenied("cannot read metrics: AccessDenied. Allow the action.")
ILL = BadAnswer("a value is no number: ask again later.", raw='{"Values":["x"]}')
FEW = 200
"""Volumes that are enough here: what becomes of a process does not depend on how many there are."""

SPECS = (("gp2", 100, {}), ("gp2", 1000, {}), ("gp3", 500, {"iops": 16_000, "throughput_mib_s": 500}))


def some_minutes(seed):
    """Quiet with a few hot minutes, some of them at the ceiling, and a gap in every third."""
    rng = np.random.default_rng(seed)
    ops = 60 * rng.uniform(1, 200) * (0.5 + rng.random(MINUTES))
    ops[rng.integers(0, MINUTES, 20)] = 60 * rng.choice([300.0, 3000.0, 9000.0])
    if seed % 3 == 0:
        ops[100:300] = np.nan
    return some_sums(start_s=WINDOW.start_s, write_ops=ops, write_bytes=ops * 16_384, buckets=MINUTES)


def a_fleet(count, broken=None):
    """Volumes of some kinds, two to a host, of which two are a stripe set."""
    volumes = []
    for number in range(count):
        kind, size_gib, figures = SPECS[number % len(SPECS)]
        host = a_host(id=f"i-{number // 2}")
        volumes.append(a_volume(kind, size_gib, **figures, id=f"vol-{number}", on=host))
    stripes = a_stripe_set("vol-0", "vol-1", host_id="i-0")
    return AuditPorts(
        query_cost=a_tariff(),
        inventory=MemoryInventory(given=volumes),
        metrics=MemoryMetrics(
            given={volume.id: some_minutes(number) for number, volume in enumerate(volumes)}, broken=broken or {}
        ),
        prices=MemoryPrices(books={"us-east-1": US_EAST_1}),
        catalog=MemoryCatalog(types=TYPES, provider="aws"),
        envelopes=(),
        stripes=[stripes],
    )


def told(outcome):
    """All that is told of an outcome."""
    return answered_record(outcome).model_dump_json() if isinstance(outcome, Answered) else outcome


def answers(ports, processes=0):
    with Deciders(processes, enough=FEW) as deciders:
        found = list(run_audit(replace(ports, deciders=deciders), POLICY, NOW))
        running = deciders.begin(0)
    volumes = sorted((told(one) for one in found if isinstance(one, Answered | FailedVolume)), key=str)
    return volumes, running


def test_processes_answer_as_this_one_does():
    ports = a_fleet(FEW, broken={"vol-7": DENIED, "vol-9": ILL})
    here, none = answers(ports)
    there, two = answers(ports, processes=2)
    assert there == here
    assert len(here) == FEW
    assert (none, two) == (0, 2)
    failed = {one.volume_id: one for one in there if isinstance(one, FailedVolume)}
    assert failed["vol-9"].raw == ILL.raw


def test_few_volumes_start_no_process():
    with Deciders(2) as deciders:
        assert deciders.begin(ENOUGH_VOLUMES - 1) == 0
        assert deciders.begin(1) == 2
    assert ENOUGH_VOLUMES == 1_000


def test_one_process_is_never_started_alone(monkeypatch):
    with Deciders(1) as deciders:
        assert deciders.begin(ENOUGH_VOLUMES) == 0
    start, started = subprocess.Popen, []

    def start_one(*given, **named):
        if started:
            raise BlockingIOError("no further process: the limit of the user is reached")
        started.append(start(*given, **named))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start_one)
    with Deciders(3) as deciders:
        with pytest.warns(UserWarning, match="only 1 of 3 processes"):
            begun = deciders.begin(ENOUGH_VOLUMES)
        assert (begun, deciders.begin(0)) == (0, 0)
        assert started[0].returncode is not None


linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc")


class Striking(MemoryMetrics):
    """Metrics in memory; what strikes does so when they are first read."""

    strike = staticmethod(lambda: None)

    def read(self, asks):
        strike, self.strike = self.strike, lambda: None
        strike()
        return MemoryMetrics.read(self, asks)


def children(pid=None):
    """The processes that one has started, by default this one."""
    pid = pid or os.getpid()
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@linux
def test_a_process_that_is_killed_costs_no_answer():
    ports = a_fleet(FEW)
    here, _ = answers(ports)
    before = set(children())
    metrics = Striking(given=ports.metrics.given)
    metrics.strike = lambda: os.kill(min(set(children()) - before), signal.SIGKILL)
    there, running = answers(replace(ports, metrics=metrics), processes=2)
    assert there == here
    assert running < 2


@linux
@pytest.mark.parametrize("at", ["its first word", "an answer to it"])
def test_a_process_that_stops_is_ended_like_one_that_dies(at):
    ports = a_fleet(FEW)
    here, _ = answers(ports)
    before = set(children())
    metrics = Striking(given=ports.metrics.given)

    def stop():
        os.kill(min(set(children()) - before), signal.SIGSTOP)

    if at == "an answer to it":
        metrics.strike = stop
    with Deciders(2, patience_s=10 if at == "an answer to it" else 1) as deciders:
        deciders.begin(ENOUGH_VOLUMES)
        if at == "its first word":
            stop()
        there = list(run_audit(replace(ports, metrics=metrics, deciders=deciders), POLICY, NOW))
        running = deciders.begin(0)
    assert sorted((told(one) for one in there if isinstance(one, Answered)), key=str) == here
    assert running < 2
    assert set(children()) == before


class Broken(MemoryMetrics):
    """Metrics whose reading is a fault of ours."""

    def read(self, asks):
        raise ZeroDivisionError(asks[0].volume.id)


def test_a_fault_while_metrics_are_read_is_not_taken_for_an_answer():
    with pytest.raises(ZeroDivisionError):
        answers(replace(a_fleet(FEW), metrics=Broken(given={})), processes=2)


class Odd(MemoryMetrics):
    """Metrics of which nothing can be decided: no series is as long as was asked."""

    def read(self, asks):
        return [{"write_ops": np.zeros(7)} for _ in asks]


def test_a_fault_of_a_decision_is_told_here():
    with pytest.raises(IndexError) as found:
        answers(replace(a_fleet(FEW), metrics=Odd(given={})), processes=2)
    assert any("refine" in note for note in found.value.__notes__)


@linux
def test_a_process_has_no_credentials(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    before = set(children())
    with Deciders(2) as deciders:
        deciders.begin(ENOUGH_VOLUMES)
        started = set(children()) - before
        assert len(started) == 2
        assert not any(b"secret" in Path(f"/proc/{child}/environ").read_bytes() for child in started)


@linux
def test_a_process_ends_with_the_audit():
    before = set(children())
    with Deciders(2) as deciders:
        deciders.begin(ENOUGH_VOLUMES)
        assert len(set(children()) - before) == 2
    assert set(children()) == before


ALONE = """
import sys, time
from plimsoll.auditing.at_once import ENOUGH_VOLUMES, Deciders
Deciders(2).begin(ENOUGH_VOLUMES)
print("begun", flush=True)
time.sleep(60)
"""


@linux
def test_a_process_ends_where_the_audit_is_killed():
    with subprocess.Popen([sys.executable, "-c", ALONE], stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"begun\n"
        started = children(parent.pid)
        parent.kill()
    assert len(started) == 2
    for _ in range(300):
        lines = [Path(f"/proc/{child}/cmdline") for child in started]
        if not any(line.exists() and line.read_bytes() for line in lines):
            return
        time.sleep(0.1)
    pytest.fail("they still run, and nobody will ever ask them")


def test_where_no_process_can_be_started_all_is_decided_here(monkeypatch):
    def refuse(*_given, **_named):
        raise BlockingIOError("no further process: the limit of the user is reached")

    ports = a_fleet(FEW)
    here, _ = answers(ports)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.warns(UserWarning, match="only 0 of 2 processes"):
        there, running = answers(ports, processes=2)
    assert (there, running) == (here, 0)


class Cut(io.BytesIO):
    """A pipe whose other end goes away in the middle of an answer."""

    def __init__(self):
        super().__init__(pickle.dumps(("done", dict.fromkeys(range(1000))))[:-100])


def test_an_answer_that_is_cut_off_is_the_end_of_a_process():
    with pytest.raises(ENDED):
        pickle.load(Cut())


def every_error(kind=CloudError):
    yield kind
    for one in kind.__subclasses__():
        yield from every_error(one)


@pytest.mark.parametrize("kind", list(every_error()))
def test_every_error_of_a_cloud_comes_through_a_pipe(kind):
    error = kind("a sentence.", raw="an answer") if issubclass(kind, BadAnswer) else kind("a sentence.")
    found = pickle.loads(pickle.dumps(error))
    assert (type(found), str(found), vars(found)) == (kind, "a sentence.", vars(error))


def test_small_batches_are_decided_here():
    with Deciders(2) as deciders:
        deciders.begin(ENOUGH_VOLUMES)
        ports = replace(a_fleet(LEAST_BATCH - 1), deciders=deciders)
        assert len([one for one in run_audit(ports, POLICY, NOW) if isinstance(one, Answered)]) == LEAST_BATCH - 1
