"""Where the service goes: what AWS lacks there is refused or left out, and ARNs are of its own partition."""

import subprocess
import sys
from pathlib import Path

import boto3
import pytest

from infra.deployed_region import WITHOUT_FUNCTION_URLS, check_region, find_region, has_function_urls
from infra.settings import Deployment
from plimsoll.model.errors import BadInput
from tests.infra.conftest import DEPLOYED
from tests.infra.synthesis import REGION, once_a_run, synthesized
from tests.infra.templates import MEMBERS, SERVICE, Templates, listed, plain

PARTITIONS = {"us-gov-west-1": "aws-us-gov", "cn-north-1": "aws-cn"}
SLACK = {"slack.teams": "T0123ABCDEF", "slack.channel": "C0123ABCDEF"}
DOCUMENTS = ("probe-document", "benchmark-document")


def an_acl(region: str, partition: str = "aws") -> str:
    return f"arn:{partition}:wafv2:{region}:111122223333:regional/webacl/slack/01234567-89ab-cdef-0123-456789abcdef"


@pytest.fixture(scope="session", params=["cn-north-1", pytest.param("us-gov-west-1", marks=pytest.mark.release)])
def elsewhere(request, tmp_path_factory) -> tuple[str, Templates]:
    """A region of another partition, and the templates that are synthesized for it with all that there is."""
    region = request.param
    door = {"SLACK_DOOR": "rest-api", "SLACK_WEB_ACL_ARN": an_acl(region, PARTITIONS[region])}
    settings = {**DEPLOYED, **door, "VALIDATION__COPIES": "true", "LOCKED_DOCUMENT": "true", REGION: region}
    return region, Templates(once_a_run(tmp_path_factory, f"in-{region}", settings))


def resources(templates, kind):
    return templates.resources(kind, (*SERVICE, *MEMBERS))


def test_another_partition_has_no_arn_of_the_public_one(elsewhere):
    region, templates = elsewhere
    for stack in (*SERVICE, *MEMBERS, *DOCUMENTS):
        assert "arn:aws:" not in templates.path(stack).read_text(encoding="utf-8"), stack
    (association,) = resources(templates, "AWS::WAFv2::WebACLAssociation").values()
    assert association["WebACLArn"].split(":")[1] == PARTITIONS[region]
    assert plain(association["ResourceArn"]).startswith("arn:${AWS::Partition}:apigateway:${AWS::Region}::/restapis/")


def test_slack_s_door_is_there_and_traces_are_where_x_ray_takes_them(elsewhere):
    region, templates = elsewhere
    assert len(resources(templates, "AWS::ApiGateway::RestApi")) == 1
    assert not resources(templates, "AWS::Lambda::Url")
    modes = {
        each.get("TracingConfig", {}).get("Mode") for each in resources(templates, "AWS::Lambda::Function").values()
    }
    assert modes == ({None} if region.startswith("cn-") else {"Active"})


@pytest.mark.release
def test_the_templates_of_another_partition_are_clean_by_cfn_lint(elsewhere):
    region, templates = elsewhere
    paths = [str(templates.path(stack)) for stack in (*SERVICE, *MEMBERS, *DOCUMENTS)]
    lint = [Path(sys.executable).with_name("cfn-lint"), "--regions", region, "--", *paths]
    done = subprocess.run(lint, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_rest_api_answers_at_its_root_alone_and_calls_the_one_function_that_slack_reaches(elsewhere):
    _, templates = elsewhere
    methods = resources(templates, "AWS::ApiGateway::Method").values()
    assert sorted(each["HttpMethod"] for each in methods) == ["GET", "POST"]
    assert not resources(templates, "AWS::ApiGateway::Resource"), "there are no paths but the root"
    ((name, front),) = [
        (name.partition("/")[2], each)
        for name, each in resources(templates, "AWS::Lambda::Function").items()
        if each["Handler"] == "functions.slack_act.handler"
    ]
    assert front["ReservedConcurrentExecutions"] == 10
    assert all(f"${{{name}.Arn}}" in plain(each["Integration"]["Uri"]) for each in methods)
    callers = [each for each in resources(templates, "AWS::Lambda::Permission").values() if name in str(each)]
    assert {each["Principal"] for each in callers} == {"apigateway.amazonaws.com"}
    assert all("execute-api" in plain(each["SourceArn"]) for each in callers)


def test_a_flood_is_refused_before_it_calls_the_function_and_bytes_come_as_they_were_signed(elsewhere):
    _, templates = elsewhere
    (api,) = resources(templates, "AWS::ApiGateway::RestApi").values()
    assert (api["BinaryMediaTypes"], api["EndpointConfiguration"]["Types"]) == (["*/*"], ["REGIONAL"])
    (stage,) = resources(templates, "AWS::ApiGateway::Stage").values()
    (every,) = stage["MethodSettings"]
    assert (every["HttpMethod"], every["ResourcePath"]) == ("*", "/*")
    assert (every["ThrottlingRateLimit"], every["ThrottlingBurstLimit"]) == (20, 40)
    assert not resources(templates, "AWS::ApiGateway::Account"), "it would change every API of the account"


def test_the_service_allows_nobody_but_api_gateway_and_events_to_call_its_functions(elsewhere):
    _, templates = elsewhere
    principals = {each["Principal"] for each in resources(templates, "AWS::Lambda::Permission").values()}
    assert principals <= {"apigateway.amazonaws.com", "events.amazonaws.com"}
    allowed = {action for each in templates.allowed_to("slack_act") for action in listed(each["Action"])}
    assert not any(action.startswith("apigateway:") for action in allowed)


def test_a_door_that_is_missing_in_the_region_is_refused_with_the_other_one(tmp_path):
    settings = {name.replace(".", "__").upper(): value for name, value in SLACK.items()}
    done = synthesized(tmp_path, {"ASSETS": "empty", **settings, REGION: "us-gov-west-1"})
    said = "slack_door: Lambda has no function URLs in us-gov-west-1. Choose the other door: "
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{said}PLIMSOLL_DEPLOY_SLACK_DOOR=rest-api.\n"
    assert not list(tmp_path.glob("*.template.json"))


@pytest.mark.parametrize("region", sorted({*PARTITIONS, *WITHOUT_FUNCTION_URLS, "eusc-de-east-1", "us-iso-east-1"}))
def test_every_region_without_function_urls_takes_the_rest_api(region):
    with pytest.raises(BadInput, match=f"no function URLs in {region}"):
        check_region(Deployment.read(SLACK), region)
    check_region(Deployment.read(SLACK | {"slack_door": "rest-api"}), region)
    check_region(Deployment.read({}), region)


def test_other_regions_take_either_and_an_unknown_one_is_left_to_the_deployment():
    assert has_function_urls("eu-west-1")
    for door in ("function-url", "rest-api"):
        for region in ("eu-west-1", None):
            check_region(Deployment.read(SLACK | {"slack_door": door}), region)


def test_the_regions_without_function_urls_are_regions():
    known = set(boto3.Session().get_available_regions("lambda"))
    assert known > WITHOUT_FUNCTION_URLS


def test_a_web_acl_stands_before_the_rest_api_of_its_own_region_alone():
    given = SLACK | {"slack_web_acl_arn": an_acl("eu-west-1")}
    with pytest.raises(BadInput, match="needs slack_door=rest-api"):
        Deployment.read(given)
    deployment = Deployment.read(given | {"slack_door": "rest-api"})
    check_region(deployment, "eu-west-1")
    with pytest.raises(BadInput, match="the web ACL is in eu-west-1, and the service goes to eu-west-2"):
        check_region(deployment, "eu-west-2")


@pytest.mark.parametrize(
    ("environment", "region"),
    [
        ({}, None),
        ({"AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-1", "AWS_REGION": "eu-west-2"}, "eu-west-2"),
        ({"AWS_REGION": "eu-west-2", "CDK_DEFAULT_REGION": "eu-west-3"}, "eu-west-3"),
    ],
)
def test_the_region_is_that_of_the_credentials_that_deploy(environment, region):
    assert find_region(environment) == region
