"""The inventory: DescribeVolumes page by page, with hosts, changes and owners beside."""

from datetime import UTC, datetime, timedelta
from functools import cache

import boto3
import pytest
from botocore.stub import ANY, Stubber
from moto.ec2.models.instance_types import INSTANCE_TYPES

from plimsoll.clouds.aws.catalog import AwsCatalog
from plimsoll.clouds.aws.hosts import described_limits
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.lists import ASKED
from plimsoll.model.errors import AccessDenied, BadAnswer, CloudError, DeniedByPolicy, RegionDenied, Throttled
from plimsoll.model.units import mib_s_from_mb_s
from plimsoll.model.volume import OwnerKind, Volume, VolumeSpec, VolumeState
from plimsoll.ports import FailedTarget, Target, UnreadVolume
from plimsoll.reports.answers import steps_text

TARGET = Target(account="111122223333", region="eu-west-1")
SINCE = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
LARGE = {
    "InstanceType": "m5.large",
    "Hypervisor": "nitro",
    "EbsInfo": {
        "EbsOptimizedSupport": "default",
        "EbsOptimizedInfo": {
            "BaselineIops": 3600,
            "BaselineThroughputInMBps": 81.25,
            "MaximumIops": 18750,
            "MaximumThroughputInMBps": 593.75,
        },
    },
}


@cache
def session():
    """One for all tests: reading EC2's service model takes most of their time."""
    return boto3.Session("testing", "testing", region_name="eu-west-1")


class Account:
    """Sessions with one account whose EC2 answers as it is told, in that order."""

    def __init__(self, service="ec2", failed=()):
        self.failed = failed
        self.by_account = {TARGET.account: session()}
        self.made = session().client(service)
        self.stub = Stubber(self.made)
        self.asked_all = False
        self.stub.activate()

    def client(self, _service, _account, _region):
        return self.made

    def changes(self, *found):
        self.stub.add_response("describe_volumes_modifications", {"VolumesModifications": list(found)}, None)
        return self

    def page(self, *volumes, token=None):
        answer = {"Volumes": list(volumes)} | ({"NextToken": token} if token else {})
        self.stub.add_response("describe_volumes", answer, None)
        return self

    def instances(self, *found, asked=ANY):
        expected = {"Filters": [{"Name": "instance-id", "Values": asked}]}
        self.stub.add_response("describe_instances", {"Reservations": [{"Instances": list(found)}]}, expected)
        return self

    def types(self, *found):
        self.stub.add_response("describe_instance_types", {"InstanceTypes": list(found)}, None)
        return self

    def all(self, *found):
        """The answer to what is asked when every volume has been listed: all instances."""
        self.asked_all = True
        self.stub.add_response(
            "describe_instances", {"Reservations": [{"Instances": list(found)}]}, {"MaxResults": 1000}
        )
        return self

    def refuses(self, operation, code):
        self.stub.add_client_error(operation, code, "no")
        return self

    def inventory(self, **fields):
        return AwsInventory(sessions=self, **fields)

    def volumes(self):
        if not self.asked_all:
            self.all()
        found = list(self.inventory().volumes(TARGET))
        self.stub.assert_no_pending_responses()
        return found


def volume(name="vol-1", kind="gp3", size_gib=100, *, on=(), **fields):
    name = name if name.startswith("vol-") else f"vol-{name}"
    attachments = [
        {"InstanceId": host, "Device": "/dev/sdf", "State": "attached", "AttachTime": SINCE, "VolumeId": name}
        for host in on
    ]
    return {
        "VolumeId": name,
        "VolumeType": kind,
        "Size": size_gib,
        "State": "in-use" if on else "available",
        "AvailabilityZone": "eu-west-1a",
        "CreateTime": SINCE,
        "SnapshotId": "",
        "Attachments": attachments,
        "MultiAttachEnabled": False,
        **({"Iops": 3000, "Throughput": 125} if kind == "gp3" else {}),
        **fields,
    }


def instance(name="i-1", kind="m5.large", **fields):
    found = {
        "InstanceId": name,
        "InstanceType": kind,
        "RootDeviceName": "/dev/xvda",
        "BlockDeviceMappings": [],
        "LaunchTime": SINCE,
        "State": {"Name": "running"},
    }
    return {**found, **fields}


def tags(**found):
    return [{"Key": key.replace("__", ":"), "Value": value} for key, value in found.items()]


def test_volumes_of_all_pages_come_in_order():
    account = Account().changes().page(volume("a"), volume("b"), token="more").page(volume("c"))
    assert [found.id for found in account.volumes()] == ["vol-a", "vol-b", "vol-c"]


def test_an_empty_account_has_no_volumes():
    assert Account().changes().page().page().volumes() == []


def test_an_answer_that_is_empty_once_is_asked_for_again():
    assert [found.id for found in Account().changes().page().page(volume("a")).volumes()] == ["vol-a"]


def test_instances_of_a_page_are_looked_up_together_and_once():
    account = Account().changes()
    account.page(volume("a", on=["i-2"]), volume("b", on=["i-1"]), volume("c", on=["i-1"]), token="more")
    account.instances(instance("i-1"), instance("i-2"), asked=["i-1", "i-2"]).types(LARGE)
    account.page(volume("d", on=["i-2"]), volume("e", on=["i-3"])).instances(instance("i-3"), asked=["i-3"])
    assert [found.hosts[0].id for found in account.volumes()] == ["i-2", "i-1", "i-1", "i-2", "i-3"]


def test_many_instances_are_looked_up_in_batches():
    names = [f"i-{index:03}" for index in range(201)]
    account = Account().changes().page(*(volume(name[2:], on=[name]) for name in names))
    account.instances(*map(instance, names[:200]), asked=names[:200]).types(LARGE)
    account.instances(instance(names[200]), asked=names[200:])
    assert [found.hosts[0].id for found in account.volumes()] == names


def test_a_host_carries_its_types_limits_in_mib():
    account = Account().changes().page(volume(on=["i-1"])).instances(instance()).types(LARGE)
    (host,) = account.volumes()[0].hosts
    assert (host.type, host.nitro) == ("m5.large", True)
    assert (host.limits.baseline_iops, host.limits.maximum_iops) == (3600, 18750)
    assert host.limits.baseline_throughput_mib_s == pytest.approx(mib_s_from_mb_s(81.25))
    assert host.limits.maximum_throughput_mib_s == pytest.approx(593.75 * 1e6 / 2**20)


@pytest.mark.parametrize(("hypervisor", "nitro"), [({"Hypervisor": "xen"}, False), ({"BareMetal": True}, True)])
def test_an_older_host_without_published_limits_has_none(hypervisor, nitro):
    older = {"InstanceType": "t2.micro", "EbsInfo": {"EbsOptimizedSupport": "unsupported"}, **hypervisor}
    account = Account().changes().page(volume(on=["i-1"])).instances(instance(kind="t2.micro")).types(older)
    (host,) = account.volumes()[0].hosts
    assert (host.limits, host.nitro) == (None, nitro)


@pytest.mark.parametrize(
    ("support", "flag", "known"),
    [
        ("default", {"EbsOptimized": False}, True),
        ("default", {}, True),
        ("supported", {"EbsOptimized": True}, True),
        ("supported", {"EbsOptimized": False}, False),
        ("supported", {}, False),
    ],
)
def test_the_limits_of_ebs_optimization_apply_where_it_is_on(support, flag, known):
    kind = {**LARGE, "EbsInfo": {**LARGE["EbsInfo"], "EbsOptimizedSupport": support}}
    account = Account().changes().page(volume(on=["i-1"])).instances(instance(**flag)).types(kind)
    (host,) = account.volumes()[0].hosts
    assert (host.limits is not None, host.unlimited_by is None) == (known, known)


@pytest.mark.parametrize(
    ("place", "known"),
    [
        ({}, True),
        ({"AvailabilityZone": "eu-west-1-lon-1a"}, False),
        ({"AvailabilityZone": "eu-west-1-wl1-lon-wlz-1"}, False),
        ({"OutpostArn": "arn:aws:outposts:eu-west-1:111122223333:outpost/op-1"}, False),
    ],
)
def test_the_limits_of_a_host_are_those_of_a_region_s_own_zones(place, known):
    account = Account().changes().page(volume(on=["i-1"], **place)).instances(instance()).types(LARGE)
    (host,) = account.volumes()[0].hosts
    assert (host.limits is not None) == known


def test_a_volume_on_a_host_of_a_type_that_is_not_described_is_named():
    account = Account().changes().page(volume(on=["i-1"])).instances(instance(kind="zz9.large"))
    account.types().types().types()
    account.all().page(volume(on=["i-1"])).instances(instance(kind="zz9.large")).types().types().types()
    *_, found = account.volumes()
    assert (found.id, type(found.error)) == ("vol-1", BadAnswer)
    assert "zz9.large" in str(found.error)


def test_a_volume_on_an_instance_that_is_not_described_is_named():
    account = Account().changes().page(volume(on=["i-gone"]), volume("vol-2"))
    account.instances().instances().instances()
    account.all().page(volume(on=["i-gone"])).instances().instances().instances()
    _, other, found = account.volumes()
    assert (found.id, type(found.error), other.id) == ("vol-1", BadAnswer, "vol-2")
    assert "i-gone" in str(found.error)


def test_a_volume_that_a_host_has_and_the_list_lacks_is_asked_for_by_its_id():
    account = Account().changes().page(volume("a", on=["i-1"]))
    account.instances(instance(BlockDeviceMappings=mapped("vol-a", "vol-b"))).types(LARGE)
    account.all(instance(BlockDeviceMappings=mapped("vol-a", "vol-b"))).page(volume("b", on=["i-1"]))
    assert [found.id for found in account.volumes()] == ["vol-a", "vol-b"]


def test_a_host_with_a_volume_that_no_list_has_costs_its_other_volumes_their_answer():
    account = Account().changes().page(volume("a", on=["i-1"]), volume("c", on=["i-2"]))
    account.instances(instance(BlockDeviceMappings=mapped("vol-a", "vol-b")), instance("i-2")).types(LARGE)
    account.all().page().page()
    last = {found.id: found for found in account.volumes()}
    assert {name: isinstance(found, UnreadVolume) for name, found in last.items()} == {
        "vol-a": True,
        "vol-b": True,
        "vol-c": False,
    }
    assert "vol-b on its host i-1" in str(last["vol-a"].error)


def test_a_volume_that_only_an_instance_without_readable_volumes_has_is_named():
    account = Account().changes().page().page().all(instance(BlockDeviceMappings=mapped("vol-a"))).page()
    assert [(found.id, type(found)) for found in account.volumes()] == [("vol-a", UnreadVolume)]


def mapped(*names):
    return [{"DeviceName": f"/dev/sd{name[-1]}", "Ebs": {"VolumeId": name, "Status": "attached"}} for name in names]


def test_an_instance_that_one_answer_lacks_is_asked_for_again():
    account = Account().changes().page(volume(on=["i-1"])).instances().instances(instance()).types(LARGE)
    assert account.volumes()[0].hosts[0].id == "i-1"


def test_an_attachment_whose_instance_the_cloud_hides_has_no_host():
    hidden = {"Device": None, "State": "attached", "AttachTime": SINCE, "InstanceOwningService": "ecs.amazonaws.com"}
    account = Account().changes().page(volume(Attachments=[{k: v for k, v in hidden.items() if v}], State="in-use"))
    (found,) = account.volumes()
    assert (found.attachments[0].host, found.hosts, found.attachments[0].since) == (None, (), SINCE)


TASK = "arn:aws:ecs:eu-west-1:111122223333:task/shop/0123456789abcdef"


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"AssociatedResource": TASK}, "Amazon ECS"),
        ({"InstanceOwningService": "ecs.amazonaws.com"}, "Amazon ECS"),
        ({"AssociatedResource": TASK, "InstanceOwningService": "fargate.amazonaws.com"}, "Amazon ECS"),
        ({"InstanceOwningService": "workspaces.amazonaws.com"}, "workspaces"),
    ],
)
def test_a_volume_that_a_service_attached_for_its_own_resource_is_that_service_s_and_costs_no_other_volume(
    fields, name
):
    of_task = {"AttachTime": SINCE, "State": "attached", "VolumeId": "vol-1", **fields}
    ours = volume(VolumeId="vol-2", Attachments=[])
    task_s, other = Account().changes().page(volume(VolumeId="vol-1", Attachments=[of_task]), ours).volumes()
    assert (task_s.owner.kind, task_s.owner.name, task_s.hosts) == (OwnerKind.OPERATOR, name, ())
    assert other.owner.kind is OwnerKind.HAND
    assert steps_text(AwsCatalog().change(task_s, VolumeSpec(type="gp3", size_gib=8)).forth).count(
        "volumeConfigurations"
    ) == (name == "Amazon ECS")


def test_an_attachment_that_ends_is_none():
    leaving = {"InstanceId": "i-1", "Device": "/dev/sdf", "State": "detaching", "AttachTime": SINCE}
    assert Account().changes().page(volume(Attachments=[leaving])).volumes()[0].attachments == ()


def test_a_detached_volume_has_neither_hosts_nor_a_time():
    (found,) = Account().changes().page(volume()).volumes()
    assert (found.state, found.attachments) == (VolumeState.AVAILABLE, ())


@pytest.mark.parametrize(("device", "boot"), [("/dev/xvda", True), ("/dev/sdf", False)])
def test_the_boot_volume_is_the_one_on_its_hosts_root_device(device, boot):
    found = volume(on=["i-1"])
    found["Attachments"][0]["Device"] = device
    account = Account().changes().page(found).instances(instance()).types(LARGE)
    assert account.volumes()[0].boot is boot


@pytest.mark.parametrize(
    ("kind", "described", "kept"),
    [
        ("gp2", {"Iops": 300}, (None, None)),
        ("gp3", {"Iops": 4000, "Throughput": 250}, (4000, 250)),
        ("io1", {"Iops": 5000}, (5000, None)),
        ("io2", {"Iops": 5000}, (5000, None)),
        ("st1", {}, (None, None)),
        ("gp9", {"Iops": 7, "Throughput": 8}, (7, 8)),
    ],
)
def test_only_what_a_type_provisions_is_its_spec_and_unknown_types_pass_through(kind, described, kept):
    account = Account().changes()
    for _ in range(ASKED if kind == "gp9" else 1):
        account.page(volume(kind=kind, **described))
    (found,) = account.volumes()
    assert found.spec == VolumeSpec(type=kind, size_gib=100, iops=kept[0], throughput_mib_s=kept[1])


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        ({"Managed": True, "Principal": "eks.amazonaws.com"}, "eks.amazonaws.com"),
        ({"Managed": True}, "an AWS service"),
        ({"Managed": False}, None),
    ],
)
def test_a_managed_volume_names_its_operator(operator, name):
    (found,) = Account().changes().page(volume(Operator=operator, Tags=tags(terraform="true"))).volumes()
    assert found.operator == name
    assert found.owner.kind is (OwnerKind.OPERATOR if name else OwnerKind.TERRAFORM)


@pytest.mark.parametrize("listed", [["i-1", "i-2"], ["i-2", "i-1"]])
def test_a_multi_attach_volume_has_all_its_hosts_in_one_order(listed):
    account = Account().changes().page(volume(kind="io2", Iops=5000, on=listed, MultiAttachEnabled=True))
    account.instances(instance("i-1"), instance("i-2")).types(LARGE)
    (found,) = account.volumes()
    assert found.multi_attach
    assert [host.id for host in found.hosts] == ["i-1", "i-2"]


@pytest.mark.parametrize(
    ("state", "running"), [("modifying", True), ("optimizing", True), ("completed", False), ("failed", False)]
)
def test_a_change_is_known_with_its_start_and_what_was_before_whether_it_still_runs(state, running):
    change = {
        "VolumeId": "vol-1",
        "ModificationState": state,
        "StartTime": SINCE,
        "Progress": 40,
        "OriginalVolumeType": "gp2",
        "OriginalSize": 80,
        "OriginalIops": 240,
        **({} if running else {"EndTime": SINCE + timedelta(hours=1)}),
    }
    changed, other = Account().changes(change).page(volume("vol-1"), volume("vol-2")).volumes()
    assert changed.modification.is_running is running
    assert (changed.modification.progress_pct, changed.recent_changes) == (40, (SINCE,))
    assert changed.modification.original == VolumeSpec(type="gp2", size_gib=80)
    assert changed.modification.ended == (None if running else SINCE + timedelta(hours=1))
    assert (other.modification, other.recent_changes) == (None, ())


@pytest.mark.parametrize(
    ("fields", "source"),
    [
        ({}, None),
        ({"SnapshotId": "snap-1"}, "snap-1"),
        ({"SnapshotId": "snap-1", "FastRestored": True}, None),
        ({"SourceVolumeId": "vol-9"}, "vol-9"),
    ],
)
def test_a_volume_says_what_its_data_are_brought_from(fields, source):
    (found,) = Account().changes().page(volume("vol-1", **fields)).volumes()
    assert found.restored_from == source


def test_the_hosts_tags_tell_the_owner_where_the_volumes_own_do_not():
    account = Account().changes().page(volume(on=["i-1"]), volume("b", on=["i-1"], Tags=tags(ManagedBy="terraform")))
    account.instances(instance(Tags=tags(aws__autoscaling__groupName="workers"))).types(LARGE)
    assert [found.owner.kind for found in account.volumes()] == [OwnerKind.AUTO_SCALING, OwnerKind.TERRAFORM]


@pytest.mark.parametrize(
    ("operation", "permission"),
    [
        ("describe_volumes", "ec2:DescribeVolumes"),
        ("describe_instances", "ec2:DescribeInstances"),
    ],
)
def test_a_refused_call_names_the_permission_that_lacks(operation, permission):
    account = Account()
    steps = {
        "describe_volumes_modifications": account.changes,
        "describe_volumes": lambda: account.page(volume(on=["i-1"])),
    }
    for name, answer in steps.items():
        if name == operation:
            break
        answer()
    account.refuses(operation, "UnauthorizedOperation")
    with pytest.raises(AccessDenied, match=f"{TARGET}.* {permission}[^A-Za-z]"):
        account.volumes()


def test_without_the_permission_to_read_changes_attached_volumes_are_unread_by_name_and_the_others_are_read():
    account = Account().refuses("describe_volumes_modifications", "UnauthorizedOperation")
    account.page(volume("a", on=["i-1"]), volume("b"), volume("c", on=["i-1"]))
    account.instances(instance()).types(LARGE).all(instance())
    attached, free, neighbor = account.volumes()
    assert isinstance(free, Volume)
    assert (attached.id, neighbor.id) == ("vol-a", "vol-c")
    for one in (attached, neighbor):
        assert isinstance(one.error, AccessDenied)
        assert "ec2:DescribeVolumesModifications" in str(one.error)


def test_without_the_permission_to_read_types_attached_volumes_are_unread_by_name_and_the_others_are_read():
    account = Account().changes().page(volume("a", on=["i-1"]), volume("b"))
    account.instances(instance()).refuses("describe_instance_types", "UnauthorizedOperation").all(instance())
    attached, free = account.volumes()
    assert isinstance(free, Volume)
    assert attached.id == "vol-a"
    assert isinstance(attached.error, AccessDenied)
    assert "ec2:DescribeInstanceTypes" in str(attached.error)


def test_another_failure_to_read_changes_still_costs_the_place():
    account = Account().refuses("describe_volumes_modifications", "RequestLimitExceeded")
    with pytest.raises(CloudError):
        account.volumes()


def test_what_was_listed_before_an_error_is_kept():
    account = Account().changes().page(volume("a"), token="more").refuses("describe_volumes", "RequestLimitExceeded")
    found = account.inventory().volumes(TARGET)
    assert next(found).id == "vol-a"
    with pytest.raises(Throttled, match=str(TARGET)):
        next(found)


def test_targets_are_the_regions_given_or_those_switched_on_and_what_failed_before():
    lost = FailedTarget(name="profile x", error=AccessDenied("no"))
    given = Account(failed=[lost]).inventory(regions=["eu-west-1", "us-east-1"])
    assert [str(target) for target in given.targets()[:2]] == ["111122223333/eu-west-1", "111122223333/us-east-1"]
    assert given.targets()[2] == lost
    account = Account()
    regions = [{"RegionName": name} for name in ("us-east-1", "eu-north-1")]
    account.stub.add_response("describe_regions", {"Regions": regions})
    assert [target.region for target in account.inventory().targets()] == ["eu-north-1", "us-east-1"]


def test_an_account_whose_regions_cannot_be_listed_fails_alone():
    (failed,) = Account().refuses("describe_regions", "UnauthorizedOperation").inventory().targets()
    assert (failed.name, type(failed.error)) == (TARGET.account, AccessDenied)
    assert "ec2:DescribeRegions" in str(failed.error)


def enrolment(status):
    account = Account("compute-optimizer-automation")
    account.stub.add_response("get_enrollment_configuration", {"status": status, "lastUpdatedTimestamp": SINCE})
    return account.inventory().notices(TARGET)


def test_another_tool_that_changes_volumes_is_a_notice():
    assert len(enrolment("Active")) == 1
    assert "Compute Optimizer" in enrolment("Active")[0]
    assert enrolment("Inactive") == ()


@pytest.mark.parametrize("code", ["AccessDeniedException", "InternalServerException"])
def test_not_to_know_it_is_a_notice_too(code):
    account = Account("compute-optimizer-automation").refuses("get_enrollment_configuration", code)
    assert len(account.inventory().notices(TARGET)) == 1


def test_every_type_of_instance_that_there_is_can_be_read():
    limits = {name: described_limits(found) for name, found in INSTANCE_TYPES.items()}
    assert len(limits) > 1000
    assert (limits["t2.micro"], limits["m5.large"].maximum_iops) == (None, 18750)


@pytest.mark.parametrize(
    ("state", "reason", "since"),
    [
        ("stopped", "User initiated (2026-11-01 10:00:00 GMT)", datetime(2026, 11, 1, 10, tzinfo=UTC)),
        ("stopped", "", None),
        ("running", "User initiated (2026-11-01 10:00:00 GMT)", None),
    ],
)
def test_a_host_says_since_when_it_is_stopped(state, reason, since):
    host = instance(State={"Name": state}, StateTransitionReason=reason)
    (found,) = Account().changes().page(volume(on=["i-1"])).instances(host).types(LARGE).volumes()
    assert found.hosts[0].stopped_since == since


WEIGHTY = {**LARGE, "NetworkInfo": {"NetworkCards": [{"BaselineBandwidthInGbps": 0.4}]}}


@pytest.mark.parametrize(
    ("weighting", "baseline_mb_s", "maximum_mb_s"),
    [("default", 81.25, 593.75), ("ebs-1", 101.5625, 593.75), ("vpc-1", 68.75, 581.25)],
)
def test_bandwidth_that_is_weighted_moves_what_a_host_carries(weighting, baseline_mb_s, maximum_mb_s):
    host = instance(NetworkPerformanceOptions={"BandwidthWeighting": weighting})
    (found,) = Account().changes().page(volume(on=["i-1"])).instances(host).types(WEIGHTY).volumes()
    limits = found.hosts[0].limits
    assert limits.baseline_throughput_mib_s == pytest.approx(mib_s_from_mb_s(baseline_mb_s))
    assert limits.maximum_throughput_mib_s == pytest.approx(mib_s_from_mb_s(maximum_mb_s))
    assert limits.maximum_iops == LARGE["EbsInfo"]["EbsOptimizedInfo"]["MaximumIops"]


def test_a_host_whose_weighting_cannot_be_reckoned_is_unread_by_name():
    host = instance(NetworkPerformanceOptions={"BandwidthWeighting": "vpc-1"})
    account = Account().changes().page(volume(on=["i-1"])).instances(host).types(LARGE)
    account.all(host).page(volume(on=["i-1"])).instances(host).types(LARGE)
    unread = list(account.inventory().volumes(TARGET))[-1]
    assert isinstance(unread, UnreadVolume)
    assert "NetworkInfo of m5.large" in str(unread.error)


@pytest.mark.parametrize(
    ("fields", "edge"),
    [
        ({}, None),
        ({"AvailabilityZone": "us-gov-west-1b"}, None),
        ({"AvailabilityZone": "us-east-1-bos-1a"}, "the zone us-east-1-bos-1a"),
        ({"OutpostArn": "arn:aws:outposts:eu-west-1:111122223333:outpost/op-0123"}, "the Outpost op-0123"),
    ],
)
def test_a_volume_outside_the_regions_own_zones_says_where_it_is(fields, edge):
    (found,) = Account().changes().page(volume("vol-1", **fields)).volumes()
    assert found.edge == edge


BY_ORGANIZATION = "not authorized with an explicit deny in a service control policy: arn:aws:organizations::1:policy/p"
BY_ROLE = "not authorized because no identity-based policy allows the ec2:DescribeVolumes action"


class Regions:
    """Sessions with one account that has these regions, each of which says why it denies, or answers (None).

    `home` is the region of the caller's session. The regions that were asked for volumes are noted in `asked`.
    """

    failed = ()

    def __init__(self, home="eu-west-1", **why):
        self.why, self.asked = {name.replace("_", "-"): text for name, text in why.items()}, []
        self.by_account = {TARGET.account: boto3.Session("testing", "testing", region_name=home)}

    def client(self, _service, _account, region):
        ec2 = session().client("ec2", region_name=region)
        ec2.meta.events.register("before-call.ec2", lambda model, **_: self.answer(model.name, region))
        return ec2

    def answer(self, operation, region):
        if operation == "DescribeRegions":
            return answered(200, "".join(f"<item><regionName>{name}</regionName></item>" for name in sorted(self.why)))
        self.asked += [region] if operation == "DescribeVolumes" else []
        why = self.why[region]
        return answered(200, "") if why is None else refused("UnauthorizedOperation", why)

    def inventory(self, **fields):
        return AwsInventory(sessions=self, **fields)


def answered(status, items):
    http = type("Http", (), {"status_code": status})()
    return http, {
        "Regions": [{"RegionName": name} for name in items_of(items)],
        "Volumes": [],
        "VolumesModifications": [],
        "ResponseMetadata": {"HTTPStatusCode": status},
    }


def items_of(items):
    return [part.partition("<")[0] for part in items.split("<regionName>")[1:]]


def refused(code, message):
    http = type("Http", (), {"status_code": 403})()
    return http, {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": 403}}


def error_at(inventory, region):
    with pytest.raises(CloudError) as raised:
        list(inventory.volumes(Target(account=TARGET.account, region=region)))
    return type(raised.value)


def test_a_region_that_nobody_named_is_denied_as_such_where_another_of_the_account_answers():
    regions = Regions(eu_west_1=None, eu_west_2=BY_ORGANIZATION, eu_west_3=BY_ORGANIZATION)
    inventory = regions.inventory()
    assert error_at(inventory, "eu-west-2") is error_at(inventory, "eu-west-3") is RegionDenied
    assert regions.asked == ["eu-west-2", "eu-west-1", "eu-west-3"], "what else the account answers is asked once"


def test_where_the_home_of_the_session_is_denied_too_any_other_region_of_the_account_tells():
    regions = Regions(home="us-east-1", us_east_1=BY_ORGANIZATION, eu_west_1=None, ap_east_1=BY_ORGANIZATION)
    assert error_at(regions.inventory(), "us-east-1") is RegionDenied


@pytest.mark.parametrize("other", [BY_ORGANIZATION, BY_ROLE])
def test_an_account_that_is_read_nowhere_is_no_denied_region(other):
    regions = Regions(eu_west_1=other, eu_west_2=BY_ORGANIZATION)
    assert error_at(regions.inventory(), "eu-west-2") is DeniedByPolicy


def test_a_region_that_people_named_or_that_a_role_lacks_is_a_failure():
    regions = Regions(eu_west_1=None, eu_west_2=BY_ORGANIZATION, eu_west_3=BY_ROLE)
    assert error_at(regions.inventory(are_regions_named=True), "eu-west-2") is DeniedByPolicy
    assert error_at(regions.inventory(), "eu-west-3") is AccessDenied
