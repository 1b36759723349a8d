"""The Slack stack: it posts audits to channels, and answers buttons and commands."""

from aws_cdk import CfnOutput, RemovalPolicy, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.alarms import HOUR, Alarms, alarm_action
from infra.constructs.key import key_of
from infra.constructs.service_function import FunctionShape, ServiceFunction
from infra.constructs.slack_door import open_door
from infra.constructs.triggers import DeadLetterQueue, EventStart
from infra.grants import acknowledge
from infra.names import Names
from infra.settings import Deployment
from infra.slack_functions import (
    ANSWER,
    CHANGES,
    FRONT,
    REPORT,
    WORKER,
    front_shape,
    notifying_shapes,
    secret_grant,
    worker_shape,
)
from plimsoll.clouds.aws.names import EVENT_SOURCE, SLACK_EXECUTIONS
from plimsoll_service.events import AuditCompleted, ChangesProgressed

_MANY_REQUESTS = 5000
"""Requests in an hour that no workspace makes by hand."""

_ENDED = ("SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED")


class SlackStack(Stack):
    """Reports in Slack, and what people do about them there."""

    def __init__(self, scope: Construct, deployment: Deployment) -> None:
        super().__init__(
            scope,
            "slack",
            stack_name=f"plimsoll-{deployment.stage}-slack",
            description="Plimsoll: reports in Slack, and what people ask for there",
        )
        self._names = Names(stack=self, stage=deployment.stage)
        self._deployment = deployment
        self._key = key_of(self, deployment)
        self._undelivered = DeadLetterQueue(self, key=self._key).queue
        self.functions: dict[str, lambda_.Function] = {}
        secret = secret_grant(_secret(self, self._names, self._key).secret_arn)
        self._add(worker_shape(self._names, deployment, secret), undelivered=self._undelivered)
        for shape in notifying_shapes(self._names, deployment, secret):
            self._add(shape, undelivered=self._undelivered)
        # Somebody waits for this one, so that nothing of it can be undelivered.
        self._add(front_shape(self._names, deployment, secret, self.functions[WORKER]))
        self._hears()
        self._watch()
        url = open_door(self, self.functions[FRONT], names=self._names, deployment=deployment)
        CfnOutput(
            self, "Url", value=url, description="What Slack calls: give it to plimsoll slack manifest, for the app"
        )

    def _add(self, shape: FunctionShape, *, undelivered: sqs.IQueue | None = None) -> None:
        made = ServiceFunction(
            self,
            shape,
            names=self._names,
            deployment=self._deployment,
            key=self._key,
            undelivered=undelivered,
        )
        self.functions[shape.name] = made.function

    def _hears(self) -> None:
        """Takes the events of audits that ended, of changes, and of validations from Slack that ended."""
        bus = events.EventBus.from_event_bus_name(self, "Bus", self._names.event_bus)
        EventStart(
            self,
            "AuditEnded",
            says="Tells Slack of an audit",
            bus=bus,
            pattern=events.EventPattern(source=[EVENT_SOURCE], detail_type=[AuditCompleted.__name__]),
            function=self.functions[REPORT],
            undelivered=self._undelivered,
        )
        if CHANGES in self.functions:
            EventStart(
                self,
                "ChangesProgressed",
                says="Tells Slack of changes",
                bus=bus,
                pattern=events.EventPattern(source=[EVENT_SOURCE], detail_type=[ChangesProgressed.__name__]),
                function=self.functions[CHANGES],
                undelivered=self._undelivered,
            )
        if ANSWER in self.functions:
            EventStart(
                self,
                "ValidationEnded",
                says="Tells those of a validation who asked for it in Slack",
                pattern=events.EventPattern(
                    source=["aws.states"],
                    detail_type=["Step Functions Execution Status Change"],
                    detail={
                        "stateMachineArn": [self._names.machine_arn("validation")],
                        "name": events.Match.prefix(SLACK_EXECUTIONS),
                        "status": list(_ENDED),
                    },
                ),
                function=self.functions[ANSWER],
                undelivered=self._undelivered,
            )

    def _watch(self) -> None:
        action = alarm_action(self, names=self._names, deployment=self._deployment)
        alarms = Alarms(self, prefix=self._names.prefix, action=action)
        alarms.of_functions("slack", self.functions.values())
        alarms.of_queue(
            "slack",
            self._undelivered,
            says="Slack was not told of something, or something that was asked for there was not done: the message in "
            "the queue has it, and the log of the function that it was meant for says why.",
        )
        alarms.when(
            "slack-requests",
            self.functions[FRONT].metric_invocations(period=HOUR, statistic="Sum"),
            reaches=_MANY_REQUESTS,
            says="Somebody calls the address that is meant for Slack far too often; without Slack's signature in vain, "
            "but every call is paid for: remove the stack slack and deploy it again, which changes the address.",
        )


def _secret(scope: Construct, names: Names, key: kms.IKey | None) -> secretsmanager.Secret:
    """The secret. It holds a random text until somebody puts Slack's own secrets there."""
    secret = secretsmanager.Secret(
        scope,
        "Secret",
        secret_name=names.slack_secret,
        description="What Slack signs by and the app's token, as JSON with signing_secret and bot_token; put there by "
        "hand",
        encryption_key=key,
        removal_policy=RemovalPolicy.DESTROY,
    )
    acknowledge(
        secret,
        "AwsSolutions-SMG4",
        "Slack makes these, and offers no call to make others; they are replaced by hand, and read anew each minute.",
    )
    return secret
