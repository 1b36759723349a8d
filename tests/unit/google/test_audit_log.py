"""The audit log: what it has of a disk's past is brought along, and what cannot be read fails by name."""

import json
import math
from dataclasses import replace
from datetime import timedelta

import pytest

from cloud_simulator.faults import Fault
from cloud_simulator.google.fleet import GoogleFleet
from cloud_simulator.google.projects import DiskMaker
from plimsoll.clouds.common.calls import Pacer
from plimsoll.demand.epochs import epochs_of
from plimsoll.model.errors import AccessDenied, BadAnswer, Endless
from plimsoll.ports import Target
from plimsoll.reading.window import Window
from plimsoll_google import audit_log
from plimsoll_google.clients import Clients
from plimsoll_google.inventory import GoogleInventory
from tests.unit.cloud_simulator.google.served import NOW, SHOP, served

REGION = "us-central1"
STEPS = (
    {"vm": "db", "type": "n2-standard-16"},
    {"disk": "data", "spec": ["hyperdisk-balanced", 500, 9000, 300], "vm": "db", "does": "steady"},
)


def changed(days_ago, method="disks.update", **asked):
    return NOW - timedelta(days=days_ago), method, tuple((key, str(value)) for key, value in asked.items())


def listed(*changes, faults=(), days=400.0):
    """The disk as an inventory with the log has it, and as its epochs: days before now, IOPS and machine type."""
    maker = DiskMaker(NOW, SHOP, REGION, 1)
    maker.lay_out(STEPS)
    disk = replace(maker.disks[0], changes=changes)
    fleet = GoogleFleet(now=NOW, accounts=(SHOP,), regions=(REGION,), volumes=(disk,))
    with served(fleet, *faults) as clients:
        inventory = GoogleInventory(
            clients=clients, projects=[SHOP], regions=None, log_days=days, log_pacer=Pacer(math.inf)
        )
        (volume,) = inventory.volumes(Target(account=SHOP, region=REGION, provider="google"))
    epochs = epochs_of(volume, Window.before(NOW, days=14))
    told = [
        (
            round((NOW.timestamp() - one.window.start_s) / 86_400),
            one.spec and one.spec.iops,
            one.hosts and one.hosts[0].type,
        )
        for one in epochs
    ]
    return volume, told


def test_a_change_parts_the_window_and_what_was_before_the_first_is_not_known():
    _, told = listed(changed(9, provisionedIops=6000), changed(4, provisionedIops=9000))
    assert told[1:] == [(9, 6000, "n2-standard-16"), (4, 9000, "n2-standard-16")]
    assert told[0][1:] == (None, "n2-standard-16")


def test_a_figure_that_no_later_change_sets_is_what_it_is_now():
    volume, _ = listed(changed(9, "disks.resize", sizeGb=400), changed(4, "disks.resize", sizeGb=500))
    specs = [one.spec for one in volume.seen]
    assert [(spec.size_gib, spec.iops, spec.throughput_mib_s) for spec in specs] == [(400, 9000, 300), (500, 9000, 300)]


def test_a_machine_type_that_was_set_makes_another_host_of_it():
    _, told = listed(
        changed(8, "instances.setMachineType", machineType="zones/z/machineTypes/n2-standard-4"),
        changed(3, "instances.setMachineType", machineType="zones/z/machineTypes/n2-standard-16"),
    )
    assert told[1:] == [(8, 9000, "n2-standard-4"), (3, 9000, "n2-standard-16")]


def test_without_the_policy_nothing_is_asked():
    volume, _ = listed(
        changed(4, provisionedIops=9000), faults=[Fault(operation="entries.list", code="PERMISSION_DENIED")], days=0.0
    )
    assert volume.seen == ()


def test_a_log_that_may_not_be_read_fails_the_target_by_name():
    with pytest.raises(AccessDenied, match=r"logging\.logEntries\.list"):
        listed(faults=[Fault(operation="entries.list", code="PERMISSION_DENIED")])


def entry(**fields):
    payload = {
        "methodName": "v1.compute.disks.update",
        "resourceName": f"projects/{SHOP}/zones/us-central1-a/disks/data",
        "request": {"provisionedIops": "9000"},
    }
    return {"timestamp": NOW.isoformat(), "protoPayload": {**payload, **fields}}


class Answering(Clients):
    """Clients whose log gets these pages, over and over."""

    def answering(self, *pages):
        self.pages = list(pages)
        return self

    def log_entries(self, request, _deadline):
        number = int(request.get("pageToken", 0))
        return self.pages[min(number, len(self.pages) - 1)]


def read(*pages):
    clients = Answering(url="http://127.0.0.1:1").answering(*pages)
    return audit_log.read_log(clients, SHOP, SHOP, NOW, Pacer(math.inf))


def test_pages_are_followed_and_what_went_wrong_changed_nothing():
    failed = entry(status={"code": 7})
    found = read({"entries": [entry()], "nextPageToken": "1"}, {"entries": [failed, entry()]})
    assert len(found.altered["zones/us-central1-a/disks/data"]) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {"entries": None},
        {"entries": [3]},
        {"entries": [entry(request={"provisionedIops": "many"})]},
        {"entries": [entry(request={"sizeGb": -1})]},
        {"entries": [entry(resourceName="data")]},
        {"entries": [entry(methodName="")]},
        {"entries": [{**entry(), "timestamp": "yesterday"}]},
        {"entries": [json.dumps(entry())]},
    ],
)
def test_an_entry_that_cannot_be_used_fails_by_name(wrong):
    with pytest.raises(BadAnswer, match=r"logging\.logEntries\.list"):
        read(wrong)


def test_a_list_without_an_end_is_given_up():
    with pytest.raises(Endless):
        read({"entries": [entry()], "nextPageToken": "0"})
