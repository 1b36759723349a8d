"""A state machine of the service: with its own role, its own log with every event, and tracing."""

from collections.abc import Callable, Iterable, Sequence

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.constructs.log import log_group
from infra.constructs.service_function import ServiceFunction
from infra.grants import Grant, depends_on, give
from infra.names import Names
from infra.settings import Deployment
from plimsoll.clouds.aws.permissions import WITH_KEY

_LOG_DELIVERY = (
    "logs:CreateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:DescribeLogGroups",
    "logs:DescribeResourcePolicies",
    "logs:GetLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:UpdateLogDelivery",
)
"""What Step Functions writes a state machine's log with (AWS Step Functions Developer Guide, "Using CloudWatch Logs to
log execution history", read 2026-11-21)."""


class ServiceMachine(Construct):
    """A state machine that calls these functions, and may do nothing else but what `grants` says.

    `states` makes its states within a scope, and gives the first.
    """

    def __init__(
        self,
        scope: Construct,
        kind: str,
        states: Callable[[Construct], sfn.IChainable],
        *,
        functions: Iterable[ServiceFunction],
        grants: Sequence[Grant] = (),
        names: Names,
        deployment: Deployment,
        key: kms.IKey | None,
        longest: Duration,
    ) -> None:
        super().__init__(scope, "Machine")
        ours = {"StringEquals": {"aws:SourceAccount": names.stack.account}}
        role = iam.Role(
            self,
            "Role",
            path=deployment.written_role_path,
            assumed_by=iam.ServicePrincipal("states.amazonaws.com").with_conditions(ours),
        )
        arns = tuple(each.function.function_arn for each in functions)
        # The machine is encrypted as the bucket is, from which its maps read lists.
        uses = [Grant(actions=WITH_KEY, resources=(key.key_arn,))] if key else []
        granted = give(role, (Grant(actions=("lambda:InvokeFunction",), resources=arns), *_OWN, *uses, *grants))
        self.machine = sfn.StateMachine(
            self,
            "StateMachine",
            state_machine_name=names.machine(kind),
            definition_body=sfn.DefinitionBody.from_chainable(states(self)),
            role=role.without_policy_updates(),
            timeout=longest,
            tracing_enabled=True,
            encryption_configuration=sfn.CustomerManagedEncryptionConfiguration(key) if key else None,
            logs=sfn.LogOptions(
                # By the beginning of its name, one statement of the log's resource policy serves every state machine.
                destination=log_group(
                    self, deployment=deployment, key=key, name=f"/aws/vendedlogs/states/{names.machine(kind)}"
                ),
                level=sfn.LogLevel.ALL,
                include_execution_data=True,
            ),
        )
        depends_on(self.machine, granted)
        # CDK's own policy for Distributed Maps is attached to nothing, since the role takes no statements but these.
        self.machine.node.try_remove_child("DistributedMapPolicy")


_OWN = (
    Grant(
        actions=_LOG_DELIVERY,
        resources=("*",),
        wildcard="The actions that deliver logs have no resource-level permissions.",
    ),
    Grant(
        actions=(
            "xray:GetSamplingRules",
            "xray:GetSamplingTargets",
            "xray:PutTelemetryRecords",
            "xray:PutTraceSegments",
        ),
        resources=("*",),
        wildcard="X-Ray's actions for tracing have no resource-level permissions.",
    ),
)


def maps_of_its_own(names: Names, kind: str) -> list[Grant]:
    """The rights of a state machine with Distributed Maps: to start and watch executions of itself.

    Source: AWS Step Functions Developer Guide, "IAM policies for using Distributed Map states", read 2026-11-21.
    """
    executions = names.arn("states", f"execution:{names.machine(kind)}")
    named = "The executions are those of the map's own machine, by names that Step Functions gives them."
    return [
        Grant(actions=("states:StartExecution",), resources=(names.machine_arn(kind),)),
        Grant(
            actions=("states:DescribeExecution", "states:StopExecution"), resources=(f"{executions}:*",), wildcard=named
        ),
        Grant(actions=("states:RedriveExecution",), resources=(f"{executions}/*:*",), wildcard=named),
    ]
