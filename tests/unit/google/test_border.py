"""The law at the border: whatever is wrong with an answer, each disk is as it was, or it is named with the reason."""

import copy
import json
from contextlib import suppress

import pytest
from google.cloud.resourcemanager_v3 import Folder, Project

from plimsoll.model.errors import BadInput, CloudError
from plimsoll.model.volume import Volume
from plimsoll.ports import FailedTarget, Target
from plimsoll_google import aggregated
from plimsoll_google.inventory import GoogleInventory
from plimsoll_google.projects import projects_in
from tests.unit.google.google_here import google_here

SHOP = "plimsoll-shop"
HERE = Target(account=SHOP, region="us-central1", provider="google")
DISKS, INSTANCES = "compute.disks.list", "compute.instances.list"
ABSENT = object()

WRONG = [ABSENT, None, "", 0, -1, 10**30, [], {}, "nobody/knows", True]
"""What stands in the place of a field."""

BODIES = [b"", b"<html>Sign in</html>", b"{}", b"[]", b"null", b'"x"', b"3", b"\xff\xfe", b'{"items": {"zones/x": 7}}']
"""What comes in the place of an answer."""

DISK_FIELDS = [
    "id",
    "name",
    "selfLink",
    "type",
    "sizeGb",
    "status",
    "creationTimestamp",
    "lastAttachTimestamp",
    "users",
    "zone",
    "region",
    "replicaZones",
    "provisionedIops",
    "provisionedThroughput",
]
"""Those that a decision rests on. Labels, description, access mode and storage pool are taken as they come: nothing
else in the answers says what they should be."""

INSTANCE_FIELDS = ["id", "name", "selfLink", "machineType", "status", "lastStartTimestamp", "disks"]
HELD_FIELDS = ["source", "deviceName", "boot"]


@pytest.fixture(scope="module")
def served():
    with google_here() as google:
        yield google


@pytest.fixture
def shop(served, monkeypatch):
    """Disks of several types on two instances, one in two zones, one that is attached to nothing."""
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    monkeypatch.setattr(aggregated, "LIST_PAGE_SIZE", 3)
    served.disks, served.instances, served.spoil = {}, {}, None
    web, db = (served.instance(SHOP, name) for name in ("web-1", "db-1"))
    served.disk(SHOP, "web-1", users=[web])
    served.disk(SHOP, "web-data", "hyperdisk-balanced", users=[web])
    served.disk(SHOP, "db-both", region="us-central1", replicas=("us-central1-a", "us-central1-f"), users=[db])
    served.disk(SHOP, "left")
    return served


@pytest.fixture
def clients(shop):
    made = shop.clients()
    yield made
    made.close()


def listed(clients):
    """The volumes by id, and all that was said of others."""
    found, said = {}, []
    with suppress(CloudError):
        try:
            for one in GoogleInventory(clients=clients, projects=[SHOP]).volumes(HERE):
                if isinstance(one, Volume):
                    found[one.id] = one
                else:
                    found.pop(one.id, None)
                    said.append((one.id, str(one.error)))
        except CloudError as error:
            return {}, [(None, str(error))]
    return found, said


def held(before, found, said, what):
    """The law: each volume is as it was or named; where the place itself failed, it is named for all of them."""
    whole = any(volume_id is None and f"cannot read {HERE}:" in text for volume_id, text in said)
    for volume_id, volume in before.items():
        same = found.get(volume_id) == volume
        named = any(volume_id == other or f"disk {volume.name} in" in text for other, text in said)
        assert same or (volume_id not in found and (named or whole)), (what, volume.name, said)
    assert found.keys() <= before.keys(), (what, found.keys() - before.keys())


def changed(entry, field, value):
    if value is ABSENT:
        entry.pop(field, None)
    else:
        entry[field] = value


def spoiling(permission, pick, field, value):
    """Puts a value in the place of a field of the first entry that is picked, in every answer of an operation."""

    def spoil(asked, answer):
        if asked == permission:
            kind = "disks" if permission == DISKS else "instances"
            entries = [one for scope in answer["items"].values() for one in scope.get(kind, ())]
            for entry in [one for one in map(pick, entries) if one is not None][:1]:
                changed(entry, field, copy.deepcopy(value))
        return answer

    return spoil


def named(name):
    return lambda entry: entry if entry.get("name") == name else None


def first_held(entry):
    return entry["disks"][0] if entry.get("disks") else None


@pytest.mark.parametrize("field", DISK_FIELDS)
def test_a_wrong_field_of_a_disk_costs_no_more_than_is_named(shop, clients, field):
    before, nothing = listed(clients)
    assert len(before) == 4
    assert nothing == []
    in_two_zones = field in {"zone", "region", "replicaZones", "selfLink"}
    for name in ("db-both" if in_two_zones else "web-data", "left"):
        for value in WRONG:
            shop.spoil = spoiling(DISKS, named(name), field, value)
            held(before, *listed(clients), (name, field, value))


@pytest.mark.parametrize("field", INSTANCE_FIELDS)
def test_a_wrong_field_of_an_instance_costs_no_more_than_is_named(shop, clients, field):
    before, _ = listed(clients)
    for value in WRONG:
        shop.spoil = spoiling(INSTANCES, named("web-1"), field, value)
        held(before, *listed(clients), (field, value))


@pytest.mark.parametrize("field", HELD_FIELDS)
def test_a_wrong_field_of_a_disk_on_an_instance_costs_no_more_than_is_named(shop, clients, field):
    before, _ = listed(clients)
    could_be = {"deviceName": ["nobody/knows"], "boot": [True, 0]}.get(field, [])
    for value in [one for one in WRONG if one is ABSENT or one not in could_be]:
        shop.spoil = spoiling(INSTANCES, first_held, field, value)
        held(before, *listed(clients), (field, value))


@pytest.mark.parametrize("field", ["source", "deviceName"])
def test_where_an_instance_names_one_disk_twice_none_of_its_disks_is_taken_for_another(shop, clients, field):
    before, _ = listed(clients)
    moved = []

    def spoil(asked, answer):
        if asked == INSTANCES:
            instances = [one for scope in answer["items"].values() for one in scope.get("instances", ())]
            for disks in (one["disks"] for one in instances if len(one.get("disks", ())) > 1):
                values = [disk[field] for disk in disks]
                moved.extend(values)
                for disk, value in zip(disks, [values[0], *values], strict=False):
                    disk[field] = value
        return answer

    shop.spoil = spoil
    held(before, *listed(clients), field)
    assert moved


@pytest.mark.parametrize(
    ("permission", "path"),
    [
        (DISKS, ("disks",)),
        (DISKS, ("disks", "users")),
        (DISKS, ("disks", "replicaZones")),
        (INSTANCES, ("instances",)),
        (INSTANCES, ("instances", "disks")),
    ],
    ids=lambda part: part if isinstance(part, str) else "-".join(part),
)
def test_what_a_list_has_twice_is_one_thing_or_is_named(shop, clients, permission, path):
    before, _ = listed(clients)
    doubled = []

    def double(entries):
        doubled.extend(entries[:1])
        entries[:0] = copy.deepcopy(entries[:1])

    def spoil(asked, answer):
        for scope in answer["items"].values() if asked == permission else ():
            if path[0] in scope and len(path) == 1:
                double(scope[path[0]])
            for entry in scope.get(path[0], ()) if len(path) > 1 else ():
                double(entry.get(path[1], []))
        return answer

    shop.spoil = spoil
    held(before, *listed(clients), path)
    assert doubled


@pytest.mark.parametrize("permission", [DISKS, INSTANCES])
@pytest.mark.parametrize("once", [True, False])
def test_an_answer_that_is_none_costs_no_more_than_is_named(shop, clients, permission, once):
    before, _ = listed(clients)
    for body in (*BODIES, "half"):
        turns = iter(range(1 if once else 100))

        def spoil(asked, answer, body=body, turns=turns):
            if asked != permission or next(turns, None) is None:
                return answer
            whole = json.dumps(answer).encode()
            return whole[: len(whole) // 2] if body == "half" else body

        shop.spoil = spoil
        found, said = listed(clients)
        held(before, found, said, (permission, body))
        assert not once or found == before, (permission, body, said)


@pytest.mark.parametrize("permission", [DISKS, INSTANCES])
@pytest.mark.parametrize("kind", ["scope", "entries", "warning"])
def test_a_scope_that_lacks_something_costs_no_more_than_is_named(shop, clients, permission, kind):
    """A disk that is attached to nothing and whose zone is not in an answer is named with the zone."""
    before, _ = listed(clients)

    def spoil(asked, answer):
        if asked == permission:
            scope = "zones/us-central1-a"
            if kind == "scope":
                answer["items"].pop(scope, None)
            elif kind == "entries":
                answer["items"][scope] = {}
            else:
                answer["items"][scope]["warning"] = {"code": "UNREACHABLE"}
                answer["items"][scope].pop("disks", None)
                answer["items"][scope].pop("instances", None)
        return answer

    shop.spoil = spoil
    found, said = listed(clients)
    zone_failed = any(other is None and text.startswith("us-central1-a did not answer") for other, text in said)
    assert zone_failed
    unnamed = {
        volume_id: volume
        for volume_id, volume in before.items()
        if not (volume.name == "left" and permission == DISKS and zone_failed)
    }
    held(
        unnamed, {volume_id: one for volume_id, one in found.items() if volume_id in unnamed}, said, (permission, kind)
    )


@pytest.mark.parametrize("body", [*BODIES, b'{"items": [{"name": ""}]}', b'{"items": [{}]}'])
def test_regions_that_cannot_be_read_are_the_projects_failure(shop, clients, body):
    shop.spoil = lambda asked, answer: body if asked == "compute.regions.list" else answer
    (failed,) = GoogleInventory(clients=clients, projects=[SHOP], regions=["us-central1"]).targets()
    assert isinstance(failed, FailedTarget)
    assert "compute.regions.list" in str(failed.error)


def test_a_region_that_one_answer_lacks_is_a_region(shop, clients):
    turns = iter(range(1))
    shop.spoil = lambda asked, answer: answer if next(turns, None) is None else {"items": [{"name": "europe-west4"}]}
    assert GoogleInventory(clients=clients, projects=[SHOP], regions=["us-central1"]).targets() == [HERE]
    shop.spoil = lambda asked, answer: {"items": [{"name": "europe-west4"}]}
    with pytest.raises(BadInput):
        GoogleInventory(clients=clients, projects=[SHOP], regions=["us-central1"]).targets()


@pytest.fixture
def tree(shop):
    """A folder with a project, and one below it with another."""
    shop.numbers = {"471100000000": SHOP}
    shop.below = {
        "folders/1": [Project(project_id=SHOP, state="ACTIVE"), Folder(name="folders/2", state="ACTIVE")],
        "folders/2": [Project(project_id="plimsoll-data", state="ACTIVE")],
    }
    return shop


def below(clients):
    found = projects_in(clients, projects=["471100000000"], folders=["1"])
    return [one for one in found if isinstance(one, str)], [one for one in found if isinstance(one, FailedTarget)]


@pytest.mark.parametrize(
    ("permission", "kind"),
    [("resourcemanager.projects.list", "projects"), ("resourcemanager.folders.list", "folders")],
)
@pytest.mark.parametrize("field", ["projectId", "state", "name"])
def test_a_project_or_folder_whose_entry_is_wrong_is_named(tree, clients, permission, kind, field):
    everything, _ = below(clients)
    assert everything == [SHOP, "plimsoll-data"]
    for value in WRONG:

        def spoil(asked, answer, value=value):
            for entry in answer.get(kind, ())[:1] if asked == permission else ():
                changed(entry, field, copy.deepcopy(value))
            return answer

        tree.spoil = spoil
        found, failed = below(clients)
        assert set(found) <= set(everything), value
        assert set(found) == set(everything) or failed, (field, value)


@pytest.mark.parametrize(
    "permission",
    ["resourcemanager.projects.list", "resourcemanager.folders.list", "resourcemanager.projects.get"],
)
@pytest.mark.parametrize("body", BODIES)
def test_an_answer_of_resource_manager_that_is_none_is_asked_for_again_or_named(tree, clients, permission, body):
    everything, _ = below(clients)
    turns = iter(range(1))
    tree.spoil = lambda asked, answer: body if asked == permission and next(turns, None) is not None else answer
    found, failed = below(clients)
    assert set(found) == set(everything) or failed


def test_a_folder_that_holds_itself_ends(tree, clients):
    tree.below["folders/2"] = [Folder(name="folders/1", state="ACTIVE")]
    found, failed = below(clients)
    assert found == [SHOP]
    assert [one.name for one in failed] == ["folders/1"]
