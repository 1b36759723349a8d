"""Projects of Google Cloud go through the service as accounts do: by their names, in one run, each at its own cost."""

import json

import pytest
from pydantic import ValidationError

from plimsoll.clouds.local_store import FolderStore
from plimsoll.clouds.targets import named_target
from plimsoll.model.errors import AccessDenied, BadInput, Throttled
from plimsoll.ports import FailedTarget, Target
from plimsoll_service.choosing import choose_volumes
from plimsoll_service.service import unmeasured_reason
from plimsoll_service.step_messages import BatchItem, TargetItem
from plimsoll_service.store_keys import RunKeys, VolumeBatch
from plimsoll_service.summarizing import total
from plimsoll_service.validation_messages import ChooseMessage
from tests.builders import NOW
from tests.service_loop import Loop, files, records, run_json
from tests.unit.service.places import ACCOUNT, service_of, volumes
from tests.unit.service.projects import PROJECT, REGION, THERE, both, disks

HERE = Target(account=ACCOUNT, region="us-east-1")
KEYS = RunKeys(run_id="first")


def audited(places, folder, **config):
    loop = Loop(service=service_of(places, folder, **config), now=NOW)
    loop.run()
    return loop


@pytest.mark.parametrize(
    "target", [HERE, THERE, Target(account="example.com:storage", region=REGION, provider="google")]
)
def test_a_target_keeps_its_cloud_through_every_message_and_key(target, tmp_path):
    store, batch = FolderStore(tmp_path), VolumeBatch(target=target, number=7)
    item = json.loads(json.dumps(TargetItem.from_target(target).model_dump()))
    assert TargetItem.model_validate(item).target == target
    assert BatchItem.model_validate_json(BatchItem.from_batch(batch).model_dump_json()).as_batch == batch
    for key in (KEYS.listed_key(target), KEYS.volumes(batch), KEYS.result(batch), KEYS.failed_batch(batch)):
        store.put(key, b"")
    assert list(KEYS.listed_targets(store)) == [target]
    assert KEYS.listed_batches(store) == {batch: 0}
    assert list(KEYS.answered_batches(store)) == [batch]
    assert list(KEYS.failed_batches(store)) == [batch]


@pytest.mark.parametrize(
    "item",
    [
        {"account": "Storage", "region": REGION},
        {"account": "12345", "region": REGION},
        {"account": PROJECT, "region": "us-central1-a"},
        {"account": "../up", "region": REGION},
    ],
)
def test_what_is_neither_an_account_nor_a_project_is_no_target(item):
    with pytest.raises(ValidationError):
        TargetItem.model_validate(item)


def test_one_run_audits_accounts_and_projects_into_one_report(tmp_path):
    loop = audited(both(), tmp_path)
    found = records(files(loop.service, "first"))
    assert {(one["account"], one["region"]) for one in found.values()} == {(ACCOUNT, "us-east-1"), (PROJECT, REGION)}
    assert {one["action"] for one in found.values()} == {"migrate"}
    assert run_json(files(loop.service, "first"))["volumes"]["answered"] == 4
    assert {batch.as_batch.target.provider for batch in loop.audited} == {"aws", "google"}


def test_what_asking_cost_is_reckoned_by_each_clouds_own_tariff(tmp_path):
    loop = audited(both(), tmp_path)
    settings, run = loop.service.settings, run_json(files(loop.service, "first"))
    spent = {cloud: spent.usage.metrics for cloud, spent in total(loop.service.store, KEYS).spent.items()}
    assert set(spent) == {"aws", "google"}
    usd = spent["aws"] * settings.usd_per_1000_metrics + spent["google"] * settings.google_usd_per_1000_series
    assert run["usage"]["estimated_usd"] == round(usd / 1000, 4) > 0


def test_a_project_that_cannot_be_read_costs_itself_alone(tmp_path):
    lost = Target(account="closed-project", region=REGION, provider="google")
    unlisted = FailedTarget(name="hidden-project", error=AccessDenied("compute.regions.list is missing there."))
    places = both(
        [*disks(2), *disks(1, project="closed-project")],
        locked={lost: AccessDenied("compute.disks.list is missing there.")},
        unreachable=(unlisted,),
    )
    loop = audited(places, tmp_path)
    run = run_json(files(loop.service, "first"))
    assert run["status"] == "partial"
    assert run["failures"]["targets"] == {
        "closed-project/us-central1": "compute.disks.list is missing there.",
        "hidden-project": "compute.regions.list is missing there.",
    }
    assert len(records(files(loop.service, "first"))) == 4


def test_a_project_that_is_throttled_for_good_is_noted_by_its_name(tmp_path):
    places = both(locked={THERE: Throttled("too many calls.")})
    loop = audited(places, tmp_path)
    run = run_json(files(loop.service, "first"))
    assert run["failures"]["targets"] == {"storage-prod/us-central1": "too many calls."}
    assert len(records(files(loop.service, "first"))) == 2


def test_a_project_is_told_anew_by_its_next_run_only_where_something_is_new(tmp_path):
    loop = audited(both(), tmp_path)
    assert run_json(files(loop.service, "first"))["history"]["new"] == 4
    loop.run("second")
    assert run_json(files(loop.service, "second"))["history"]["new"] == 0


def test_a_validation_leaves_projects_out_and_says_why(tmp_path):
    loop = audited(both(accounts=[]), tmp_path)
    chosen = choose_volumes(loop.service, ChooseMessage(name="v", given={"run_id": "first"}))
    assert (chosen.items, chosen.left_out) == ([], 0)
    assert [why.partition(":")[0] for why in chosen.unmeasured] == ["nothing is measured in storage-prod/us-central1"]


def test_a_disk_is_not_measured_on_request_either(tmp_path):
    service = service_of(both(), tmp_path)
    (disk,) = disks(1)
    for name in (disk.id, f"{THERE}/{disk.id}"):
        with pytest.raises(BadInput, match="the service has no bench in the cloud 'google'"):
            choose_volumes(service, ChooseMessage(name="v", given={"volume_id": name}))


def test_an_id_is_searched_for_in_the_cloud_that_it_is_of(tmp_path):
    locked = {THERE: AccessDenied("cannot enter the project.")}
    service = service_of(both(accounts=volumes(1), locked=locked), tmp_path)
    with pytest.raises(BadInput, match="there is no volume vol-gone in the accounts and regions"):
        choose_volumes(service, ChooseMessage(name="v", given={"volume_id": "vol-gone"}))
    with pytest.raises(AccessDenied, match="cannot enter the project"):
        choose_volumes(service, ChooseMessage(name="v", given={"volume_id": "1234567890"}))


def test_a_cloud_that_is_not_in_scope_is_refused_by_name(tmp_path):
    places = both()
    alone = type(places)(clouds={"aws": places.clouds["aws"]})
    with pytest.raises(BadInput, match=r"storage-prod/us-central1 is of the cloud 'google', which is not in the scope"):
        alone.ports(named_target(PROJECT, REGION), now=NOW, measured=tmp_path, ledger=None)
    assert "no bench in the cloud 'google'" in (unmeasured_reason(THERE) or "")
