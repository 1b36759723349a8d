"""The steps of a validation over AWS's own calls, up to the command: what is made is made once, and is gone after."""

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cloud_simulator.aws.organization import AWS_REGIONS, organization
from plimsoll.settings import Settings
from plimsoll_measure.validation.job import JobName, job_document
from plimsoll_service.choosing import choose_volumes
from plimsoll_service.step_messages import StepError
from plimsoll_service.validating import attach_scratch, clean_up_job, create_scratch, look_at_job, propose_measurement
from plimsoll_service.validation_messages import ChooseMessage
from tests.service_loop import a_service, sweep

from .organization_here import a_config, aws_places, served_here
from .stepping import take_step

NOW = datetime.now(UTC)
NAME = JobName(validation="v", index=0)


@pytest.fixture(scope="module")
def there():
    with served_here(organization(NOW, volumes=1)) as (found, _front):
        yield found


@pytest.fixture
def service(there, tmp_path):
    config = a_config(there.fleet, accounts=there.fleet.accounts[:1], regions=("us-east-1",))
    made = a_service(config, aws_places(there.fleet, config), tmp_path, NOW)
    return replace(made, settings=Settings(poll_s=0.1))


def named(there, name):
    """The volume of the home account that is called so."""
    home = there.fleet.accounts[0]
    (found,) = [one for one in there.fleet.at(home, "us-east-1") if dict(one.tags).get("Name") == name]
    return found.id


def until_ready(service, at):
    while not take_step(look_at_job, service, NAME, at=at).ready:
        time.sleep(0.1)


def scratch(service, name=NAME):
    place = job_document(name).require(service.store).place
    return [one for one in service.places.bench(place).scratch(place) if one.state != "deleting"]


def test_a_scratch_volume_is_made_and_attached_once_and_nothing_is_left_of_it(service, there):
    volume_id = named(there, "stack-data")
    (item,) = choose_volumes(service, ChooseMessage(name="v", given={"volume_id": volume_id})).items
    assert (item.account, item.region) == (there.fleet.accounts[0], "us-east-1")
    assert take_step(propose_measurement, service, NAME).next == "create"
    for _ in range(2):
        take_step(create_scratch, service, NAME)
    until_ready(service, "volume")
    for _ in range(2):
        take_step(attach_scratch, service, NAME)
    until_ready(service, "attachment")
    (made,) = scratch(service)
    work = job_document(NAME).require(service.store)
    assert (made.id, made.attached_to) == (work.attempt.volume_id, work.attempt.prepared.host.host.id)
    assert made.validation_id == "v-0"
    assert made.deadline == work.attempt.prepared.order.deadline
    swept = sweep(service)
    assert (swept.deleted, swept.alive, swept.failed) == (0, 1, 0)
    for _ in range(2):
        take_step(clean_up_job, service, NAME, error=StepError(error="States.Timeout"))
    assert scratch(service) == []
    assert not service.claims.held


def test_an_answer_that_was_lost_makes_no_second_volume(service, there):
    volume = f"{there.fleet.accounts[0]}/us-east-1/{named(there, 'stack-data')}"
    name = JobName(validation="lost", index=0)
    choose_volumes(service, ChooseMessage(name="lost", given={"volume_id": volume}))
    take_step(propose_measurement, service, name)
    before = service.store.get(name.key)
    take_step(create_scratch, service, name)
    service.store.put(name.key, before)
    take_step(create_scratch, service, name)
    assert len(scratch(service, name)) == 1
    take_step(clean_up_job, service, name)
    assert scratch(service, name) == []


def test_the_sweep_signs_in_to_an_account_once_for_all_its_regions(tmp_path):
    fleet = organization(NOW, volumes=1)
    config = a_config(fleet, accounts=fleet.accounts[:2], regions=AWS_REGIONS)
    with served_here(fleet) as (_there, front):
        made = a_service(config, aws_places(fleet, config), tmp_path, NOW)
        assert sweep(made, everywhere=True).failed == 0
        assert (len(AWS_REGIONS), front.calls["AssumeRole"]) == (2, 2), "to find the regions, and to measure there"
