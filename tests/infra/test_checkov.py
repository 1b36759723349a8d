"""What checkov finds in the templates is what infra/checkov.md lists, with a reason each."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.infra.templates import Templates
from tests.needs import find_checkov

PAGE = Path(__file__).parents[2] / "infra" / "checkov.md"
ROW = re.compile(r"^\| (CKV\w+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
KINDS = {
    "bucket of access logs": "AWS::S3::Bucket",
    "functions": "AWS::Lambda::Function",
    "functions that a state or a person waits for": "AWS::Lambda::Function",
    "methods that Slack calls": "AWS::ApiGateway::Method",
    "logs": "AWS::Logs::LogGroup",
    "queues": "AWS::SQS::Queue",
    "stage": "AWS::ApiGateway::Stage",
    "Slack's secret": "AWS::SecretsManager::Secret",
    "`slack_act`": "AWS::Lambda::Url",
    "tables": "AWS::DynamoDB::Table",
    "topic of alarms": "AWS::SNS::Topic",
}
"""What the page calls them, by CloudFormation's types."""

pytestmark = [pytest.mark.needs("checkov"), pytest.mark.release]


def listed(part: str) -> set[tuple[str, str]]:
    """The findings of a part of the page, each with the type that it is of."""
    rows = ROW.findall(part)
    assert rows
    assert all(reason.strip() for _, _, reason in rows)
    return {(check, KINDS[what]) for check, what, _ in rows}


def parts() -> list[set[tuple[str, str]]]:
    """The findings that settings close, those that stay, and those of the other door for Slack."""
    return [listed(part) for part in re.split(r"These stay:|take the place of", PAGE.read_text(encoding="utf-8"))]


def found(templates: Templates) -> dict[tuple[str, str], set[str]]:
    """The failed checks, each with the type that it is of, and the resources."""
    options = ["--framework", "cloudformation", "-o", "json", "--compact", "--quiet", "--skip-download"]
    command = [find_checkov() or "checkov", "-d", templates.folder, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    assert answer["summary"]["passed"] > 300, "that nothing was looked at would be no finding either"
    assert answer["summary"]["parsing_errors"] == 0
    failed: dict[tuple[str, str], set[str]] = {}
    for each in answer["results"]["failed_checks"]:
        kind, _, name = each["resource"].rpartition(".")
        failed.setdefault((each["check_id"], kind), set()).add(name)
    return failed


def test_the_findings_of_the_default_settings_are_those_that_are_listed(templates):
    closed, stays, _ = parts()
    assert {*found(templates)} == closed | stays


def test_with_all_options_only_what_stays_is_found(templates_with_options):
    _, stays, of_a_rest_api = parts()
    left = found(templates_with_options)
    assert {*left} == stays - {("CKV_AWS_258", "AWS::Lambda::Url")} | of_a_rest_api
    queued = {
        name.partition("/")[2]
        for name, function in templates_with_options.resources("AWS::Lambda::Function").items()
        if "DeadLetterConfig" in function
    }
    assert queued
    assert not queued & left["CKV_AWS_116", "AWS::Lambda::Function"]
