"""A bench that could not have delivered gives no verdict: it is tried again, within a bound and the budget, and then
nothing was measured. A bench that was fit never hides a failure."""

import json

import pytest

from plimsoll.model.errors import BenchWasTheLimit, CloudError
from plimsoll_measure.bench.answer import MARK
from plimsoll_measure.runs import Budget
from plimsoll_measure.validate import ConcludedRun, RevisedAnswer, UnmeasuredRun
from plimsoll_measure.validation.concluding import BENCH_TRIES
from plimsoll_measure.verdict import BenchLimitCode
from tests.in_memory.faults import Fault

from .lab import Lab, the, work
from .stepping import Stepping

IDLE = {
    "cpus": 4,
    "slots": 6,
    "slot_s": 190,
    "waited_permille": 3,
    "queued_permille": 0,
    "stolen_permille": 0,
    "host_iops_exceeded_permille": None,
    "host_throughput_exceeded_permille": None,
    "other_iops": 2,
    "other_throughput_kib_s": 30,
    "engine": {"paced-iops": [400_000, 6_000_000]},
}


def a_load(delivered, **changes):
    return {**IDLE, **changes, "delivered": delivered}


def busy(delivered=0.6):
    return a_load(delivered, waited_permille=500)


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path, work_of={"vol-1": work(2_400.0, 100.0)})


def test_a_bench_that_is_busy_all_the_time_refutes_nothing_and_the_recommendation_stays(lab):
    lab.loads = [busy() for _ in range(BENCH_TRIES)]
    events = lab.validate()
    error = the(UnmeasuredRun, events).error
    assert isinstance(error, BenchWasTheLimit)
    assert error.codes == (BenchLimitCode.CPU,)
    assert not [event for event in events if isinstance(event, ConcludedRun)]
    decided = the(RevisedAnswer, events)
    assert decided.after.target == decided.before.target
    assert lab.bench.calls["create"] == BENCH_TRIES
    assert list(lab.book.lines()) == []
    assert lab.book.failed_measurements() == ()
    assert not lab.leaked


def test_a_bench_that_is_busy_once_is_tried_again_and_the_target_proved(lab):
    lab.loads = [busy(), a_load(1.0)]
    line = the(ConcludedRun, lab.validate()).line
    assert line.passed
    assert lab.bench.calls["create"] == 2
    assert not lab.leaked
    assert [kept.passed for kept in lab.book.lines()] == [True]


def test_a_fit_bench_leaves_a_failure_a_failure(lab):
    lab.loads = [a_load(0.6)]
    line = next(event.line for event in lab.validate() if isinstance(event, ConcludedRun))
    assert not line.passed
    (found,) = lab.book.failed_measurements()
    assert found.delivered


def test_a_bench_that_was_busy_does_not_excuse_what_its_loss_cannot_explain(lab):
    lab.loads = [a_load(0.3, waited_permille=300)]
    line = next(event.line for event in lab.validate() if isinstance(event, ConcludedRun))
    assert not line.passed


def test_a_failure_that_shows_on_a_second_try_is_not_hidden_by_the_first(lab):
    lab.loads = [busy(), a_load(0.6)]
    line = next(event.line for event in lab.validate() if isinstance(event, ConcludedRun))
    assert not line.passed
    assert line.id.endswith("-2")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"stolen_permille": 450}, BenchLimitCode.CPU),
        ({"waited_permille": None, "queued_permille": 900}, BenchLimitCode.CPU),
        ({"engine": {"paced-iops": [4_000, 200_000]}}, BenchLimitCode.ENGINE),
        (
            {"host_iops_exceeded_permille": 500, "host_throughput_exceeded_permille": 700},
            BenchLimitCode.HOST_EXCEEDED,
        ),
    ],
)
def test_each_limit_of_a_bench_has_its_code(lab, changes, code):
    lab.loads = [a_load(0.6, **changes) for _ in range(BENCH_TRIES)]
    assert the(UnmeasuredRun, lab.validate()).error.codes == (code,)


def test_what_is_tried_in_vain_is_paid_from_the_budget(tmp_path):
    def tries(usd):
        lab = Lab(tmp_path / str(usd), work_of={"vol-1": work(2_400.0, 100.0)}, budget=Budget(max_usd=usd))
        lab.loads = [busy() for _ in range(BENCH_TRIES)]
        lab.validate()
        return lab.bench.calls["create"]

    free = Lab(tmp_path, work_of={"vol-1": work(2_400.0, 100.0)})
    free.validate()
    (((plan,), _),) = free.agreed
    assert tries(2 * plan.usd) == BENCH_TRIES
    assert tries(plan.usd) == 1


@pytest.mark.parametrize("times", [1, 2])
def test_in_steps_a_busy_bench_is_tried_again_too_however_often_each_step_is_called(lab, times):
    lab.loads = [busy(), busy(), a_load(1.0)]
    (done,) = Stepping(lab=lab, times=times).validate(volume_id="vol-1")
    assert [line.passed for line in done.lines] == [True]
    assert lab.bench.calls["create"] >= BENCH_TRIES
    assert not lab.leaked


def test_in_steps_a_bench_that_is_busy_all_the_time_ends_without_a_verdict(lab):
    lab.loads = [busy() for _ in range(BENCH_TRIES)]
    (done,) = Stepping(lab=lab, attempts=1).validate(volume_id="vol-1")
    assert done.lines == ()
    assert "the bench was the limit" in done.note
    assert not lab.leaked


def test_a_latency_of_today_that_cannot_be_read_makes_no_verdict_easier(tmp_path):
    """The verdict's third rule needs it; nothing is made where CloudWatch does not answer."""
    away = Fault(step="mean_latency_us", times=99, error=CloudError("CloudWatch does not answer."))
    lab = Lab(tmp_path, work_of={"vol-1": work(2_400.0, 100.0)}, faults=(away,))
    with pytest.raises(CloudError, match="CloudWatch does not answer"):
        lab.validate()
    assert "create" not in lab.bench.calls
    assert list(lab.book.lines()) == []


def test_a_paced_job_without_a_p99_is_no_verdict(lab, monkeypatch):
    whole = lab.measure

    def silent(spec, task):
        told = json.loads(whole(spec, task))
        for job in told.get("fio", {}).get("jobs", ()):
            for side in ("read", "write"):
                job[side].pop("clat_ns", None)
        return MARK + json.dumps(told, separators=(",", ":")).removeprefix(MARK)

    monkeypatch.setattr(lab.bench, "measure", silent)
    error = the(UnmeasuredRun, lab.validate()).error
    assert "reported no p99 latency of the job paced-iops" in str(error)
    assert list(lab.book.lines()) == []


def test_a_job_without_io_is_no_verdict(lab, monkeypatch):
    whole = lab.measure

    def idle(spec, task):
        told = json.loads(whole(spec, task))
        for job in told.get("fio", {}).get("jobs", ())[-1:]:
            for side in ("read", "write"):
                job[side] = {**job[side], "iops": 0, "bw": 0, "bw_bytes": 0, "total_ios": 0, "io_bytes": 0}
        return MARK + json.dumps(told, separators=(",", ":")).removeprefix(MARK)

    monkeypatch.setattr(lab.bench, "measure", idle)
    assert "did no reads and no writes" in str(the(UnmeasuredRun, lab.validate()).error)
    assert list(lab.book.lines()) == []
