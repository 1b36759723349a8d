"""Names of everything in one deployment. By them stacks refer to each other without exports."""

from dataclasses import dataclass
from typing import Final

from aws_cdk import Stack

METRICS: Final = "Plimsoll"
"""The CloudWatch namespace of the service's own metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of a deployment, and their ARNs in the account and region of a stack."""

    stack: Stack
    stage: str

    @property
    def prefix(self) -> str:
        """The prefix of every name, and the service's name in its logs, traces and metrics."""
        return f"plimsoll-{self.stage}"

    @property
    def bucket(self) -> str:
        """The bucket of runs, reports and measurements."""
        return f"{self.prefix}-{self.stack.account}-{self.stack.region}"

    @property
    def facts(self) -> str:
        """The bucket of plans of changes, their ledgers and what people said of them."""
        return f"{self.prefix}-facts-{self.stack.account}-{self.stack.region}"

    def fact_objects(self, pattern: str) -> str:
        """The ARN of objects of that bucket."""
        return f"arn:{self.stack.partition}:s3:::{self.facts}/{pattern}"

    @property
    def change_switch(self) -> str:
        """The parameter that ends changes which have not begun."""
        return f"/plimsoll/{self.stage}/changes"

    @property
    def history(self) -> str:
        """The table of what was recommended before."""
        return f"{self.prefix}-history"

    @property
    def coordination(self) -> str:
        """The table of claims and of what must be done only once."""
        return f"{self.prefix}-coordination"

    @property
    def event_bus(self) -> str:
        """The bus that tells what happened."""
        return self.prefix

    @property
    def alarms(self) -> str:
        """The topic that alarms write to."""
        return f"{self.prefix}-alarms"

    @property
    def parameter(self) -> str:
        """The parameter that holds the configuration."""
        return f"/plimsoll/{self.stage}/config"

    @property
    def slack_secret(self) -> str:
        """The secret with Slack's signing secret and the bot token."""
        return f"{self.prefix}-slack"

    @property
    def database(self) -> str:
        """The Glue database of the results; Athena's names have no hyphens."""
        return self.prefix.replace("-", "_")

    def function(self, function: str) -> str:
        """The name of a function, by which people call it."""
        return f"{self.prefix}-{function}"

    def role(self, function: str) -> str:
        """The role of a function, by which member accounts know it."""
        return f"{self.prefix}-{function}"

    def acting_as(self, function: str) -> str:
        """The name by which Google knows a function: the ARN of its assumed role, as AWS's STS gives it."""
        return f"arn:{self.stack.partition}:sts::{self.stack.account}:assumed-role/{self.role(function)}"

    def objects(self, pattern: str) -> str:
        """The ARN of objects of the bucket."""
        return f"arn:{self.stack.partition}:s3:::{self.bucket}/{pattern}"

    @property
    def bucket_arn(self) -> str:
        """The bucket's ARN."""
        return f"arn:{self.stack.partition}:s3:::{self.bucket}"

    @property
    def parameter_arn(self) -> str:
        """The configuration parameter's ARN."""
        return self.arn("ssm", f"parameter{self.parameter}")

    @property
    def event_bus_arn(self) -> str:
        """The bus's ARN."""
        return self.arn("events", f"event-bus/{self.event_bus}")

    def table_arn(self, table: str) -> str:
        """A table's ARN."""
        return self.arn("dynamodb", f"table/{table}")

    def machine(self, kind: str) -> str:
        """The name of the state machine of audits or validations."""
        return f"{self.prefix}-{kind}"

    def machine_arn(self, kind: str) -> str:
        """Its ARN."""
        return self.arn("states", f"stateMachine:{self.machine(kind)}")

    def execution_arns(self, kind: str, pattern: str) -> str:
        """The ARN of its executions with names of a pattern."""
        return self.arn("states", f"execution:{self.machine(kind)}:{pattern}")

    def arn(self, service: str, resource: str) -> str:
        """The ARN of something in the stack's account and region."""
        stack = self.stack
        return f"arn:{stack.partition}:{service}:{stack.region}:{stack.account}:{resource}"
