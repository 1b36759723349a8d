"""EC2 as a real client sees it."""

import pytest
from botocore.exceptions import ClientError

from .served import named


@pytest.fixture(scope="module")
def ec2(account):
    return account.client("ec2")


def described(ec2, **asked):
    return {
        one["VolumeId"]: one
        for page in ec2.get_paginator("describe_volumes").paginate(**asked)
        for one in page["Volumes"]
    }


def test_pages_of_any_size_make_the_same_whole(account, ec2):
    whole = [volume.id for volume in account.fleet.at("111111111111", "us-east-1")]
    for size in (5, 7, 500):
        pages = list(ec2.get_paginator("describe_volumes").paginate(PaginationConfig={"PageSize": size}))
        assert [one["VolumeId"] for page in pages for one in page["Volumes"]] == whole
        assert len(pages) == -(-len(whole) // size)


def test_a_volume_is_described_as_it_is(account, ec2):
    volume = named(account.fleet, "cache")
    found = described(ec2)[volume.id]
    assert (found["VolumeType"], found["Size"], found["Iops"], found["Throughput"]) == ("gp3", 600, 12_000, 500)
    assert found["State"] == "in-use"
    assert found["CreateTime"] == volume.created.replace(microsecond=0)
    (attachment,) = found["Attachments"]
    assert attachment["InstanceId"] == volume.hosts[0].id
    assert attachment["State"] == "attached"
    assert {tag["Key"]: tag["Value"] for tag in found["Tags"]} == dict(volume.tags)


def test_gp2_shows_its_baseline_and_hard_disks_show_no_iops(account, ec2):
    found = described(ec2)
    assert found[named(account.fleet, "wiki").id]["Iops"] == 900
    assert found[named(account.fleet, "worker-root").id]["Iops"] == 240
    assert "Iops" not in found[named(account.fleet, "hdfs-1").id]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cluster-fs", {"MultiAttachEnabled": True}),
        ("from-the-future", {"VolumeType": "gp9"}),
        ("auto-mode-node", {"Operator": {"Managed": True, "Principal": "eks.amazonaws.com"}}),
        ("broken", {"State": "error"}),
        ("being-born", {"State": "creating", "Attachments": []}),
        ("forgotten", {"State": "available", "Attachments": []}),
    ],
)
def test_oddities_are_shown(account, ec2, name, expected):
    volume = named(account.fleet, name)
    found = described(ec2, VolumeIds=[volume.id])[volume.id]
    assert {key: found[key] for key in expected} == expected
    assert len(found["Attachments"]) == len(volume.hosts)


def test_filters_select(account, ec2):
    host = named(account.fleet, "node-a").hosts[0].id

    def found(name, *values):
        return set(described(ec2, Filters=[{"Name": name, "Values": list(values)}]))

    here = account.fleet.at("111111111111", "us-east-1")
    assert found("status", "available", "creating") == {
        one.id for one in here if one.state in {"available", "creating"}
    }
    assert found("attachment.instance-id", host) == {named(account.fleet, f"node-{part}").id for part in "abc"}
    assert found("volume-type", "io1", "io2") == {one.id for one in here if one.spec.type in {"io1", "io2"}}
    assert found("tag:Name", "raid-*") == {named(account.fleet, f"raid-{part}").id for part in "01"}
    assert found("tag-key", "plimsoll:exclude") == {named(account.fleet, "left-alone").id}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"VolumeIds": ["vol-0123456789abcdef0"]}, "InvalidVolume.NotFound"),
        ({"Filters": [{"Name": "color", "Values": ["red"]}]}, "InvalidParameterValue"),
        ({"MaxResults": 2}, "InvalidParameterValue"),
        ({"NextToken": "x"}, "InvalidParameterValue"),
    ],
)
def test_what_ec2_would_refuse_is_refused(ec2, asked, code):
    with pytest.raises(ClientError, match=code):
        ec2.describe_volumes(**asked)


def test_changes_under_way_and_done_are_told(account, ec2):
    changes = {one["VolumeId"]: one for one in ec2.describe_volumes_modifications()["VolumesModifications"]}
    states = {
        name: changes[named(account.fleet, name).id] for name in ("just-changed", "being-changed", "changed-yesterday")
    }
    assert [one["ModificationState"] for one in states.values()] == ["modifying", "optimizing", "completed"]
    assert "EndTime" not in states["being-changed"]
    assert states["changed-yesterday"]["Progress"] == 100
