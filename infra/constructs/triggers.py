"""Triggers: what starts a function or a state machine, by schedule or by event, and the queue of what did not start."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

from aws_cdk import Duration, Stack, TimeZone
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.grants import Grant, acknowledge, depends_on, give
from plimsoll.clouds.aws.permissions import WITH_KEY

TRIED_FOR: Final = Duration.hours(2)
ATTEMPTS: Final = 10
"""A start is tried so long and so often at most before it goes to the queue."""

_RETENTION: Final = Duration.days(14)


class DeadLetterQueue(Construct):
    """An encrypted queue of the starts that failed. It takes messages over TLS alone."""

    def __init__(self, scope: Construct, *, key: kms.IKey | None) -> None:
        super().__init__(scope, "Undelivered")
        self.queue = sqs.Queue(
            self,
            "Queue",
            encryption=sqs.QueueEncryption.KMS if key else sqs.QueueEncryption.SQS_MANAGED,
            encryption_master_key=key,
            enforce_ssl=True,
            retention_period=_RETENTION,
        )
        acknowledge(self.queue, "AwsSolutions-SQS3", "It is itself the queue of what could not be delivered.")


class TargetMaker(Protocol):
    """Makes the target of a schedule from what all targets share."""

    def __call__(self, **shared: Any) -> scheduler.IScheduleTarget:
        """The target."""
        ...


class ScheduledStart(Construct):
    """A schedule that starts something with `input_values`. `begins` is what its role may do; failed starts go to
    `undelivered`."""

    def __init__(
        self,
        scope: Construct,
        *,
        name: str,
        says: str,
        expression: str,
        zone: str,
        begins: Grant,
        target: TargetMaker,
        undelivered: sqs.IQueue,
        key: kms.IKey | None,
        role_path: str | None,
        input_values: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(scope, "Schedule")
        ours = {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}
        role = iam.Role(
            self,
            "Role",
            path=role_path,
            assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com").with_conditions(ours),
        )
        sends = Grant(actions=("sqs:SendMessage",), resources=(undelivered.queue_arn,))
        uses = [Grant(actions=WITH_KEY, resources=(key.key_arn,))] if key else []
        granted = give(role, (begins, sends, *uses))
        schedule = scheduler.Schedule(
            self,
            "Schedule",
            schedule_name=name,
            description=says,
            schedule=scheduler.ScheduleExpression.expression(expression, TimeZone.of(zone)),
            key=key,
            target=target(
                role=role.without_policy_updates(),
                input=scheduler.ScheduleTargetInput.from_object(dict(input_values)),
                dead_letter_queue=undelivered,
                max_event_age=TRIED_FOR,
                retry_attempts=ATTEMPTS,
            ),
        )
        depends_on(schedule, granted)


class EventStart(Construct):
    """A rule that starts a function for each event of a pattern, on `bus` or on the account's own bus."""

    def __init__(
        self,
        scope: Construct,
        construct: str,
        *,
        says: str,
        pattern: events.EventPattern,
        function: lambda_.IFunction,
        undelivered: sqs.IQueue,
        bus: events.IEventBus | None = None,
    ) -> None:
        super().__init__(scope, construct)
        self.rule = events.Rule(
            self,
            "Rule",
            description=says,
            event_bus=bus,
            event_pattern=pattern,
            targets=[
                targets.LambdaFunction(
                    function, dead_letter_queue=undelivered, max_event_age=TRIED_FOR, retry_attempts=ATTEMPTS
                )
            ],
        )
