"""Who may do what: the intentions behind the roles, held against every statement of the templates."""

import json

import pytest

from infra.audit_functions import AUDIT_ENTERS
from infra.change_functions import CHANGE_ENTERS, CHANGE_PLANS
from infra.probe_functions import PROBE_AUDITS, PROBE_ENTERS
from infra.slack_functions import SLACK_ENTERS
from infra.validation_functions import VALIDATION_AUDITS, VALIDATION_ENTERS
from plimsoll.clouds.aws.names import DOCUMENT_NAME, PROBE_DOCUMENT_NAME
from plimsoll.clouds.aws.permissions import (
    AUDIT,
    BENCHMARK_DOCUMENT,
    CHANGE,
    MARKING_CONDITION,
    ON_SCRATCH_ALONE,
    PLANNING,
    PROBE,
    PROBE_DOCUMENT,
    SCRATCH_CONDITION,
    SWEEP,
    VALIDATION,
    tagging_condition,
)
from plimsoll.clouds.aws.policies import AwsPolicy
from plimsoll.clouds.permissions import Purpose
from plimsoll.model.policy import Policy
from plimsoll.model.task import SCRATCH_TAG
from plimsoll_measure.bench.document import document, version_name
from tests.infra.synthesis import synthesized
from tests.infra.templates import MEMBERS, SERVICE, Templates, listed, plain

READING = ("Describe", "Get", "List", "BatchGet")
NO_RESOURCE_LEVEL = {
    "aco-automation:GetEnrollmentConfiguration",
    "cloudtrail:LookupEvents",
    "cloudwatch:DescribeAlarms",  # composite alarms are shown to whoever may see all (CloudWatch API, DescribeAlarms)
    "cloudwatch:GetMetricData",
    "ec2:DescribeInstances",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeRegions",
    "ec2:DescribeVolumes",
    "ec2:DescribeVolumesModifications",
    "logs:CreateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:DescribeLogGroups",
    "logs:DescribeResourcePolicies",
    "logs:GetLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:UpdateLogDelivery",
    "organizations:ListAccounts",
    "organizations:ListAccountsForParent",
    "organizations:ListOrganizationalUnitsForParent",
    "pricing:GetProducts",
    "ssm:CancelCommand",
    "ssm:DescribeInstanceInformation",
    "ssm:GetCommandInvocation",
    "sts:GetCallerIdentity",
    "xray:GetSamplingRules",
    "xray:GetSamplingTargets",
    "xray:PutTelemetryRecords",
    "xray:PutTraceSegments",
}
"""Actions that IAM can only allow on all resources (Service Authorization Reference, read 2026-11-21)."""


def actions_of(statements):
    return {action for statement in statements for action in listed(statement["Action"])}


def of_action(templates, action, stacks=(*SERVICE, *MEMBERS)):
    return [found for _, found in templates.statements(stacks) if action in listed(found["Action"])]


def resource_kinds(statement):
    return {resource.rpartition(":")[2].partition("/")[0] for resource in listed(statement["Resource"])}


def test_no_role_has_a_pattern_of_actions_or_a_managed_policy(templates):
    for name, statement in templates.statements():
        assert all("*" not in action for action in listed(statement["Action"])), name
    for role in templates.resources("AWS::IAM::Role", (*SERVICE, *MEMBERS)).values():
        assert "ManagedPolicyArns" not in role


def test_all_resources_are_named_wherever_iam_can_name_them(templates):
    for name, statement in templates.statements():
        if "*" in listed(statement["Resource"]):
            assert set(listed(statement["Action"])) <= NO_RESOURCE_LEVEL, name


@pytest.mark.parametrize("action", sorted(ON_SCRATCH_ALONE))
def test_only_volumes_with_our_scratch_tag_can_be_attached_detached_or_deleted(templates, action):
    on_volumes = [each for each in of_action(templates, action) if "volume" in resource_kinds(each)]
    assert on_volumes
    assert all(each["Condition"] == SCRATCH_CONDITION for each in on_volumes)


def scratch_tagging(templates):
    """The statements that allow tags, but for those that allow the tag of a plan alone."""
    marking = json.loads(json.dumps(MARKING_CONDITION))
    return [each for each in of_action(templates, "ec2:CreateTags") if each.get("Condition") != marking]


def test_no_volume_that_exists_can_be_given_the_scratch_tag(templates):
    tagging = scratch_tagging(templates)
    assert tagging
    for each in tagging:
        assert each["Condition"] == json.loads(json.dumps(tagging_condition(copies=False)))


def test_a_volume_is_only_created_with_the_scratch_tag_empty_and_within_bounds_of_size_iops_and_throughput(templates):
    found = of_action(templates, "ec2:CreateVolume")
    assert found
    for each in found:
        assert resource_kinds(each) == {"volume"}, "one of a snapshot needs the snapshot as a resource too"
        assert each["Condition"] == {
            "Null": {f"aws:RequestTag/{SCRATCH_TAG}": "false"},
            "NumericLessThanEquals": {"ec2:VolumeSize": "16384"},
            "NumericLessThanEqualsIfExists": {"ec2:VolumeIops": "80000", "ec2:VolumeThroughput": "2000"},
        }


def test_no_volume_is_copied_unless_copies_are_switched_on(templates):
    assert not of_action(templates, "ec2:CopyVolumes")


def test_a_copy_is_only_made_with_the_scratch_tag_of_a_volume_that_its_owner_tagged(templates_with_options):
    found = of_action(templates_with_options, "ec2:CopyVolumes")
    assert len(found) == 4, "of what is copied and of the copy, of one function and of the member role"
    for each in found:
        (resource,) = listed(each["Resource"])
        if resource.endswith(":volume/vol-*"):
            assert each["Condition"] == {"StringEquals": {"aws:ResourceTag/plimsoll:copy": "true"}}
        else:
            assert resource.endswith(":volume/*")
            assert each["Condition"]["Null"] == {f"aws:RequestTag/{SCRATCH_TAG}": "false"}
            assert each["Condition"]["NumericLessThanEqualsIfExists"]["ec2:VolumeSize"] == "16384"
    for each in scratch_tagging(templates_with_options):
        assert each["Condition"] == json.loads(json.dumps(tagging_condition(copies=True)))


def test_nobody_may_write_a_document_that_is_locked(templates_with_options):
    assert not BENCHMARK_DOCUMENT & actions_of(found for _, found in templates_with_options.statements())


def test_the_bounds_of_a_scratch_volume_are_settings(tmp_path):
    settings = {
        "VALIDATION__MAX_SIZE_GIB": "500",
        "VALIDATION__MAX_IOPS": "4000",
        "VALIDATION__MAX_THROUGHPUT_MIB_S": "250",
    }
    done = synthesized(tmp_path, {"ASSETS": "empty", **settings})
    assert done.returncode == 0, done.stdout + done.stderr
    stacks = ("data", "audit", "validation", "member-audit", "member-validation")
    for each in of_action(Templates(tmp_path), "ec2:CreateVolume", stacks):
        assert each["Condition"]["NumericLessThanEquals"] == {"ec2:VolumeSize": "500"}
        assert each["Condition"]["NumericLessThanEqualsIfExists"] == {
            "ec2:VolumeIops": "4000",
            "ec2:VolumeThroughput": "250",
        }


def test_what_measures_is_sent_only_to_hosts_that_are_tagged_for_it(templates):
    sends = of_action(templates, "ssm:SendCommand", ("validation", "member-validation"))
    on_documents = [each for each in sends if "document" in resource_kinds(each)]
    on_instances = [each for each in sends if "instance" in resource_kinds(each)]
    assert len(on_documents) + len(on_instances) == len(sends)
    for each in on_documents:
        assert all(found.endswith(f":document/{DOCUMENT_NAME}") for found in listed(each["Resource"]))
    tags = {tag for each in on_instances for tag in each["Condition"]["StringEquals"]}
    assert tags == {"ssm:resourceTag/plimsoll:bench", "ssm:resourceTag/plimsoll:in-place"}


def test_who_may_send_to_every_host_may_send_what_only_reads_and_cannot_write_a_document(templates):
    """IAM looks at the document and at the instance of a command one by one, so a role must not hold both kinds."""
    by_role = {}
    for name, statement in templates.statements():
        by_role.setdefault(name, []).append(statement)
    everywhere = [
        found
        for found in by_role.values()
        if any(
            "ssm:SendCommand" in listed(each["Action"])
            and "instance" in resource_kinds(each)
            and "Condition" not in each
            for each in found
        )
    ]
    assert len(everywhere) == 2  # that of the function that begins, and the members'
    for found in everywhere:
        documents = {
            resource.rpartition("/")[2]
            for each in found
            if "document" in resource_kinds(each)
            for resource in listed(each["Resource"])
        }
        assert documents == {PROBE_DOCUMENT_NAME}
        assert not PROBE_DOCUMENT & actions_of(found)


def test_a_scratch_volume_is_attached_to_bench_hosts_alone(templates):
    on_instances = [each for each in of_action(templates, "ec2:AttachVolume") if "instance" in resource_kinds(each)]
    assert on_instances
    for each in on_instances:
        assert each["Condition"] == {"StringEquals": {"aws:ResourceTag/plimsoll:bench": "true"}}


def test_a_role_of_a_cloud_s_service_is_assumed_for_this_account_alone(templates):
    """Lambda's roles are named by the functions that have them: Lambda gives them to nobody else."""
    for name, role in templates.resources("AWS::IAM::Role").items():
        (trust,) = plain(role["AssumeRolePolicyDocument"]["Statement"])
        if trust["Principal"] != {"Service": "lambda.amazonaws.com"}:
            assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": "${AWS::AccountId}"}}, name


def test_an_audit_changes_nothing_but_the_service_s_own_store_and_tables(templates):
    used = actions_of(statement for _, statement in templates.statements(("audit", "member-audit")))
    ours = {"s3", "dynamodb", "logs", "xray", "sqs", "states", "lambda", "events", "sts", "ssm"}
    for action in used:
        service, _, verb = action.partition(":")
        assert service in ours or verb.startswith(READING), action
    assert {action for action in used if action.startswith("ssm:")} == {"ssm:GetParameter"}


def test_functions_read_and_write_their_own_prefixes_of_the_store_alone(templates):
    written = {
        function: {
            resource.partition("/")[2]
            for statement in templates.allowed_to(function)
            if "s3:PutObject" in listed(statement["Action"])
            for resource in listed(statement["Resource"])
        }
        for function in (
            *("plan", "take_inventory", "audit_batch", "combine", "report", "canary", "propose", "conclude"),
            *("create_scratch", "clean_up", "plan_sweep", "sweep", "conclude_sweep"),
            *("begin_probe", "look_at_probe"),
            *("plan_changes", "find_changes", "apply_changes"),
            *("slack_act", "slack_work", "slack_report", "slack_answer", "slack_changes"),
        )
    }
    assert written == {
        "plan": {"work/*"},
        "take_inventory": {"work/*", "ledger/*"},
        "audit_batch": {"work/*"},
        "combine": {"work/*", "runs/*"},
        "report": {"work/*", "reports/*"},
        "canary": set(),
        "propose": {"validations/*"},
        "conclude": {"validations/*", "measured/*"},
        "create_scratch": {"validations/*", "scratch/*"},
        "clean_up": {"validations/*"},
        "plan_sweep": {"sweeps/*"},
        "sweep": {"scratch/*", "sweeps/*"},
        "conclude_sweep": set(),
        "begin_probe": {"probes/*"},
        "look_at_probe": {"probes/*"},
        "plan_changes": {"changes/*", "*/plan.json"},
        "find_changes": set(),
        "apply_changes": {"changes/*", "*/ledger/*"},
        "slack_act": set(),
        "slack_work": {"slack/*", "*/words/*"},
        "slack_report": {"slack/*"},
        "slack_answer": set(),
        "slack_changes": {"slack/*"},
    }


def test_whoever_reads_the_store_reads_that_of_this_account(templates):
    for name, statement in templates.statements():
        if any(action.startswith("s3:") for action in listed(statement["Action"])):
            assert statement["Condition"]["StringEquals"]["s3:ResourceAccount"] == "${AWS::AccountId}", name


def test_other_accounts_are_entered_by_the_named_roles_with_the_external_id_and_not_otherwise(templates):
    entered = {}
    for name, statement in templates.statements(SERVICE):
        if "sts:AssumeRole" in listed(statement["Action"]):
            within = {"aws:ResourceOrgID": "${aws:PrincipalOrgID}"}  # the scope of these templates is an Organization
            assert statement["Condition"] == {"StringEquals": {"sts:ExternalId": "the-external-id", **within}}
            for resource in listed(statement["Resource"]):
                entered.setdefault(resource.rpartition("/")[2], set()).add(name.partition("/")[2].partition("Role")[0])

    def policies(functions):
        return {"".join(word.capitalize() for word in name.split("_")) for name in functions}

    assert entered == {
        "plimsoll-audit": policies((*AUDIT_ENTERS, *VALIDATION_AUDITS, *PROBE_AUDITS, *SLACK_ENTERS)),
        "plimsoll-change": policies(CHANGE_ENTERS),
        "plimsoll-change-plan": policies(CHANGE_PLANS),
        "plimsoll-probe": policies(PROBE_ENTERS),
        "plimsoll-validation": policies(VALIDATION_ENTERS),
    }


def test_the_roles_together_may_do_what_audits_and_validations_do_and_no_more(templates):
    """What S3 holds of long outputs is left out: a deployed validation names no bucket for them."""
    audited = actions_of(found for _, found in templates.statements(("member-audit",)))
    measured = actions_of(found for _, found in templates.statements(("member-validation",)))
    probed = actions_of(found for _, found in templates.statements(("member-probe",)))
    assert audited == AUDIT
    # The command line alone stops a probe.
    assert probed == (PROBE | {"sts:GetCallerIdentity"}) - {"ssm:CancelCommand"}
    assert measured == (VALIDATION | {"sts:GetCallerIdentity"}) - {"s3:GetObject", "s3:ListBucket"}
    assert actions_of(templates.allowed_to("sweep")) >= SWEEP
    assert actions_of(found for _, found in templates.statements(("member-change",))) == CHANGE
    assert actions_of(found for _, found in templates.statements(("member-change-plan",))) == PLANNING


def test_in_the_service_s_own_account_an_audit_may_read_what_it_may_read_in_members(templates):
    used = actions_of(
        statement for name in ("plan", "take_inventory", "audit_batch") for statement in templates.allowed_to(name)
    )
    assert used >= AUDIT


@pytest.mark.parametrize("stack", MEMBERS)
def test_a_member_role_trusts_the_service_s_functions_with_the_external_id_alone(templates, stack):
    ((_, role),) = templates.resources("AWS::IAM::Role", (stack,)).items()
    (trust,) = plain(role["AssumeRolePolicyDocument"]["Statement"])
    assert trust["Principal"] == {"AWS": "arn:${AWS::Partition}:iam::${ServiceAccount}:root"}
    assert trust["Condition"]["StringEquals"] == {"sts:ExternalId": "${ExternalId}"}
    callers = {arn.rpartition("/")[2] for arn in trust["Condition"]["ArnEquals"]["aws:PrincipalArn"]}
    made = {role["RoleName"] for role in templates.resources("AWS::IAM::Role").values() if "RoleName" in role}
    assert callers <= made
    assert trust["Action"] == "sts:AssumeRole"


@pytest.mark.parametrize("stack", MEMBERS)
def test_a_member_s_template_is_plain_cloudformation(templates, stack):
    template = templates[stack]
    assert set(template) == {"Description", "Parameters", "Resources", "Outputs"}
    assert set(template["Parameters"]) == {"ServiceAccount", "ExternalId"}
    assert all("Metadata" not in found for found in template["Resources"].values())


@pytest.mark.parametrize(
    ("purpose", "role", "more", "deployed"),
    [
        (Purpose.VALIDATE, "member-validation", set(), {}),
        (Purpose.VALIDATE, "member-validation", set(), {"copies": True, "locked_document": True}),
        (Purpose.PROBE, "member-probe", {"ssm:CancelCommand"}, {}),
    ],
)
def test_the_policy_that_people_paste_allows_what_the_roles_of_members_do(
    templates, templates_with_options, purpose, role, more, deployed
):
    """Statement by statement, but for the account, which a policy to paste leaves open."""
    templates = templates_with_options if deployed else templates

    def allowed(statements):
        return {
            (action, resource.replace("${AWS::Partition}", "aws").replace("${AWS::AccountId}", "*"), condition)
            for one in statements
            for condition in [json.dumps(one.get("Condition"), sort_keys=True)]
            for action in listed(one["Action"])
            for resource in listed(one["Resource"])
        }

    roles = allowed(found for _, found in templates.statements(("member-audit", role)))
    pasted = AwsPolicy(purpose=purpose, policy=Policy(), **deployed).document()["Statement"]
    assert {one for one in allowed(pasted) if one[0] not in more} == roles


@pytest.mark.parametrize(
    ("stack", "name"), [("probe-document", PROBE_DOCUMENT_NAME), ("benchmark-document", DOCUMENT_NAME)]
)
def test_a_document_is_plain_cloudformation_and_the_version_that_is_asked_for(templates_with_options, stack, name):
    template = templates_with_options[stack]
    assert set(template) == {"Description", "Resources"}
    ((_, made),) = template["Resources"].items()
    assert "Metadata" not in made
    assert made["Properties"]["Content"] == document(name)
    assert made["Properties"]["VersionName"] == version_name(name)
    assert (made["Properties"]["Name"], made["Properties"]["UpdateMethod"]) == (name, "NewVersion")
