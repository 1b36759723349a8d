"""A deployment of the synthesized templates into the simulated account: what of them the functions meet."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from cloud_simulator.aws.fleet import Fleet
from cloud_simulator.faults import Fault
from plimsoll_service.config import ServiceConfig

from .account import Account, account
from .environments import Function
from .rules import rules_of
from .templates import Resource, Templates

_TABLES: Final = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")
_WHOLE_PERCENTAGE: Final = re.compile(r'("ToleratedFailurePercentage":\s*\d+)(?![\d.])')
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
    """The service in an account, whose functions have these variables in common."""

    account: Account
    variables: Mapping[str, str]

    @property
    def bucket(self) -> str:
        return self.variables["PLIMSOLL_BUCKET"]

    def function(self, name: str) -> Function:
        """A function by the name of its module."""
        return next(found for found in self.account.front.functions.values() if found.name == name)

    def configure(self, config: ServiceConfig) -> None:
        """Writes the configuration where the functions read it."""
        name = self.variables["PLIMSOLL_CONFIG_PARAMETER"]
        self.account.client("ssm").put_parameter(
            Name=name, Value=config.to_text(), Type="String", Tier="Advanced", Overwrite=True
        )

    def pass_the_time_of_locks(self) -> None:
        """Lets what killed functions hold in progress expire now: it does so when their own time would have been up."""
        client, table = self.account.client("dynamodb"), self.variables["PLIMSOLL_COORDINATION_TABLE"]
        for item in client.scan(TableName=table)["Items"]:
            if item.get("status") == {"S": "INPROGRESS"}:
                client.put_item(TableName=table, Item={**item, "in_progress_expiration": {"N": "0"}})

    def keys(self, prefix: str) -> list[str]:
        """The keys of the bucket that begin so."""
        pages = self.account.client("s3").get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]

    def content(self, key: str) -> bytes:
        """What is kept under a key."""
        return bytes(self.account.client("s3").get_object(Bucket=self.bucket, Key=key)["Body"].read())


@contextmanager
def deployed(
    templates: Templates,
    fleet: Fleet,
    folder: Path,
    *,
    faults: Sequence[Fault] = (),
    config: ServiceConfig | None = None,
    variables: Mapping[str, str] | None = None,
    plain_files: bool = False,
    secret: str = "by chance",
) -> Iterator[Deployed]:
    """The service deployed into the first account of a fleet, to audit all its accounts unless configured otherwise.

    `variables` are set for every function beside those of its template; with `plain_files` no simulated volume is a
    block device. `secret` is put where the templates have a secret.
    """
    functions = {
        name: replace(function, variables={**function.variables, **(variables or {})})
        for name, function in functions_of(templates).items()
    }
    rules = rules_of(templates)
    with account(fleet, functions, folder, faults=faults, plain_files=plain_files, rules=rules) as found:
        _make(found, templates)
        for one in templates.resources("AWS::SecretsManager::Secret"):
            found.client("secretsmanager").create_secret(Name=one.name, SecretString=secret)
        service = Deployed(account=found, variables=next(iter(functions.values())).variables)
        service.configure(config or ServiceConfig(accounts=fleet.accounts, regions=fleet.regions))
        yield service


def _make(account: Account, templates: Templates) -> None:
    """Buckets, tables, event buses and state machines."""
    for bucket in templates.resources("AWS::S3::Bucket"):
        account.client("s3").create_bucket(Bucket=bucket.name)
    for table in templates.resources(*_TABLES):
        keys: dict[str, Any] = {key: table.properties[key] for key in _OF_TABLES}
        account.client("dynamodb").create_table(TableName=table.name, BillingMode="PAY_PER_REQUEST", **keys)
    for bus in templates.resources("AWS::Events::EventBus"):
        account.client("events").create_event_bus(Name=bus.name)
    for machine in templates.resources("AWS::StepFunctions::StateMachine"):
        account.deploy(machine.name, _readable(machine.properties["DefinitionString"]))


def _readable(definition: str) -> str:
    """The definition as moto's parser takes it: of that one figure it asks for a decimal point, where AWS does not."""
    return _WHOLE_PERCENTAGE.sub(r"\1.0", definition)
