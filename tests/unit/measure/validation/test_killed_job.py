"""A validation whose process was killed is gone on with by the next that asks for the same, and leaves nothing."""

from dataclasses import replace
from datetime import timedelta

import pytest

from plimsoll.model.errors import BadInput
from plimsoll_measure.validate import ConcludedRun, validate_volume
from plimsoll_measure.validation.context import VALIDATIONS
from plimsoll_measure.validation.job import JobStep
from tests.builders import NOW
from tests.pipelines.lab import Lab, the

BEGUN = [step for step in JobStep if step not in {JobStep.DECIDE, JobStep.PROPOSE, JobStep.CREATE, JobStep.DONE}]


def killed_before(lab, step):
    """The job of a process that was killed before that step."""
    job = lab.job()
    while job.next is not step:
        job = VALIDATIONS.take(job, lab.context)
    return job


def documents(lab):
    return list(lab.context.jobs.keys("validations/"))


def is_clean(lab):
    return not lab.leaked and not documents(lab) and not list(lab.folder.glob("claims/*.json"))


@pytest.mark.parametrize("step", BEGUN)
def test_what_was_begun_is_gone_on_with_and_nothing_is_done_twice(step, tmp_path):
    lab = Lab(tmp_path)
    killed = killed_before(lab, step)
    line = the(ConcludedRun, lab.validate()).line
    assert (line.passed, line.id) == (True, f"{killed.name.scratch_id}-1")
    assert (lab.bench.calls["create"], lab.bench.calls["send"]) == (1, 1)
    assert [line] == list(lab.book.lines())
    assert is_clean(lab)


@pytest.mark.parametrize("step", [JobStep.PROPOSE, JobStep.CREATE])
def test_where_nothing_was_made_it_begins_anew(step, tmp_path):
    lab = Lab(tmp_path)
    killed = killed_before(lab, step)
    assert the(ConcludedRun, lab.validate()).line.id != f"{killed.name.scratch_id}-1"
    assert lab.bench.calls["create"] == 1
    assert is_clean(lab)


def test_where_a_sweep_took_the_volume_it_begins_anew(tmp_path):
    lab = Lab(tmp_path)
    killed = killed_before(lab, JobStep.ATTACH)
    lab.bench.delete(killed.place, killed.attempt.volume_id)
    assert the(ConcludedRun, lab.validate()).line.passed
    assert lab.bench.calls["create"] == 2
    assert is_clean(lab)


def test_where_another_measures_on_the_host_by_now_nothing_of_it_is_left(tmp_path):
    lab = Lab(tmp_path)
    killed = killed_before(lab, JobStep.SEND)
    lab.claims.release(killed.claimed_host, killed.name.holder)
    lab.claims.claim(killed.claimed_host, "other/0", NOW + timedelta(minutes=5), NOW)
    assert the(ConcludedRun, lab.validate()).line.id != f"{killed.name.scratch_id}-1"
    assert lab.bench.calls["send"] == 1
    assert not lab.leaked


def test_another_question_begins_its_own_and_leaves_the_document(tmp_path):
    lab = Lab(tmp_path)
    killed = killed_before(lab, JobStep.SEND)
    lab.claims.release(killed.claimed_host, killed.name.holder)
    first = next(one for one in lab.validate(target="gp3:4000:250") if isinstance(one, ConcludedRun))
    assert first.line.spec.iops == 4000
    assert documents(lab) == [killed.name.key]


def test_going_on_has_to_be_agreed_to(tmp_path):
    lab = Lab(tmp_path)
    killed = killed_before(lab, JobStep.SEND)

    def refuse(planned, _left):
        assert [one.run for one in planned] == [killed.run]
        raise BadInput("not agreed")

    with pytest.raises(BadInput, match="not agreed"):
        list(validate_volume(lab.job(), replace(lab.context, agree=refuse)))
    assert documents(lab) == [killed.name.key]
    assert "send" not in lab.bench.calls


def test_a_document_that_is_damaged_or_older_than_a_week_is_deleted(tmp_path):
    lab = Lab(tmp_path)
    killed = killed_before(lab, JobStep.CREATE)
    lab.context.jobs.put("validations/damaged/0.json", b"{")
    later = replace(lab.job(), now=killed.now + timedelta(days=8))
    list(validate_volume(later, lab.context))
    assert documents(lab) == []
