"""What the bench on AWS asks of EC2 and CloudWatch, and what it makes of their refusals."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import boto3
import pytest

from cloud_simulator.faults import Refused
from plimsoll.model.errors import AccessDenied, BadAnswer, BadInput, CloudError, Throttled, Unexpected
from plimsoll.model.policy import TagMatch
from plimsoll.model.task import DEADLINE_TAG, SCRATCH_TAG, ScratchOrder
from plimsoll_measure.aws.scratch_volumes import DEVICE_NAMES
from tests.builders import a_spec
from tests.contract.aws_bench import HOME, served

DEADLINE = datetime(2026, 11, 20, 14, tzinfo=UTC)
BENCH_TAG = TagMatch(tag="plimsoll:bench", value="true")


@pytest.fixture(scope="module")
def account():
    with served() as found:
        yield found


@pytest.fixture
def aws(account):
    """An account where nothing is refused yet."""
    yield account
    account.front.answers.clear()


@pytest.fixture
def ec2(aws):
    return boto3.Session().client("ec2", region_name=HOME.region)


def an_order(aws, name, **fields):
    order = ScratchOrder(
        validation_id=name,
        account=HOME.account,
        region=HOME.region,
        zone=aws.zone,
        spec=a_spec("gp3", 100),
        deadline=DEADLINE,
    )
    return replace(order, **fields)


def described(ec2, volume_id):
    return ec2.describe_volumes(VolumeIds=[volume_id])["Volumes"][0]


def asked(aws, operation):
    return [call.form for call in aws.front.calls if call.operation == operation]


def test_where_a_policy_asks_for_a_tag_it_is_given_by_the_call_that_makes(aws, ec2):
    """As a service control policy does that denies what is made without a tag."""
    aws.front.answers["CreateVolume"] = aws.front.answers["CopyVolumes"] = without_tag("cost-center")
    with pytest.raises(AccessDenied):
        aws.bench.create(an_order(aws, "untagged-by-company"))
    bench = replace(aws.bench, tags={"cost-center": "42"})
    made = bench.create(an_order(aws, "tagged-by-company"))
    copied = bench.create(an_order(aws, "copied-by-company", source=made))
    for volume_id in (made, copied):
        tags = {tag["Key"]: tag["Value"] for tag in described(ec2, volume_id)["Tags"]}
        assert {"cost-center", SCRATCH_TAG, DEADLINE_TAG} <= tags.keys()
        bench.delete(HOME, volume_id)


def without_tag(key):
    """Refuses a call that gives no tag with that key."""

    def answer(call):
        if key not in call.form.values():
            raise Refused("UnauthorizedOperation", "with an explicit deny in a service control policy")

    return answer


@pytest.mark.parametrize(
    ("spec", "iops", "throughput"),
    [
        (a_spec("gp3", 100, iops=4000, throughput_mib_s=250), 4000, 250),
        (replace(a_spec("gp2", 100), iops=300), None, None),
        (a_spec("io2", 100, iops=5000), 5000, None),
        (replace(a_spec("st1", 500), throughput_mib_s=20), None, None),
    ],
    ids=lambda given: getattr(given, "type", None),
)
def test_a_volume_is_asked_for_with_what_its_type_sells(aws, spec, iops, throughput):
    aws.bench.create(an_order(aws, f"type-{spec.type}", spec=spec))
    form = asked(aws, "CreateVolume")[-1]
    assert (form["VolumeType"], form["Size"]) == (spec.type, str(spec.size_gib))
    assert form.get("Iops") == (None if iops is None else str(iops))
    assert form.get("Throughput") == (None if throughput is None else str(throughput))
    assert "Encrypted" not in form


def test_a_token_is_of_the_whole_order_and_fits(aws):
    order = an_order(aws, "token")
    others = [
        replace(order, validation_id="other"),
        replace(order, spec=a_spec("gp3", 101)),
        replace(order, source="vol-1"),
        replace(order, zone="us-east-1b"),
    ]
    tokens = {one.token for one in [order, an_order(aws, "token"), *others]}
    assert len(tokens) == 1 + len(others)
    assert all(len(token) <= 64 for token in tokens)


def test_a_deadline_that_cannot_be_read_is_past(aws, ec2):
    for text in ("soon", "2026-11-20T14:00:00"):
        made = aws.bench.create(an_order(aws, f"deadline-{text}"))
        ec2.create_tags(Resources=[made], Tags=[{"Key": DEADLINE_TAG, "Value": text}])
        (found,) = aws.bench.scratch(HOME, volume_id=made)
        assert found.deadline is None
        assert found.is_due(datetime(2000, 1, 1, tzinfo=UTC))


def test_device_names_are_taken_in_order_and_skipped_where_they_are_in_use(aws, ec2):
    first, second = (aws.bench.create(an_order(aws, f"device-{name}")) for name in "ab")
    aws.bench.attach(HOME, first, aws.unmanaged_id)
    in_use = "Invalid value '/dev/sdg' for unixDevice. Attachment point /dev/sdg is already in use"
    aws.front.refuse("AttachVolume", Refused("InvalidParameterValue", in_use))
    aws.bench.attach(HOME, second, aws.unmanaged_id)
    devices = [described(ec2, made)["Attachments"][0]["Device"] for made in (first, second)]
    assert devices == [DEVICE_NAMES[0], DEVICE_NAMES[2]]


def test_a_host_without_a_free_device_name_says_so(aws):
    made = aws.bench.create(an_order(aws, "full"))
    refusals = [Refused("InvalidParameterValue", "Attachment point is already in use")] * len(DEVICE_NAMES)
    aws.front.refuse("AttachVolume", *refusals)
    with pytest.raises(CloudError, match=r"/dev/sdp.*--bench-host"):
        aws.bench.attach(HOME, made, aws.host_id)


def test_an_attachment_whose_answer_was_lost_is_found_again(aws):
    made = aws.bench.create(an_order(aws, "lost"))
    aws.bench.attach(HOME, made, aws.host_id)
    aws.front.refuse("AttachVolume", Refused("VolumeInUse", f"{made} is already attached to an instance"))
    aws.bench.attach(HOME, made, aws.host_id)
    aws.front.refuse("AttachVolume", Refused("VolumeInUse", f"{made} is already attached to an instance"))
    with pytest.raises(CloudError, match="VolumeInUse"):
        aws.bench.attach(HOME, made, aws.unmanaged_id)


def test_a_volume_that_lost_its_tag_is_left_alone(aws, ec2):
    made = aws.bench.create(an_order(aws, "untagged"))
    aws.bench.attach(HOME, made, aws.host_id)
    ec2.delete_tags(Resources=[made], Tags=[{"Key": SCRATCH_TAG}])
    for step in (aws.bench.detach, aws.bench.delete):
        with pytest.raises(BadInput, match=SCRATCH_TAG):
            step(HOME, made)
    assert described(ec2, made)["State"] == "in-use"


def test_a_volume_that_went_between_the_look_and_the_call_is_gone(aws):
    made = aws.bench.create(an_order(aws, "went"))
    aws.front.refuse("DeleteVolume", Refused("InvalidVolume.NotFound", "gone"))
    aws.bench.delete(HOME, made)


def test_a_detachment_that_is_refused_of_a_volume_still_attached_is_an_error(aws):
    made = aws.bench.create(an_order(aws, "stuck"))
    aws.bench.attach(HOME, made, aws.host_id)
    aws.front.refuse("DetachVolume", Refused("IncorrectState", "it is attaching"))
    with pytest.raises(CloudError, match="IncorrectState"):
        aws.bench.detach(HOME, made)


@pytest.mark.parametrize("code", ["VolumeLimitExceeded", "InsufficientVolumeCapacity", "MaxIOPSLimitExceeded"])
def test_a_volume_that_cannot_be_made_says_which_where_and_what_to_do(aws, code):
    aws.front.refuse("CreateVolume", Refused(code, "no more"))
    with pytest.raises(CloudError, match=rf"create a scratch volume of gp3 100 GiB.*{aws.zone}.*{code}") as caught:
        aws.bench.create(an_order(aws, f"code-{code}"))
    assert "audit" not in str(caught.value)


def test_a_role_that_may_not_create_or_delete_is_told_which_action_it_lacks(aws):
    aws.front.refuse("CreateVolume", Refused("UnauthorizedOperation", "no", 403))
    with pytest.raises(AccessDenied, match=r"ec2:CreateVolume.*validation role"):
        aws.bench.create(an_order(aws, "denied"))
    made = aws.bench.create(an_order(aws, "denied"))
    aws.front.refuse("DeleteVolume", Refused("UnauthorizedOperation", "no", 403))
    with pytest.raises(AccessDenied, match=r"ec2:DeleteVolume.*may still be there.*plimsoll sweep"):
        aws.bench.delete(HOME, made)


def test_throttling_keeps_its_class(aws):
    aws.front.refuse("DescribeVolumes", Refused("RequestLimitExceeded", "slower", 503))
    with pytest.raises(Throttled, match="ec2:DescribeVolumes"):
        aws.bench.scratch(HOME)


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({"PingStatus": "ConnectionLost", "PlatformType": "Linux"}, "ConnectionLost"),
        ({"PingStatus": "Online", "PlatformType": "Windows"}, "needs Linux"),
    ],
)
def test_a_host_that_systems_manager_cannot_use_says_why(aws, known, told):
    before = aws.front.managed[aws.host_id]
    aws.front.managed[aws.host_id] = {"InstanceId": aws.host_id, **known}
    (found,) = aws.bench.hosts(HOME, [], [aws.host_id])
    aws.front.managed[aws.host_id] = before
    assert not found.ready
    assert told in found.not_ready


def test_a_stopped_instance_is_refused_by_id_and_not_found_by_tag(aws, ec2):
    ec2.stop_instances(InstanceIds=[aws.unmanaged_id])
    with pytest.raises(CloudError, match=rf"{aws.unmanaged_id}.*stopped.*Start it"):
        aws.bench.hosts(HOME, [], [aws.unmanaged_id])
    assert [found.host.id for found in aws.bench.hosts(HOME, [BENCH_TAG], [])] == [aws.host_id]
    ec2.start_instances(InstanceIds=[aws.unmanaged_id])


def metric_answers(aws, status="Complete", **sums):
    def answer(_call):
        found = [{"Id": name, "Label": name, "Values": values, "StatusCode": status} for name, values in sums.items()]
        return {"MetricDataResults": found}

    aws.front.answers["GetMetricData"] = answer


def latency(aws):
    return aws.bench.mean_latency_us(HOME, "vol-1", DEADLINE - timedelta(days=1), DEADLINE)


def test_latency_is_the_time_of_all_operations_over_their_number(aws):
    metric_answers(
        aws,
        volumetotalreadtime=[1.0, 2.0],
        volumetotalwritetime=[3.0],
        volumereadops=[1000.0, 2000.0],
        volumewriteops=[1000.0],
    )
    assert latency(aws) == pytest.approx(6.0 / 4000 * 1e6)


def test_latency_is_unknown_where_no_time_is_published_or_nothing_was_done(aws):
    metric_answers(aws, volumereadops=[1000.0])
    assert latency(aws) is None
    metric_answers(aws, volumetotalreadtime=[0.0], volumereadops=[0.0])
    assert latency(aws) is None


@pytest.mark.parametrize("labels", [("volumewriteops", "volumereadops"), ("volumereadops", "volumereadops")])
def test_latency_of_metrics_that_may_be_each_others_is_refused(aws, labels):
    """Ids that changed places, and an Id that is there twice."""
    rows = zip(("volumereadops", labels[0] if labels[0] == labels[1] else "volumewriteops"), labels, strict=True)
    found = [{"Id": name, "Label": label, "Values": [1.0], "StatusCode": "Complete"} for name, label in rows]
    aws.front.answers["GetMetricData"] = lambda _call: {"MetricDataResults": found}
    with pytest.raises(BadAnswer, match=r"vol-1"):
        latency(aws)


@pytest.mark.parametrize(("status", "kind"), [("Forbidden", AccessDenied), ("InternalError", Unexpected)])
def test_latency_that_cannot_be_read_is_an_error(aws, status, kind):
    metric_answers(aws, status, volumereadops=[])
    with pytest.raises(kind, match="latency of vol-1"):
        latency(aws)
