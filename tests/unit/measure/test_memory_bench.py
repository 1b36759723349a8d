"""The bench in memory fails where it is told to, hangs where it is told to, and answers as volumes are published."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.errors import CloudError, NotMeasured, Throttled, Unreachable
from plimsoll.model.task import ScratchOrder, Task, TaskEnd, TaskMode
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import BenchHost, Target
from plimsoll_measure.bench.answer import read_bench_answer
from tests.builders import NOW, TYPES, a_host, a_spec
from tests.in_memory.answer import AsPublished
from tests.in_memory.bench import MemoryBench
from tests.in_memory.faults import Fault
from tests.in_memory.ports import MemoryClock

HOME = Target(account="111122223333", region="us-east-1")
LOST = Unreachable("cannot reach us-east-1: the answer was lost.")


def an_order(spec: VolumeSpec | None = None, **fields) -> ScratchOrder:
    return ScratchOrder(
        **{
            "validation_id": "v-1",
            "account": HOME.account,
            "region": HOME.region,
            "zone": "us-east-1a",
            "spec": spec or a_spec("gp3", 100),
            "deadline": NOW,
            **fields,
        }
    )


def a_bench(*faults: Fault, **fields) -> MemoryBench:
    host = BenchHost(host=a_host(), account=HOME.account, region=HOME.region, zone="us-east-1a")
    given_fields = {"given": [host], "measure": AsPublished(types=TYPES), "clock": MemoryClock(time=NOW), **fields}
    return MemoryBench(**given_fields, faults=faults)


def look(bench):
    (found,) = bench.scratch(HOME)
    return found


def attached(bench, order=None):
    """A volume that is attached to the host."""
    made = bench.create(order or an_order())
    while look(bench).state != "available":
        pass
    bench.attach(HOME, made, "i-1")
    while look(bench).attachment != "attached":
        pass
    return made


def answered(bench, made, job, mode=TaskMode.DEVICE):
    command = bench.send(HOME, "i-1", Task(mode=mode, volume_id=made, job=job))
    while (outcome := bench.outcome(HOME, "i-1", command)) is None:
        pass
    return outcome


def test_an_error_before_creation_makes_nothing():
    bench = a_bench(Fault(step="create", error=LOST))
    with pytest.raises(Unreachable):
        bench.create(an_order())
    assert bench.left == []


def test_an_error_after_creation_leaves_a_volume_that_the_same_order_finds():
    bench = a_bench(Fault(step="create", error=LOST, after=True))
    with pytest.raises(Unreachable):
        bench.create(an_order())
    (leaked,) = bench.left
    assert bench.create(an_order()) == leaked.id
    assert len(bench.left) == 1


def test_ctrl_c_can_come_between_any_two_steps():
    bench = a_bench(Fault(step="attach", error=KeyboardInterrupt(), after=True))
    made = bench.create(an_order())
    bench.scratch(HOME)
    with pytest.raises(KeyboardInterrupt):
        bench.attach(HOME, made, "i-1")
    assert look(bench).attached_to == "i-1"


@given(at=st.integers(0, 4), times=st.integers(1, 4), calls=st.integers(1, 10))
def test_a_fault_strikes_exactly_its_own_calls(at, times, calls):
    bench = a_bench(Fault(step="scratch", at=at, times=times, error=Throttled("slower.")))
    failed = []
    for number in range(calls):
        try:
            bench.scratch(HOME)
        except Throttled:
            failed.append(number)
    assert failed == [number for number in range(calls) if at <= number < at + times]
    assert bench.calls["scratch"] == calls


def test_an_attachment_that_hangs_is_ended_by_detaching():
    bench = a_bench(Fault(step="attach", hangs=True))
    made = bench.create(an_order())
    bench.scratch(HOME)
    bench.attach(HOME, made, "i-1")
    assert {look(bench).attachment for _ in range(9)} == {"attaching"}
    bench.detach(HOME, made)
    assert [look(bench).attachment for _ in range(2)] == ["detaching", None]


def test_a_detachment_that_hangs_is_ended_by_force_alone():
    bench = a_bench(Fault(step="detach", hangs=True))
    made = attached(bench)
    bench.detach(HOME, made)
    bench.detach(HOME, made)
    assert {look(bench).attachment for _ in range(9)} == {"detaching"}
    bench.detach(HOME, made, force=True)
    assert [look(bench).attachment for _ in range(2)] == ["detaching", None]


def test_a_volume_that_is_not_seen_yet_exists_all_the_same():
    bench = a_bench(Fault(step="create", unseen=2))
    made = bench.create(an_order())
    bench.delete(HOME, made)
    assert [len(bench.scratch(HOME, volume_id=made)) for _ in range(3)] == [0, 0, 1]
    assert [found.id for found in bench.left] == [made]


def test_a_command_whose_agent_died_never_ends_and_cannot_be_cancelled():
    bench = a_bench(Fault(step="send", hangs=True))
    command = bench.send(HOME, "i-1", Task(mode=TaskMode.INSPECT))
    bench.cancel(HOME, "i-1", command)
    assert {bench.outcome(HOME, "i-1", command) for _ in range(9)} == {None}


def test_a_raw_device_is_measured_only_where_it_is_attached():
    bench = a_bench()
    outcome = answered(bench, bench.create(an_order()), "[a]\n")
    assert outcome.end is TaskEnd.FAILED
    assert json.loads(outcome.output)["error"]["stage"] == "find-device"


def test_a_copy_needs_a_source_that_exists():
    bench = a_bench(fleet={"vol-1": a_spec("gp2", 100)})
    assert bench.create(an_order(source="vol-1"))
    with pytest.raises(CloudError, match="vol-2"):
        bench.create(an_order(source="vol-2"))


@given(
    kind=st.sampled_from(["gp2", "gp3", "io1", "io2", "st1"]),
    size_gib=st.integers(125, 4000),
    size_kib=st.sampled_from([4, 8, 16, 64, 256, 1024]),
    read_pct=st.integers(0, 100),
)
def test_unbounded_it_delivers_the_published_ceiling(kind, size_gib, size_kib, read_pct):
    spec = a_spec(kind, size_gib)
    bench = a_bench()
    job = f"[global]\nruntime=30s\ntime_based\n[all]\nrw=randrw\nrwmixread={read_pct}\nbs={size_kib}k\niodepth=64\n"
    (job_found,) = json.loads(answered(bench, attached(bench, an_order(spec)), job).output)["fio"]["jobs"]
    iops = job_found["read"]["iops"] + job_found["write"]["iops"]
    assert iops == pytest.approx(TYPES[kind].ceiling(spec).iops_at(size_kib))
    assert job_found["read"]["bw_bytes"] == pytest.approx(job_found["read"]["iops"] * size_kib * 1024, abs=1)


def test_paced_it_delivers_its_rate_and_no_more_than_the_ceiling():
    bench = a_bench()
    job = "[low]\nrw=randrw\nrwmixread=70\nrate_iops=700,300\n[high]\nrw=randread\nrate_iops=9000\n"
    job += "[wide]\nrw=write\nbs=256k\nrate=64m\n"
    low, high, wide = json.loads(answered(bench, attached(bench), job).output)["fio"]["jobs"]
    assert (low["read"]["iops"], low["write"]["iops"]) == pytest.approx((700, 300))
    assert high["read"]["iops"] == pytest.approx(3000)
    assert wide["write"]["bw_bytes"] == pytest.approx(64 * 2**20, abs=1)


def test_mixed_sizes_count_by_their_share():
    bench = a_bench()
    job = "[mix]\nrw=randrw\nrwmixread=50\nbssplit=4k/50:12k/50,256k/100\niodepth=8\n"
    (mix,) = json.loads(answered(bench, attached(bench), job).output)["fio"]["jobs"]
    assert mix["read"]["bw_bytes"] / mix["read"]["iops"] == pytest.approx(8 * 1024, rel=1e-3)
    assert mix["write"]["bw_bytes"] / mix["write"]["iops"] == pytest.approx(256 * 1024, rel=1e-3)
    assert mix["read"]["bw_bytes"] + mix["write"]["bw_bytes"] == pytest.approx(125 * 2**20, rel=1e-3)


def test_its_answers_are_read_as_those_of_a_host_are():
    bench = a_bench()
    made = attached(bench)
    answer = read_bench_answer(answered(bench, made, "[a]\nbs=4k\n").output)
    assert (answer.mode, answer.volume_id, answer.simulated) == ("device", made, True)
    assert json.loads(answer.fio)["jobs"][0]["jobname"] == "a"
    assert read_bench_answer(answered(bench, "", "", TaskMode.INSPECT).output).inspection is not None
    with pytest.raises(NotMeasured, match="find-device"):
        read_bench_answer(answered(bench, "vol-2", "[a]\n").output)
