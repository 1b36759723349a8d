"""Changing: what plans and changes may do in an account, for functions there and for member roles.

Who tags a volume cannot modify it, and who modifies can tag none: a change takes both.
"""

from dataclasses import dataclass
from typing import Final

from aws_cdk import Stack

from infra.function_grants import look
from infra.grants import Grant
from plimsoll.clouds.aws.permissions import CHANGE, CHANGED_CONDITION, MARKING_CONDITION, PLANNING

_MODIFY: Final = frozenset({"ec2:ModifyVolume"})
_TAG: Final = frozenset({"ec2:CreateTags"})
_BY_TAG: Final = "Volumes and regions are known when something is planned; the condition bounds them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Changing:
    """The grants of plans and of changes, in the account of a stack."""

    stack: Stack

    @property
    def plans(self) -> list[Grant]:
        """Looks at volumes, and gives them the tag of a plan and no other."""
        return [
            look(PLANNING - _TAG, "look at volumes and hosts"),
            Grant(actions=_TAG, resources=(self._volumes,), conditions=MARKING_CONDITION, wildcard=_BY_TAG),
        ]

    @property
    def changes(self) -> list[Grant]:
        """Looks at volumes, alarms, metrics and the log of calls, and modifies volumes that a plan has tagged."""
        return [
            look(CHANGE - _MODIFY, "look at volumes, hosts, alarms, metrics and the log of calls"),
            Grant(actions=_MODIFY, resources=(self._volumes,), conditions=CHANGED_CONDITION, wildcard=_BY_TAG),
        ]

    @property
    def _volumes(self) -> str:
        return f"arn:{self.stack.partition}:ec2:*:{self.stack.account}:volume/*"
