"""The border: whatever is wrong in an answer of AWS, each volume is what it is without it, or it is named."""

from xml.etree import ElementTree as ET

import pytest

from plimsoll.clouds.aws import endpoints, lists
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.prices import AwsPrices
from plimsoll.clouds.common.dated_data import shipped_prices, volume_types
from plimsoll.model.errors import CloudError
from plimsoll.model.volume import Volume
from plimsoll.ports import FailedTarget
from tests.builders import NOW
from tests.unit.clouds.aws.border import HERE, READING, Account, answer

TEXTS = {"null": "null", "no number": "abc", "negative": "-5", "huge": "99999999999999", "empty text": ""}
UNCHECKED = {
    ("DescribeVolumes", "availabilityZone"),
    ("DescribeVolumes", "device"),
    ("DescribeVolumes", "key"),
    ("DescribeVolumes", "value"),
    ("DescribeVolumes", "principal"),
    ("DescribeVolumes", "snapshotId"),
    ("DescribeInstances", "rootDeviceName"),
}
"""Names that may be any text, or none: one that is wrong cannot be told from one that is right."""
MAY_BE_ABSENT = {
    ("DescribeVolumes", "tagSet"),
    ("DescribeVolumes", "tagSet/item"),
    ("DescribeVolumes", "operator"),
    ("DescribeVolumes", "operator/principal"),
    ("DescribeVolumesModifications", "volumeModificationSet/item"),
}
"""What a volume may be without, and nothing else that EC2 says tells that it was there: its tags, who manages it, its
latest change."""


@pytest.fixture(scope="module")
def account():
    return Account()


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(lists, "_PAUSE_S", 0)
    monkeypatch.setattr(endpoints, "_PAUSE_S", 0)


def listed(account):
    """The volumes that were read by id, those that are named, and the error that ended the list."""
    found, named, ended = {}, set(), None
    try:
        for one in AwsInventory(sessions=account.sessions).volumes(HERE):
            found.pop(one.id, None)
            if isinstance(one, Volume):
                found[one.id] = one
            else:
                named.add(one.id)
    except CloudError as error:
        ended = error
    return found, named, ended


def spoiled(account, operation, change, *, times=10**6):
    """What is listed where a change is made to the first answers of an operation."""
    left = [times]

    def spoil(asked, body):
        if asked != operation or left[0] <= 0:
            return body
        left[0] -= 1
        root = ET.fromstring(body)
        change(root)
        return ET.tostring(root)

    account.spoil = spoil
    try:
        return listed(account)
    finally:
        account.spoil = lambda _operation, body: body


def parts():
    """Every part of every answer: the operation, its place in the tree, and its name."""
    for operation in READING:
        for place, part in enumerate(answer(operation).iter()):
            if place:
                yield operation, place, part.tag


def part_of(root, place):
    return list(root.iter())[place]


def absent(root, place):
    gone = part_of(root, place)
    next(parent for parent in root.iter() if gone in list(parent)).remove(gone)


def twice(root, place):
    one = part_of(root, place)
    next(parent for parent in root.iter() if one in list(parent)).append(one)


def emptied(root, place):
    one = part_of(root, place)
    for child in list(one):
        one.remove(child)
    one.text = None


def texted(text):
    def change(root, place):
        part_of(root, place).text = text

    return change


WAYS = {"absent": absent, "twice": twice, "emptied": emptied, **{name: texted(text) for name, text in TEXTS.items()}}


ATTACHED_TO_NOTHING = {"vol-4"}
"""Where a list leaves out such a volume, nothing else that EC2 says tells of it."""


def is_alone(operation, place):
    """Whether nothing else tells that this part was there."""
    root = answer(operation)
    part = part_of(root, place)
    parent = next(one for one in root.iter() if part in list(one))
    if operation == "DescribeVolumesModifications" and part.tag == "volumeModificationSet":
        return True
    return bool({(operation, part.tag), (operation, f"{parent.tag}/{part.tag}")} & MAY_BE_ABSENT)


def cases():
    for operation, place, name in parts():
        is_leaf = not len(part_of(answer(operation), place))
        for way in WAYS:
            if way in TEXTS and (not is_leaf or (operation, name) in UNCHECKED):
                continue
            if way == "emptied" and is_leaf:
                continue
            if way in {"absent", "emptied"} and is_alone(operation, place):
                continue
            yield pytest.param(operation, place, way, id=f"{operation}-{place}-{name}-{way}")


@pytest.fixture(scope="module")
def undisturbed(account):
    found, named, ended = listed(account)
    assert (sorted(found), named, ended) == (["vol-1", "vol-2", "vol-3", "vol-4", "vol-5"], set(), None)
    return found


def spread(found, every):
    """All cases before a release, one in so many of them on a push."""
    return [
        one if number % every == 0 else pytest.param(*one.values, id=one.id, marks=pytest.mark.release)
        for number, one in enumerate(found)
    ]


@pytest.mark.parametrize(("operation", "place", "way"), spread(cases(), 5))
def test_a_part_that_is_wrong_changes_no_volume_that_is_not_named(account, undisturbed, operation, place, way):
    found, named, ended = spoiled(account, operation, lambda root: WAYS[way](root, place))
    changed = {name for name, volume in undisturbed.items() if name in found and found[name] != volume}
    lost = set(undisturbed) - set(found) - named - ATTACHED_TO_NOTHING
    assert set(found) <= set(undisturbed)
    assert {name for name in changed if found[name].spec.type in volume_types("aws")} == set()
    assert not lost or None in named or ended is not None, lost


@pytest.mark.parametrize(("operation", "place", "way"), spread(list(cases())[::7], 5))
def test_what_one_answer_has_wrong_the_next_one_puts_right(account, undisturbed, operation, place, way):
    found, named, ended = spoiled(account, operation, lambda root: WAYS[way](root, place), times=1)
    untold = {name: undisturbed[name] for name in ATTACHED_TO_NOTHING}
    assert (untold | found, named - set(found), ended) == (undisturbed, set(), None)


HTML = b"<html><body><h1>Welcome to the hotel</h1></body></html>"
XHTML = b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>Sign in</p></body></html>'
BODIES = [HTML, XHTML, b"", b"null", b"[]", b"{}", b'"x"', b"\xff\xfe\x00", b"<a/>", b"\xa1aStatus", b"<" * 5000]


def spoiled_body(body, whole):
    """The body, or where it is None the first half of the whole one."""
    return whole[: len(whole) // 2] if body is None else body


@pytest.mark.parametrize("body", [*BODIES, None], ids=lambda body: "cut" if body is None else repr(body[:12]))
@pytest.mark.parametrize("operation", [one for one in READING if one != "DescribeInstanceTypes"])
def test_a_body_that_is_no_answer_fails_the_target_by_name(account, operation, body):
    account.spoil = lambda asked, whole: spoiled_body(body, whole) if asked == operation else whole
    _found, _named, ended = listed(account)
    account.spoil = lambda _operation, whole: whole
    assert isinstance(ended, CloudError)
    assert str(HERE) in str(ended)


@pytest.mark.parametrize("body", [*BODIES, None], ids=lambda body: "cut" if body is None else repr(body[:12]))
def test_types_that_are_no_answer_cost_what_is_on_hosts_by_name(account, undisturbed, body):
    account.spoil = lambda asked, whole: spoiled_body(body, whole) if asked == "DescribeInstanceTypes" else whole
    found, named, ended = listed(account)
    account.spoil = lambda _operation, whole: whole
    assert (set(found), ended) == (ATTACHED_TO_NOTHING, None)
    assert named >= set(undisturbed) - ATTACHED_TO_NOTHING


@pytest.mark.parametrize("body", [*BODIES, None], ids=lambda body: "cut" if body is None else repr(body[:12]))
def test_optional_answers_that_are_none_cost_a_sentence(account, body):
    account.spoil = lambda _asked, whole: spoiled_body(body, whole)
    inventory, prices = AwsInventory(sessions=account.sessions), shipped_prices("aws")
    book = AwsPrices(shipped=prices, sessions=account.sessions, today=NOW.date()).book(HERE)
    targets, notices = inventory.targets(), inventory.notices(HERE)
    account.spoil = lambda _operation, whole: whole
    assert len(notices) == 1
    assert "pricing:GetProducts" in book.unlisted
    assert book.types == prices.book(HERE.region).types
    assert [type(one) for one in targets] == [FailedTarget]
