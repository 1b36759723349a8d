"""Modifications of volumes, from ModifyVolume to completed, refused and lost, as a real client sees them."""

import math
from datetime import timedelta

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from cloud_simulator.aws.fleet import Fleet
from cloud_simulator.aws.living import ModificationRules
from cloud_simulator.aws.volume_maker import VolumeMaker, change, gp2, gp3, io
from cloud_simulator.faults import Effect, Fault
from cloud_simulator.metrics.workloads import Archetype
from cloud_simulator.units import DAY_S, HOUR_S, ago

from .served import HOME, NOW, named, served

REGION = "us-east-1"
TARGET = {"VolumeType": "gp3", "Iops": 3500, "Throughput": 200}


def account(*volumes, **options):
    """An account with these volumes: pairs of a name and a spec, and what else the maker takes."""
    maker = VolumeMaker(NOW, HOME, REGION, 1)
    for name, spec, *changes in volumes or [("data", gp2(500))]:
        maker.volume(spec, Archetype.STEADY, name, **(changes[0] if changes else {}))
    fleet = Fleet(now=NOW, accounts=(HOME,), regions=(REGION,), volumes=tuple(maker.volumes))
    return served(fleet, *options.pop("faults", ()), **options)


def id_of(there, name="data"):
    return named(there.fleet, name).id


def described(there, volume_id):
    (volume,) = there.client("ec2").describe_volumes(VolumeIds=[volume_id])["Volumes"]
    return volume["VolumeType"], volume["Size"], volume["Iops"], volume.get("Throughput")


def latest(there, volume_id):
    asked = there.client("ec2").describe_volumes_modifications(VolumeIds=[volume_id])
    (modification,) = asked["VolumesModifications"]
    return modification


def refused(there, volume_id, **target):
    with pytest.raises(ClientError) as error:
        there.client("ec2").modify_volume(VolumeId=volume_id, **(target or TARGET))
    return error.value.response["Error"]


def complete(there, volume_id):
    """Moves the clock until the volume's modification has ended."""
    while latest(there, volume_id)["ModificationState"] not in {"completed", "failed"}:
        there.front.living.clock.pause(HOUR_S)


def test_a_modification_passes_through_its_states_and_counts_from_optimizing_on():
    with account() as there:
        data, clock = id_of(there), there.front.living.clock
        answer = there.client("ec2").modify_volume(VolumeId=data, **TARGET)["VolumeModification"]
        assert (answer["ModificationState"], answer["StartTime"]) == ("modifying", NOW)
        assert (answer["OriginalVolumeType"], answer["TargetIops"], answer["TargetThroughput"]) == ("gp2", 3500, 200)
        assert described(there, data) == ("gp2", 500, 1500, None)
        clock.pause(300)
        assert latest(there, data)["ModificationState"] == "optimizing"
        assert described(there, data) == ("gp3", 500, 3500, 200)
        complete(there, data)
        ended = latest(there, data)
        assert (ended["ModificationState"], ended["Progress"]) == ("completed", 100)
        assert NOW + timedelta(minutes=10) < ended["EndTime"] <= clock.now()


def test_a_tebibyte_takes_hours_and_a_few_take_days():
    volumes = [(f"data-{number}", gp3(1024)) for number in range(120)]
    with account(*volumes) as there:
        ec2 = there.client("ec2")
        for name, _ in volumes:
            ec2.modify_volume(VolumeId=id_of(there, name), Iops=4000)
        hours = sorted(
            (each.ended_s - each.started_s) / HOUR_S
            for each in there.front.living.modifications()
            if not each.is_failed
        )
    assert 2 < hours[len(hours) // 2] < 6
    assert hours[-1] > 12


def test_one_that_is_optimized_is_refused_with_its_state():
    with account() as there:
        data = id_of(there)
        there.client("ec2").modify_volume(VolumeId=data, **TARGET)
        there.front.living.clock.pause(300)
        error = refused(there, data, Iops=4000)
    assert error["Code"] == "IncorrectModificationState"
    assert error["Message"].endswith("cannot be modified in modification state OPTIMIZING")


def test_the_fifth_in_a_day_is_refused_until_the_time_that_its_message_names():
    with account(("data", gp3(10))) as there:
        data, clock = id_of(there), there.front.living.clock
        for number in range(4):
            there.client("ec2").modify_volume(VolumeId=data, Iops=3100 + number)
            complete(there, data)
        error = refused(there, data, Iops=3000)
        assert error["Code"] == "VolumeModificationRateExceeded"
        free = NOW + timedelta(days=1)
        assert f"{free:%Y-%m-%dT%H:%M:%SZ}" in error["Message"]
        clock.pause((free - clock.now()).total_seconds() + 1)
        there.client("ec2").modify_volume(VolumeId=data, Iops=3000)


def test_what_others_did_before_counts():
    completed = change("completed", ago(NOW, hours=20), 100)
    with account(("data", gp3(10), {"modification": completed})) as there:
        data = id_of(there)
        for number in range(3):
            there.client("ec2").modify_volume(VolumeId=data, Iops=3100 + number)
            complete(there, data)
        assert refused(there, data, Iops=3000)["Code"] == "VolumeModificationRateExceeded"


def test_one_that_was_under_way_when_the_fleet_was_laid_out_is_completed_in_time():
    with account(("data", gp2(400), {"modification": change("optimizing", ago(NOW, hours=2), 40)})) as there:
        data = id_of(there)
        assert refused(there, data)["Code"] == "IncorrectModificationState"
        there.front.living.clock.pause(3 * HOUR_S)
        assert latest(there, data)["ModificationState"] == "completed"
        there.client("ec2").modify_volume(VolumeId=data, **TARGET)


def test_a_change_of_type_alone_has_what_the_type_includes_and_figures_of_a_type_are_kept():
    with account(("data", gp2(5000)), ("fast", gp3(500, 6000, 400)), ("db", io("io1", 100, 2000))) as there:
        ec2, clock = there.client("ec2"), there.front.living.clock
        ec2.modify_volume(VolumeId=id_of(there), VolumeType="gp3")
        ec2.modify_volume(VolumeId=id_of(there, "fast"), Size=600)
        ec2.modify_volume(VolumeId=id_of(there, "db"), VolumeType="io2")
        clock.pause(300)
        assert described(there, id_of(there)) == ("gp3", 5000, 3000, 125)
        assert described(there, id_of(there, "fast")) == ("gp3", 600, 6000, 400)
        assert described(there, id_of(there, "db")) == ("io2", 100, 3000, None)


@pytest.mark.parametrize(
    ("volume", "target", "code"),
    [
        (("data", gp2(500)), {"Size": 400}, "InvalidParameterValue"),
        (("data", gp2(500)), {"VolumeType": "gp3", "Iops": 3000, "Throughput": 1000}, "InvalidParameterCombination"),
        (("data", gp2(500)), {"VolumeType": "gp2", "Iops": 3000}, "InvalidParameterCombination"),
        (("data", gp2(500)), {"VolumeType": "gp9"}, "UnknownVolumeType"),
        (("data", gp2(500), {"operator": "eks.amazonaws.com"}), TARGET, "OperationNotPermitted"),
        (("data", gp2(500), {"state": "error"}), TARGET, "IncorrectState"),
        (("data", io("io2", 500, 6000), {"multi_attach": True}), TARGET, "OperationNotPermitted"),
        (("data", gp2(500), {"device": "/dev/xvda"}), {"VolumeType": "st1"}, "InvalidParameterValue"),
    ],
)
def test_what_can_never_be_modified_in_this_way_is_refused(volume, target, code):
    with account(volume) as there:
        assert refused(there, id_of(there), **target)["Code"] == code
        assert there.front.living.modifications() == []


def test_a_volume_that_is_gone_and_a_dry_run_have_their_codes():
    with account() as there:
        assert refused(there, "vol-0123456789abcdef0")["Code"] == "InvalidVolume.NotFound"
        assert refused(there, id_of(there), **TARGET, DryRun=True)["Code"] == "DryRunOperation"
        assert there.front.living.modifications() == []


def test_more_storage_than_the_quota_is_refused_until_what_is_under_way_is_completed():
    with account(("one", gp3(600)), ("two", gp3(600)), rules=ModificationRules(storage_gib=1000)) as there:
        one, two = id_of(there, "one"), id_of(there, "two")
        there.client("ec2").modify_volume(VolumeId=one, Iops=4000)
        assert refused(there, two, Iops=4000)["Code"] == "VolumeModificationSizeLimitExceeded"
        complete(there, one)
        there.client("ec2").modify_volume(VolumeId=two, Iops=4000)


def test_more_iops_than_the_quota_are_refused():
    rules = ModificationRules(io2_iops=5000)
    with account(("db", io("io2", 500, 4000)), rules=rules) as there:
        assert refused(there, id_of(there, "db"), Iops=6000)["Code"] == "MaxIOPSLimitExceeded"


def test_a_role_that_is_bound_to_a_tag_modifies_volumes_with_that_tag_alone():
    with account(rules=ModificationRules(tag="plimsoll:change=p-1")) as there:
        data, ec2 = id_of(there), there.client("ec2")
        assert refused(there, data)["Code"] == "UnauthorizedOperation"
        ec2.create_tags(Resources=[data], Tags=[{"Key": "plimsoll:change", "Value": "p-2"}])
        assert refused(there, data)["Code"] == "UnauthorizedOperation"
        ec2.create_tags(Resources=[data], Tags=[{"Key": "plimsoll:change", "Value": "p-1"}])
        ec2.modify_volume(VolumeId=data, **TARGET)
        (volume,) = ec2.describe_volumes(Filters=[{"Name": "tag:plimsoll:change", "Values": ["p-1"]}])["Volumes"]
        assert {"Key": "Name", "Value": "data"} in volume["Tags"]


def test_a_lost_answer_has_taken_effect():
    lost = Fault(operation="ModifyVolume", effect=Effect.LOST, times=1)
    with account(faults=[lost]) as there:
        data = id_of(there)
        with pytest.raises(BotoCoreError):
            there.client("ec2").modify_volume(VolumeId=data, **TARGET)
        assert latest(there, data)["TargetIops"] == 3500
        assert refused(there, data)["Code"] == "IncorrectModificationState"
        assert len(there.front.living.modifications()) == 1


def test_one_that_fails_leaves_the_volume_as_it_was_and_spends_its_slot():
    with account(faults=[Fault(operation="ModifyVolume", effect=Effect.FAILS, times=1)]) as there:
        data = id_of(there)
        there.client("ec2").modify_volume(VolumeId=data, **TARGET)
        there.front.living.clock.pause(300)
        failed = latest(there, data)
        assert (failed["ModificationState"], failed["Progress"]) == ("failed", 0)
        assert failed["EndTime"] > NOW
        assert described(there, data)[0] == "gp2"
        there.client("ec2").modify_volume(VolumeId=data, **TARGET)


def test_a_volume_is_not_attached_while_it_is_modified():
    with account(("data", gp3(10)), ("other", gp3(10))) as there:
        ec2, data = there.client("ec2"), id_of(there)
        ec2.modify_volume(VolumeId=data, Iops=3500)
        with pytest.raises(ClientError, match="in modification state: MODIFYING") as error:
            ec2.attach_volume(VolumeId=data, InstanceId=named(there.fleet, "other").hosts[0].id, Device="/dev/sdk")
        assert error.value.response["Error"]["Code"] == "OperationNotPermitted"


def test_the_latest_alone_is_described_and_the_trail_has_all():
    with account(("data", gp3(10))) as there:
        data = id_of(there)
        for iops in (3100, 3200):
            there.client("ec2").modify_volume(VolumeId=data, Iops=iops)
            complete(there, data)
        assert (latest(there, data)["OriginalIops"], latest(there, data)["TargetIops"]) == (3100, 3200)
        trail = there.client("cloudtrail")
        events = trail.lookup_events(LookupAttributes=[{"AttributeKey": "EventName", "AttributeValue": "ModifyVolume"}])
        assert len(events["Events"]) == 2


def test_volumes_made_since_are_modified_as_well():
    with account() as there:
        ec2 = there.client("ec2")
        made = ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=1, VolumeType="gp3")["VolumeId"]
        ec2.get_waiter("volume_available").wait(VolumeIds=[made], WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        ec2.modify_volume(VolumeId=made, Throughput=200)
        there.front.living.clock.pause(DAY_S)
        assert described(there, made)[3] == 200


def test_a_volume_that_is_being_made_is_not_modified():
    with account(pace_s=math.inf) as there:
        made = there.client("ec2").create_volume(AvailabilityZone=f"{REGION}a", Size=1, VolumeType="gp3")["VolumeId"]
        assert refused(there, made, Throughput=200)["Code"] == "IncorrectState"
