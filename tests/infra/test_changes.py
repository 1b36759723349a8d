"""Changes are deployed where the settings say so; volumes that a plan has tagged can then be modified, no others."""

import json

import pytest

from plimsoll.clouds.aws.names import CHANGES_GO
from plimsoll.clouds.aws.permissions import CHANGED_CONDITION, FACTS_CONDITION, MARKING_CONDITION
from tests.infra.conftest import CHANGES, DEPLOYED, OPTIONS
from tests.infra.synthesis import find_modifying, once_a_run, synthesized
from tests.infra.templates import Templates, listed, plain

MEMBER_STACKS = ("member-change", "member-change-plan")


def without_changes(settings):
    return {name: value for name, value in settings.items() if name not in {*CHANGES, "FACTS_LOCKED_DAYS"}}


VARIANTS = {
    "the least": {"ASSETS": "empty"},
    "one account, no measuring": {"ASSETS": "empty", "WITH_VALIDATION": "false"},
    "all that there is": without_changes(DEPLOYED),
    "all options": without_changes(OPTIONS),
    "rules without changes": {"ASSETS": "empty", "CHANGE_RULES": CHANGES["CHANGE_RULES"]},
    "copies in named accounts": {
        "ASSETS": "empty",
        "ACCOUNTS": "222222222222,333333333333",
        "EXTERNAL_ID": "the-external-id",
        "VALIDATION__COPIES": "true",
        "WITH_PROBE": "true",
    },
}


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_without_changes_no_role_of_any_template_can_modify_a_volume(settings, tmp_path):
    """Each synthesis of the other tests looks for the same."""
    done = synthesized(tmp_path, settings)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(tmp_path.glob("*.template.json"))) >= 3
    assert list(find_modifying(tmp_path)) == []
    assert not any((tmp_path / f"{name}.template.json").exists() for name in ("change", *MEMBER_STACKS))


@pytest.mark.parametrize(
    "resource",
    [
        {"PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "ec2:ModifyVolume", "Resource": "*"}]}},
        {"Policies": [{"PolicyDocument": {"Statement": {"Effect": "Allow", "Action": ["ec2:modify*"]}}}]},
        {"PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "*"}]}},
        {"PolicyDocument": {"Statement": [{"Effect": "Allow", "NotAction": "iam:*"}]}},
        {"ManagedPolicyArns": ["arn:aws:iam::aws:policy/AmazonEC2FullAccess"]},
    ],
)
def test_whatever_would_allow_it_is_found(resource, tmp_path):
    template = {"Resources": {"Role": {"Type": "AWS::IAM::Role", "Properties": resource}}}
    (tmp_path / "any.template.json").write_text(json.dumps(template), encoding="utf-8")
    assert len(list(find_modifying(tmp_path))) == 1


def test_only_volumes_that_a_plan_has_tagged_can_be_modified(templates):
    found = [
        (name.partition("/")[0], each)
        for name, each in templates.statements()
        if "ec2:ModifyVolume" in listed(each["Action"])
    ]
    assert [stack for stack, _ in found] == ["change", "member-change"]
    for _, each in found:
        assert each["Condition"] == CHANGED_CONDITION
        assert listed(each["Action"]) == ["ec2:ModifyVolume"]
        assert each["Resource"] == "arn:${AWS::Partition}:ec2:*:${AWS::AccountId}:volume/*"


def test_who_tags_for_a_plan_gives_that_tag_alone_and_modifies_nothing(templates):
    """Else a role could open a volume to itself."""
    by_policy = {}
    for name, each in templates.statements():
        by_policy.setdefault(name, []).append(each)
    marking = json.loads(json.dumps(MARKING_CONDITION))
    tagging = {name for name, found in by_policy.items() if any(each.get("Condition") == marking for each in found)}
    assert {name.partition("/")[0] for name in tagging} == {"change", "member-change-plan"}
    for name, found in by_policy.items():
        actions = {action for each in found for action in listed(each["Action"])}
        assert not (name in tagging and "ec2:ModifyVolume" in actions)
        if "ec2:ModifyVolume" in actions:
            assert "ec2:CreateTags" not in actions


def test_facts_are_added_and_never_deleted_or_written_over(templates):
    bucket = "plimsoll-main-facts-"
    found = [each for _, each in templates.statements() if any(bucket in one for one in listed(each["Resource"]))]
    actions = {action for each in found for action in listed(each["Action"])}
    assert actions == {"s3:GetObject", "s3:ListBucket", "s3:PutObject"}
    writing = [each for each in found if "s3:PutObject" in listed(each["Action"])]
    for each in writing:
        assert each["Condition"]["Null"] == FACTS_CONDITION["Null"]


def test_what_plans_and_what_changes_cannot_speak_for_people_and_slack_can_write_no_plan_or_ledger(templates):
    written = {
        name.partition("/")[2].partition("Role")[0]: {one.partition("/")[2] for one in listed(each["Resource"])}
        for name, each in templates.statements()
        if listed(each["Action"]) == ["s3:PutObject"]
    }
    assert written == {
        "PlanChanges": {"*/plan.json"},
        "ApplyChanges": {"*/ledger/*"},
        "SlackWork": {"*/words/*"},
    }


@pytest.mark.parametrize(("locked", "rule"), [(False, None), (True, {"Mode": "COMPLIANCE", "Days": 365})])
def test_the_bucket_of_facts_stays_and_locks_what_it_has_if_the_settings_ask_for_it(
    locked, rule, templates, templates_with_options
):
    made = (templates_with_options if locked else templates)["change"]["Resources"].values()
    (facts,) = [each for each in made if each["Type"] == "AWS::S3::Bucket" and "BucketName" in each["Properties"]]
    properties = facts["Properties"]
    assert facts["DeletionPolicy"] == facts["UpdateReplacePolicy"] == "Retain"
    assert (properties["ObjectLockEnabled"], properties["VersioningConfiguration"]) == (True, {"Status": "Enabled"})
    assert properties.get("ObjectLockConfiguration", {}).get("Rule", {}).get("DefaultRetention") == rule
    assert "LifecycleConfiguration" not in properties


def test_the_name_of_the_bucket_is_one_that_s3_takes_with_the_longest_stage_and_region(templates):
    made = templates.resources("AWS::S3::Bucket", ("change",)).values()
    (name,) = [plain(each["BucketName"]) for each in made if "BucketName" in each]
    longest = {"main": "s" * 20, "${AWS::AccountId}": "1" * 12, "${AWS::Region}": "ap-southeast-1"}
    for written, text in longest.items():
        name = name.replace(written, text)
    assert len(name) <= 63, "S3 User Guide, General purpose bucket naming rules"


def test_the_switch_is_on_go_and_only_what_changes_volumes_reads_it(templates):
    ((_, switch),) = templates.resources("AWS::SSM::Parameter", ("change",)).items()
    assert (switch["Name"], switch["Value"]) == ("/plimsoll/main/changes", CHANGES_GO)
    reading = [
        name
        for name, each in templates.statements()
        if any(one.endswith(":parameter/plimsoll/main/changes") for one in listed(each["Resource"]))
    ]
    assert [name.partition("Role")[0] for name in reading] == ["change/ApplyChanges"]


def test_a_schedule_takes_the_passes(templates):
    ((_, schedule),) = templates.resources("AWS::Scheduler::Schedule", ("change",)).items()
    assert (schedule["ScheduleExpression"], schedule["Target"]["Input"]) == ("rate(10 minutes)", "{}")


@pytest.mark.parametrize("rules", [None, "{}", '{"most_volumes_an_hour": 3}', '{"approvers": []}'])
def test_changes_that_nobody_could_approve_are_not_deployed(rules, tmp_path):
    given = {} if rules is None else {"CHANGE_RULES": rules}
    done = synthesized(tmp_path, {"ASSETS": "empty", "WITH_CHANGES": "true", **given})
    assert done.returncode == 2
    assert "change_rules names no approvers" in done.stdout + done.stderr


def test_rules_that_cannot_be_used_are_named_by_their_key(tmp_path):
    done = synthesized(tmp_path, {"ASSETS": "empty", "WITH_CHANGES": "true", "CHANGE_RULES": '{"approver": ["ada"]}'})
    assert done.returncode == 2
    assert "approver" in done.stdout + done.stderr


def test_one_account_alone_can_have_changes(tmp_path_factory):
    templates = Templates(once_a_run(tmp_path_factory, "changes-alone", {"ASSETS": "empty", **CHANGES}))
    entering = [each for _, each in templates.statements(("change",)) if "sts:AssumeRole" in listed(each["Action"])]
    assert entering == []
