"""Probing: what a probe may do in an account, for functions there and for member roles.

The document that reads may be sent to every instance. So nobody here may write a document, or send any other one.
"""

from dataclasses import dataclass

from aws_cdk import Stack

from infra.function_grants import look
from infra.grants import Grant
from plimsoll.clouds.aws.names import PROBE_DOCUMENT_NAME
from plimsoll.clouds.aws.permissions import PROBE

_ON_DOCUMENT = frozenset({"ssm:GetDocument", "ssm:SendCommand"})
_ANSWERS = frozenset({"ssm:GetCommandInvocation"})
_STOPS = frozenset({"ssm:CancelCommand"})
"""A right that only the command line uses: a probe of the service ends by its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probing:
    """The grants of the steps of a probe, in the account of a stack."""

    stack: Stack

    @property
    def sends(self) -> list[Grant]:
        """Finds hosts, and sends them the document that reads."""
        partition, account = self.stack.partition, self.stack.account
        return [
            look(PROBE - _ON_DOCUMENT - _ANSWERS - _STOPS, "look at hosts"),
            Grant(
                actions=_ON_DOCUMENT,
                resources=(f"arn:{partition}:ssm:*:{account}:document/{PROBE_DOCUMENT_NAME}",),
                wildcard="Regions are known when something is probed; the document's name is ours.",
            ),
            Grant(
                actions={"ssm:SendCommand"},
                resources=(f"arn:{partition}:ec2:*:{account}:instance/*",),
                wildcard="Any host may be read, by the one document that only reads and that this role cannot change.",
            ),
        ]

    @property
    def reading_grant(self) -> Grant:
        """Reads what hosts answered."""
        return look(_ANSWERS, "read what commands printed")

    @property
    def all(self) -> list[Grant]:
        """Everything that a probe does."""
        return [*self.sends, self.reading_grant]
