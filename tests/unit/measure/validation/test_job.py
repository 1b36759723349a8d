"""The document of a job holds all that the next step needs, to the digit."""

import math
from dataclasses import replace

import pytest

from plimsoll.clouds.local_store import FolderStore
from plimsoll.model.ceiling import UNBOUNDED
from plimsoll.model.errors import BadInput
from plimsoll_measure.runs import Mode
from plimsoll_measure.validation.job import JobName, find_job, job_document
from plimsoll_service.choosing import choose_volumes
from plimsoll_service.validating import look_at_job, propose_measurement, send_command
from plimsoll_service.validation_messages import ChooseMessage
from tests.pipelines.lab import Lab, work
from tests.pipelines.stepping import Stepping, take_step

NAME = JobName(validation="v", index=0)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A job whose command has ended: with everything in it that a job can have before its verdict."""
    lab = Lab(tmp_path_factory.mktemp("measured"), work_of={"vol-1": work(500.0, 8.0)})
    stepping = Stepping(lab=lab)
    choose_volumes(stepping.service, ChooseMessage(name="v", given={"volume_id": "vol-1", "mode": Mode.IN_PLACE}))
    take_step(propose_measurement, stepping.service, NAME)
    take_step(send_command, stepping.service, NAME)
    while not take_step(look_at_job, stepping.service, NAME, at="command").ready:
        pass
    return job_document(NAME).require(stepping.store)


def test_what_is_kept_is_what_is_found(measured, tmp_path):
    store = FolderStore(tmp_path)
    assert measured.attempt.outcome is not None
    job_document(NAME).put(store, measured)
    assert job_document(NAME).require(store) == measured


def test_a_ceiling_without_bound_stays_without_bound(measured, tmp_path):
    store, proposal = FolderStore(tmp_path), measured.attempt.proposal
    boundless = measured.update_attempt(proposal=replace(proposal, run=replace(proposal.run, ceiling=UNBOUNDED)))
    job_document(NAME).put(store, boundless)
    assert job_document(NAME).require(store).attempt.proposal.run.ceiling.iops == math.inf


def test_a_key_is_that_of_its_work_and_no_other(tmp_path):
    assert JobName.from_key(NAME.key) == NAME
    for key in ("validations/v/first.json", "validations/0.json", "work/v/0.json", "validations/v/0.json/more"):
        with pytest.raises(BadInput, match="is no job of a validation"):
            JobName.from_key(key)


def test_no_document_is_none_and_a_damaged_one_is_named(tmp_path):
    store = FolderStore(tmp_path)
    assert find_job(NAME, store) is None
    store.put(NAME.key, b'{"name":')
    with pytest.raises(BadInput, match=r"the job validations/v/0\.json cannot be read"):
        find_job(NAME, store)
