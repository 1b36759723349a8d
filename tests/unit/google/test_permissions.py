"""Permissions: exactly those used, and a role that grants them."""

from google.cloud.resourcemanager_v3 import Folder, Project

from plimsoll.ports import Target
from plimsoll_google import permissions
from plimsoll_google.inventory import GoogleInventory
from plimsoll_google.projects import projects_in

SHOP = "plimsoll-shop"


def test_an_inventory_uses_what_an_audit_may_and_metrics_the_rest(google, clients):
    google.disk(SHOP, "one", users=[google.instance(SHOP, "web-1")])
    for regions in (None, ["us-central1"]):
        inventory = GoogleInventory(clients=clients, projects=[SHOP], regions=regions)
        for target in inventory.targets():
            assert isinstance(target, Target)
            assert len(list(inventory.volumes(target))) == 1
            inventory.notices(target)
    assert set(google.calls()) == permissions.GOOGLE_AUDIT - {"monitoring.timeSeries.list"}


def test_finding_projects_uses_what_it_may(google, clients):
    google.below = {"folders/1": [Project(project_id=SHOP, state="ACTIVE"), Folder(name="folders/2", state="ACTIVE")]}
    google.numbers["471100000000"] = SHOP
    projects_in(clients, projects=["471100000000"], folders=["1"])
    assert set(google.calls()) == permissions.BELOW | permissions.NUMBERED


def test_every_permission_has_its_api():
    assert (
        frozenset().union(*permissions.APIS.values())
        == permissions.GOOGLE_AUDIT | permissions.BELOW | permissions.NUMBERED
    )


def test_an_audit_only_lists():
    assert {one.rpartition(".")[2] for one in permissions.GOOGLE_AUDIT} == {"list"}
