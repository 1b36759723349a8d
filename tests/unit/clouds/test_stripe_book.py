"""The book of stripe sets: what hosts told is kept from run to run, and nothing else is."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.clouds.stripe_book import StripeBook
from plimsoll.model.errors import BadInput
from plimsoll.ports import Target
from tests.builders import a_stripe_set
from tests.profiles import examples

HERE = Target(account="111122223333", region="us-east-1")


def members(book):
    return [one.members for one in book.sets]


def test_where_there_is_no_file_no_set_is_known(tmp_path):
    assert StripeBook.load(tmp_path / "stripes.json").sets == []


def test_what_a_host_told_is_known_to_later_runs(tmp_path):
    path = tmp_path / "new" / "stripes.json"
    told = a_stripe_set("vol-a", "vol-b", mounts=("/data", "/söhne"))
    book = StripeBook.load(path)
    assert book.note(HERE, "i-1", [told]) == [told]
    book.save()
    assert StripeBook.load(path).sets == [told]


def test_what_a_host_tells_replaces_what_it_told_before_and_leaves_other_hosts_alone(tmp_path):
    book = StripeBook.load(tmp_path / "stripes.json")
    book.note(HERE, "i-1", [a_stripe_set("a", "b"), a_stripe_set("c", "d", name="md1")])
    book.note(HERE, "i-2", [a_stripe_set("e", "f", host_id="i-2")])
    book.note(HERE, "i-1", [a_stripe_set("a", "d")])
    assert members(book) == [("a", "d"), ("e", "f")]
    book.note(HERE, "i-1", [])
    assert members(book) == [("e", "f")]


def test_a_set_that_moved_to_another_host_is_known_once(tmp_path):
    book = StripeBook.load(tmp_path / "stripes.json")
    book.note(HERE, "i-1", [a_stripe_set("a", "b")])
    book.note(HERE, "i-2", [a_stripe_set("a", "b", host_id="i-2")])
    assert [one.host_id for one in book.sets] == ["i-2"]


def test_devices_that_share_a_volume_are_one_set(tmp_path):
    book = StripeBook.load(tmp_path / "stripes.json")
    data = a_stripe_set("a", "b", name="data", level="linear", mounts=("/data",))
    logs = a_stripe_set("b", "c", name="logs", level="striped", mounts=("/logs",), found=date(2026, 11, 20))
    (one,) = book.note(HERE, "i-1", [data, logs])
    assert (one.members, one.name, one.level, one.mounts) == (
        ("a", "b", "c"),
        "data+logs",
        "linear+striped",
        ("/data", "/logs"),
    )
    assert one.found == date(2026, 11, 20)
    assert not one.even


def test_one_volume_alone_is_no_set(tmp_path):
    book = StripeBook.load(tmp_path / "stripes.json")
    assert book.note(HERE, "i-1", [a_stripe_set("a")]) == []
    assert book.sets == []


@pytest.mark.parametrize("elsewhere", [{"host_id": "i-2"}, {"account": "999900001111"}, {"region": "eu-west-1"}])
def test_a_set_that_the_host_cannot_have_told_is_refused(tmp_path, elsewhere):
    book = StripeBook.load(tmp_path / "stripes.json")
    with pytest.raises(BadInput, match="was not told by i-1"):
        book.note(HERE, "i-1", [a_stripe_set("a", "b", **elsewhere)])
    assert book.sets == []


SOME_SETS = st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=4), max_size=4)


@given(st.lists(st.tuples(st.sampled_from(["i-1", "i-2"]), SOME_SETS), max_size=5))
@settings(max_examples=examples(60))
def test_no_volume_is_ever_in_two_sets_and_the_file_says_what_the_book_says(tmp_path_factory, told):
    path = tmp_path_factory.mktemp("book") / "stripes.json"
    book = StripeBook.load(path)
    for host_id, groups in told:
        sets = [
            a_stripe_set(*sorted(group), host_id=host_id, name=f"md{number}") for number, group in enumerate(groups)
        ]
        book.note(HERE, host_id, sets)
    ids = [volume_id for one in book.sets for volume_id in one.members]
    assert len(ids) == len(set(ids))
    assert all(len(one.members) > 1 for one in book.sets)
    book.save()
    assert StripeBook.load(path).sets == book.sets


KNOWN = (
    b'{"name": "md0", "account": "1", "region": "r", "host_id": "i-1", "members": ["a", "b"], "level": "raid0", '
    b'"mounts": [], "found": "2026-11-01"}'
)


def test_the_file_is_plain_json(tmp_path):
    path = tmp_path / "stripes.json"
    path.write_bytes(b"[" + KNOWN + b"]")
    (known,) = StripeBook.load(path).sets
    assert known == replace(a_stripe_set("a", "b"), account="1", region="r")


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"[",
        b"{}",
        b"3",
        b"\xff\xfe",
        b"[3]",
        b"[{}]",
        b"[" + KNOWN.replace(b'["a", "b"]', b'["a"]') + b"]",
        b"[" + KNOWN.replace(b'["a", "b"]', b'["a", "a"]') + b"]",
        b"[" + KNOWN.replace(b'["a", "b"]', b'"ab"') + b"]",
        b"[" + KNOWN.replace(b"2026-11-01", b"yesterday") + b"]",
        b"[" + KNOWN + b"," + KNOWN + b"]",
    ],
)
def test_a_damaged_file_is_refused_with_its_name_and_remedy_and_left_as_it_is(tmp_path, damaged):
    path = tmp_path / "stripes.json"
    path.write_bytes(damaged)
    with pytest.raises(BadInput, match="move it away") as refused:
        StripeBook.load(path)
    assert str(path) in str(refused.value)
    assert path.read_bytes() == damaged


def test_a_folder_in_its_place_is_refused(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        StripeBook.load(tmp_path)
