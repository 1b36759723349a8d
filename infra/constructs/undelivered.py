"""What could not be delivered: the queue of what was to begin and did not, and how long a delivery is tried."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.grants import acknowledge

TRIED_FOR: Final = Duration.hours(2)
ATTEMPTS: Final = 10
"""How long, and how often at most, what a schedule or a rule begins is tried before it goes to the queue."""

_KEPT: Final = Duration.days(14)


class Undelivered(Construct):
    """The queue of what was to begin and did not, encrypted, and closed to who has no TLS."""

    def __init__(self, scope: Construct, *, key: kms.IKey | None) -> None:
        super().__init__(scope, "Undelivered")
        self.queue = sqs.Queue(
            self,
            "Queue",
            encryption=sqs.QueueEncryption.KMS if key else sqs.QueueEncryption.SQS_MANAGED,
            encryption_master_key=key,
            enforce_ssl=True,
            retention_period=_KEPT,
        )
        acknowledge(self.queue, "AwsSolutions-SQS3", "It is itself the queue of what could not be delivered.")
