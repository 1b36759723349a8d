"""Measuring: what a validation may do in an account, statement by statement, for functions there and for member roles.

What can take a volume away is allowed on scratch volumes alone. Regions are open: a member role is one for all of them.
"""

from dataclasses import dataclass
from typing import Final

from aws_cdk import Stack

from infra.grants import Grant
from infra.settings import Deployment
from plimsoll.clouds.aws.names import DOCUMENT_NAME
from plimsoll.clouds.aws.permissions import (
    BENCHMARK_DOCUMENT,
    COPIES,
    COPY_TAG,
    IN_PLACE_TAG,
    SCRATCH_CONDITION,
    copying_condition,
    making_condition,
    tag_condition,
    tagging_condition,
)
from plimsoll.model.policy import TagMatch
from plimsoll.model.task import ScratchBounds

_NAMED_LATER: Final = "Volumes, instances and regions are known when something is measured; the condition bounds them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """The grants of the steps of a measurement, in the account of a stack."""

    stack: Stack
    deployment: Deployment

    @property
    def looks(self) -> Grant:
        """Looks at volumes, hosts, commands and latencies."""
        return _everywhere(
            {
                "cloudwatch:GetMetricData",
                "ec2:DescribeInstances",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeVolumes",
                "ssm:DescribeInstanceInformation",
                "ssm:GetCommandInvocation",
            },
            "look at volumes, hosts and commands",
        )

    @property
    def creates(self) -> list[Grant]:
        """Makes empty volumes within the bounds, which carry the scratch tag from the start, and tags no volume that
        exists. A snapshot is no resource of it, so none is restored."""
        copies, volumes = self.deployment.validation.copies, (self._ec2("volume/*"),)
        bounds, tags = self.deployment.validation.scratch_bounds, tagging_condition(copies=copies)
        made = making_condition(bounds)
        return [
            Grant(actions={"ec2:CreateVolume"}, resources=volumes, conditions=made, wildcard=_NAMED_LATER),
            *(self._copies(volumes, bounds) if copies else ()),
            Grant(actions={"ec2:CreateTags"}, resources=volumes, conditions=tags, wildcard=_NAMED_LATER),
        ]

    def _copies(self, volumes: tuple[str, ...], bounds: ScratchBounds) -> list[Grant]:
        """Copies volumes that their owners tagged.

        IAM judges what is copied by its id and its tags, and the copy, which has no id yet, by the tags that it is
        given (AWS Managed Policy Reference, AmazonEBSCSIDriverPolicyV2, CopyManagedVolumes).
        """
        return [
            Grant(
                actions=COPIES,
                resources=(self._ec2("volume/vol-*"),),
                conditions=tag_condition("aws:ResourceTag", COPY_TAG),
                wildcard="The owners of volumes tag those that may be copied.",
            ),
            Grant(actions=COPIES, resources=volumes, conditions=copying_condition(bounds), wildcard=_NAMED_LATER),
        ]

    @property
    def attaches(self) -> list[Grant]:
        """Attaches scratch volumes, to bench hosts."""
        return [self._on_scratch("ec2:AttachVolume"), *self._on_benches({"ec2:AttachVolume"}, "aws:ResourceTag")]

    @property
    def takes_away(self) -> list[Grant]:
        """Detaches and deletes scratch volumes. It may detach from any instance, even if the instance lost its tag."""
        return [
            self._on_scratch("ec2:DetachVolume"),
            Grant(
                actions={"ec2:DetachVolume"},
                resources=(self._ec2("instance/*"),),
                wildcard="Which volumes may be detached is bounded by their tag, whatever instance they are on.",
            ),
            self._on_scratch("ec2:DeleteVolume"),
        ]

    @property
    def commands(self) -> list[Grant]:
        """Runs our document on bench hosts and instances for measuring in place, and updates it unless it is locked."""
        writes = frozenset() if self.deployment.locked_document else BENCHMARK_DOCUMENT
        document = (f"arn:{self.stack.partition}:ssm:*:{self.stack.account}:document/{DOCUMENT_NAME}",)
        regions = "Regions are known when something is measured; the document's name is ours."
        return [
            Grant(actions={"ssm:GetDocument"} | writes, resources=document, wildcard=regions),
            Grant(actions={"ssm:SendCommand"}, resources=document, wildcard=regions),
            *self._on_benches({"ssm:SendCommand"}, "ssm:resourceTag", IN_PLACE_TAG),
        ]

    @property
    def cancels(self) -> Grant:
        """Stops commands."""
        return _everywhere({"ssm:CancelCommand"}, "stop a command")

    @property
    def sweeps(self) -> list[Grant]:
        """Finds scratch volumes and takes them away."""
        return [_everywhere({"ec2:DescribeVolumes"}, "list volumes"), *self.takes_away]

    @property
    def all(self) -> list[Grant]:
        """Everything that a validation does."""
        return [self.looks, *self.creates, *self.attaches, *self.takes_away, *self.commands, self.cancels]

    def _on_scratch(self, action: str) -> Grant:
        return Grant(
            actions={action},
            resources=(self._ec2("volume/*"),),
            conditions=SCRATCH_CONDITION,
            wildcard=_NAMED_LATER,
        )

    def _on_benches(self, actions: set[str], tag_key: str, *others: TagMatch) -> list[Grant]:
        """Grants on instances with a bench host tag of the policy or one of `others`, and on named instances."""
        tags = (*self.deployment.parsed_policy.bench_hosts, *others)
        grants = [
            Grant(
                actions=actions,
                resources=(self._ec2("instance/*"),),
                conditions=tag_condition(tag_key, tag),
                wildcard=_NAMED_LATER,
            )
            for tag in tags
        ]
        named = tuple(self._ec2(f"instance/{host}") for host in self.deployment.validation.bench_hosts)
        if named:
            grants.append(
                Grant(actions=actions, resources=named, wildcard="The instance is named; its region may vary.")
            )
        return grants

    def _ec2(self, resource: str) -> str:
        return f"arn:{self.stack.partition}:ec2:*:{self.stack.account}:{resource}"


def _everywhere(actions: set[str], what: str) -> Grant:
    return Grant(
        actions=actions, resources=("*",), wildcard=f"The actions that {what} have no resource-level permissions."
    )
