"""The audit stack: the functions, the state machine and the schedule of audits."""

from functools import partial

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_scheduler_targets as targets
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.audit_functions import AUDIT_ASKS_GOOGLE, CANARY, audit_shapes
from infra.constructs.alarms import HOUR, Alarms, alarm_action, own_metric
from infra.constructs.audit_machine import AuditFunctions, audit_definition
from infra.constructs.dashboard import Dashboard
from infra.constructs.key import key_of
from infra.constructs.service_function import ServiceFunction
from infra.constructs.service_machine import ServiceMachine, maps_of_its_own
from infra.constructs.triggers import DeadLetterQueue, ScheduledStart
from infra.constructs.volume_alarms import WatchedVolume, watch
from infra.grants import Grant
from infra.names import Names
from infra.settings import Deployment
from infra.slack_functions import SLACK_ENTERS

_LONGEST = Duration.hours(24)
"""Far longer than the largest audit takes. A longer one is stopped. Begun again, it continues where it was."""

_LOOKS = "rate(6 hours)"
"""When the canary looks. Its alarm asks for one look a day, so that a late one is no alarm."""

_TIMES_EXPECTED, _SPARE_USD = 2, 1
"""An audit may cost so many times what its plan expected, and less than so many USD more: a plan of few volumes may be
far off, for cents."""

_MANY_THROTTLES = 20
"""Calls in an hour that were refused until all retries were used up."""


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
        undelivered = DeadLetterQueue(self, key=key).queue
        self.functions = {
            shape.name: ServiceFunction(
                self,
                shape,
                names=names,
                deployment=deployment,
                key=key,
                undelivered=undelivered if shape.name == CANARY else None,
            )
            for shape in audit_shapes(names, deployment)
        }
        stepped = {name: each for name, each in self.functions.items() if name != CANARY}
        called = AuditFunctions(**{name: each.callee for name, each in stepped.items()})
        store = s3.Bucket.from_bucket_name(self, "Store", names.bucket)
        lists = Grant(
            actions=("s3:GetObject",),
            resources=(names.objects("work/*"),),
            conditions={"StringEquals": {"s3:ResourceAccount": self.account}},
            wildcard="The lists of accounts, batches and shards have the run's id in their names.",
        )
        self.machine = ServiceMachine(
            self,
            "audit",
            partial(audit_definition, functions=called, bucket=store, max_concurrency=deployment.max_concurrency),
            functions=stepped.values(),
            grants=[*maps_of_its_own(names, "audit"), lists],
            names=names,
            deployment=deployment,
            key=key,
            longest=_LONGEST,
        )
        canary = self.functions[CANARY].function
        ScheduledStart(
            self.functions[CANARY],
            name=f"{names.prefix}-{CANARY}",
            says="Looks whether audits still end",
            expression=_LOOKS,
            zone=deployment.time_zone,
            begins=Grant(actions=("lambda:InvokeFunction",), resources=(canary.function_arn,)),
            target=partial(targets.LambdaInvoke, canary),
            undelivered=undelivered,
            key=key,
            role_path=deployment.written_role_path,
        )
        ScheduledStart(
            self,
            name=names.machine("audit"),
            says="Begins an audit of the whole scope",
            expression=deployment.schedule,
            zone=deployment.time_zone,
            begins=Grant(actions=("states:StartExecution",), resources=(names.machine_arn("audit"),)),
            target=partial(targets.StepFunctionsStartExecution, self.machine.machine),
            undelivered=undelivered,
            key=key,
            role_path=deployment.written_role_path,
        )
        self._watch(names, deployment, undelivered)
        CfnOutput(
            self, "StateMachine", value=self.machine.machine.state_machine_arn, description="Start audits with this"
        )
        if deployment.audits_google:
            asking = (*AUDIT_ASKS_GOOGLE, *(SLACK_ENTERS if deployment.slack is not None else ()))
            CfnOutput(
                self,
                "GoogleRoles",
                value=" ".join(names.acting_as(function) for function in asking),
                description="Who reads Google Cloud: the workload identity pool knows them, projects grant them",
            )

    def _watch(self, names: Names, deployment: Deployment, undelivered: sqs.IQueue) -> None:
        action = alarm_action(self, names=names, deployment=deployment)
        alarms = Alarms(self, prefix=names.prefix, action=action)
        alarms.of_machine(
            "audit",
            self.machine.machine,
            then='Go on with it: start another with its name as the input {"run_id": "..."}.',
        )
        alarms.of_functions("audit", (each.function for each in self.functions.values()))
        alarms.of_queue("audit", undelivered)
        alarms.when(
            "failed-targets",
            own_metric(names.prefix, "failed_targets", statistic="Maximum"),
            reaches=1,
            says="An account or region could not be audited: the report names it and says why.",
        )
        alarms.when(
            "audit-overdue",
            own_metric(names.prefix, "audit_age_h", statistic="Maximum", period=Duration.days(1)),
            reaches=deployment.audit_due_h,
            says=f"No audit has ended for {deployment.audit_due_h:g} hours, or the canary does not look: see the "
            "executions in Step Functions and the queue of what did not begin, and start an audit.",
            silence_is_fine=False,
        )
        alarms.when(
            "throttled",
            own_metric(names.prefix, "throttles"),
            reaches=_MANY_THROTTLES,
            says="AWS keeps turning calls away: lower calls_per_s, or raise the account's quotas.",
        )
        cost = own_metric(names.prefix, "audit_usd", statistic="Maximum")
        if deployment.audit_usd is None:
            expected = own_metric(names.prefix, "expected_usd", statistic="Maximum")
            alarms.when(
                "audit-cost",
                cloudwatch.MathExpression(
                    expression=f"spent-{_TIMES_EXPECTED}*expected",
                    using_metrics={"spent": cost, "expected": expected},
                    label="USD above what an audit may cost",
                    period=HOUR,
                ),
                reaches=_SPARE_USD,
                says=f"An audit's metric calls cost over {_TIMES_EXPECTED} times what its plan expected: "
                "see `plan` and `usage` in its run.json.",
            )
        else:
            alarms.when(
                "audit-cost",
                cost,
                reaches=deployment.audit_usd,
                says=f"An audit's metric calls cost USD {deployment.audit_usd:g} or more: see what it read.",
            )
        alarms.when(
            "promises-broken",
            own_metric(names.prefix, "promises_broken", statistic="Maximum"),
            reaches=1,
            says="Many more volumes throttled since they were changed as recommended than were expected: look at those "
            "volumes, set a lower risk_pct or more headroom_pct, and learn from your own fleet.",
        )
        volumes = [WatchedVolume.parse(each) for each in deployment.alarm_volumes]
        for volume in volumes:
            watch(alarms, volume, share_pct=deployment.alarm_volume_share_pct)
        Dashboard(self, name=names.prefix, machine=self.machine.machine, alarms=alarms.made, volumes=volumes)
