"""Pages that cannot be used, and ids that are nobody's: each costs itself, and is named."""

from urllib.parse import parse_qs
from xml.etree import ElementTree as ET

import pytest
from botocore.awsrequest import AWSResponse

from plimsoll.clouds.aws import endpoints, lists
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.model.errors import BadAnswer, VolumeGone
from plimsoll.model.volume import Volume
from plimsoll.ports import FailedTarget
from tests.unit.clouds.aws.border import ANSWERS, HERE, Account, Body, element, instance

SETS = {
    "DescribeVolumes": "volumeSet",
    "DescribeVolumesModifications": "volumeModificationSet",
    "DescribeInstances": "reservationSet",
}
GONE = "<Response><Errors><Error><Code>InvalidVolume.NotFound</Code><Message>no</Message></Error></Errors></Response>"


class Paged(Account):
    """An account whose lists come a few entries a page. `spoil` is given the ids in an answer and its body."""

    def __init__(self):
        super().__init__()
        self.answers = {name: dict(found) for name, found in ANSWERS.items()}
        self.spoil_ids = lambda _operation, _ids, body: body
        self.a_page = 2
        self.there_is_no = set()

    def _send(self, request, event_name, **more):
        operation = event_name.rsplit(".", 1)[-1]
        if operation not in SETS:
            return super()._send(request, event_name, **more)
        body = request.body.decode() if isinstance(request.body, bytes) else str(request.body)
        asked = {name: values[0] for name, values in parse_qs(body).items()}
        alone = asked.get("VolumeId.1")
        if alone in self.there_is_no:
            return AWSResponse(request.url, 400, {"content-type": "text/xml"}, Body(GONE.encode()))
        wanted = {value for name, value in asked.items() if name.startswith("Filter.1.Value")}
        entries = self.answers[operation][SETS[operation]]
        if wanted or alone:
            entries = [one for one in entries if id_of(one) in (wanted or {alone})]
        start = int(asked.get("NextToken", "p0")[1:])
        page = entries[start : start + self.a_page]
        answer = {SETS[operation]: page}
        if start + self.a_page < len(entries):
            answer["nextToken"] = f"p{start + self.a_page}"
        content = ET.tostring(element(f"{operation}Response", answer))
        content = self.spoil_ids(operation, {id_of(one) for one in page}, content)
        self.sent.append(operation)
        return AWSResponse(request.url, 200, {"content-type": "text/xml"}, Body(content))


def id_of(entry):
    return entry.get("volumeId") or entry["instancesSet"][0]["instanceId"]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(lists, "_PAUSE_S", 0)
    monkeypatch.setattr(endpoints, "_PAUSE_S", 0)
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _s: None)


def listed(account):
    """The volumes, and what is unread: by id, or by what it is called."""
    found = {}
    for one in AwsInventory(sessions=account.sessions).volumes(HERE):
        found[one.id if isinstance(one, Volume) or one.id else one.what] = one
    volumes = {name: one for name, one in found.items() if isinstance(one, Volume)}
    return volumes, {name: one.error for name, one in found.items() if name not in volumes}


@pytest.fixture(scope="module")
def undisturbed():
    volumes, unread = listed(Paged())
    assert not unread
    return volumes


WAYS = {
    "a control character": lambda body: body.replace(b"<volumeType>", b"<volumeType>\x07", 1),
    "bytes that are no UTF-8": lambda body: body.replace(b"<volumeType>", b"<volumeType>\xff\xfe", 1),
    "an entity that is none": lambda body: body.replace(b"<volumeType>", b"<volumeType>&nbsp;", 1),
    "a tag that does not end": lambda body: body.replace(b"</volumeType>", b"", 1),
    "a number that is none": lambda body: body.replace(b"<size>", b"<size>many", 1),
    "a time that is none": lambda body: body.replace(b"<createTime>", b"<createTime>when", 1),
}


@pytest.mark.parametrize("way", WAYS)
def test_one_bad_page_costs_that_page_by_name(undisturbed, way):
    account = Paged()

    def spoil(operation, ids, body):
        return WAYS[way](body) if operation == "DescribeVolumes" and "vol-4" in ids else body

    account.spoil_ids = spoil
    volumes, unread = listed(account)
    assert volumes == {name: one for name, one in undisturbed.items() if name != "vol-4"}
    assert set(unread) == {"page 2 of the volumes"}
    assert str(HERE) in str(unread["page 2 of the volumes"])
    assert "ec2:DescribeVolumes" in str(unread["page 2 of the volumes"])


def test_a_bad_page_without_a_token_costs_what_nothing_else_names(undisturbed):
    account = Paged()

    def spoil(operation, ids, body):
        return body[:90] if operation == "DescribeVolumes" and "vol-4" in ids else body

    account.spoil_ids = spoil
    volumes, unread = listed(account)
    assert volumes == {name: one for name, one in undisturbed.items() if name != "vol-4"}
    assert set(unread) == {"page 2 and what follows of the volumes"}


@pytest.mark.parametrize("way", ["a control character", "bytes that are no UTF-8", "a tag that does not end"])
def test_one_volume_that_spoils_its_page_is_found_and_costs_its_hosts_alone(undisturbed, way):
    account = Paged()

    def spoil(operation, ids, body):
        return WAYS[way](body) if operation == "DescribeVolumes" and "vol-5" in ids else body

    account.spoil_ids = spoil
    volumes, unread = listed(account)
    assert volumes == {name: undisturbed[name] for name in ("vol-1", "vol-2", "vol-4")}
    assert {"vol-3", "vol-5"} < set(unread)  # vol-3 is on the host of vol-5 too


@pytest.mark.parametrize("spoilt", ["vol-1", "vol-2", "vol-4"])
def test_one_bad_change_costs_its_volume(undisturbed, spoilt):
    account = Paged()

    def spoil(operation, ids, body):
        bad = operation == "DescribeVolumesModifications" and spoilt in ids
        return body.replace(b"<startTime>", b"<startTime>\x07") if bad else body

    account.spoil_ids = spoil
    volumes, unread = listed(account)
    assert spoilt in unread
    assert set(volumes) == ({"vol-1", "vol-2", "vol-3", "vol-5"} if spoilt == "vol-4" else {"vol-4", "vol-5"})
    assert all(volumes[name] == undisturbed[name] for name in volumes)


def test_a_bad_page_of_instances_is_named(undisturbed):
    account = Paged()
    account.a_page = 1
    spoilt = []

    def spoil(operation, ids, body):
        if operation == "DescribeInstances" and account.sent[-1:] == ["DescribeInstances"] and "i-2" in ids:
            spoilt.append(ids)
            return body.replace(b"<instanceId>", b"\x07<instanceId>")
        return body

    account.spoil_ids = spoil
    volumes, unread = listed(account)
    assert spoilt
    assert all(undisturbed[name] == one for name, one in volumes.items())
    assert set(undisturbed) - set(volumes) <= set(unread)
    assert any("of the instances" in name for name in unread)


def phantom(account, *names):
    devices = [("vol-1", "/dev/xvda"), ("vol-2", "/dev/sdf"), ("vol-3", "/dev/sdg")]
    phantoms = [(name, f"/dev/sd{letter}") for name, letter in zip(names, "xyz", strict=False)]
    instances = [instance("i-1", "m5.large", *devices, *phantoms), ANSWERS["DescribeInstances"]["reservationSet"][1]]
    account.answers["DescribeInstances"] = {"reservationSet": instances}


@pytest.mark.parametrize("names", [["vol-fa17"], ["vol-fa17", "vol-fa18"]])
def test_a_phantom_in_a_hosts_devices_costs_itself(undisturbed, names):
    account = Paged()
    phantom(account, *names)
    account.there_is_no = set(names)
    volumes, unread = listed(account)
    assert volumes == undisturbed
    assert {name: type(error) for name, error in unread.items()} == dict.fromkeys(names, VolumeGone)
    assert all("deleted meanwhile" in str(error) for error in unread.values())


def test_a_volume_of_a_host_that_ec2_does_not_say_is_gone_costs_the_host(undisturbed):
    account = Paged()
    phantom(account, "vol-fa17")
    volumes, unread = listed(account)
    assert set(volumes) == {"vol-4", "vol-5"}
    assert set(unread) == {"vol-1", "vol-2", "vol-3", "vol-fa17"}


def test_a_volume_whose_host_went_with_it_is_deleted_meanwhile(undisturbed):
    account = Paged()
    account.answers["DescribeInstances"] = {"reservationSet": ANSWERS["DescribeInstances"]["reservationSet"][:1]}
    account.there_is_no = {"vol-5"}
    lists_of_volumes = []

    def spoil(operation, ids, body):
        if operation == "DescribeVolumes" and "vol-5" in ids:
            lists_of_volumes.append(ids)
            account.answers["DescribeVolumes"] = {
                "volumeSet": [one for one in ANSWERS["DescribeVolumes"]["volumeSet"] if one["volumeId"] != "vol-5"]
            }
        return body

    account.spoil_ids = spoil
    _volumes, unread = listed(account)
    assert isinstance(unread["vol-5"], VolumeGone)


@pytest.mark.parametrize("pages", [2, 5], ids=["on two pages", "on one page"])
def test_two_volumes_under_one_id_are_both_named(undisturbed, pages):
    account = Paged()
    account.a_page = pages
    other = {**ANSWERS["DescribeVolumes"]["volumeSet"][3], "createTime": "2026-02-03T04:05:06.000Z"}
    entries = [other if one["volumeId"] == "vol-5" else one for one in ANSWERS["DescribeVolumes"]["volumeSet"]]
    account.answers["DescribeVolumes"] = {"volumeSet": entries}
    volumes, unread = listed(account)
    assert all(undisturbed[name] == one for name, one in volumes.items())
    assert set(undisturbed) - set(volumes) <= set(unread)
    assert any("another" in name for name in unread)


REGIONS = {
    "one twice": [{"regionName": "eu-west-1"}, {"regionName": "eu-west-1"}],
    "another's endpoint": [
        {"regionName": "eu-west-1", "regionEndpoint": "ec2.us-east-1.amazonaws.com"},
        {"regionName": "us-east-1", "regionEndpoint": "ec2.us-east-1.amazonaws.com"},
    ],
}


@pytest.mark.parametrize("regions", REGIONS.values(), ids=REGIONS)
def test_regions_that_may_lack_one_are_asked_again_and_then_named(regions):
    account = Account()
    bad = ET.tostring(element("DescribeRegionsResponse", {"regionInfo": regions}))
    account.spoil = lambda operation, body: bad if operation == "DescribeRegions" else body
    targets = AwsInventory(sessions=account.sessions).targets()
    assert [(type(one), one.name) for one in targets] == [(FailedTarget, HERE.account)]
    assert isinstance(targets[0].error, BadAnswer)
    assert account.sent.count("DescribeRegions") == lists.ASKED
    account.spoil = lambda operation, body: (
        bad if operation == "DescribeRegions" and account.sent.count(operation) < 2 else body
    )
    account.sent.clear()
    assert len(AwsInventory(sessions=account.sessions).targets()) == 2
