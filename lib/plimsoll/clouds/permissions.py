"""A cloud's permissions as they are asked for, in the words of the command line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from plimsoll.model.errors import BadInput

if TYPE_CHECKING:
    from plimsoll.clouds.registry import Cloud
    from plimsoll.model.policy import Policy


class Purpose(StrEnum):
    """The purposes of a role: to audit; also to compare, read states, probe or validate; to read a bill; to change."""

    AUDIT = "audit"
    COMPARE = "compare"
    STATES = "states"
    PROBE = "probe"
    VALIDATE = "validate"
    BILL = "bill"
    CHANGE = "change"

    @property
    def says(self) -> str:
        """The sentence about the purpose, for the policy's description."""
        return _SAYS[self]


_SAYS = {
    Purpose.AUDIT: "Plimsoll audit: reads volumes, hosts, prices and metrics. Changes nothing.",
    Purpose.COMPARE: "Plimsoll audit and compare: reads as an audit does, and Compute Optimizer's recommendations.",
    Purpose.STATES: "Plimsoll audit and states: reads as an audit does, and snapshots and what uses them.",
    Purpose.PROBE: "Plimsoll audit and probe: reads as an audit does, and what hosts count of their volumes.",
    Purpose.VALIDATE: "Plimsoll audit and validate: reads as an audit does, and changes scratch volumes alone.",
    Purpose.BILL: "Plimsoll bill: reads an export of the bill in its bucket, and nothing else.",
    Purpose.CHANGE: "Plimsoll change: for the person or pipeline that carries out recommendations.",
}


class PolicyFormat(StrEnum):
    """The format of permissions."""

    JSON = "json"
    TERRAFORM = "terraform"
    CLOUDFORMATION = "cloudformation"


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRequest:
    """The permissions to write: their purpose under a policy, and their format.

    `organization` adds those to find all accounts or projects. The last four are AWS's: the bucket of results or of a
    bill, the partition of ARNs, copies, and a document that only another one writes.
    """

    purpose: Purpose
    policy: Policy
    format: PolicyFormat
    organization: bool = False
    bucket: str | None = None
    partition: str = "aws"
    copies: bool = False
    locked_document: bool = False


def permission_text(cloud: Cloud, request: PermissionRequest) -> str:
    """The permissions that a cloud's accounts have to give. Raises BadInput for what the cloud does not have."""
    if find_spec(f"{cloud.package}.policies") is None:
        raise BadInput(f"no permissions of {cloud.words.cloud} are known: see what its audit asks for.")
    text: str = import_module(f"{cloud.package}.policies").write_permissions(request)
    return text
