"""What the service keeps: encrypted, out of the public's reach, by TLS alone, as long as the settings say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.reports.data.column_types import glue_tables
from plimsoll_service.config import ServiceConfig
from plimsoll_service.queries import QUERIES
from plimsoll_service.slack_config import SlackConfig
from tests.infra.templates import MEMBERS, SERVICE, listed, plain


@pytest.mark.release
def test_the_templates_are_clean_by_cfn_lint(templates, templates_with_options):
    paths = [str(templates.path(stack)) for stack in (*SERVICE, *MEMBERS, "probe-document")]
    paths += [str(templates_with_options.path(stack)) for stack in (*SERVICE, *MEMBERS, "benchmark-document")]
    done = subprocess.run(
        [Path(sys.executable).with_name("cfn-lint"), *paths], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_nobody_reaches_a_bucket_without_tls_or_from_the_public(templates):
    buckets = templates.resources("AWS::S3::Bucket")
    policies = {
        f"{name.partition('/')[0]}/{each['Bucket']['Ref']}": each
        for name, each in templates.resources("AWS::S3::BucketPolicy").items()
    }
    assert set(buckets) == set(policies)
    for name, bucket in buckets.items():
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        denied = [
            each
            for each in policies[name]["PolicyDocument"]["Statement"]
            if each["Effect"] == "Deny" and each.get("Condition") == {"Bool": {"aws:SecureTransport": "false"}}
        ]
        assert [each["Principal"] for each in denied] == [{"AWS": "*"}]


@pytest.mark.parametrize(
    ("kind", "policy", "key"),
    [("AWS::SQS::Queue", "AWS::SQS::QueuePolicy", "Queues"), ("AWS::SNS::Topic", "AWS::SNS::TopicPolicy", "Topics")],
)
def test_nobody_writes_to_a_queue_or_a_topic_without_tls(templates, kind, policy, key):
    policies = list(templates.resources(policy).values())
    assert len(policies) == len(templates.resources(kind)) > 0
    for each in policies:
        assert each[key]
        assert any(
            found["Effect"] == "Deny" and found["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
            for found in each["PolicyDocument"]["Statement"]
        )


def test_the_parts_of_a_run_go_after_a_month_and_measurements_stay(templates):
    (store,) = [each for each in templates.resources("AWS::S3::Bucket", ("data",)).values() if "BucketName" in each]
    kept = {
        rule["Prefix"]: rule["ExpirationInDays"]
        for rule in store["LifecycleConfiguration"]["Rules"]
        if "ExpirationInDays" in rule
    }
    assert kept == {
        "work/": 30,
        "validations/": 30,
        "probes/runs/": 30,
        "probes/under-way/": 30,
        "probes/seen/": 1095,
        "slack/": 30,
        "changes/": 1095,
        "queries/": 30,
        "sweeps/": 30,
        "runs/": 1095,
        "reports/": 1095,
    }


def test_removing_the_stacks_leaves_the_results_and_the_history(templates):
    kept = {
        found["Type"] for found in templates["data"]["Resources"].values() if found.get("DeletionPolicy") == "Retain"
    }
    assert kept == {"AWS::S3::Bucket", "AWS::DynamoDB::Table"}


def test_the_tables_have_the_keys_that_the_service_uses_and_can_be_restored(templates):
    tables = {each["TableName"]: each for each in templates.resources("AWS::DynamoDB::Table").values()}
    keys = {name: [key["AttributeName"] for key in each["KeySchema"]] for name, each in tables.items()}
    assert keys == {"plimsoll-main-history": ["place", "volume_id"], "plimsoll-main-coordination": ["id"]}
    assert tables["plimsoll-main-coordination"]["TimeToLiveSpecification"] == {
        "AttributeName": "expiration",
        "Enabled": True,
    }
    assert tables["plimsoll-main-history"]["DeletionProtectionEnabled"]
    for each in tables.values():
        assert each["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_the_parameter_holds_the_configuration_as_the_functions_read_it(templates):
    ((_, parameter),) = templates.resources("AWS::SSM::Parameter", ("data",)).items()
    config = ServiceConfig.parse(json.loads(parameter["Value"]))
    assert config == ServiceConfig(
        organization=True,
        external_id="the-external-id",
        change_rules={"approvers": ["ada", "grace"]},
        slack=SlackConfig(teams=("T0123ABCDEF",), channel="C0123ABCDEF", user_groups=("S0123ABCDEF",)),
    )


def test_athena_s_tables_have_the_columns_of_the_parquet_files_and_a_partition_a_day(templates):
    tables = {
        each["TableInput"]["Name"]: plain(each["TableInput"])
        for each in templates.resources("AWS::Glue::Table").values()
    }
    columns = {
        name: {column["Name"]: column["Type"] for column in each["StorageDescriptor"]["Columns"]}
        for name, each in tables.items()
    }
    assert columns == glue_tables()
    for name, each in tables.items():
        home = f"s3://plimsoll-main-${{AWS::AccountId}}-${{AWS::Region}}/runs/{name}/"
        assert each["StorageDescriptor"]["Location"] == home
        assert each["Parameters"]["storage.location.template"] == f"{home}run_date=${{run_date}}/"
        assert each["Parameters"]["projection.run_date.range"].endswith(",NOW")


def test_the_workgroup_has_the_saved_queries_and_bounds_what_a_query_reads(templates):
    saved = {each["Name"]: each["QueryString"] for each in templates.resources("AWS::Athena::NamedQuery").values()}
    assert saved == {name: query.sql for name, query in QUERIES.items()}
    ((_, group),) = templates.resources("AWS::Athena::WorkGroup").items()
    configuration = group["WorkGroupConfiguration"]
    assert configuration["EnforceWorkGroupConfiguration"]
    assert configuration["BytesScannedCutoffPerQuery"] > 0
    assert configuration["ResultConfiguration"]["EncryptionConfiguration"] == {"EncryptionOption": "SSE_S3"}


def test_only_alarms_of_this_account_are_told_to_the_topic(templates):
    ((_, policy),) = templates.resources("AWS::SNS::TopicPolicy").items()
    allowed = [each for each in plain(policy["PolicyDocument"]["Statement"]) if each["Effect"] == "Allow"]
    assert [(each["Principal"], listed(each["Action"]), each["Condition"]) for each in allowed] == [
        (
            {"Service": "cloudwatch.amazonaws.com"},
            ["sns:Publish"],
            {"StringEquals": {"aws:SourceAccount": "${AWS::AccountId}"}},
        )
    ]
