"""Every implementation of the service's ports, those of AWS over the simulated organization's own S3, DynamoDB,
EventBridge and Step Functions."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import boto3
from botocore.config import Config

from cloud_simulator.running import Running, running

ROLE = "arn:aws:iam::111111111111:role/any"


@dataclass(frozen=True, kw_only=True)
class Account:
    """The home account of a simulated organization, with what the service has there."""

    organization: Running

    def client(self, service: str) -> Any:
        keys = self.organization.environment
        return boto3.Session().client(
            service,
            region_name=keys["AWS_REGION"],
            endpoint_url=self.organization.endpoint,
            aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
            config=Config(retries={"total_max_attempts": 1}),
        )

    def bucket(self) -> str:
        name = f"store-{uuid4().hex}"
        self.client("s3").create_bucket(Bucket=name)
        return name

    def table(self, *keys: str) -> str:
        name = f"table-{uuid4().hex}"
        self.client("dynamodb").create_table(
            TableName=name,
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
            KeySchema=[
                {"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        return name

    def machine(self) -> str:
        definition = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 600, "End": True}}}
        made = self.client("stepfunctions").create_state_machine(
            name=f"machine-{uuid4().hex}", definition=json.dumps(definition), roleArn=ROLE
        )
        return str(made["stateMachineArn"])

    def start(self, machine: str, name: str) -> str:
        return str(self.client("stepfunctions").start_execution(stateMachineArn=machine, name=name)["executionArn"])

    def bus(self) -> tuple[str, str]:
        """A bus, and the URL of a queue that gets every event on it."""
        events, sqs, name = self.client("events"), self.client("sqs"), f"bus-{uuid4().hex}"
        events.create_event_bus(Name=name)
        queue = sqs.create_queue(QueueName=name)["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        events.put_rule(Name=name, EventBusName=name, EventPattern='{"source": ["plimsoll"]}')
        events.put_targets(Rule=name, EventBusName=name, Targets=[{"Id": "queue", "Arn": arn}])
        return name, queue

    def heard(self, queue: str) -> list[tuple[str, Any]]:
        """The events in a queue, in no order."""
        take = partial(self.client("sqs").receive_message, QueueUrl=queue, MaxNumberOfMessages=10)
        bodies = []
        while messages := take().get("Messages"):
            for message in messages:
                self.client("sqs").delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
                bodies.append(json.loads(message["Body"]))
        return [(body["detail-type"], body["detail"]) for body in bodies]


@contextmanager
def home_account(**simulated: Any) -> Iterator[Account]:
    """A home account for as long as the block lasts."""
    with running(datetime.now(UTC), volumes=1, **simulated) as organization:
        yield Account(organization=organization)


def names(count: int) -> Sequence[str]:
    """So many ids of volumes."""
    return [f"vol-{number:05}" for number in range(count)]
