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


def test_awkward_names_survive_the_way(account, ec2):
    names = {tag["Value"] for one in described(ec2).values() for tag in one["Tags"]}
    assert '=HYPERLINK("x")<script>\uac00\ub098\ub2e4' in names


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


def test_instances_say_their_type_root_device_and_tags(account, ec2):
    host = named(account.fleet, "worker-root").hosts[0]
    (group,) = ec2.describe_instances(InstanceIds=[host.id])["Reservations"]
    (found,) = group["Instances"]
    assert found["RootDeviceName"] == "/dev/xvda"
    assert {tag["Key"] for tag in found["Tags"]} == {"aws:autoscaling:groupName", "aws:ec2launchtemplate:id"}
    limits = ec2.describe_instance_types(InstanceTypes=[found["InstanceType"]])["InstanceTypes"][0]
    assert limits["EbsInfo"]["EbsOptimizedInfo"]["MaximumIops"] == 18_750


def test_hosts_are_nitro_where_aws_says_so(account, ec2):
    hosts = {host.type: host.nitro for volume in account.fleet.volumes for host in volume.hosts}
    for found in ec2.describe_instance_types(InstanceTypes=sorted(hosts))["InstanceTypes"]:
        assert (found["Hypervisor"] == "nitro") == hosts[found["InstanceType"]]


def test_changes_under_way_and_done_are_told(account, ec2):
    changes = {one["VolumeId"]: one for one in ec2.describe_volumes_modifications()["VolumesModifications"]}
    states = {
        name: changes[named(account.fleet, name).id] for name in ("just-changed", "being-changed", "changed-yesterday")
    }
    assert [one["ModificationState"] for one in states.values()] == ["modifying", "optimizing", "completed"]
    assert "EndTime" not in states["being-changed"]
    assert states["changed-yesterday"]["Progress"] == 100


def test_the_regions_are_those_switched_on_and_one_place_is_empty(account, ec2):
    assert [one["RegionName"] for one in ec2.describe_regions()["Regions"]] == ["us-east-1", "eu-west-1"]
    empty = account.client("ec2", account="333333333333", region="eu-west-1")
    assert empty.describe_volumes()["Volumes"] == []
    assert empty.describe_instances()["Reservations"] == []
