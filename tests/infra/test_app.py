"""The app as `npx aws-cdk` runs it: what it refuses, and what the settings make of it."""

import json

from plimsoll_service.config import ServiceConfig
from tests.federation import FakeGoogle
from tests.infra.conftest import DEPLOYED
from tests.infra.synthesis import alone, synthesized
from tests.infra.templates import Templates, plain

KEYLESS = FakeGoogle(url="https://sts.googleapis.com").config()


def test_a_setting_that_cannot_be_used_is_told_in_a_sentence_and_nothing_is_synthesized(tmp_path):
    done = alone(tmp_path, {"SCHEDULE": "0 6 * * 1"})
    assert done.returncode == 2
    assert done.stderr.startswith("schedule '0 6 * * 1' is none: write rate(7 days)")
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_all_options_together_keep_to_the_rules(tmp_path):
    key = "arn:aws:kms:eu-west-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef"
    topic = "arn:aws:sns:eu-west-1:111122223333:storage"
    done = synthesized(
        tmp_path,
        {
            "ASSETS": "empty",
            "STAGE": "trial",
            "ACCOUNTS": "111122223333,444455556666",
            "EXTERNAL_ID": "the-external-id",
            "KMS_KEY_ARN": key,
            "PERMISSIONS_BOUNDARY": "bounds",
            "ALARM_TOPIC_ARN": topic,
            "WITH_VALIDATION": "false",
            "ARCHITECTURE": "x86_64",
            "WORK_DAYS": "1",
            "SLACK__TEAMS": "T0123ABCDEF,T0999ABCDEF",
            "SLACK__CHANNEL": "C0123ABCDEF",
            "SLACK_AT_ONCE": "0",
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    made = Templates(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.template.json")) == [
        "audit.template.json",
        "data.template.json",
        "member-audit.template.json",
        "slack.template.json",
    ]
    stacks = ("data", "audit", "slack")
    bound = {plain(each["PermissionsBoundary"]) for each in made.resources("AWS::IAM::Role", stacks).values()}
    assert bound == {"arn:${AWS::Partition}:iam::${AWS::AccountId}:policy/bounds"}
    (store,) = [each for each in made.resources("AWS::S3::Bucket", stacks).values() if "BucketName" in each]
    kept = {each.get("Prefix"): each.get("ExpirationInDays") for each in store["LifecycleConfiguration"]["Rules"]}
    assert (kept["work/"], kept["validations/"], kept["slack/"]) == (1, 8, 8), "a validation may last seven days"
    logs = made.resources("AWS::Logs::LogGroup", stacks).values()
    assert {each["KmsKeyId"] for each in logs} == {key}
    queues = made.resources("AWS::SQS::Queue", stacks).values()
    assert [each["KmsMasterKeyId"] for each in queues] == [key, key]
    (secret,) = made.resources("AWS::SecretsManager::Secret", stacks).values()
    assert secret["KmsKeyId"] == key
    using = {
        name
        for name, each in made.statements(stacks)
        if each["Resource"] == key and {"kms:Decrypt", "kms:GenerateDataKey"} <= set(each["Action"])
    }
    assert using == set(made.resources("AWS::IAM::Policy", stacks)), "the state machine reads lists of the bucket too"
    alarms = made.resources("AWS::CloudWatch::Alarm", stacks).values()
    assert {arn for each in alarms for arn in each["AlarmActions"]} == {topic}
    assert {
        resource
        for _, each in made.statements(stacks)
        if each["Action"] == "sts:AssumeRole"
        for resource in each["Resource"]
    } == {
        "arn:${AWS::Partition}:iam::111122223333:role/plimsoll-audit",
        "arn:${AWS::Partition}:iam::444455556666:role/plimsoll-audit",
    }


def test_without_a_channel_of_slack_nothing_is_open_to_the_public(tmp_path):
    done = synthesized(tmp_path, {"ASSETS": "empty"})
    assert done.returncode == 0, done.stdout + done.stderr
    made = Templates(tmp_path)
    stacks = ("data", "audit", "validation")
    assert not (tmp_path / "slack.template.json").exists()
    assert not made.resources("AWS::Lambda::Url", stacks)
    assert not made.resources("AWS::SecretsManager::Secret", stacks)


def test_projects_are_read_by_the_roles_of_four_functions_which_need_no_key_and_no_more_rights(tmp_path, templates):
    settings = {"GOOGLE_PROJECTS": "storage-prod,storage-test", "GOOGLE_CREDENTIALS": json.dumps(KEYLESS)}
    done = synthesized(tmp_path, {**DEPLOYED, **settings})
    assert done.returncode == 0, done.stdout + done.stderr
    made = Templates(tmp_path)
    roles = [f"plimsoll-main-{name}" for name in ("plan", "take_inventory", "audit_batch", "slack_work")]
    assert plain(made["audit"]["Outputs"]["GoogleRoles"]["Value"]).split() == [
        f"arn:${{AWS::Partition}}:sts::${{AWS::AccountId}}:assumed-role/{role}" for role in roles
    ]
    assert {each.get("RoleName") for each in made.resources("AWS::IAM::Role").values()} >= set(roles)
    assert list(made.statements()) == list(templates.statements())
    assert "GoogleRoles" not in templates["audit"]["Outputs"]
    (parameter,) = made.resources("AWS::SSM::Parameter", ("data",)).values()
    config = ServiceConfig.parse(json.loads(plain(parameter["Value"])))
    assert config.google_projects == ("storage-prod", "storage-test")
    assert config.google_credentials is not None
    assert config.google_credentials.plain == KEYLESS
    plans = [
        each["MemorySize"]
        for found in (templates, made)
        for each in found.resources("AWS::Lambda::Function").values()
        if each["Handler"] == "functions.plan.handler"
    ]
    assert plans == [512, 1024]


def test_without_validations_slack_begins_audits_alone_and_its_room_can_be_left_to_the_account(tmp_path):
    settings = {"SLACK__TEAMS": "T0123ABCDEF", "SLACK__CHANNEL": "C0123ABCDEF", "SLACK_AT_ONCE": "0"}
    done = synthesized(tmp_path, {"ASSETS": "empty", "WITH_VALIDATION": "false", **settings})
    assert done.returncode == 0, done.stdout + done.stderr
    made = Templates(tmp_path)
    functions = {each["Handler"]: each for each in made.resources("AWS::Lambda::Function", ("slack",)).values()}
    assert set(functions) == {f"functions.slack_{name}.handler" for name in ("act", "work", "report")}
    assert "ReservedConcurrentExecutions" not in functions["functions.slack_act.handler"]
    given = functions["functions.slack_work.handler"]["Environment"]["Variables"]
    assert given["PLIMSOLL_VALIDATION_MACHINE"] == given["PLIMSOLL_PROBE_MACHINE"] == ""
    assert not (tmp_path / "probe.template.json").exists()
    begins = [each for _, each in made.statements(("slack",)) if each["Action"] == "states:StartExecution"]
    assert [each["Resource"].rpartition(":")[2] for each in begins] == ["plimsoll-main-audit"]
