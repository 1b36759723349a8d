"""Validation in steps gives what `plimsoll validate` gives, whatever fails in between, and leaves nothing behind."""

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.clouds.local_store import FolderStore
from plimsoll.model.errors import BadInput, CloudError, NotMeasured, Throttled, Unreachable
from plimsoll_measure.runs import Mode
from plimsoll_measure.validate import ConcludedRun, RevisedAnswer, UnmeasuredRun
from plimsoll_measure.validation.job import JobName, job_document
from plimsoll_service.choosing import choose_volumes
from plimsoll_service.shared_measurements import StoreVerdicts
from plimsoll_service.step_messages import StepError
from plimsoll_service.validating import clean_up_job, create_scratch, propose_measurement
from plimsoll_service.validation_messages import ChooseMessage
from tests.bench_faults import faults_of
from tests.builders import NOW, a_volume
from tests.in_memory.faults import STEPS as BENCH_STEPS
from tests.in_memory.faults import Fault
from tests.profiles import examples
from tests.service_loop import sweep

from .lab import Lab, the, work
from .stepping import STEPS, Stepping, take_step

MOMENT = {"id", "at", "campaign", "seconds", "usd"}
"""What of a verdict is of its own moment."""


def verdict(line):
    return line.model_dump(exclude=MOMENT)


def figures(folder: Path, campaign: str):
    """The text of a campaign without its own name."""
    return (folder / f"{campaign}.yaml").read_text(encoding="utf-8").replace(campaign, "NAME")


def without_names(record, campaigns):
    text = record.model_dump_json()
    for campaign in campaigns:
        text = text.replace(campaign, "NAME")
    return text


CASES = {
    "passes": {},
    "fails and the next offer is measured": {
        "volumes": (a_volume("io1", 500, iops=20_000, id="vol-1"),),
        "work_of": {"vol-1": work(2500.0, 40.0)},
        "shares": {"gp3": 0.5},
    },
    "nothing delivers": {"work_of": {"vol-1": work(1400.0, 100.0)}, "shares": {"gp3": 0.5, "io2": 0.5}},
    "in place": {"work_of": {"vol-1": work(500.0, 8.0)}, "mode": Mode.IN_PLACE},
    "a copy": {"mode": Mode.COPY},
    "a bare flip": {
        "volumes": (a_volume("gp2", 1000, id="vol-1"),),
        "work_of": {"vol-1": work(1200.0, 180.0)},
        "target": "flip",
    },
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_steps_give_the_verdicts_the_campaigns_and_the_recommendation_of_the_command(case, tmp_path):
    facts = dict(case)
    mode, target, volumes = facts.pop("mode", Mode.CANARY), facts.pop("target", None), facts.pop("volumes", ())
    at_one_go, lab = (Lab(tmp_path / name, *volumes, **facts) for name in ("at-one-go", "in-steps"))
    events = at_one_go.validate(mode=mode, target=target)
    stepping = Stepping(lab=lab, bounds={"copies": mode is Mode.COPY})
    given = {"volume_id": "vol-1", "mode": mode, **({"target": target} if target else {})}
    (done,) = stepping.validate(**given)

    lines = [event.line for event in events if isinstance(event, ConcludedRun)]
    assert [verdict(line) for line in done.lines] == [verdict(line) for line in lines]
    measured = stepping.service.measured
    for ours, theirs in zip(done.lines, lines, strict=True):
        assert figures(measured, ours.campaign) == figures(at_one_go.folder, theirs.campaign)
    decided = the(RevisedAnswer, events)
    campaigns = [
        f"{folder}/{line.campaign}" for folder in (measured, at_one_go.folder) for line in (*lines, *done.lines)
    ]
    campaigns += [line.campaign for line in (*lines, *done.lines)]
    assert without_names(done.before, campaigns) == without_names(decided.before, campaigns)
    assert without_names(done.after, campaigns) == without_names(decided.after, campaigns)
    assert [task.job for task in lab.tasks] == [task.job for task in at_one_go.tasks]
    assert StoreVerdicts(stepping.store).lines() == list(done.lines)
    assert [kind for kind, _ in stepping.events.sent] == ["ValidationCompleted"] * len(lines)
    assert not lab.leaked
    assert not stepping.claims.held


def test_copies_are_refused_unless_they_are_switched_on(tmp_path):
    with pytest.raises(BadInput, match=r"deploy with validation\.copies=true"):
        Stepping(lab=Lab(tmp_path)).validate(volume_id="vol-1", mode=Mode.COPY)


BOUNDS = ({"max_size_gib": 100}, {"max_iops": 3000}, {"max_throughput_mib_s": 125})


@pytest.mark.parametrize("bounds", BOUNDS, ids=lambda bounds: next(iter(bounds)))
def test_no_scratch_volume_is_made_over_the_bounds(tmp_path, bounds):
    lab = Lab(tmp_path)
    (done,) = Stepping(lab=lab, bounds=bounds).validate(volume_id="vol-1", target="gp3:4000:250")
    assert "larger than the settings allow" in done.note
    assert not lab.tasks
    (whole,) = Stepping(lab=Lab(tmp_path / "within")).validate(volume_id="vol-1", target="gp3:4000:250")
    assert whole.lines


NOT_MEASURED = {
    "a volume that is never made": [Fault(step="create", hangs=True)],
    "a volume that is never attached": [Fault(step="attach", hangs=True)],
    "a command that never ends": [Fault(step="send", hangs=True)],
    "a command that cannot be looked at": [Fault(step="outcome", times=5, error=Throttled("too many looks."))],
    "hosts that cannot be listed": [Fault(step="hosts", error=Throttled("no hosts now."))],
}


@pytest.mark.parametrize("faults", NOT_MEASURED.values(), ids=NOT_MEASURED)
def test_what_cannot_be_measured_is_said_in_the_commands_sentence(faults, tmp_path):
    at_one_go, lab = (Lab(tmp_path / way, faults=faults) for way in ("at-one-go", "in-steps"))
    said = str(the(UnmeasuredRun, at_one_go.validate()).error)
    stepping = Stepping(lab=lab)
    (done,) = stepping.validate()
    assert done.note.replace("within 600 s", "within 60 s") == said
    assert [one.state for one in lab.leaked] == [one.state for one in at_one_go.leaked], "stuck in the cloud alone"
    assert not stepping.claims.held


def is_clean(stepping):
    return not stepping.lab.leaked and not stepping.claims.held


def test_every_step_called_twice_makes_one_volume_and_sends_one_command(tmp_path):
    stepping = Stepping(lab=Lab(tmp_path), times=2)
    (done,) = stepping.validate()
    assert done.lines[0].passed
    assert len(stepping.lab.tasks) == 1
    assert (stepping.lab.bench.calls["create"], stepping.lab.bench.calls["send"]) == (1, 1)
    assert StoreVerdicts(stepping.store).lines() == list(done.lines)
    assert len(stepping.events.sent) == 1
    assert is_clean(stepping)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_whichever_step_is_killed_nothing_is_left_and_the_class_is_free(step, after, tmp_path):
    stepping = Stepping(lab=Lab(tmp_path), killed=step, after=after)
    (done,) = stepping.validate()
    assert done.note == f"Killed: {step}"
    assert is_clean(stepping)
    assert bool(done.lines) == (step == "conclude" and after)


@pytest.mark.parametrize("step", STEPS)
def test_whichever_step_loses_its_answer_and_is_called_again_the_verdict_is_the_same(step, tmp_path):
    stepping = Stepping(lab=Lab(tmp_path), killed=step, after=True, attempts=2)
    (done,) = stepping.validate()
    assert (done.note, [line.passed for line in done.lines]) == (None, [True])
    assert len(stepping.lab.tasks) == 1
    assert len(StoreVerdicts(stepping.store).lines()) == 1
    assert is_clean(stepping)


@dataclass
class Failing:
    """A store that is away at one put, before it or after it took effect: a step that is killed half way."""

    store: FolderStore
    at: int
    after: bool
    puts: list[str] = field(default_factory=list)

    def __getattr__(self, name):
        return getattr(self.store, name)

    def put(self, key, content):
        self.puts.append(key)
        struck = len(self.puts) == self.at + 1
        if not struck or self.after:
            self.store.put(key, content)
        if struck:
            raise Unreachable("the store is away.")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, 15))
def test_a_step_that_is_killed_half_way_and_called_again_acts_once(at, after, tmp_path):
    lab = Lab(tmp_path)
    store = Failing(FolderStore(tmp_path / "store"), at, after)
    stepping = Stepping(lab=lab, store=store, attempts=3)
    (done,) = stepping.validate()
    assert len(store.puts) > at, "the failure struck"
    assert len(lab.bench.left) <= 1, "one scratch volume is made at most, and being deleted"
    assert lab.bench.calls.get("send", 0) <= 1
    assert is_clean(stepping)
    assert done.note is None or "It is not sent twice" in done.note
    assert len(StoreVerdicts(stepping.store).lines()) == len(done.lines)


@settings(max_examples=examples(40))
@given(faults_of(BENCH_STEPS, most=6), st.sampled_from(list(Mode)))
def test_no_sequence_of_faults_leaves_a_volume_for_good_or_a_claim(tmp_path_factory, given_faults, mode):
    lab = Lab(tmp_path_factory.mktemp("faults"), faults=given_faults, work_of={"vol-1": work(500.0, 8.0)})
    stepping = Stepping(lab=lab, attempts=2, bounds={"copies": True})
    (done,) = stepping.validate(volume_id="vol-1", mode=mode)
    assert done.note is not None or done.lines, "it does not end in silence"
    assert not stepping.claims.held
    lab.bench.faults = ()
    lab.bench.__post_init__()
    lab.clock.time = NOW + timedelta(days=1)
    for _ in range(10):
        lab.bench.scratch(done.place)
    sweep(stepping.service)
    for _ in range(10):
        lab.bench.scratch(done.place)
    assert {volume.state for volume in lab.bench.left} <= {"creating", "deleting"}, "stuck in the cloud alone"


def begin(stepping, name, **given):
    choose_volumes(stepping.service, ChooseMessage(name=name, given={"volume_id": "vol-1", **given}))
    return JobName(validation=name, index=0)


def test_of_two_validations_of_a_class_the_second_waits_and_takes_the_firsts_verdict(tmp_path):
    stepping = Stepping(lab=Lab(tmp_path))
    first, second = begin(stepping, "first"), begin(stepping, "second")
    assert take_step(propose_measurement, stepping.service, first).next == "create"
    assert take_step(propose_measurement, stepping.service, second).next == "wait"
    stepping.item(first)
    assert take_step(propose_measurement, stepping.service, second).next == "done"
    found = job_document(second).require(stepping.store)
    assert found.lines == job_document(first).require(stepping.store).lines
    assert (found.before.evidence.grade, found.after.evidence.grade) == ("C", "A")
    assert len(stepping.lab.tasks) == 1
    assert is_clean(stepping)


def test_of_two_validations_with_one_bench_host_the_second_waits_until_that_is_free(tmp_path):
    volumes = a_volume("gp2", 500, id="vol-1"), a_volume("gp2", 600, id="vol-2")
    stepping = Stepping(lab=Lab(tmp_path, *volumes))
    first, second = begin(stepping, "first"), begin(stepping, "second", volume_id="vol-2", target="gp3:4000:250")
    assert take_step(propose_measurement, stepping.service, first).next == "create"
    assert take_step(propose_measurement, stepping.service, second).next == "wait"
    assert take_step(propose_measurement, stepping.service, second).next == "wait"
    stepping.item(first)
    assert take_step(propose_measurement, stepping.service, second).next == "create"
    stepping.item(second)
    assert [len(job_document(one).require(stepping.store).lines) for one in (first, second)] == [1, 1]
    assert is_clean(stepping)


def test_a_bench_host_that_is_always_busy_is_not_waited_for_for_ever(tmp_path):
    stepping = Stepping(lab=Lab(tmp_path, a_volume("gp2", 500, id="vol-1"), a_volume("gp2", 600, id="vol-2")))
    first, second = begin(stepping, "first"), begin(stepping, "second", volume_id="vol-2", target="gp3:4000:250")
    take_step(propose_measurement, stepping.service, first)
    host = job_document(first).require(stepping.store).claimed_host
    assert take_step(propose_measurement, stepping.service, second).next == "wait"
    stepping.claims.held[host] = (first.holder, NOW + timedelta(days=1))
    stepping.lab.clock.time += timedelta(hours=4)
    with pytest.raises(NotMeasured, match="bench host has been measuring for other validations"):
        take_step(propose_measurement, stepping.service, second)


def test_anothers_measurement_is_not_waited_for_for_ever(tmp_path):
    stepping = Stepping(lab=Lab(tmp_path))
    first, second = begin(stepping, "first"), begin(stepping, "second")
    take_step(propose_measurement, stepping.service, first)
    assert take_step(propose_measurement, stepping.service, second).next == "wait"
    claimed = job_document(first).require(stepping.store).claimed
    stepping.claims.held[claimed] = (first.holder, NOW + timedelta(days=1))
    stepping.lab.clock.time += timedelta(hours=4)
    with pytest.raises(NotMeasured, match="another validation of the same class has not ended"):
        take_step(propose_measurement, stepping.service, second)


def test_a_work_whose_document_is_lost_or_damaged_is_cleaned_up_by_its_tag(tmp_path):
    for content in (None, b"{"):
        stepping = Stepping(lab=Lab(tmp_path / str(content)))
        name = begin(stepping, "lost")
        take_step(propose_measurement, stepping.service, name)
        take_step(create_scratch, stepping.service, name)
        assert stepping.lab.leaked
        stepping.store.delete(name.key)
        if content is not None:
            stepping.store.put(name.key, content)
        take_step(clean_up_job, stepping.service, name, error=StepError(error="States.Timeout"))
        assert not stepping.lab.leaked


def test_what_cannot_be_deleted_is_said_and_the_sweep_has_it_when_it_is_due(tmp_path):
    refusals = [Fault(step="delete", times=100, error=Throttled("later."))]
    stepping = Stepping(lab=Lab(tmp_path, faults=refusals))
    (done,) = stepping.validate()
    (left,) = stepping.lab.leaked
    assert ([line.passed for line in done.lines], done.note) == ([True], None), "what was measured counts all the same"
    name = JobName(validation="v", index=0)
    (said,) = take_step(clean_up_job, stepping.service, name).left
    assert f"scratch volume {left.id} in" in said
    with pytest.raises(CloudError, match=f"scratch volume {left.id} .* is left behind: later"):
        take_step(clean_up_job, stepping.service, name, error=StepError(error="States.Timeout"))
    assert sweep(stepping.service).alive == 1
    stepping.lab.clock.time = left.deadline
    assert (sweep(stepping.service).left, sweep(stepping.service).alive) == (1, 0)
    stepping.lab.bench.faults = ()
    stepping.lab.bench.__post_init__()
    assert sweep(stepping.service).deleted == 1
    assert not stepping.lab.leaked


def test_the_sweep_goes_on_where_a_target_cannot_be_swept(tmp_path):
    stepping = Stepping(lab=Lab(tmp_path, faults=[Fault(step="scratch", error=Throttled("busy."))]))
    swept = sweep(stepping.service, everywhere=True)
    assert (swept.failed, swept.deleted) == (1, 0)
    assert swept.left_behind[0].endswith("busy.")
