"""The data stack: what the service keeps, and its configuration. Results stay when the stacks are removed."""

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from infra.constructs.alarms import alarm_topic
from infra.constructs.athena import ResultTables, Workgroup
from infra.constructs.key import key_of
from infra.constructs.network import Endpoints
from infra.constructs.store import Store
from infra.constructs.tables import Tables
from infra.names import Names
from infra.settings import Deployment

_STANDARD_BYTES = 4096
"""The longest value of a parameter that costs nothing (SSM PutParameter, Value)."""


class DataStack(Stack):
    """The bucket, the tables, the queries on them, the event bus, the topic of alarms and the configuration."""

    def __init__(self, scope: Construct, deployment: Deployment) -> None:
        names = Names(stack=self, stage=deployment.stage)
        super().__init__(
            scope,
            "data",
            stack_name=f"plimsoll-{deployment.stage}-data",
            description="Plimsoll: the store of runs, reports and measurements, and the configuration",
        )
        key = key_of(self, deployment)
        self.store = Store(self, names=names, deployment=deployment, key=key)
        self.tables = Tables(self, names=names, key=key)
        self.bus = events.EventBus(
            self,
            "Bus",
            event_bus_name=names.event_bus,
            description="What Plimsoll tells: audits, validations, news",
            kms_key=key,
        )
        ResultTables(self, names=names)
        Workgroup(self, names=names, key=key)
        alarm_topic(self, names=names, deployment=deployment, key=key)
        if deployment.network is not None and deployment.network.vpc_id is not None:
            Endpoints(self, network=deployment.network, tags=deployment.tags)
        self.configuration = _configuration(self, names, deployment)
        CfnOutput(self, "Bucket", value=names.bucket, description="Runs, reports and measurements")


def _configuration(scope: Construct, names: Names, deployment: Deployment) -> ssm.StringParameter:
    written = deployment.config.to_text()
    is_long = len(written.encode()) > _STANDARD_BYTES
    return ssm.StringParameter(
        scope,
        "Configuration",
        parameter_name=names.parameter,
        description="What Plimsoll audits and validates, by which policy; written by its deployment",
        string_value=written,
        tier=ssm.ParameterTier.ADVANCED if is_long else ssm.ParameterTier.STANDARD,
    )
