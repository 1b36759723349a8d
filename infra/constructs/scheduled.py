"""Schedules: what begins by itself, by a role that may begin just that, and a queue that says what did not."""

from typing import Any, Protocol

from aws_cdk import Stack, TimeZone
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.undelivered import ATTEMPTS, TRIED_FOR
from infra.grants import Grant, depends_on, give
from plimsoll.clouds.aws.permissions import WITH_KEY


class TargetMaker(Protocol):
    """Makes the target of a schedule from what all targets share."""

    def __call__(self, **shared: Any) -> scheduler.IScheduleTarget:
        """The target."""
        ...


class Scheduled(Construct):
    """Something that begins on a schedule: `begins` is what its role may do, and `undelivered` where failures go."""

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
    ) -> None:
        super().__init__(scope, "Schedule")
        ours = {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com").with_conditions(ours))
        sends = Grant(actions=("sqs:SendMessage",), resources=(undelivered.queue_arn,))
        uses = [Grant(actions=WITH_KEY, resources=(key.key_arn,))] if key else []
        granted = give(role, (begins, sends, *uses))
        schedule = scheduler.Schedule(
            self,
            "Schedule",
            schedule_name=name,
            description=says,
            schedule=scheduler.ScheduleExpression.expression(expression, TimeZone.of(zone)),
            target=target(
                role=role.without_policy_updates(),
                input=scheduler.ScheduleTargetInput.from_object({}),
                dead_letter_queue=undelivered,
                max_event_age=TRIED_FOR,
                retry_attempts=ATTEMPTS,
            ),
        )
        depends_on(schedule, granted)
