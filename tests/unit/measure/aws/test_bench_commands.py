"""Run Command: the document that is run, how a command's end is told, and where its whole output is."""

import json

import boto3
import pytest

from cloud_simulator.faults import Refused
from plimsoll.clouds.aws.names import DOCUMENT_NAME
from plimsoll.model.errors import AccessDenied, CloudError
from plimsoll.model.task import Task, TaskEnd, TaskMode
from plimsoll_measure.aws.bench import AwsBench
from plimsoll_measure.aws.commands import CUT_CHARS, LOOKS, RESULTS_PREFIX
from plimsoll_measure.bench.document import document, version_name
from tests.contract.aws_bench import HOME, served

INSPECT = Task(mode=TaskMode.INSPECT)
COMMAND = "00000001-0000-4000-8000-000000000000"
BUCKET = "results-of-plimsoll"


@pytest.fixture(scope="module")
def account():
    with served(results=BUCKET) as found:
        boto3.Session().client("s3", region_name=HOME.region).create_bucket(Bucket=BUCKET)
        yield found


@pytest.fixture
def aws(account):
    """An account where nothing is refused yet and no document is kept."""
    yield account
    account.front.answers.clear()
    account.front.calls.clear()
    ssm = boto3.Session().client("ssm", region_name=HOME.region)
    for found in ssm.list_documents(Filters=[{"Key": "Name", "Values": [DOCUMENT_NAME]}])["DocumentIdentifiers"]:
        ssm.delete_document(Name=found["Name"])


@pytest.fixture
def ssm(aws):
    return boto3.Session().client("ssm", region_name=HOME.region)


def a_bench(aws):
    """One that has not looked for the document yet."""
    return AwsBench(sessions=aws.bench.sessions, results=BUCKET, sleep=lambda _s: None)


def sent(aws, task=INSPECT):
    """What SendCommand was asked."""
    a_bench(aws).send(HOME, aws.host_id, task)
    return [call.read() for call in aws.front.calls if call.operation == "SendCommand"][-1]


def stored(ssm, **which):
    return json.loads(ssm.get_document(Name=DOCUMENT_NAME, DocumentFormat="JSON", **which)["Content"])


def another(text):
    return json.dumps({**document(), "description": text})


def create(ssm, text, name=None):
    return ssm.create_document(
        Name=DOCUMENT_NAME,
        Content=another(text),
        DocumentType="Command",
        DocumentFormat="JSON",
        **({"VersionName": name} if name else {}),
    )


def test_the_document_is_made_once_and_its_version_is_named_in_the_command(aws, ssm):
    request = sent(aws)
    assert stored(ssm, DocumentVersion=request["DocumentVersion"]) == document()
    assert sent(aws)["DocumentVersion"] == request["DocumentVersion"]
    assert [call.operation for call in aws.front.calls].count("CreateDocument") == 1


def test_another_version_of_the_document_stays_and_ours_is_added(aws, ssm):
    create(ssm, "an older Plimsoll's")
    request = sent(aws)
    assert request["DocumentVersion"] == "2"
    assert stored(ssm, DocumentVersion="2") == document()
    assert stored(ssm, DocumentVersion="1")["description"] == "an older Plimsoll's"


def test_a_document_under_our_version_with_other_content_is_not_run(aws, ssm):
    create(ssm, "somebody else's", version_name(DOCUMENT_NAME))
    with pytest.raises(CloudError, match="not what this Plimsoll wrote"):
        sent(aws)
    assert "SendCommand" not in [call.operation for call in aws.front.calls]


def test_one_who_makes_the_document_at_the_same_time_is_no_error(aws, ssm):
    def made_by_another(_call):
        aws.front.answers.pop("CreateDocument")
        request = {"Name": DOCUMENT_NAME, "DocumentType": "Command", "DocumentFormat": "JSON"}
        ssm.create_document(**request, Content=json.dumps(document()), VersionName=version_name(DOCUMENT_NAME))
        raise Refused("DocumentAlreadyExists", "it does")

    aws.front.answers["CreateDocument"] = made_by_another
    aws.front.refuse("UpdateDocument", Refused("DuplicateDocumentVersionName", "it is there"))
    assert sent(aws)["DocumentVersion"] == "1"


def test_a_version_that_never_becomes_active_is_given_up(aws):
    content = json.dumps(document())
    answer = {"Name": DOCUMENT_NAME, "DocumentVersion": "1", "Content": content, "Status": "Creating"}
    aws.front.answers["GetDocument"] = lambda _call: answer
    with pytest.raises(CloudError, match="is Creating"):
        sent(aws)
    assert [call.operation for call in aws.front.calls].count("GetDocument") <= LOOKS + 1


def test_a_role_that_may_not_make_documents_is_told_so(aws):
    aws.front.refuse("CreateDocument", Refused("AccessDeniedException", "no"))
    with pytest.raises(AccessDenied, match="ssm:CreateDocument"):
        sent(aws)


def test_a_command_is_bounded_says_what_it_is_and_where_its_output_goes(aws):
    request = sent(aws, Task(mode=TaskMode.DEVICE, volume_id="vol-0123456789abcdef0", job="[a]\n", alarm="too slow"))
    assert request["InstanceIds"] == [aws.host_id]
    assert request["TimeoutSeconds"] >= 30
    assert len(request["Comment"]) <= 100
    assert "vol-0123456789abcdef0" in request["Comment"]
    assert (request["OutputS3BucketName"], request["OutputS3KeyPrefix"]) == (BUCKET, RESULTS_PREFIX)
    assert request["AlarmConfiguration"]["Alarms"] == [{"Name": "too slow"}]
    assert "AlarmConfiguration" not in sent(aws)


@pytest.mark.parametrize(
    "code", ["InvalidInstanceId", "InvalidDocument", "InvalidParameters", "UnsupportedPlatformType"]
)
def test_a_command_that_is_refused_says_where_and_what_to_do(aws, code):
    aws.front.refuse("SendCommand", Refused(code, ""))
    with pytest.raises(CloudError, match=rf"{aws.host_id} in {HOME}.*{code}"):
        sent(aws)


def ended(aws, status, details, *, output="", errors="", code=1):
    aws.front.answers["GetCommandInvocation"] = lambda _call: {
        "Status": status,
        "StatusDetails": details,
        "ResponseCode": code,
        "StandardOutputContent": output,
        "StandardErrorContent": errors,
    }
    return aws.bench.outcome(HOME, aws.host_id, COMMAND)


@pytest.mark.parametrize("status", ["Pending", "InProgress", "Delayed", "Cancelling"])
def test_a_command_under_way_has_no_outcome(aws, status):
    assert ended(aws, status, status, code=-1) is None


@pytest.mark.parametrize(
    ("status", "details", "end"),
    [
        ("Success", "Success", TaskEnd.SUCCESS),
        ("Failed", "Failed", TaskEnd.FAILED),
        ("TimedOut", "Delivery Timed Out", TaskEnd.UNDELIVERED),
        ("TimedOut", "DeliveryTimedOut", TaskEnd.UNDELIVERED),
        ("TimedOut", "Execution Timed Out", TaskEnd.TIMED_OUT),
        ("TimedOut", "TimedOut", TaskEnd.TIMED_OUT),
        ("Failed", "Undeliverable", TaskEnd.UNDELIVERED),
        ("Failed", "Access Denied", TaskEnd.UNDELIVERED),
        ("Failed", "Invalid Platform", TaskEnd.UNDELIVERED),
        ("Cancelled", "Terminated", TaskEnd.CANCELLED),
        ("Cancelled", "Canceled", TaskEnd.CANCELLED),
        ("Cancelled", "", TaskEnd.CANCELLED),
        ("Failed", "Something new", TaskEnd.FAILED),
    ],
)
def test_the_details_tell_what_never_ran_from_what_ran_too_long(aws, status, details, end):
    outcome = ended(aws, status, details)
    assert outcome.end is end
    assert bool(outcome.reason) == (end is not TaskEnd.SUCCESS)
    assert outcome.reason == "" or details in outcome.reason


def test_a_failure_tells_the_scripts_last_complaint(aws):
    errors = "a warning\nfio: no such device.\nfailed to run commands: exit status 3\n----------ERROR-------\n"
    reason = ended(aws, "Failed", "Failed", errors=errors, code=3).reason
    assert reason.endswith("exit code 3: fio: no such device")
    assert len(reason.splitlines()) == 1


def keep(aws, text, command=COMMAND):
    key = f"{RESULTS_PREFIX}/{command}/{aws.host_id}/awsrunShellScript/measure/stdout"
    boto3.Session().client("s3", region_name=HOME.region).put_object(Bucket=BUCKET, Key=key, Body=text.encode())


def test_output_that_is_cut_is_read_whole_from_the_bucket(aws):
    whole = "µ" * (CUT_CHARS + 5)
    keep(aws, whole)
    assert ended(aws, "Success", "Success", output=whole[:CUT_CHARS]).output == whole


def test_output_that_is_not_cut_needs_no_bucket(aws):
    keep(aws, "something else")
    asked = len(aws.front.calls)
    assert ended(aws, "Success", "Success", output="all of it").output == "all of it"
    assert [call.service for call in aws.front.calls[asked:]] == ["ssm"]


def test_a_bucket_that_cannot_be_read_costs_the_rest_of_the_output_and_says_why(aws):
    cut = "x" * CUT_CHARS
    bench = AwsBench(sessions=aws.bench.sessions, results="no-such-bucket-here")
    ended(aws, "Success", "Success", output=cut)
    outcome = bench.outcome(HOME, aws.host_id, COMMAND)
    assert (outcome.end, outcome.output) == (TaskEnd.SUCCESS, cut)
    assert "s3://no-such-bucket-here" in outcome.reason


def test_without_a_bucket_the_output_is_what_the_api_gives(aws):
    cut = "x" * CUT_CHARS
    ended(aws, "Success", "Success", output=cut)
    assert AwsBench(sessions=aws.bench.sessions).outcome(HOME, aws.host_id, COMMAND).output == cut
