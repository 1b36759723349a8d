"""The app as `npx aws-cdk` runs it: what it refuses, and what the settings make of it."""

from tests.infra.conftest import synthesised
from tests.infra.templates import Templates, plain


def test_a_setting_that_cannot_be_used_is_told_in_a_sentence_and_nothing_is_synthesised(tmp_path):
    done = synthesised(tmp_path, {"SCHEDULE": "0 6 * * 1"})
    assert done.returncode == 2
    assert done.stderr.startswith("schedule '0 6 * * 1' is none: write rate(7 days)")
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_all_options_together_keep_to_the_rules(tmp_path):
    key = "arn:aws:kms:eu-west-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef"
    topic = "arn:aws:sns:eu-west-1:111122223333:storage"
    done = synthesised(
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
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    made = Templates(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.template.json")) == [
        "audit.template.json",
        "data.template.json",
        "member-audit.template.json",
    ]
    stacks = ("data", "audit")
    bound = {plain(each["PermissionsBoundary"]) for each in made.resources("AWS::IAM::Role", stacks).values()}
    assert bound == {"arn:${AWS::Partition}:iam::${AWS::AccountId}:policy/bounds"}
    (store,) = [each for each in made.resources("AWS::S3::Bucket", stacks).values() if "BucketName" in each]
    kept = {each.get("Prefix"): each.get("ExpirationInDays") for each in store["LifecycleConfiguration"]["Rules"]}
    assert (kept["work/"], kept["validations/"]) == (1, 8), "a validation may last seven days"
    logs = made.resources("AWS::Logs::LogGroup", stacks).values()
    assert {each["KmsKeyId"] for each in logs} == {key}
    (queue,) = made.resources("AWS::SQS::Queue", stacks).values()
    assert queue["KmsMasterKeyId"] == key
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
