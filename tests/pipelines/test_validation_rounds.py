"""Rounds of validation over clouds in memory: what passes has grade A, what fails gives way to the next offer or to
`keep`, one measurement serves a class, and a budget is kept to."""

import threading
import time
from collections import deque
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.decide.evidence import CODE
from plimsoll.envelopes.library import load_library
from plimsoll.model.errors import BadInput, Throttled
from plimsoll.model.task import TaskEnd, TaskOutcome
from plimsoll.ports import Target
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER
from plimsoll_measure.runs import Budget, Mode
from plimsoll_measure.validate import ConcludedRun, RevisedAnswer, UnmeasuredRun, validate_volume
from plimsoll_measure.validation.scratch_volume import Left, sweep_scratch_volumes
from tests.bench_faults import faults_of
from tests.builders import NOW, a_host, a_policy, a_volume
from tests.in_memory.faults import STEPS, Fault
from tests.profiles import examples

from .lab import DAYS, TYPES, Lab, the, work
from .test_stripe_sets import answers


def test_a_target_that_delivers_passes_and_its_recommendation_has_grade_a_with_the_figures(tmp_path):
    lab = Lab(tmp_path)
    events = lab.validate()
    line = the(ConcludedRun, events).line
    assert line.passed
    assert (line.shown_iops, line.shown_throughput_mib_s) == (3000, 125)
    decided = the(RevisedAnswer, events)
    assert (decided.before.evidence.grade, decided.after.evidence.grade) == ("C", "A")
    assert decided.after.target == decided.before.target
    assert "3,000 IOPS measured by fio" in decided.after.evidence.text
    assert not lab.leaked


def test_what_no_device_stood_behind_is_called_simulated_wherever_it_is_evidence(tmp_path):
    lab = Lab(tmp_path)
    lab.simulated = True
    after = the(RevisedAnswer, lab.validate()).after
    assert after.evidence.text.count("measured by simulated fio") == 2
    (envelope,) = load_library([tmp_path], TYPES).envelopes.values()
    assert any("a plain file with fio's own rate limits stood for the volume" in note for note in envelope.notes)


def test_a_target_that_does_not_deliver_gives_way_to_the_next_offer_which_is_measured_in_turn(tmp_path):
    lab = Lab(
        tmp_path,
        a_volume("io1", 500, iops=20_000, id="vol-1"),
        work_of={"vol-1": work(2500.0, 40.0)},
        shares={"gp3": 0.03},
        policy=a_policy(lookback_days=DAYS, drop_in_share_pct=100),
    )
    events = lab.validate()
    lines = [event.line for event in events if isinstance(event, ConcludedRun)]
    assert [(line.spec.type, line.passed) for line in lines] == [("gp3", False), ("io2", True)]
    after = the(RevisedAnswer, events).after
    assert (after.target.type, after.evidence.grade) == ("io2", "A")
    (gp3,) = [offer for offer in after.offers if offer.spec.type == "gp3"]
    assert any("was measured here on" in text and "delivered only 90 IOPS" in text for text in gp3.refused)
    assert [one.code for one in after.failed_measurements if one.volume_type == "gp3"] == [CODE]


def test_where_no_offer_delivers_the_volume_is_kept_and_the_reason_says_what_was_measured(tmp_path):
    lab = Lab(tmp_path, work_of={"vol-1": work(1400.0, 100.0)}, shares={"gp3": 0.01, "io2": 0.01})
    after = the(RevisedAnswer, lab.validate()).after
    assert after.action == "keep"
    assert after.target == after.current
    assert any(CODE in text and "was measured here" in text for text in after.reasons)


def test_what_delivers_half_is_bought_twice_as_large_and_measured_again(tmp_path):
    lab = Lab(tmp_path, work_of={"vol-1": work(1400.0, 100.0)}, shares={"gp3": 0.5, "io2": 0.5})
    events = lab.validate()
    lines = [event.line for event in events if isinstance(event, ConcludedRun)]
    assert [(line.spec.iops, line.spec.throughput_mib_s, line.passed) for line in lines] == [
        (3000, 125, False),
        (3400, 240, True),  # for a need of 1,680 IOPS and 120 MiB/s
    ]
    after = the(RevisedAnswer, events).after
    assert (after.target.iops, after.evidence.grade) == (3400, "A")
    (failed,) = after.failed_measurements
    assert (failed.delivered_iops, failed.published_iops) == (1500, 3000)


def test_a_failure_stands_for_later_audits_too_until_a_later_measurement_passes(tmp_path):
    lab = Lab(tmp_path, work_of={"vol-1": work(1400.0, 100.0)}, shares={"gp3": 0.01, "io2": 0.01})
    lab.validate()
    later = answers(lab.remeasured(lab.ports), lab.policy)["vol-1"].recommendation
    assert later.action == "keep"
    lab.shares.clear()
    lab.validate(target="gp3:3000:125")
    again = answers(lab.remeasured(lab.ports), lab.policy)["vol-1"].recommendation
    assert (again.action, again.evidence.grade.name) == ("migrate", "A")


def test_a_bare_flip_that_is_too_small_fails_and_what_carries_the_need_is_proved_instead(tmp_path):
    lab = Lab(tmp_path, a_volume("gp2", 1000, id="vol-1"), work_of={"vol-1": work(1200.0, 180.0)})
    events = lab.validate(target="flip")
    lines = [event.line for event in events if isinstance(event, ConcludedRun)]
    assert [line.passed for line in lines] == [False, True]
    assert lines[0].failures[0] == "delivered only 125 MiB/s of the 216 that are needed, headroom included"
    assert lines[1].spec.throughput_mib_s == 250  # everything that the gp2 can do
    assert the(RevisedAnswer, events).after.evidence.grade == "A"
    assert not any(failed_measurement.delivered for failed_measurement in lab.book.failed_measurements()), (
        "it delivered what it should"
    )


def test_a_slow_answer_fails_for_that_volume_alone(tmp_path):
    lab = Lab(tmp_path, latency_us={"vol-1": 100.0})
    line = next(event.line for event in lab.validate() if isinstance(event, ConcludedRun))
    assert line.too_slow
    assert "today it takes 100" in line.failures[0]
    (failed_measurement, *_) = lab.book.failed_measurements()
    assert failed_measurement.volume_id == "vol-1"


def test_one_measurement_serves_all_recommendations_of_its_class(tmp_path):
    volumes = [a_volume("gp2", 400 + number, id=f"vol-{number}", on=a_host(id=f"i-{number}")) for number in range(30)]
    lab = Lab(tmp_path, *volumes)
    events = lab.validate_all()
    line = the(ConcludedRun, events).line
    assert sorted(line.serves) == sorted(volume.id for volume in volumes)
    decided = [event for event in events if isinstance(event, RevisedAnswer)]
    assert {event.after.volume_id for event in decided} == {volume.id for volume in volumes}
    assert {event.after.evidence.grade for event in decided} == {"A"}
    assert lab.bench.calls["create"] == 1


def test_what_has_been_measured_is_not_measured_again_within_its_age(tmp_path):
    lab = Lab(tmp_path)
    lab.validate()
    made = lab.bench.calls["create"]
    assert not [
        event for event in lab.validate_all() if isinstance(event, RevisedAnswer) and event.before.evidence.grade == "A"
    ]
    ports = lab.remeasured(lab.ports)
    records = [record_of(one.recommendation, provider=FIRST_PROVIDER) for one in answers(ports, lab.policy).values()]
    assert lab.validate_records(records) == []
    assert lab.bench.calls["create"] <= made + 1


def test_the_plan_is_agreed_to_before_anything_is_made_and_a_refusal_makes_nothing(tmp_path):
    lab = Lab(tmp_path)

    def refuse(planned, left):
        assert [one.run.spec.type for one in planned] == ["gp3"]
        assert planned[0].usd > 0
        assert not left
        raise BadInput("not agreed")

    with pytest.raises(BadInput, match="not agreed"):
        list(validate_volume(lab.job(), replace(lab.context, agree=refuse)))
    assert "create" not in lab.bench.calls


def test_a_budget_of_nothing_measures_nothing_and_says_what_stays_outside(tmp_path):
    lab = Lab(tmp_path, budget=Budget(max_usd=0.0))
    assert not lab.validate_all()
    ((planned, left),) = lab.agreed
    assert not planned
    assert len(left) == 1
    assert "create" not in lab.bench.calls


def test_one_run_that_cannot_be_measured_does_not_stop_the_others(tmp_path):
    volumes = (a_volume("gp2", 500, id="vol-1"), a_volume("gp2", 1000, id="vol-2", on=a_host(id="i-2")))
    lab = Lab(
        tmp_path,
        *volumes,
        work_of={"vol-2": work(1200.0, 180.0)},
        faults=[Fault(step="create", at=0, error=Throttled("the cloud is busy: try again."))],
    )
    events = lab.validate_all()
    assert str(the(UnmeasuredRun, events).error) == "the cloud is busy: try again."
    assert the(ConcludedRun, events).line.passed
    assert not lab.leaked


def test_a_command_that_never_ends_is_given_up_cancelled_and_cleaned_after(tmp_path):
    lab = Lab(tmp_path, faults=[Fault(step="send", at=0, hangs=True)])
    events = lab.validate()
    assert "its agent may be dead" in str(the(UnmeasuredRun, events).error)
    assert lab.bench.calls["cancel"] == 1
    assert not lab.leaked


def test_a_document_that_fails_says_its_own_sentence(tmp_path):
    lab = Lab(tmp_path)
    told = '{"plimsoll":1,"error":{"stage":"install","text":"fio could not be installed"}}'
    lab.bench.measure = lambda _spec, _task: TaskOutcome(end=TaskEnd.FAILED, output=told, reason="exit code 1")
    error = the(UnmeasuredRun, lab.validate()).error
    assert "fio could not be installed" in str(error)
    assert not lab.leaked


def test_what_ctrl_c_leaves_behind_is_named_too(tmp_path):
    refusals = [Fault(step="delete", at=at, error=Throttled("later.")) for at in range(4)]
    lab = Lab(tmp_path, faults=[Fault(step="send", at=0, error=KeyboardInterrupt()), *refusals])
    events = deque()
    with pytest.raises(KeyboardInterrupt):
        events.extend(validate_volume(lab.job(), lab.context))
    assert [event.volume_id for event in events] == [volume.id for volume in lab.bench.left]
    assert "`plimsoll sweep` deletes it" in events[0].text


def test_a_scratch_volume_is_due_no_earlier_than_its_measurement_can_end(tmp_path):
    lab = Lab(tmp_path, policy=a_policy(lookback_days=DAYS, scratch_hours=0.1))
    deadlines = []
    plain = lab.measure

    def noted(spec, task):
        deadlines.extend((volume.deadline - lab.clock.time).total_seconds() for volume in lab.bench.left)
        return plain(spec, task)

    lab.bench.measure = noted
    lab.validate()
    assert deadlines[0] > lab.tasks[0].limit_s


def test_of_two_validations_of_a_class_at_once_the_second_takes_the_firsts_result(tmp_path):
    lab = Lab(tmp_path)
    begun, waiting = threading.Event(), threading.Event()

    def heard_first(_text):
        begun.set()
        assert waiting.wait(60)

    def heard_second(text):
        if "waiting for its result" in text:
            waiting.set()

    # The second waits in real time: the lab's clock would run through hours while the first is at work.
    patience = replace(lab.context.patience, pause=lambda _seconds: time.sleep(0.01))
    one = replace(lab.context, say=heard_first)
    other = replace(lab.context, say=heard_second, patience=patience)
    firsts, seconds = [], []
    first = threading.Thread(target=lambda: firsts.extend(validate_volume(lab.job(), one)))
    first.start()
    assert begun.wait(60)
    seconds.extend(validate_volume(lab.job(), other))
    first.join(60)
    assert lab.bench.calls["create"] == 1
    assert the(ConcludedRun, firsts).line == the(ConcludedRun, seconds).line


@settings(max_examples=examples(50))
@given(faults_of(STEPS, most=8), st.sampled_from(list(Mode)))
def test_no_sequence_of_faults_leaks_a_volume_or_a_claim_or_ends_in_silence(tmp_path_factory, given_faults, mode):
    lab = Lab(tmp_path_factory.mktemp("measured"), faults=given_faults, work_of={"vol-1": work(500.0, 8.0)})
    events, interrupted = deque(), False
    try:
        events.extend(validate_volume(lab.job(mode=mode), lab.context))
    except KeyboardInterrupt:
        interrupted = True
    told = [event for event in events if isinstance(event, Left)]
    unseen = any(fault.unseen for fault in given_faults)
    assert not lab.leaked or told or interrupted or unseen, "a volume is left without a word"
    assert interrupted or any(isinstance(event, ConcludedRun | UnmeasuredRun) for event in events)
    assert not list(lab.folder.glob("claims/*.json"))
    lab.bench.faults = ()
    lab.bench.__post_init__()
    lab.clock.time = NOW + timedelta(days=1)
    patience = lab.context.patience
    target = Target(account=lab.bench.given[0].account, region=lab.bench.given[0].region)
    for _ in range(10):
        lab.bench.scratch(target)
    list(sweep_scratch_volumes([target], lab.clock.now(), bench_at=lambda _target: lab.bench, patience=patience))
    for _ in range(10):
        lab.bench.scratch(target)
    stuck_in_the_cloud = {"creating", "deleting"}
    assert {volume.state for volume in lab.bench.left} <= stuck_in_the_cloud
