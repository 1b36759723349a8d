"""A volume is told of in the channels of its account, its owner and its tags, and always in that of the whole."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.reports.record import OwnerRecord
from plimsoll.reports.wording import owner_text
from plimsoll_service.slack.notifications.channels import channels_for, channels_of, part_words
from plimsoll_service.slack_config import SlackConfig
from tests.profiles import examples
from tests.unit.reports.recommendations import a_record

ALL, DATA, SHOP, LAB = "C0EVERYTHING", "C0DATA", "C0SHOP", "C0LABS"
ACCOUNTS = ("111111111111", "222222222222")


def a_config(*routes):
    return SlackConfig.model_validate({"teams": ["T0PLIMSOLL"], "channel": ALL, "routes": routes})


def a_volume_of(account=ACCOUNTS[0], owner=None, kind="cloudformation", name=None, **tags):
    return a_record(account=account, owner=OwnerRecord(kind=kind, name=owner), name=name, tags=tags)


def test_without_a_route_the_channel_of_the_whole_is_told():
    assert channels_for(a_config(), a_volume_of()) == [ALL]


def test_an_account_an_owner_or_a_tag_is_enough():
    config = a_config({"channel": DATA, "accounts": [ACCOUNTS[1]], "owners": ["shop-*"], "tags": {"team": "data"}})
    told = [
        a_volume_of(account=ACCOUNTS[1]),
        a_volume_of(owner="shop-orders"),
        a_volume_of(team="data"),
    ]
    assert [channels_for(config, one) for one in told] == [[ALL, DATA]] * 3
    untold = [
        a_volume_of(),
        a_volume_of(owner="Shop-orders"),
        a_volume_of(owner="my-shop-orders"),
        a_volume_of(team="Data"),
    ]
    assert [channels_for(config, one) for one in untold] == [[ALL]] * 4


@pytest.mark.parametrize("pattern", ["CloudFormation orders", "CloudFormation *", "orders", "*"])
def test_an_owner_is_named_as_reports_name_it_or_by_its_bare_name(pattern):
    config = a_config({"channel": SHOP, "owners": [pattern]})
    assert channels_for(config, a_volume_of(owner="orders")) == [ALL, SHOP]


def test_a_volume_that_was_made_by_hand_has_an_owner_to_route_by():
    config = a_config({"channel": SHOP, "owners": ["by hand"]})
    assert channels_for(config, a_volume_of(kind="hand")) == [ALL, SHOP]


def test_a_tag_without_a_value_is_one_with_any_and_the_name_is_a_tag():
    assert channels_for(a_config({"channel": LAB, "tags": {"team": None}}), a_volume_of(team="")) == [ALL, LAB]
    by_name = a_config({"channel": LAB, "tags": {"Name": "orders"}})
    assert channels_for(by_name, a_volume_of(name="orders")) == [ALL, LAB]
    assert channels_for(by_name, a_volume_of(name="shop")) == [ALL]
    assert channels_for(a_config({"channel": LAB, "tags": {"Name": None}}), a_volume_of()) == [ALL], "it is not shown"


def test_a_channel_of_several_routes_or_of_the_whole_is_told_once():
    config = a_config(
        {"channel": DATA, "accounts": [ACCOUNTS[0]]},
        {"channel": DATA, "tags": {"team": None}},
        {"channel": ALL, "accounts": [ACCOUNTS[0]]},
    )
    assert channels_for(config, a_volume_of(team="data")) == [ALL, DATA]
    assert channels_of(config) == [ALL, DATA]


def test_a_route_of_no_volume_is_refused():
    with pytest.raises(ValueError, match="the route to C0LABS selects no volumes: give it accounts, owners or tags"):
        a_config({"channel": LAB, "owners": []})


def test_the_part_that_a_channel_is_told_of_is_said_in_words():
    config = a_config(
        {"channel": DATA, "accounts": ACCOUNTS, "owners": ["shop-*"]},
        {"channel": DATA, "accounts": [ACCOUNTS[0]], "tags": {"team": "data", "lab": None}},
    )
    assert part_words(config, ALL) == ""
    assert part_words(config, DATA) == f"accounts {', '.join(ACCOUNTS)}; owner shop-*; tags team=data, lab"


words = st.sampled_from(["a", "b", "ab", "A", "*", "a*", "[a]", "?", "Terraform a", "by hand"])
tags = st.dictionaries(st.sampled_from(["team", "env", "Name"]), words, max_size=2)
routes = st.fixed_dictionaries(
    {"channel": st.sampled_from([ALL, DATA, SHOP, LAB])},
    optional={
        "accounts": st.lists(st.sampled_from(ACCOUNTS), max_size=2),
        "owners": st.lists(words, max_size=2),
        "tags": st.dictionaries(st.sampled_from(["team", "env", "Name"]), st.none() | words, max_size=2),
    },
).filter(lambda route: any(route.get(kind) for kind in ("accounts", "owners", "tags")))


def by_the_book(given, record):
    """Every rule spelt out, one after the other."""
    told = {ALL}
    for route in given:
        for account in route.get("accounts", ()):
            if account == record.account:
                told.add(route["channel"])
        for pattern in route.get("owners", ()):
            if fnmatchcase(record.owner.name or "", pattern) and record.owner.name:
                told.add(route["channel"])
            if fnmatchcase(owner_text(record.owner), pattern):
                told.add(route["channel"])
        for key, value in route.get("tags", {}).items():
            shown = record.name if key == "Name" else record.tags.get(key)
            if shown is not None and (value is None or value == shown):
                told.add(route["channel"])
    return told


@settings(max_examples=examples(200))
@given(st.lists(routes, max_size=4), st.sampled_from(ACCOUNTS), st.none() | words, tags)
def test_routing_is_as_the_book_has_it_and_names_each_channel_once(given, account, owner, shown):
    name = shown.pop("Name", None)
    record = a_volume_of(account=account, owner=owner, kind="terraform", name=name, **shown)
    found = channels_for(a_config(*given), record)
    assert found[0] == ALL
    assert len(found) == len(set(found))
    assert set(found) == by_the_book(given, record)
    assert set(found) <= set(channels_of(a_config(*given)))
