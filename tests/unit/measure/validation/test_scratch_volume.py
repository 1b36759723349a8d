"""No sequence of faults leaks a scratch volume: it is gone afterwards, or a later sweep finds and deletes it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.errors import PlimsollError, Throttled
from plimsoll.model.task import ScratchOrder
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import BenchHost, Target
from plimsoll_measure.validation.scratch_volume import sweep_scratch_volumes
from tests.bench_faults import faults_of
from tests.builders import a_host
from tests.in_memory.bench import MemoryBench
from tests.in_memory.faults import Fault
from tests.in_memory.ports import MemoryClock
from tests.profiles import examples
from tests.scratch_block import scratch_volume

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PLACE = Target(account="111111111111", region="us-east-1")
HOST = BenchHost(host=a_host(), account=PLACE.account, region=PLACE.region, zone="us-east-1a")
ORDER = ScratchOrder(
    validation_id="v-1",
    account=PLACE.account,
    region=PLACE.region,
    zone="us-east-1a",
    spec=VolumeSpec(type="gp3", size_gib=100, iops=3000, throughput_mib_s=125),
    deadline=NOW + timedelta(hours=4),
)


class Time:
    """A clock that pauses move; the pause with that number is interrupted."""

    def __init__(self, interrupted_at=None):
        self.clock = MemoryClock(time=NOW)
        self.pauses = 0
        self.interrupted_at = interrupted_at

    def pause(self, seconds):
        self.pauses += 1
        self.clock.time += timedelta(seconds=seconds)
        if self.pauses == self.interrupted_at:
            raise KeyboardInterrupt

    @property
    def patience(self):
        return BenchPatience(now=self.clock.now, pause=self.pause, every_s=5, create_s=60, attach_s=60, detach_s=60)


def a_bench(time, *faults, looks=1):
    return MemoryBench(given=[HOST], measure=lambda _spec, _task: "", clock=time.clock, looks=looks, faults=faults)


def used(bench, time, inside=lambda volume_id: None, left=None):
    left = [] if left is None else left
    with scratch_volume(ORDER, HOST, PLACE, bench=bench, patience=time.patience, left=left.append) as volume_id:
        inside(volume_id)
    return left


def settled(bench):
    """What exists once everything that was begun has come to its end."""
    for _ in range(50):
        bench.scratch(PLACE)
    return bench.left


def swept(bench, time):
    time.clock.time = ORDER.deadline + timedelta(hours=1)
    time.interrupted_at = None
    return list(
        sweep_scratch_volumes([PLACE], time.clock.now(), bench_at=lambda _target: bench, patience=time.patience)
    )


def test_the_volume_is_attached_inside_and_gone_afterwards():
    time = Time()
    bench = a_bench(time)
    seen = []
    assert not used(bench, time, lambda volume_id: seen.extend(bench.scratch(PLACE, volume_id=volume_id)))
    assert (seen[0].attached_to, seen[0].attachment) == (HOST.host.id, "attached")
    assert not settled(bench)


def test_it_is_gone_after_an_error_and_after_ctrl_c_inside():
    for raised in (ValueError, KeyboardInterrupt):
        time = Time()
        bench = a_bench(time)

        def inside(_volume_id, raised=raised):
            raise raised

        with pytest.raises(raised):
            used(bench, time, inside)
        assert not settled(bench)


def test_a_volume_that_was_made_by_a_call_that_failed_is_deleted_too():
    time = Time()
    bench = a_bench(time, Fault(step="create", at=0, after=True, error=Throttled("no answer")))
    with pytest.raises(Throttled):
        used(bench, time)
    assert bench.calls["delete"] >= 1
    assert not settled(bench)


def test_an_attachment_that_never_completes_ends_in_a_sentence_and_nothing_is_left():
    time = Time()
    bench = a_bench(time, Fault(step="attach", at=0, hangs=True))
    with pytest.raises(PlimsollError, match=f"was not attached to {HOST.host.id} within 60 s"):
        used(bench, time)
    assert not settled(bench)


def test_a_detach_that_hangs_is_forced():
    time = Time()
    bench = a_bench(time, Fault(step="detach", at=0, hangs=True))
    assert not used(bench, time)
    assert bench.calls["detach"] == 2
    assert not settled(bench)


def test_a_volume_that_will_not_go_is_told_and_is_the_sweeps():
    time = Time()
    refusals = [Fault(step="delete", at=at, error=Throttled("later")) for at in range(4)]
    bench = a_bench(time, *refusals)
    (left,) = used(bench, time)
    assert left.volume_id == bench.left[0].id
    assert "is left behind: later" in left.text
    assert "`plimsoll sweep` deletes it from 2026-11-21 16:00 UTC on" in left.text
    assert all(found.deleted for found in swept(bench, time))
    assert not settled(bench)


def test_a_process_that_was_killed_leaves_what_the_sweep_finds_at_its_deadline_and_not_before():
    time = Time()
    bench = a_bench(time)
    bench.create(ORDER)
    settled(bench)
    early = list(sweep_scratch_volumes([PLACE], NOW, bench_at=lambda _target: bench, patience=time.patience))
    assert [found.deleted for found in early] == [False]
    assert [found.deleted for found in swept(bench, time)] == [True]
    assert not settled(bench)


SCRATCH_STEPS = ("create", "scratch", "attach", "detach", "delete")


@settings(max_examples=examples(500))
@given(
    faults_of(SCRATCH_STEPS, most=12),
    st.integers(1, 4),
    st.none() | st.integers(1, 40),
    st.sampled_from([None, KeyboardInterrupt, OSError]),
)
def test_whatever_fails_hangs_or_interrupts_all_that_is_left_goes_with_the_next_sweep(
    given_faults, looks, interrupted_at, raised
):
    time = Time(interrupted_at)
    bench = a_bench(time, *given_faults, looks=looks)
    told = []

    def inside(_volume_id):
        if raised is not None:
            raise raised

    interrupted = False
    try:
        used(bench, time, inside, told)
    except KeyboardInterrupt:
        interrupted = True
    except (PlimsollError, OSError):
        interrupted = False
    going = {"deleting"}
    remaining = {volume.id for volume in bench.left if volume.state not in going}
    unseen = any(fault.unseen for fault in given_faults)
    assert not remaining or told or interrupted or unseen, "a volume is left without a word"
    assert all(volume.deadline == ORDER.deadline for volume in bench.left)
    recovered = a_bench(time)
    recovered._kept = bench._kept
    settled(recovered)
    swept(recovered, time)
    stuck_in_the_cloud = {volume.id for volume in recovered.left if volume.state in {"creating", "deleting"}}
    assert {volume.id for volume in settled(recovered)} <= stuck_in_the_cloud
