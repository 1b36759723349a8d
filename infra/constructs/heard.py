"""What is heard: events of a pattern that begin a function, and a queue that holds what did not begin."""

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.undelivered import ATTEMPTS, TRIED_FOR


class Heard(Construct):
    """A rule that hands events on to a function; those of AWS itself come on the account's own bus, without `bus`."""

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
