"""A function of the service: a Lambda with its own role, its own log, tracing and the settings that all share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aws_cdk import Duration, Size
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.assets import code_of
from infra.constructs.function_step import Callee
from infra.constructs.log import log_group
from infra.constructs.network import INTERFACES, connect
from infra.grants import Grant, acknowledge, depends_on, give
from infra.names import METRICS, Names
from infra.settings import Deployment
from plimsoll.clouds.aws.permissions import CONFIGURATION, WITH_KEY
from plimsoll.settings import format_tags

ARCHITECTURES: Final = {"arm64": lambda_.Architecture.ARM_64, "x86_64": lambda_.Architecture.X86_64}


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionShape:
    """A function by the name of its file in `functions`, how big it is, and what it may do.

    `at_once` bounds how many run at a time, and sets them apart for it. Of a function that nobody waits for, `retries`
    and `tried_for_s` say how often, and how long, an event is tried again (None: twice, within six hours).
    """

    name: str
    grants: Sequence[Grant]
    memory_mib: int = 512
    timeout_s: int = 120
    tmp_mib: int = 512
    environment: Mapping[str, str] = field(default_factory=dict)
    at_once: int | None = None
    retries: int | None = None
    tried_for_s: int | None = None


class ServiceFunction(Construct):
    """One function of the service, which may do what its shape says and write its own log.

    `undelivered` is where events go that it could not take, of a function that nobody waits for.
    """

    def __init__(
        self,
        scope: Construct,
        shape: FunctionShape,
        *,
        names: Names,
        deployment: Deployment,
        key: kms.IKey | None,
        undelivered: sqs.IQueue | None = None,
    ) -> None:
        super().__init__(scope, "".join(word.capitalize() for word in shape.name.split("_")))
        self.shape = shape
        self.log_group = log_group(self, deployment=deployment, key=key)
        self.role = iam.Role(
            self,
            "Role",
            role_name=names.role(shape.name),
            path=deployment.written_role_path,
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        own = self._own_grants(names, key, undelivered)
        networking = [INTERFACES] if deployment.network is not None else []
        granted = give(self.role, (*own, *networking, *shape.grants))
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=names.function(shape.name),
            description=f"Plimsoll {names.stage}: {shape.name.replace('_', ' ')}",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=ARCHITECTURES[deployment.architecture],
            code=code_of(self, shape.name, deployment, key),
            handler=f"functions.{shape.name}.handler",
            role=self.role.without_policy_updates(),
            memory_size=shape.memory_mib,
            timeout=Duration.seconds(shape.timeout_s),
            ephemeral_storage_size=Size.mebibytes(shape.tmp_mib),
            environment={**_environment(names, deployment), **shape.environment},
            environment_encryption=key,
            tracing=lambda_.Tracing.ACTIVE,
            log_group=self.log_group,
            dead_letter_queue=undelivered,
            reserved_concurrent_executions=deployment.reserved_for(shape.name, shape.at_once),
            code_signing_config=_signing(self, deployment),
            retry_attempts=shape.retries,
            max_event_age=None if shape.tried_for_s is None else Duration.seconds(shape.tried_for_s),
        )
        depends_on(self.function, granted)
        if deployment.network is not None:
            connect(self.function, deployment.network)
        acknowledge(
            self.function,
            "AwsSolutions-L1",
            "The wheels that the function carries are built and tested for Python 3.13.",
        )

    @property
    def callee(self) -> Callee:
        """The function as a state calls it."""
        return Callee(function=self.function, timeout_s=self.shape.timeout_s)

    def _own_grants(self, names: Names, key: kms.IKey | None, undelivered: sqs.IQueue | None) -> list[Grant]:
        grants = [
            Grant(
                actions=("logs:CreateLogStream", "logs:PutLogEvents"),
                resources=(self.log_group.log_group_arn,),
                wildcard="The streams of its own log, which Lambda names.",
            ),
            Grant(
                actions=("xray:PutTelemetryRecords", "xray:PutTraceSegments"),
                resources=("*",),
                wildcard="X-Ray's writing actions have no resource-level permissions.",
            ),
            Grant(actions=CONFIGURATION, resources=(names.parameter_arn,)),
        ]
        if key is not None:
            grants.append(Grant(actions=WITH_KEY, resources=(key.key_arn,)))
        if undelivered is not None:
            grants.append(Grant(actions=("sqs:SendMessage",), resources=(undelivered.queue_arn,)))
        return grants


def _signing(scope: Construct, deployment: Deployment) -> lambda_.ICodeSigningConfig | None:
    arn = deployment.code_signing_config_arn
    return lambda_.CodeSigningConfig.from_code_signing_config_arn(scope, "Signing", arn) if arn else None


def _environment(names: Names, deployment: Deployment) -> dict[str, str]:
    tags = {"PLIMSOLL_TAGS": format_tags(deployment.tags)} if deployment.tags else {}
    return {
        **tags,
        "PLIMSOLL_BUCKET": names.bucket,
        "PLIMSOLL_CONFIG_PARAMETER": names.parameter,
        "PLIMSOLL_HISTORY_TABLE": names.history,
        "PLIMSOLL_COORDINATION_TABLE": names.coordination,
        "PLIMSOLL_EVENT_BUS": names.event_bus,
        "POWERTOOLS_SERVICE_NAME": names.prefix,
        "POWERTOOLS_METRICS_NAMESPACE": METRICS,
        "POWERTOOLS_LOG_LEVEL": "INFO",
        # A function has less than two processors; more threads of OpenBLAS would only wait for each other.
        "OPENBLAS_NUM_THREADS": "1",
    }
