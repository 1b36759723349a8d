"""`plimsoll permissions`: what is printed, parsed again, is what the code declares and what the deployed roles have."""

import json
import re

import pytest
import yaml
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.clouds.aws import permissions as aws
from plimsoll.clouds.aws.change import command_line
from plimsoll.clouds.aws.policies import AwsPolicy
from plimsoll.clouds.permissions import Purpose
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy
from plimsoll_google import permissions as google
from tests.builders import a_spec, a_volume

MOST_CHARACTERS = 6144
"""Of a managed policy, white space not counted (IAM and AWS STS quotas, read 2026-11-23)."""

IN_BUCKET = {"s3:GetObject", "s3:ListBucket"}

AWS = [
    ([], aws.AUDIT),
    (["--set", "read_audit_log=true"], aws.AUDIT | aws.AUDIT_LOG),
    (["--organization"], aws.AUDIT | aws.ORGANIZATION | aws.MEMBERS),
    (["--for", "compare"], aws.AUDIT | aws.COMPARISON),
    (["--for", "states"], aws.AUDIT | aws.STATES),
    (["--for", "probe"], aws.AUDIT | aws.PROBE),
    (["--for", "validate"], aws.AUDIT | aws.VALIDATION - IN_BUCKET),
    (["--for", "validate", "--results-bucket", "results"], aws.AUDIT | aws.VALIDATION),
    (["--for", "validate", "--copies"], aws.AUDIT | aws.VALIDATION - IN_BUCKET | aws.COPIES),
    (["--for", "validate", "--locked-document"], aws.AUDIT | aws.VALIDATION - IN_BUCKET - aws.BENCHMARK_DOCUMENT),
    (
        ["--for", "validate", "--organization", "--copies", "--results-bucket", "results"],
        aws.AUDIT | aws.VALIDATION | aws.COPIES | aws.ORGANIZATION | aws.MEMBERS,
    ),
    (["--for", "bill", "--bucket", "exports"], aws.BILL),
    (["--for", "change"], aws.CHANGE),
]
GOOGLE = [
    ([], google.GOOGLE_AUDIT),
    (["--set", "read_audit_log=true"], google.GOOGLE_AUDIT | google.GOOGLE_AUDIT_LOG),
    (["--organization"], google.GOOGLE_AUDIT | google.BELOW | google.NUMBERED),
    (["--for", "validate"], google.GOOGLE_AUDIT | google.GOOGLE_VALIDATION),
    (["--for", "change"], google.GOOGLE_CHANGE),
]


def printed(*words):
    done = CliRunner().invoke(app, ["permissions", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def policy_in(format_, text):
    match format_:
        case "json":
            return json.loads(text)
        case "terraform":
            (found,) = re.findall(r"policy = jsonencode\((.*)\)\n}\n$", text, re.DOTALL)
            assert not re.search(r"(?<!\$)\$\{", found), "Terraform would read a variable of its own"
            return json.loads(found.replace("$${", "${"))
        case "cloudformation":
            return yaml.safe_load(text)["Resources"]["Policy"]["Properties"]["PolicyDocument"]


def role_in(format_, text):
    if format_ == "json":
        return set(json.loads(text)["includedPermissions"])
    (found,) = re.findall(r"permissions = \[(.*?)\]", text, re.DOTALL)
    return set(re.findall(r'"([^"]+)"', found))


def actions_of(policy):
    return {action for statement in policy["Statement"] for action in statement["Action"]}


@pytest.mark.parametrize(("words", "declared"), AWS)
def test_a_policy_read_again_allows_what_the_code_declares_in_every_format(words, declared):
    policies = [
        policy_in(format_, printed(*words, "--format", format_)) for format_ in ("json", "terraform", "cloudformation")
    ]
    assert actions_of(policies[0]) == declared
    assert policies[1:] == [policies[0]] * 2
    assert len(re.sub(r"\s", "", json.dumps(policies[0]))) <= MOST_CHARACTERS
    sids = [statement["Sid"] for statement in policies[0]["Statement"]]
    assert len({*sids}) == len(sids)
    assert all(re.fullmatch("[A-Za-z0-9]+", sid) for sid in sids)


@pytest.mark.parametrize(("words", "declared"), GOOGLE)
def test_a_role_read_again_allows_what_the_code_declares_in_both_formats(words, declared):
    for format_ in ("json", "terraform"):
        assert role_in(format_, printed("--cloud", "google", *words, "--format", format_)) == declared


def test_what_takes_a_volume_away_is_allowed_on_scratch_volumes_alone():
    statements = json.loads(printed("--for", "validate"))["Statement"]
    for statement in statements:
        on_volumes = any(resource.endswith(":volume/*") for resource in [*statement["Resource"], statement["Resource"]])
        if aws.ON_SCRATCH_ALONE & {*statement["Action"]} and on_volumes:
            assert statement["Condition"] == aws.SCRATCH_CONDITION
        assert statement["Resource"] != "*" or not aws.ON_SCRATCH_ALONE & {*statement["Action"]}


def test_whoever_may_probe_any_host_can_send_it_the_document_that_reads_and_cannot_write_one():
    statements = json.loads(printed("--for", "probe"))["Statement"]
    assert not aws.PROBE_DOCUMENT & actions_of({"Statement": statements})
    sent = {one["Resource"] for one in statements if "ssm:SendCommand" in one["Action"]}
    assert sent == {"arn:aws:ssm:*:*:document/Plimsoll-Probe", "arn:aws:ec2:*:*:instance/*"}


def test_a_change_may_be_made_with_the_policy_for_changes_and_an_audit_changes_nothing():
    line = command_line(a_volume("gp2", 500), a_spec("gp3", 500))
    verb = "".join(word.capitalize() for word in line.split()[2].split("-"))
    assert f"ec2:{verb}" in actions_of(json.loads(printed("--for", "change")))
    reading = ("Describe", "Get", "List")
    assert all(action.partition(":")[2].startswith(reading) for action in actions_of(json.loads(printed())))


@pytest.mark.parametrize("purpose", ["audit", "compare", "states", "probe", "validate"])
def test_roles_are_entered_in_the_callers_own_organization_alone(purpose):
    statements = json.loads(printed("--for", purpose, "--organization"))["Statement"]
    entering = [one for one in statements if "sts:AssumeRole" in one["Action"]]
    assert [one["Condition"] for one in entering] == [{"StringEquals": {"aws:ResourceOrgID": "${aws:PrincipalOrgID}"}}]


def test_a_bill_is_read_in_its_bucket_alone():
    statements = json.loads(printed("--for", "bill", "--bucket", "exports"))["Statement"]
    assert {one["Resource"] for one in statements} == {"arn:aws:s3:::exports", "arn:aws:s3:::exports/*"}


def test_the_arns_are_of_the_partition_that_is_asked_for():
    assert set(re.findall(r"arn:([\w-]+):", printed("--for", "validate", "--partition", "aws-cn"))) == {"aws-cn"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--cloud", "google", "--format", "cloudformation"], "give --format json or terraform"),
        (["--for", "change", "--organization"], "Leave it out"),
        (["--for", "bill", "--bucket", "exports", "--organization"], "Leave it out"),
        (["--for", "bill"], "give it with --bucket"),
        (["--cloud", "google", "--for", "bill", "--bucket", "exports"], "give --for audit"),
        (["--cloud", "google", "--for", "probe"], "Give --for audit"),
        (["--cloud", "google", "--for", "compare"], "give --for audit"),
        (["--cloud", "google", "--for", "states"], "give --for audit"),
        (["--copies"], "give --for validate"),
        (["--for", "probe", "--locked-document"], "give --for validate"),
        (["--cloud", "google", "--for", "validate", "--copies"], "validations on AWS"),
    ],
)
def test_what_there_is_not_is_refused_in_a_sentence(words, told):
    with pytest.raises(BadInput, match=told):
        printed(*words)


def test_a_tag_of_bench_hosts_without_a_value_may_have_any():
    policy = Policy(bench_hosts=(type(aws.IN_PLACE_TAG)(tag="bench"),))
    statements = AwsPolicy(purpose=Purpose.VALIDATE, policy=policy).document()["Statement"]
    conditions = [one.get("Condition") for one in statements if one["Sid"] == "AttachToBench1"]
    assert conditions == [{"Null": {"aws:ResourceTag/bench": "false"}}]
