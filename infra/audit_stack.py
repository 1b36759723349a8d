"""The audit stack: the functions, the state machine and the schedule of audits."""

from functools import partial

from aws_cdk import Duration, Stack
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.audit_functions import audit_shapes
from infra.constructs.audit_machine import AuditFunctions, audit_definition
from infra.constructs.key import key_of
from infra.constructs.service_function import ServiceFunction
from infra.constructs.service_machine import ServiceMachine, maps_of_its_own
from infra.grants import Grant
from infra.names import Names
from infra.settings import Deployment

_LONGEST = Duration.hours(24)


class AuditStack(Stack):
    """Audits of the whole scope, on a schedule."""

    def __init__(self, scope: Construct, deployment: Deployment) -> None:
        super().__init__(
            scope,
            "audit",
            stack_name=f"plimsoll-{deployment.stage}-audit",
            description="Plimsoll: scheduled audits of block storage",
        )
        names = Names(stack=self, stage=deployment.stage)
        key = key_of(self, deployment)
        self.functions = {
            shape.name: ServiceFunction(self, shape, names=names, deployment=deployment, key=key)
            for shape in audit_shapes(names, deployment)
        }
        called = AuditFunctions(**{name: each.callee for name, each in self.functions.items()})
        store = s3.Bucket.from_bucket_name(self, "Store", names.bucket)
        lists = Grant(
            actions=("s3:GetObject",),
            resources=(names.objects("work/*"),),
            conditions={"StringEquals": {"s3:ResourceAccount": self.account}},
            wildcard="The lists of targets and of batches have the run's id in their names.",
        )
        self.machine = ServiceMachine(
            self,
            "audit",
            partial(audit_definition, functions=called, bucket=store, max_concurrency=deployment.max_concurrency),
            functions=self.functions.values(),
            grants=[*maps_of_its_own(names, "audit"), lists],
            names=names,
            deployment=deployment,
            key=key,
            longest=_LONGEST,
        )
