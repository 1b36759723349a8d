"""What companies require of all that is deployed: tags, a key, bounds and paths of roles, a network, signed code."""

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import botocore.session
import pytest
from botocore import xform_name

from infra.constructs.network import ENDPOINTS, GATEWAYS
from infra.packaging import PROJECT
from infra.packaging.contents import PACKAGES, asked_services, handlers
from tests.infra.conftest import KEY, TAGS
from tests.infra.roles import takes_tags
from tests.infra.templates import MEMBERS, SERVICE, Templates, listed, plain

ALL = (*SERVICE, *MEMBERS, "probe-document", "benchmark-document")
SCHEMAS: Final = Path(find_spec("cfnlint").origin).parent / "data" / "schemas"  # importing it takes two seconds
OUTSIDE = {
    "cloudtrail": "where the policy reads the audit log, in every region",
    "compute-optimizer": "the command line's comparison",
    "compute-optimizer-automation": "what is enrolled, in every region",
    "organizations": "answers in one region of a partition",
    "pricing": "answers in three regions",
    "rbin": "the command line's states of what is paid for",
}
"""What is asked through the network's way out, and why no endpoint would help."""


@cache
def types() -> dict[str, str]:
    return json.loads((SCHEMAS / "providers" / "us-east-1.json").read_text(encoding="utf-8"))


@cache
def schema_of(kind: str) -> dict[str, Any]:
    """What CloudFormation publishes of a type of resource, as cfn-lint carries it."""
    return json.loads((SCHEMAS / "resources" / f"{types()[kind]}.json").read_text(encoding="utf-8"))


def resources(templates: Templates) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every resource of every template: its place, its type and its properties."""
    for stack in ALL:
        for name, found in templates[stack]["Resources"].items():
            yield f"{stack}/{name}", found["Type"], found.get("Properties", {})


def of_type(templates: Templates, *kinds: str) -> dict[str, dict[str, Any]]:
    made = {name: properties for name, kind, properties in resources(templates) if kind in kinds}
    assert made
    return made


def key_names(schema: Any) -> Iterator[str]:
    """The properties that name a key of KMS, wherever they stand in a type."""
    if isinstance(schema, dict):
        for name, within in schema.items():
            if "kms" in name.lower() and "key" in name.lower() and "Seconds" not in name:
                yield name
            yield from key_names(within)


def test_all_templates_are_looked_at(templates_with_options):
    written = templates_with_options.folder.glob("*.template.json")
    assert {path.name.removesuffix(".template.json") for path in written} == {*ALL}


def test_all_that_can_have_tags_has_them(templates_with_options):
    tagged, untagged = set(), set()
    for name, kind, properties in resources(templates_with_options):
        tagging = schema_of(kind).get("tagging", {"taggable": "Tags" in schema_of(kind)["properties"]})
        if tagging["taggable"]:
            given = properties.get(tagging["tagProperty"].rpartition("/")[2], {})
            pairs = given if isinstance(given, dict) else {each["Key"]: each["Value"] for each in given}
            (tagged if pairs == TAGS else untagged).add(name)
    assert not untagged
    assert len(tagged) > 100


def test_the_functions_give_the_same_tags_to_what_they_make(templates_with_options):
    for function in of_type(templates_with_options, "AWS::Lambda::Function").values():
        assert function["Environment"]["Variables"]["PLIMSOLL_TAGS"] == "team=storage,cost-center=42"


def test_nothing_else_of_ours_makes_what_can_have_tags():
    """By the calls of AWS's services that stand in the sources; who makes it says where its tags are tested."""
    session = botocore.session.get_session()
    taking = {
        xform_name(name)
        for service in asked_services()
        for name in session.get_service_model(service).operation_names
        if takes_tags(session.get_service_model(service).operation_model(name))
    }
    called = {name for text in sources() for name in re.findall(r"\.(\w+)\(", text)}
    assert "create_snapshot" in taking
    assert taking & called == {
        "copy_volumes",  # tests/unit/measure/aws/test_bench.py
        "create_document",  # test_validation_roles_suffice.py
        "create_tags",  # tests/unit/change/test_changer.py: of a plan, on volumes that exist
        "create_function",  # DuckDB's, which makes a function of SQL
        "create_volume",  # both
    }


def sources() -> Iterator[str]:
    for place in (*(Path("lib") / name for name in PACKAGES), Path("functions")):
        for file in (PROJECT / place).rglob("*.py"):
            yield file.read_text(encoding="utf-8")


def test_all_that_can_have_a_key_has_it(templates_with_options):
    without = {
        name
        for name, kind, properties in resources(templates_with_options)
        if {*key_names(schema_of(kind)["properties"]), *key_names(schema_of(kind).get("definitions", {}))}
        and KEY not in json.dumps(properties)
    }
    access_logs = {name for name in without if name.startswith(("data/StoreAccessLog", "change/FactsAccessLog"))}
    assert (without, len(without)) == (access_logs, 2), (
        "S3 delivers access logs only to a bucket that its own keys encrypt"
    )
    for function in of_type(templates_with_options, "AWS::Lambda::Function").values():
        assert (function["KmsKeyArn"], function["Code"]["SourceKMSKeyArn"]) == (KEY, KEY)


def test_whoever_runs_what_the_key_encrypts_may_use_the_key(templates_with_options):
    using = {
        name
        for name, each in templates_with_options.statements(SERVICE)
        if each["Resource"] == KEY and {"kms:Decrypt", "kms:GenerateDataKey"} <= set(each["Action"])
    }
    assert using == set(templates_with_options.resources("AWS::IAM::Policy"))


def test_every_role_has_the_path_and_the_boundary_of_its_account(templates_with_options):
    for name, role in of_type(templates_with_options, "AWS::IAM::Role").items():
        bound = "bounds-of-members" if name.startswith("member-") else "bounds"
        assert role["Path"] == "/platform/storage/", name
        assert plain(role["PermissionsBoundary"]) == f"arn:${{AWS::Partition}}:iam::${{AWS::AccountId}}:policy/{bound}"


def test_roles_with_a_path_are_entered_and_trusted_by_it(templates_with_options):
    entered = {
        resource
        for _, each in templates_with_options.statements(SERVICE)
        if "sts:AssumeRole" in listed(each["Action"])
        for resource in listed(each["Resource"])
    }
    names = {"plimsoll-audit", "plimsoll-change", "plimsoll-change-plan", "plimsoll-probe", "plimsoll-validation"}
    assert entered == {f"arn:${{AWS::Partition}}:iam::*:role/platform/storage/{name}" for name in names}
    for stack in MEMBERS:
        ((_, role),) = templates_with_options.resources("AWS::IAM::Role", (stack,)).items()
        (trust,) = plain(role["AssumeRolePolicyDocument"]["Statement"])
        callers = trust["Condition"]["ArnEquals"]["aws:PrincipalArn"]
        assert all(":role/platform/storage/plimsoll-main-" in caller for caller in callers)


def test_every_function_is_in_the_network_and_only_lambda_itself_may_make_its_interfaces(templates_with_options):
    for function in of_type(templates_with_options, "AWS::Lambda::Function").values():
        assert function["VpcConfig"] == {
            "SubnetIds": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
            "SecurityGroupIds": ["sg-0123456789abcdef0"],
        }
    making = [
        each
        for _, each in templates_with_options.statements()
        if "ec2:CreateNetworkInterface" in listed(each["Action"])
    ]
    assert len(making) == len(handlers())
    assert all(each["Condition"] == {"Null": {"lambda:SourceFunctionArn": "true"}} for each in making)


def test_the_network_has_an_endpoint_of_each_service_that_is_asked_where_the_functions_are(templates_with_options):
    assert {*ENDPOINTS, *GATEWAYS, *OUTSIDE} == asked_services()
    (group,) = of_type(templates_with_options, "AWS::EC2::SecurityGroup").values()
    assert [(each["SourceSecurityGroupId"], each["ToPort"]) for each in group["SecurityGroupIngress"]] == [
        ("sg-0123456789abcdef0", 443)
    ]


@pytest.mark.parametrize(
    ("partition", "apart"),
    [("aws", ()), ("aws-us-gov", ()), ("aws-cn", ("ec2", "lambda", "monitoring", "states", "sts"))],
)
def test_endpoints_have_the_names_that_aws_gives_them_in_a_partition(templates_with_options, partition, apart):
    conditions = templates_with_options["data"]["Conditions"]
    made = of_type(templates_with_options, "AWS::EC2::VPCEndpoint").values()
    named = {(deployed(each["ServiceName"], partition, conditions), each["VpcEndpointType"]) for each in made}
    assert named == {
        (f"{'cn.com' if name in apart else 'com'}.amazonaws.REGION.{name}", kind)
        for kind, names in (("Interface", ENDPOINTS.values()), ("Gateway", GATEWAYS))
        for name in names
    }


def deployed(value: Any, partition: str, conditions: dict[str, Any]) -> str:
    """A text of a template as CloudFormation resolves it in a region of that partition."""
    match value:
        case str():
            return value
        case {"Ref": str(name)}:
            return {"AWS::Partition": partition, "AWS::Region": "REGION"}[name]
        case {"Fn::If": [str(condition), so, otherwise]}:
            one, other = (deployed(each, partition, conditions) for each in conditions[condition]["Fn::Equals"])
            return deployed(so if one == other else otherwise, partition, conditions)
        case {"Fn::Join": [str(between), list(parts)]}:
            return between.join(deployed(part, partition, conditions) for part in parts)
    raise AssertionError(value)


def test_every_function_has_concurrency_of_its_own_if_that_is_asked_for(templates_with_options):
    reserved = {
        function["Handler"].split(".")[1]: function["ReservedConcurrentExecutions"]
        for function in of_type(templates_with_options, "AWS::Lambda::Function").values()
    }
    assert reserved == {**dict.fromkeys(handlers(), 10), "audit_batch": 20, "slack_act": 7}


def test_every_function_is_signed_and_taken_from_where_signed_zips_are(templates_with_options):
    for function in of_type(templates_with_options, "AWS::Lambda::Function").values():
        assert function["CodeSigningConfigArn"].endswith(":code-signing-config:csc-0123456789abcdef0")
        assert function["Code"]["S3Bucket"] == "code-of-ours"
        assert function["Code"]["S3Key"].startswith("signed/lambda-")


def test_every_log_is_kept_as_long_as_the_settings_say(templates_with_options):
    logs = of_type(templates_with_options, "AWS::Logs::LogGroup")
    assert {each["RetentionInDays"] for each in logs.values()} == {400}


@pytest.mark.parametrize(
    "property_name", ["Tags", "KmsKeyArn", "VpcConfig", "CodeSigningConfigArn", "ReservedConcurrentExecutions"]
)
def test_without_these_settings_functions_have_none_of_it(templates, property_name):
    having = {
        each["Handler"].split(".")[1]
        for each in of_type_of_service(templates, "AWS::Lambda::Function")
        if property_name in each
    }
    assert having == ({"slack_act"} if property_name == "ReservedConcurrentExecutions" else set())


def of_type_of_service(templates: Templates, kind: str) -> list[dict[str, Any]]:
    made = list(templates.resources(kind).values())
    assert made
    return made
