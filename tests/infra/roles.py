"""Roles at work: what a function asks of AWS, call by call, and whether a role's statements allow it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any
from unittest.mock import patch

from botocore.client import BaseClient
from botocore.model import OperationModel

from tests.infra.templates import listed

ACTIONS = {
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:HeadObject": "s3:GetObject",
    "s3:CreateMultipartUpload": "s3:PutObject",
    "s3:UploadPart": "s3:PutObject",
    "s3:CompleteMultipartUpload": "s3:PutObject",
    "lambda:Invoke": "lambda:InvokeFunction",
}
"""What IAM calls an operation, where it does not by the operation's own name."""
HERE = {"${AWS::Partition}": "aws", "${AWS::AccountId}": "111122223333", "${AWS::Region}": "eu-west-1"}
"""The account and region that the templates are read for."""
ON_VOLUMES = {"AttachVolume", "CreateVolume", "DeleteVolume", "DetachVolume", "ModifyVolume"}
"""Operations on a volume, whose instance, where they have one, is not looked at here."""
SERVICES = {"monitoring": "cloudwatch"}
NAMED_BY = {
    "dynamodb": "TableName",
    "events": "EventBusName",
    "states": "stateMachineArn",
    "secretsmanager": "SecretId",
    "lambda": "FunctionName",
}


@dataclass(frozen=True)
class Asked:
    """One call: the action, what it is about as far as its request says, and by whose credentials it was made."""

    action: str
    about: str
    key: str | None
    access_key: str


TAGGED_BY = {"ec2": "ec2:CreateTags", "ssm": "ssm:AddTagsToResource"}
"""What IAM asks for where a call that makes something gives it tags, by service."""


@dataclass
class Listener:
    """Calls of every client, by the function that is running; `made` has the tags of each call that can give some."""

    running: str = ""
    heard: dict[str, set[Asked]] = field(default_factory=dict)
    made: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    @contextmanager
    def listening(self) -> Iterator["Listener"]:
        made = BaseClient._make_api_call

        def note(client: Any, operation: str, params: Mapping[str, Any]) -> Any:
            calls = self.heard.setdefault(self.running, set())
            call = asked(client, operation, params)
            calls.add(call)
            if takes_tags(client.meta.service_model.operation_model(operation)):
                self.made.append((operation, tags_of(params)))
                if tags_of(params):
                    calls.add(replace(call, action=TAGGED_BY[client.meta.service_model.signing_name]))
            return made(client, operation, params)

        with patch.object(BaseClient, "_make_api_call", note):
            yield self


def takes_tags(operation: OperationModel) -> bool:
    """Whether a call makes something that can have tags. Tags of a session are of nothing that is made."""
    named = operation.input_shape.members if operation.input_shape else {}
    return not {"Tags", "TagSpecifications"}.isdisjoint(named) and not operation.name.startswith("Assume")


def tags_of(params: Mapping[str, Any]) -> dict[str, str]:
    """The tags that a call gives to what it makes."""
    kinds = params.get("TagSpecifications", [])
    pairs = [*params.get("Tags", ()), *(pair for kind in kinds for pair in kind["Tags"])]
    return {pair["Key"]: pair["Value"] for pair in pairs}


def asked(client: Any, operation: str, params: Mapping[str, Any]) -> Asked:
    """A call as IAM judges it."""
    service = client.meta.service_model.signing_name
    action = f"{SERVICES.get(service, service)}:{operation}"
    about = ""
    if service == "s3":
        about = params["Bucket"]
    elif service == "dynamodb" and "RequestItems" in params:
        (about,) = params["RequestItems"]
    elif operation == "PutEvents":
        (about,) = {entry["EventBusName"] for entry in params["Entries"]}
    elif operation == "DescribeExecution":
        about = params["executionArn"]
    elif operation == "AssumeRole":
        about = params["RoleArn"]
    elif operation == "CreateTags":
        about = f"volume/{params['Resources'][0]}"
    elif operation in ON_VOLUMES:
        about = f"volume/{params.get('VolumeId', 'new')}"
    elif "DocumentName" in params or "VersionName" in params:
        about = f"document/{params.get('DocumentName') or params['Name']}"
    elif operation == "GetParameter":
        about = params["Name"]
    elif service in NAMED_BY:
        about = params[NAMED_BY[service]]
    key = params.get("Key", params.get("Prefix")) if service == "s3" else None
    return Asked(ACTIONS.get(action, action), about, key, client._request_signer._credentials.access_key)


def allows(statement: Mapping[str, Any], call: Asked, names: Mapping[str, str]) -> bool:
    """Whether a statement allows a call; `names` are those of the deployment for what the call names.

    Conditions are judged as far as a request tells: the prefix of a listing.
    """
    if call.action not in listed(statement["Action"]):
        return False
    name = names.get(call.about, call.about)
    thing = f"{name}/{call.key}" if call.key is not None and call.action != "s3:ListBucket" else name
    if not any(_covers(each, thing) for each in listed(statement["Resource"])):
        return False
    prefixes = statement.get("Condition", {}).get("StringLikeIfExists", {}).get("s3:prefix")
    return prefixes is None or any(fnmatchcase(call.key or "", each) for each in prefixes)


def _covers(resource: str, thing: str) -> bool:
    """Whether a resource of a statement is the thing that a call names, by its ARN or by what stands last in it.

    One of the same stack is a reference, and the thing by that name.
    """
    if resource in {"*", thing}:
        return True
    if resource.startswith("${") and ":" not in resource.partition("}")[2]:
        return False
    for pseudo, value in HERE.items():
        resource = resource.replace(pseudo, value)
    return fnmatchcase(thing, resource if thing.startswith("arn:") else resource.split(":", 5)[5])
