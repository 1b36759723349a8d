"""A deployment of the synthesised templates into the simulated account: what of them the functions meet."""

from dataclasses import dataclass
from typing import Any, Final

from plimsoll.service.config import ServiceConfig

from .account import Account
from .environments import Function
from .templates import Resource, Templates

_TABLES: Final = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")
_OF_TABLES: Final = ("KeySchema", "AttributeDefinitions")


def functions_of(templates: Templates) -> dict[str, Function]:
    """Every function of ours by the name that it is deployed under; each is known by the name of its module."""
    return {
        found.name: _function(found)
        for found in templates.resources("AWS::Lambda::Function")
        if str(found.properties.get("Handler", "")).startswith("functions.")
    }


def _function(found: Resource) -> Function:
    handler = str(found.properties["Handler"])
    variables = found.properties.get("Environment", {}).get("Variables", {})
    return Function(
        name=handler.split(".")[-2],
        handler=handler,
        variables={**variables, "AWS_LAMBDA_FUNCTION_NAME": found.name},
        timeout_s=float(found.properties.get("Timeout", 3)),
        memory_mib=int(found.properties.get("MemorySize", 128)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """The service in an account."""

    account: Account
    templates: Templates
    bucket: str
    history: str


def deploy(account: Account, templates: Templates, config: ServiceConfig) -> Deployed:
    """Makes buckets, tables, the event bus, parameters and state machines; the configuration is the given one."""
    _buckets(account, templates)
    for table in templates.resources(*_TABLES):
        keys: dict[str, Any] = {key: table.properties[key] for key in _OF_TABLES}
        account.client("dynamodb").create_table(TableName=table.name, BillingMode="PAY_PER_REQUEST", **keys)
    for bus in templates.resources("AWS::Events::EventBus"):
        account.client("events").create_event_bus(Name=bus.name)
    for machine in templates.resources("AWS::StepFunctions::StateMachine"):
        account.deploy(machine.name, machine.properties["DefinitionString"])
    variables = next(iter(account.front.functions.values())).variables
    account.client("ssm").put_parameter(
        Name=variables["PLIMSOLL_CONFIG_PARAMETER"], Value=config.written(), Type="String", Tier="Advanced"
    )
    return Deployed(
        account=account,
        templates=templates,
        bucket=variables["PLIMSOLL_BUCKET"],
        history=variables["PLIMSOLL_HISTORY_TABLE"],
    )


def _buckets(account: Account, templates: Templates) -> None:
    for bucket in templates.resources("AWS::S3::Bucket"):
        account.client("s3").create_bucket(Bucket=bucket.name)
