"""Scratch volumes, from CreateVolume to DeleteVolume, as a real client sees them."""

import time

import pytest
from botocore.exceptions import ClientError

from .served import named, served

pytestmark = pytest.mark.once

ZONE = "us-east-1a"
GP3 = {"AvailabilityZone": ZONE, "Size": 1, "VolumeType": "gp3", "Iops": 3000, "Throughput": 125}
TAGS = [{"Key": "plimsoll:scratch", "Value": "v-1"}, {"Key": "empty", "Value": ""}]


def within(probe, patience_s=120.0):
    """What a probe finds, as soon as it finds anything."""
    until = time.monotonic() + patience_s
    while not (found := probe()):
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.02)
    return found


def refused(call, **asked):
    with pytest.raises(ClientError) as error:
        call(**asked)
    return error.value.response["Error"]["Code"]


def state(ec2, volume_id):
    """The volume's state and its attachment's, None where it is gone."""
    found = ec2.describe_volumes(Filters=[{"Name": "volume-id", "Values": [volume_id]}])["Volumes"]
    if not found:
        return None
    (found,) = found
    return found["State"], *(one["State"] for one in found["Attachments"])


def becomes(ec2, volume_id, *wanted):
    within(lambda: state(ec2, volume_id) == wanted)


def made(ec2, **changes):
    tags = [{"ResourceType": "volume", "Tags": TAGS}]
    volume_id = ec2.create_volume(**{**GP3, "TagSpecifications": tags, **changes})["VolumeId"]
    becomes(ec2, volume_id, "available")
    return volume_id


def bench(ec2, zone=ZONE, tag="plimsoll:bench"):
    filters = [{"Name": f"tag:{tag}", "Values": ["true"]}, {"Name": "availability-zone", "Values": [zone]}]
    (group,) = ec2.describe_instances(Filters=filters)["Reservations"]
    return group["Instances"][0]


@pytest.fixture(scope="module")
def plain(fleet):
    with served(fleet, plain=True) as found:
        yield found


@pytest.fixture(scope="module")
def ec2(plain):
    return plain.client("ec2")


def test_a_volume_passes_through_ec2s_states(ec2):
    created = ec2.create_volume(**GP3)
    volume_id = created["VolumeId"]
    assert created["State"] == "creating"
    becomes(ec2, volume_id, "available")
    host = bench(ec2)["InstanceId"]
    attaching = ec2.attach_volume(VolumeId=volume_id, InstanceId=host, Device="/dev/sdf")
    assert (attaching["State"], attaching["Device"], attaching["InstanceId"]) == ("attaching", "/dev/sdf", host)
    assert refused(ec2.delete_volume, VolumeId=volume_id) == "VolumeInUse"
    becomes(ec2, volume_id, "in-use", "attached")
    assert ec2.detach_volume(VolumeId=volume_id)["State"] == "detaching"
    becomes(ec2, volume_id, "available")
    ec2.delete_volume(VolumeId=volume_id)
    within(lambda: state(ec2, volume_id) is None)
    assert refused(ec2.delete_volume, VolumeId=volume_id) == "InvalidVolume.NotFound"


def test_it_stands_beside_the_fleets_volumes_and_filters_find_it(plain, ec2):
    volume_id = made(ec2)
    host = bench(ec2)["InstanceId"]
    ec2.attach_volume(VolumeId=volume_id, InstanceId=host, Device="/dev/sdg")

    def found(name, *values):
        pages = ec2.get_paginator("describe_volumes").paginate(Filters=[{"Name": name, "Values": list(values)}])
        return {one["VolumeId"] for page in pages for one in page["Volumes"]}

    assert volume_id in found("tag-key", "plimsoll:scratch") & found("tag:plimsoll:scratch", "v-1")
    assert found("attachment.instance-id", host) == {volume_id}
    assert found("volume-id", volume_id, named(plain.fleet, "cache").id) == {
        volume_id,
        named(plain.fleet, "cache").id,
    }
    (shown,) = ec2.describe_volumes(VolumeIds=[volume_id])["Volumes"]
    assert (shown["Size"], shown["Iops"], shown["Throughput"], shown["Tags"]) == (1, 3000, 125, TAGS)
    elsewhere = plain.client("ec2", region="eu-west-1")
    assert state(elsewhere, volume_id) is None


def test_the_same_token_gives_the_same_volume_and_other_parameters_are_refused(ec2):
    first = ec2.create_volume(**GP3, ClientToken="once")["VolumeId"]
    assert ec2.create_volume(**GP3, ClientToken="once")["VolumeId"] == first
    other = {**GP3, "Size": 2, "ClientToken": "once"}
    assert refused(ec2.create_volume, **other) == "IdempotentParameterMismatch"
    assert ec2.create_volume(**GP3, ClientToken="twice")["VolumeId"] != first


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"VolumeType": "gp9"}, "UnknownVolumeType"),
        ({"Size": 0}, "InvalidParameterValue"),
        ({"Size": 70_000}, "InvalidParameterValue"),
        ({"Iops": 2000}, "InvalidParameterValue"),
        ({"Iops": 81_000}, "InvalidParameterValue"),
        ({"Size": 10, "Iops": 16_000}, "InvalidParameterCombination"),
        ({"Throughput": 1000}, "InvalidParameterCombination"),
        ({"Throughput": 100}, "InvalidParameterValue"),
        ({"VolumeType": "gp2"}, "InvalidParameterCombination"),
        ({"VolumeType": "io2", "Size": 8}, "InvalidParameterCombination"),
        ({"AvailabilityZone": "us-east-1z"}, "InvalidZone.NotFound"),
        ({"DryRun": True}, "DryRunOperation"),
    ],
)
def test_what_cannot_be_bought_is_refused(ec2, changes, code):
    assert refused(ec2.create_volume, **{**GP3, **changes}) == code


def test_what_is_not_said_is_as_ec2_has_it(ec2):
    gp3 = ec2.create_volume(AvailabilityZone=ZONE, Size=10, VolumeType="gp3")
    assert (gp3["Iops"], gp3["Throughput"]) == (3000, 125)
    assert ec2.create_volume(AvailabilityZone=ZONE, Size=100)["Iops"] == 300
    assert refused(ec2.create_volume, AvailabilityZone=ZONE, Size=100, VolumeType="io1") == "MissingParameter"


def test_a_copy_is_in_its_sources_zone_and_no_smaller(plain, ec2):
    source = named(plain.fleet, "wiki")
    tags = [{"ResourceType": "volume", "Tags": TAGS}]
    asked = {"SourceVolumeId": source.id, "VolumeType": "gp3", "Iops": 3000, "Throughput": 250}
    (copy,) = ec2.copy_volumes(**asked, TagSpecifications=tags)["Volumes"]
    assert (copy["AvailabilityZone"], copy["Size"], copy["SourceVolumeId"]) == (source.zone, 300, source.id)
    assert (copy["VolumeType"], copy["Throughput"], copy["Tags"]) == ("gp3", 250, TAGS)
    assert refused(ec2.copy_volumes, SourceVolumeId=source.id, Size=299) == "InvalidParameterValue"
    assert refused(ec2.copy_volumes, SourceVolumeId="vol-0123456789abcdef0") == "InvalidVolume.NotFound"


def test_what_cannot_be_attached_is_refused(plain, ec2):
    volume_id, other, host = made(ec2), made(ec2), bench(ec2)["InstanceId"]

    def attached(**changes):
        asked = {"VolumeId": volume_id, "InstanceId": host, "Device": "/dev/sdk", **changes}
        return refused(ec2.attach_volume, **asked)

    assert attached(InstanceId=bench(ec2, "us-east-1b")["InstanceId"]) == "InvalidVolume.ZoneMismatch"
    assert attached(InstanceId="i-0123456789abcdef0") == "InvalidInstanceID.NotFound"
    assert attached(VolumeId="vol-0123456789abcdef0") == "InvalidVolume.NotFound"
    assert attached(Device="nvme") == attached(Device="/dev/xvda") == "InvalidParameterValue"
    assert attached(VolumeId=ec2.create_volume(**GP3)["VolumeId"]) == "IncorrectState"
    ec2.attach_volume(VolumeId=other, InstanceId=host, Device="/dev/sdk")
    with pytest.raises(ClientError, match="/dev/sdk is already in use"):
        ec2.attach_volume(VolumeId=volume_id, InstanceId=host, Device="/dev/sdk")
    assert attached(VolumeId=other, Device="/dev/sdl") == "VolumeInUse"


def test_the_fleets_own_volumes_cannot_be_deleted_or_moved(plain, ec2):
    forgotten, busy = named(plain.fleet, "forgotten").id, named(plain.fleet, "cache").id
    host = bench(ec2, named(plain.fleet, "forgotten").zone)["InstanceId"]
    assert refused(ec2.delete_volume, VolumeId=forgotten) == "UnauthorizedOperation"
    assert refused(ec2.detach_volume, VolumeId=busy) == "UnauthorizedOperation"
    asked = {"VolumeId": forgotten, "InstanceId": host, "Device": "/dev/sdm"}
    assert refused(ec2.attach_volume, **asked) == "UnauthorizedOperation"


def test_tags_are_added_and_replaced(ec2):
    volume_id = made(ec2)
    ec2.create_tags(Resources=[volume_id], Tags=[{"Key": "empty", "Value": "no"}, {"Key": "more", "Value": "1"}])
    (shown,) = ec2.describe_volumes(VolumeIds=[volume_id])["Volumes"]
    assert {tag["Key"]: tag["Value"] for tag in shown["Tags"]} == {
        "plimsoll:scratch": "v-1",
        "empty": "no",
        "more": "1",
    }


def test_a_new_volume_is_not_ok_before_it_is_made(ec2):
    volume_id = ec2.create_volume(**GP3)["VolumeId"]
    becomes(ec2, volume_id, "available")
    (found,) = ec2.describe_volume_status(VolumeIds=[volume_id])["VolumeStatuses"]
    assert found["VolumeStatus"]["Status"] == "ok"
