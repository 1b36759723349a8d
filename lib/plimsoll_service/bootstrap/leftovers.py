"""Leftovers of a removed deployment: every kind of resource that its stacks name or keep, as AWS lists it.

Stacks that are gone cannot say what they left, so names tell: `plimsoll-STAGE-...` is part of every one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from plimsoll.clouds.aws.errors import FAILURES, cloud_error
from plimsoll.clouds.aws.names import AUDIT_ROLE, CHANGE_PLAN_ROLE, CHANGE_ROLE, PROBE_ROLE, VALIDATION_ROLE
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.model.errors import CloudError

_LISTING: Final = CallPurpose(
    goes_on="What is left of this kind is not known",
    allow="allow the action",
    region="name another region",
    again="run again later",
)
_NAMED: Final = r"(^|[/:])plimsoll([-_/]){stage}(\2|$)"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftoverKind:
    """A kind of resource: the call that lists it, where its names stand in the answer, and what removes one.

    `name` empty: the list is of names. `pattern` says which names are meant.
    """

    type: str  # as CloudFormation calls it
    service: str
    operation: str
    items: str
    name: str = ""
    remove: str
    request: Mapping[str, Any] = field(default_factory=dict)
    pattern: str = _NAMED

    def is_meant(self, name: str, stage: str) -> bool:
        """True for a name, as the service lists it, of this kind's resources in a deployment's stage."""
        stage_pattern = stage.replace("-", "[-_]")  # Glue's names have no hyphens
        return re.search(self.pattern.replace("{stage}", stage_pattern), name) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A resource that is left, and what removes it; of a kind that could not be listed, the error."""

    kind: LeftoverKind
    name: str = ""
    error: CloudError | None = None

    @property
    def text(self) -> str:
        """The resource in a line, or why nothing is known of its kind."""
        if self.error is not None:
            return f"{self.kind.type}: {self.error}"
        return f"{self.kind.type} {self.name}: {self.kind.remove.format(name=self.name)}"


_CDK: Final = "npx aws-cdk destroy, with the stacks' short names, or delete it in the console"


def _row(kind: str, call: str, keys: str, remove: str, **fields: Any) -> LeftoverKind:
    """A row: "service.operation" and "list.name" in the answer."""
    service, _, operation = call.partition(".")
    items, _, name = keys.partition(".")
    return LeftoverKind(
        type=f"AWS::{kind}", service=service, operation=operation, items=items, name=name, remove=remove, **fields
    )


_MEMBER_ROLES: Final = (AUDIT_ROLE, CHANGE_PLAN_ROLE, CHANGE_ROLE, PROBE_ROLE, VALIDATION_ROLE)

LEFTOVER_KINDS: Final = (
    _row("CloudFormation::Stack", "cloudformation.describe_stacks", "Stacks.StackName", _CDK),
    _row(
        "CloudFormation::StackSet",
        "cloudformation.list_stack_sets",
        "Summaries.StackSetName",
        "delete its instances (aws cloudformation delete-stack-instances), then aws cloudformation delete-stack-set "
        "--stack-set-name {name}",
        request={"Status": "ACTIVE"},
        pattern="^plimsoll-",
    ),
    _row(
        "S3::Bucket",
        "s3.list_buckets",
        "Buckets.Name",
        "empty it in the console, which takes earlier versions too, then aws s3 rb s3://{name}",
    ),
    _row(
        "DynamoDB::Table",
        "dynamodb.list_tables",
        "TableNames",
        "aws dynamodb update-table --no-deletion-protection-enabled --table-name {name}, then aws dynamodb "
        "delete-table --table-name {name}",
    ),
    _row(
        "Logs::LogGroup",
        "logs.describe_log_groups",
        "logGroups.logGroupName",
        "aws logs delete-log-group --log-group-name {name}",
    ),
    _row(
        "IAM::Role",
        "iam.list_roles",
        "Roles.RoleName",
        "delete it in the console, which takes its policies too; every stage enters the same roles of member accounts",
        pattern=f"{_NAMED}|^({'|'.join(_MEMBER_ROLES)})$",
    ),
    _row(
        "Lambda::Function",
        "lambda.list_functions",
        "Functions.FunctionName",
        "aws lambda delete-function --function-name {name}",
    ),
    _row(
        "StepFunctions::StateMachine",
        "stepfunctions.list_state_machines",
        "stateMachines.stateMachineArn",
        "aws stepfunctions delete-state-machine --state-machine-arn {name}",
    ),
    _row(
        "Scheduler::Schedule",
        "scheduler.list_schedules",
        "Schedules.Name",
        "aws scheduler delete-schedule --name {name}",
    ),
    _row("Events::EventBus", "events.list_event_buses", "EventBuses.Name", "aws events delete-event-bus --name {name}"),
    _row(
        "CloudWatch::Alarm",
        "cloudwatch.describe_alarms",
        "MetricAlarms.AlarmName",
        "aws cloudwatch delete-alarms --alarm-names {name}",
    ),
    _row(
        "CloudWatch::Dashboard",
        "cloudwatch.list_dashboards",
        "DashboardEntries.DashboardName",
        "aws cloudwatch delete-dashboards --dashboard-names {name}",
    ),
    _row("SNS::Topic", "sns.list_topics", "Topics.TopicArn", "aws sns delete-topic --topic-arn {name}"),
    _row("SQS::Queue", "sqs.list_queues", "QueueUrls", "aws sqs delete-queue --queue-url {name}"),
    _row(
        "SecretsManager::Secret",
        "secretsmanager.list_secrets",
        "SecretList.Name",
        "aws secretsmanager delete-secret --secret-id {name}",
    ),
    _row("SSM::Parameter", "ssm.describe_parameters", "Parameters.Name", "aws ssm delete-parameter --name {name}"),
    _row("Glue::Database", "glue.get_databases", "DatabaseList.Name", "aws glue delete-database --name {name}"),
    _row(
        "Athena::WorkGroup",
        "athena.list_work_groups",
        "WorkGroups.Name",
        "aws athena delete-work-group --recursive-delete-option --work-group {name}",
    ),
    _row(
        "ApiGateway::RestApi",
        "apigateway.get_rest_apis",
        "items.name",
        "delete the API of this name in the console of API Gateway",
    ),
    _row(
        "SSM::Document",
        "ssm.list_documents",
        "DocumentIdentifiers.Name",
        "aws ssm delete-document --name {name}; the command line uses it too",
        request={"Filters": [{"Key": "Owner", "Values": ["Self"]}]},
        pattern="^Plimsoll-(Benchmark|Probe)$",
    ),
    _row(
        "EC2::Volume",
        "ec2.describe_volumes",
        "Volumes.VolumeId",
        "plimsoll sweep, once its deadline is past",
        request={"Filters": [{"Name": "tag-key", "Values": ["plimsoll:scratch"]}]},
        pattern="^vol-",
    ),
)
"""What a deployment makes by name, keeps when it is removed, or makes while it works."""


def find_leftovers(client_of: Any, stage: str) -> Iterator[Leftover]:
    """The leftovers of a stage in the account and region of the clients, kind by kind.

    `client_of` makes a client by a service's name. A kind that cannot be listed is told with its error.
    """
    for kind in LEFTOVER_KINDS:
        try:
            names = [name for name in _list_names(client_of(kind.service), kind) if kind.is_meant(name, stage)]
        except FAILURES as error:
            permission = f"{kind.service}:{kind.operation.title().replace('_', '')}"
            yield Leftover(kind=kind, error=cloud_error(error, f"list {kind.type}", permission, _LISTING))
            continue
        yield from (Leftover(kind=kind, name=name) for name in sorted(names))


def _list_names(client: Any, kind: LeftoverKind) -> Iterator[str]:
    for page in _pages(client, kind):
        yield from (str(item[kind.name] if kind.name else item) for item in page.get(kind.items) or ())


def _pages(client: Any, kind: LeftoverKind) -> Iterator[Mapping[str, Any]]:
    """The pages of a list, also of those that botocore does not know how to turn."""
    if client.can_paginate(kind.operation):
        yield from client.get_paginator(kind.operation).paginate(**kind.request)
        return
    page = getattr(client, kind.operation)(**kind.request)
    yield page
    while token := page.get("NextToken"):
        page = getattr(client, kind.operation)(**kind.request, NextToken=token)
        yield page
