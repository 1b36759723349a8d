"""Sweeping: the state machine of the sweep, begun often where scratch volumes may be, and now and then everywhere."""

from collections.abc import Mapping
from functools import partial

from aws_cdk import Duration
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_scheduler_targets as targets
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.service_function import ServiceFunction
from infra.constructs.service_machine import ServiceMachine, maps_of_its_own
from infra.constructs.sweep_machine import SweepFunctions, sweep_definition
from infra.constructs.triggers import ScheduledStart
from infra.grants import Grant
from infra.names import Names
from infra.settings import Deployment

_KIND = "sweep"
_LONGEST = Duration.hours(12)
"""Far longer than all accounts of a large Organization take."""


class Sweeping(Construct):
    """The sweep and its two schedules."""

    def __init__(
        self,
        scope: Construct,
        functions: Mapping[str, ServiceFunction],
        *,
        names: Names,
        deployment: Deployment,
        key: kms.IKey | None,
        undelivered: sqs.IQueue,
    ) -> None:
        super().__init__(scope, "Sweeping")
        called = SweepFunctions(**{name: each.callee for name, each in functions.items()})
        lists = Grant(
            actions=("s3:GetObject",),
            resources=(names.objects("sweeps/*"),),
            conditions={"StringEquals": {"s3:ResourceAccount": names.stack.account}},
            wildcard="The lists of accounts have the sweep's name in theirs.",
        )
        self.machine = ServiceMachine(
            self,
            _KIND,
            partial(
                sweep_definition,
                functions=called,
                bucket=s3.Bucket.from_bucket_name(self, "Store", names.bucket),
                max_concurrency=deployment.max_concurrency,
            ),
            functions=functions.values(),
            grants=[*maps_of_its_own(names, _KIND), lists],
            names=names,
            deployment=deployment,
            key=key,
            longest=_LONGEST,
        )
        begun = partial(
            ScheduledStart,
            zone=deployment.time_zone,
            begins=Grant(actions=("states:StartExecution",), resources=(names.machine_arn(_KIND),)),
            target=partial(targets.StepFunctionsStartExecution, self.machine.machine),
            undelivered=undelivered,
            key=key,
            role_path=deployment.written_role_path,
        )
        begun(
            Construct(self, "Often"),
            name=names.machine(_KIND),
            says="Deletes scratch volumes past their deadline, where any may be",
            expression=deployment.sweep_every,
        )
        begun(
            Construct(self, "Everywhere"),
            name=f"{names.machine(_KIND)}-all",
            says="Deletes scratch volumes past their deadline in every account",
            expression=deployment.sweep_all_every,
            input_values={"everywhere": True},
        )
