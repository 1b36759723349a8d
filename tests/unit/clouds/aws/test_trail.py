"""CloudTrail: what it has of a volume's past is brought along, and what cannot be read fails by name."""

import json
import math
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from cloud_simulator.aws.cloudtrail_events import attach_event, modify_event, retype_event
from cloud_simulator.aws.fleet import Fleet
from cloud_simulator.aws.volume_maker import VolumeMaker, gp3
from cloud_simulator.faults import Fault
from cloud_simulator.metrics.workloads import Archetype
from plimsoll.clouds.aws import lists
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.lists import Asker
from plimsoll.clouds.aws.trail import Trail
from plimsoll.clouds.common.calls import Pacer
from plimsoll.demand.epochs import epochs_of
from plimsoll.model.errors import AccessDenied, BadAnswer, CloudError, Endless
from plimsoll.model.volume import Volume
from plimsoll.ports import Target
from plimsoll.reading.window import Window
from tests.unit.cloud_simulator.served import HOME, NOW, served

TARGET = Target(account=HOME, region="us-east-1")
DAYS = 14


def ago(**span):
    return NOW - timedelta(**span)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(lists, "_PAUSE_S", 0)


@pytest.fixture
def maker():
    return VolumeMaker(NOW, HOME, TARGET.region, 1)


def of(maker):
    return Fleet(now=NOW, accounts=(HOME,), regions=(TARGET.region,), volumes=tuple(maker.volumes))


def listed(fleet, *faults, days=90.0):
    """The volumes of a fleet by name, as an inventory with CloudTrail has them."""
    with served(fleet, *faults) as there:
        sessions = SimpleNamespace(client=lambda service, _account, region: there.client(service, region=region))
        # The fleet's time stands still, so that further back is read than the window is long.
        inventory = AwsInventory(sessions=sessions, trail_days=days, lookups=Pacer(math.inf))
        found = list(inventory.volumes(TARGET))
    assert all(isinstance(one, Volume) for one in found), found
    return {one.name: one for one in found}


def told(volume):
    """By days before now: the IOPS and the host's type of each epoch."""
    epochs = epochs_of(volume, Window.before(NOW, days=DAYS))
    return [
        (
            round((NOW.timestamp() - epoch.window.start_s) / 86_400),
            epoch.spec and epoch.spec.iops,
            epoch.hosts and epoch.hosts[0].type,
        )
        for epoch in epochs[1:]
    ], (epochs[0].spec and epochs[0].spec.iops, epochs[0].hosts and epochs[0].hosts[0].type)


def test_changes_before_the_latest_are_known_with_what_was_before_each(maker):
    volume = maker.volume(gp3(500, 9000), Archetype.STEADY, "db")
    first = modify_event(volume.id, ago(days=9), gp3(500, 3000), gp3(500, 6000))
    second = modify_event(volume.id, ago(days=4), gp3(500, 6000), gp3(500, 9000))
    maker.volumes[-1] = replace(volume, past=(first, second))
    found = listed(of(maker))["db"]
    assert told(found) == ([(9, 6000, "m5.4xlarge"), (4, 9000, "m5.4xlarge")], (3000, "m5.4xlarge"))
    assert list(found.recent_changes) == [ago(days=9), ago(days=4)]


def test_the_host_that_a_volume_was_attached_to_before_is_known_while_it_exists(maker):
    small = maker.host("m5.large")
    maker.volume(gp3(100), Archetype.STEADY, "neighbor", hosts=(small,))
    volume = maker.volume(gp3(500, 9000), Archetype.STEADY, "db", attached=ago(days=2))
    before = (
        attach_event(volume.id, ago(days=30), small.id),
        attach_event(volume.id, ago(days=20), "i-0123456789abcdef0"),
    )
    maker.volumes[-1] = replace(volume, past=before[:1])
    assert told(listed(of(maker))["db"]) == ([(2, 9000, "m5.4xlarge")], (9000, "m5.large"))


def test_a_host_that_is_gone_is_not_known(maker):
    volume = maker.volume(gp3(500, 9000), Archetype.STEADY, "db", attached=ago(days=2))
    maker.volumes[-1] = replace(volume, past=(attach_event(volume.id, ago(days=30), "i-0123456789abcdef0"),))
    assert told(listed(of(maker))["db"]) == ([(2, 9000, "m5.4xlarge")], (9000, None))


def test_a_host_that_was_given_another_type_is_another_from_then_on(maker):
    host = maker.host()
    volume = maker.volume(gp3(500, 9000), Archetype.STEADY, "db", hosts=(host,))
    past = (retype_event(host.id, ago(days=8), "m5.large"), retype_event(host.id, ago(days=3), "m5.4xlarge"))
    maker.volumes[-1] = replace(volume, past=past)
    found = told(listed(of(maker))["db"])
    assert found == ([(8, 9000, "m5.large"), (3, 9000, "m5.4xlarge")], (9000, None))


def test_without_the_policy_nothing_is_asked(maker):
    maker.volume(gp3(500, 9000), Archetype.STEADY, "db")
    found = listed(of(maker), Fault(operation="LookupEvents", code="AccessDeniedException"), days=0.0)
    assert found["db"].seen == ()


def test_a_trail_that_may_not_be_read_fails_the_target_by_name(maker):
    maker.volume(gp3(500, 9000), Archetype.STEADY, "db")
    with pytest.raises(AccessDenied, match="cloudtrail:LookupEvents"):
        listed(of(maker), Fault(operation="LookupEvents", code="AccessDeniedException"))


def event(name, said, **fields):
    return {"EventName": name, "EventTime": ago(days=1), "CloudTrailEvent": json.dumps(said), **fields}


def change(**fields):
    figures = {
        "volumeId": "vol-0123",
        "originalVolumeType": "gp3",
        "originalSize": "100",
        "originalIops": 3000,
        "originalThroughput": 125,
        "targetVolumeType": "gp3",
        "targetSize": 100,
        "targetIops": 4000,
        "targetThroughput": 125,
        **fields,
    }
    kept = {key: value for key, value in figures.items() if value is not None}
    elements = {"ModifyVolumeResponse": {"volumeModification": kept}}
    return event("ModifyVolume", {"eventName": "ModifyVolume", "responseElements": elements})


def trail(*pages, tokens=()):
    """A trail whose lookups of ModifyVolume get these pages, over and over."""

    def lookup_events(**request):
        if request["LookupAttributes"][0]["AttributeValue"] != "ModifyVolume":
            return {"Events": []}
        number = int(request.get("NextToken") or 0)
        more = {"NextToken": tokens[number]} if number < len(tokens) else {}
        return {"Events": pages[min(number, len(pages) - 1)], **more}

    asker = Asker(place=str(TARGET), sleep=lambda _s: None)
    client = SimpleNamespace(lookup_events=lookup_events)
    return Trail(client=client, asker=asker, pacer=Pacer(math.inf), since=ago(days=30))


def test_figures_may_be_texts_and_pages_are_followed():
    found = trail([change()], [change(targetIops=5000)], tokens=("1",))
    found.read()
    assert [one.new_spec.iops for _, one in found.altered["vol-0123"]] == [5000, 4000]


def test_a_call_that_was_refused_changed_nothing():
    said = {"eventName": "ModifyVolume", "errorCode": "Client.VolumeModificationRateExceeded", "responseElements": None}
    found = trail([event("ModifyVolume", said)])
    found.read()
    assert found.altered == {}


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        3,
        {},
        change(originalIops=None),
        change(originalSize=None),
        change(targetVolumeType="gp9"),
        change(targetIops=-1),
        change(targetSize=10**9),
        change(volumeId="i-1"),
        event("ModifyVolume", []),
        event("ModifyVolume", {"eventName": "ModifyVolume"}),
        event("ModifyVolume", {"eventName": "AttachVolume", "responseElements": {}}),
        {**change(), "CloudTrailEvent": "{"},
        {**change(), "EventTime": None},
    ],
)
def test_an_event_that_cannot_be_used_fails_by_name(wrong):
    with pytest.raises(BadAnswer, match="cloudtrail:LookupEvents"):
        trail([wrong]).read()


@pytest.mark.parametrize("tokens", [("0",), tuple(str(number) for number in range(1, 40))])
def test_a_list_without_an_end_is_given_up(tokens):
    with pytest.raises((Endless, CloudError)):
        trail([change()] if len(tokens) == 1 else [], tokens=(*tokens, "0")).read()
