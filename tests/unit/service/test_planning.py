"""A plan waits for its turn, fixes what a run is to do, and lists only the accounts that are missing."""

import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from plimsoll.jobs.document import StoredDocument
from plimsoll.model.errors import AccessDenied, PolicyError
from plimsoll.ports import FailedTarget
from plimsoll.reports.totals import RunTotals
from plimsoll_service.inventory import take_inventory
from plimsoll_service.planning import order_of, plan
from plimsoll_service.step_messages import AccountItem, AccountMessage, PlanMessage
from plimsoll_service.store_keys import RunKeys
from tests.builders import NOW
from tests.in_memory.service import MemoryExecutions
from tests.service_loop import MACHINE
from tests.unit.service.places import ACCOUNT, places_of, service_of, volumes

DENIED = FailedTarget(name="arn:aws:iam::222222222222:role/plimsoll-audit", error=AccessDenied("no entry"))


def told(name="first", **given):
    return PlanMessage(execution=f"{MACHINE}:{name}", name=name, started=NOW, input=given)


def here(folder, **config):
    places = places_of([*volumes(1), *volumes(1, region="eu-west-1")], unreachable=(DENIED,))
    return service_of(places, folder, **config)


def listed(service, planned):
    return [item["account"] for item in json.loads(service.store.get(planned.accounts_key))]


def several(folder, count=3):
    """A service over so many accounts, with a volume in each."""
    return service_of(places_of([replace(one, account=f"{n:012}") for n in range(count) for one in volumes(1)]), folder)


def test_a_plan_lists_every_account_and_enters_none(tmp_path):
    service = several(tmp_path)
    planned = plan(service, told())
    assert (planned.state, planned.run_id, planned.accounts) == ("go", "first", 3)
    assert listed(service, planned) == [f"{n:012}" for n in range(3)]
    assert service.places.entered == []


def test_what_is_not_even_an_account_is_a_failure_of_the_run(tmp_path):
    service = here(tmp_path)
    planned = plan(service, told())
    assert listed(service, planned) == [ACCOUNT]
    unnamed = StoredDocument(RunKeys(run_id="first").unnamed, RunTotals).require(service.store)
    assert unnamed.plain["failed_targets"] == {DENIED.name: "no entry"}


@pytest.mark.parametrize("when_busy", ["wait", "stop"])
def test_of_two_audits_the_later_one_waits_or_stops_and_says_for_which(tmp_path, when_busy):
    service = here(tmp_path, when_busy=when_busy)
    service.executions.running[f"{MACHINE}:earlier"] = NOW
    planned = plan(service, told("later"))
    assert (planned.state, planned.busy_with) == (when_busy, "earlier")
    assert list(service.store.keys("")) == []


def test_the_time_of_a_run_is_that_of_its_start_however_often_it_is_planned(tmp_path):
    service = here(tmp_path)
    plan(service, told())
    plan(service, PlanMessage(execution="x", name="second", started=NOW.replace(hour=13), input={"run_id": "first"}))
    assert order_of(service.store, "first").now == NOW


def test_the_policy_of_a_run_is_that_of_its_start(tmp_path):
    plan(here(tmp_path), told())
    changed = here(tmp_path, policy={"lookback_days": 7})
    plan(changed, told("second", run_id="first"))
    assert order_of(changed.store, "first").parsed_policy.lookback_days == 2


def test_an_account_whose_inventories_are_taken_is_not_planned_again(tmp_path):
    service = several(tmp_path)
    plan(service, told())
    taken = AccountItem(account=f"{1:012}")
    take_inventory(service, AccountMessage(run_id="first", account=taken))
    assert listed(service, plan(service, told("second", run_id="first"))) == [f"{0:012}", f"{2:012}"]


def test_a_policy_that_names_a_type_that_there_is_not_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(PolicyError, match="gp9"):
        plan(here(tmp_path, policy={"target_types": ["gp9"]}), told())


@pytest.mark.parametrize("run_id", ["../elsewhere", "", "a/b", "x" * 81])
def test_a_run_id_that_would_be_no_name_is_refused(run_id):
    with pytest.raises(ValidationError, match="run_id"):
        told(run_id=run_id)


def test_what_an_audit_cannot_be_begun_with_is_refused_by_name():
    with pytest.raises(ValidationError, match="runid"):
        told(runid="first")


def test_an_audit_does_not_wait_for_itself(tmp_path):
    service = here(tmp_path)
    service.executions.running[f"{MACHINE}:first"] = NOW
    assert isinstance(service.executions, MemoryExecutions)
    assert plan(service, told()).state == "go"
