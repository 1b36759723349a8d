"""Both lists of a project are held against each other: what one lacks is asked for once more, and never assumed."""

import pytest

from plimsoll.model.errors import BadAnswer, Endless, Unreachable, VolumeGone
from plimsoll.model.volume import Volume
from plimsoll.ports import Target, UnreadVolume
from plimsoll_google import aggregated
from plimsoll_google.errors import GOOGLE_AUDITING
from plimsoll_google.inventory import GoogleInventory
from plimsoll_google.listing import read_named

SHOP = "plimsoll-shop"
HERE = Target(account=SHOP, region="us-central1", provider="google")
DISKS, INSTANCES = "compute.disks.list", "compute.instances.list"


def outcomes(clients):
    """What became of each disk: its name as a volume, or of an unread one why, by its id."""
    found = {}
    for one in GoogleInventory(clients=clients, projects=[SHOP]).volumes(HERE):
        found[one.id] = one.name if isinstance(one, Volume) else str(one.error)
    return found


def times(number, change):
    """Spoils the first answers of an operation."""
    left = iter(range(number))

    def spoil(permission, answer):
        return change(permission, answer) if next(left, None) is not None else answer

    return spoil


@pytest.fixture
def shop(google):
    """Two disks on one instance and one that is attached to nothing."""
    host = google.instance(SHOP, "web-1")
    google.disk(SHOP, "web-1", users=[host])
    google.disk(SHOP, "data", users=[host])
    google.disk(SHOP, "left")
    return google


def without_users(permission, answer):
    for scope in answer["items"].values() if permission == DISKS else ():
        for disk in scope.get("disks", ()):
            disk.pop("users", None)
    return answer


def test_users_that_are_missing_once_change_nothing(shop, clients):
    before = outcomes(clients)
    shop.spoil = times(2, without_users)
    assert outcomes(clients) == before
    assert sorted(before.values()) == ["data", "left", "web-1"]


def test_disks_whose_users_stay_missing_are_unread_and_never_detached(shop, clients):
    shop.spoil = without_users
    found = outcomes(clients)
    web, data, left = (found[str(number)] for number in (1000, 1001, 1002))
    assert left == "left"
    assert "instance web-1 holds the disk, which has no such user" in web
    assert "instance web-1 holds the disk, which has no such user" in data


@pytest.mark.parametrize("operation", [DISKS, INSTANCES])
@pytest.mark.parametrize("answer", [{}, {"items": {}}, {"items": {"zones/us-central1-a": {}}}])
def test_an_answer_without_entries_or_the_word_that_there_are_none_is_never_no_disks(shop, clients, operation, answer):
    shop.spoil = lambda permission, right: answer if permission == operation else right
    said = ""
    try:
        found = outcomes(clients)
    except BadAnswer as error:
        found, said = {}, str(error)
    assert not {"web-1", "data", "left"} & set(found.values())
    assert said or found


def test_a_project_without_disks_has_none(google, clients):
    assert GoogleInventory(clients=clients, projects=[SHOP]).targets() == []


def test_a_disk_that_an_instance_holds_and_no_list_has_is_named_with_what_shares_the_instance(shop, clients):
    def spoil(permission, answer):
        for scope in answer["items"].values() if permission == DISKS else ():
            scope["disks"] = [one for one in scope.get("disks", ()) if one["name"] != "data"]
        return answer

    shop.spoil = spoil
    inventory = GoogleInventory(clients=clients, projects=[SHOP])
    found = list(inventory.volumes(HERE))
    said = [str(one.error) for one in found if isinstance(one, UnreadVolume)]
    assert any("disk data in" in text and "not in the list of disks" in text for text in said)
    assert any("disk web-1 in" in text and "shares instance web-1 with data" in text for text in said)


@pytest.mark.parametrize("operation", [DISKS, INSTANCES])
def test_a_token_that_is_missing_once_behind_a_full_page_cuts_nothing(shop, clients, monkeypatch, operation):
    monkeypatch.setattr(aggregated, "LIST_PAGE_SIZE", 1)
    for number in range(3):
        shop.instance(SHOP, f"other-{number}")
    before = outcomes(clients)

    def spoil(permission, answer):
        if permission == operation:
            answer.pop("nextPageToken", None)
        return answer

    shop.spoil = times(1 if operation == INSTANCES else 5, spoil)
    assert outcomes(clients) == before
    assert len(before) == 3


@pytest.mark.parametrize("tokens", [["again"], ["a", "b", "a"], [*"abcdefghijklmnop"]])
@pytest.mark.parametrize("operation", [DISKS, INSTANCES])
def test_a_token_or_a_page_seen_twice_ends_the_list(shop, clients, operation, tokens):
    turns = iter(tokens * 10)

    def spoil(permission, answer):
        return {**answer, "nextPageToken": next(turns)} if permission == operation else answer

    real = shop.compute_disks_list, shop.compute_instances_list
    shop.compute_disks_list = lambda project, query: real[0](project, {**query, "pageToken": 0})
    shop.compute_instances_list = lambda project, query: real[1](project, {**query, "pageToken": 0})
    shop.spoil = spoil
    with pytest.raises(Endless, match="the same page twice"):
        outcomes(clients)


def test_a_list_that_takes_longer_than_its_deadline_ends(shop):
    made = shop.clients(list_deadline_s=0.0001)
    turns = iter(range(100))
    shop.spoil = lambda _permission, answer: {**answer, "nextPageToken": str(next(turns))}
    with pytest.raises(Endless, match="PLIMSOLL_LIST_DEADLINE_S"):
        outcomes(made)
    made.close()


def test_two_disks_of_one_id_are_both_unread(google, clients):
    google.disk(SHOP, "one", id=7)
    google.disk(SHOP, "two", id=7)
    (said,) = outcomes(clients).values()
    assert "the id 7 is that of two and of one" in said


def test_two_regions_of_a_project_can_be_listed_at_once(google, clients):
    google.disk(SHOP, "one")
    google.disk(SHOP, "two", zone="europe-west4-b")
    inventory = GoogleInventory(clients=clients, projects=[SHOP])
    there, here = (inventory.volumes(target) for target in inventory.targets())
    assert [next(here).name, next(there).name, list(here), list(there)] == ["one", "two", [], []]
    assert google.calls() == {DISKS: 1, INSTANCES: 1}


def test_a_region_that_the_first_list_of_a_project_lacked_is_said(google, clients):
    google.disk(SHOP, "one")
    google.disk(SHOP, "two", zone="europe-west4-b")
    shop = google.compute_disks_list

    def cut(permission, answer):
        answer["items"].pop("zones/europe-west4-b", None)
        return answer

    assert shop
    google.spoil = times(1, cut)
    inventory = GoogleInventory(clients=clients, projects=[SHOP, "plimsoll-lab"])
    (here,) = [target for target in inventory.targets() if isinstance(target, Target)]
    google.spoil = None
    assert [one.name for one in inventory.volumes(here)] == ["one"]
    assert any("europe-west4 has disks too" in text for text in inventory.notices(here))


def named(clients, *ids):
    """The disks of these ids: a volume each, or why it is unread."""
    entries = {entry.id: entry for entry in read_named(clients, HERE, ids, GOOGLE_AUDITING)}
    return [entries[name].error if isinstance(entries[name], UnreadVolume) else entries[name].found for name in ids]


def test_a_disk_that_is_named_has_its_instances_and_its_path(shop, clients):
    whole = {volume.name: volume for volume in GoogleInventory(clients=clients, projects=[SHOP]).volumes(HERE)}
    assert named(clients, whole["data"].id, whole["left"].id) == [whole["data"], whole["left"]]


def test_an_id_of_no_disk_is_gone_unless_a_zone_of_its_region_is_silent(shop, clients):
    (error,) = named(clients, "7")
    assert isinstance(error, VolumeGone)
    shop.unreachable[SHOP] = ["zones/us-central1-f"]
    (error,) = named(clients, "7")
    assert isinstance(error, Unreachable)
    assert "us-central1-f" in str(error)
    shop.unreachable[SHOP] = ["zones/europe-west4-b"]
    assert isinstance(named(clients, "7")[0], VolumeGone)


def test_a_named_disk_in_dispute_with_its_instance_is_unread(shop, clients):
    volumes = {volume.name: volume for volume in GoogleInventory(clients=clients, projects=[SHOP]).volumes(HERE)}

    def spoil(permission, answer):
        for scope in answer["items"].values() if permission == INSTANCES else ():
            for instance in scope.get("instances", ()):
                instance["disks"] = [held for held in instance["disks"] if not held["source"].endswith("/data")]
        return answer

    shop.spoil = spoil
    error, other = named(clients, volumes["data"].id, volumes["web-1"].id)
    assert isinstance(error, BadAnswer)
    assert "data" in str(error)
    assert other == volumes["web-1"]
