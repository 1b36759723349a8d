"""IAM policies to paste, as JSON, Terraform or CloudFormation: what each purpose takes, such as an audit.

Unlike the roles of the deployed service, a policy is for people: it names no account, so that it fits every one.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from plimsoll.clouds.aws.names import AUDIT_ROLE, DOCUMENT_NAME, PROBE_DOCUMENT_NAME, role_arn
from plimsoll.clouds.aws.permissions import (
    BENCHMARK_DOCUMENT,
    BILL,
    CHANGE,
    COMPARISON,
    COPIES,
    COPY_TAG,
    IN_PLACE_TAG,
    MEMBERS,
    ON_SCRATCH_ALONE,
    ORGANIZATION,
    OWN_ORGANIZATION,
    PROBE,
    SCRATCH_CONDITION,
    STATES,
    VALIDATION,
    auditing,
    copying_condition,
    making_condition,
    tag_condition,
    tagging_condition,
)
from plimsoll.clouds.permissions import PermissionRequest, PolicyFormat, Purpose
from plimsoll.model.policy import Policy
from plimsoll.model.task import ScratchBounds

_RESULTS: Final = frozenset({"s3:GetObject", "s3:ListBucket"})
_DOCUMENT: Final = BENCHMARK_DOCUMENT | {"ssm:GetDocument"}
_WITH_RESOURCES: Final = (
    _RESULTS | _DOCUMENT | ON_SCRATCH_ALONE | {"ec2:CreateTags", "ec2:CreateVolume", "ssm:SendCommand"}
)
"""What of a validation IAM can bind to volumes, instances, documents and buckets. The rest reads, or ends commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A permission: actions, resources, and the condition."""

    sid: str
    actions: Collection[str]
    resources: Sequence[str] = ("*",)
    conditions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def as_iam(self) -> dict[str, Any]:
        """The statement as IAM has it."""
        statement: dict[str, Any] = {"Sid": self.sid, "Effect": "Allow", "Action": sorted(self.actions)}
        statement["Resource"] = self.resources[0] if len(self.resources) == 1 else list(self.resources)
        if self.conditions:
            statement["Condition"] = json.loads(json.dumps(self.conditions))
        return statement


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsPolicy:
    """The policy for a purpose, as `policy` (of Plimsoll) wants it.

    `organization` adds what it takes to find an Organization's accounts and to enter them. `bucket` is where long
    results of benchmarks are kept, if anywhere, or where a bill is. `partition` is aws, aws-cn or aws-us-gov. `copies`
    lets a validation copy volumes that their owners tagged; with `locked_document` it cannot write the document that
    measures.
    """

    purpose: Purpose
    policy: Policy
    organization: bool = False
    bucket: str | None = None
    partition: str = "aws"
    copies: bool = False
    locked_document: bool = False

    @property
    def name(self) -> str:
        """The policy's name."""
        return f"plimsoll-{self.purpose}"

    @property
    def statements(self) -> list[Statement]:
        """The IAM statements for the purpose: a change and a bill have only their own, every other purpose has the
        audit's as well."""
        if self.purpose is Purpose.CHANGE:
            return [
                Statement(sid="Look", actions=CHANGE - {"ec2:ModifyVolume"}),
                Statement(sid="ChangeVolumes", actions={"ec2:ModifyVolume"}, resources=(self._ec2("volume/*"),)),
            ]
        if self.purpose is Purpose.BILL:
            return list(self._read_bucket("Bill", BILL))
        statements = [Statement(sid="Audit", actions=auditing(self.policy))]
        if self.organization:
            entered = role_arn("*", AUDIT_ROLE, self.partition)
            statements.append(Statement(sid="FindAccounts", actions=ORGANIZATION))
            ours = {"StringEquals": OWN_ORGANIZATION}
            statements.append(Statement(sid="EnterAccounts", actions=MEMBERS, resources=(entered,), conditions=ours))
        if self.purpose is Purpose.COMPARE:
            statements.append(Statement(sid="Compare", actions=COMPARISON))
        if self.purpose is Purpose.STATES:
            statements.append(Statement(sid="States", actions=STATES - auditing(self.policy)))
        if self.purpose is Purpose.PROBE:
            statements += self._probe()
        if self.purpose is Purpose.VALIDATE:
            statements += self._validation()
        return statements

    def document(self) -> dict[str, Any]:
        """The policy as IAM has it."""
        return {"Version": "2012-10-17", "Statement": [statement.as_iam() for statement in self.statements]}

    def json(self) -> str:
        """JSON, for the console and the AWS CLI."""
        return json.dumps(self.document(), indent=2)

    def terraform(self) -> str:
        """Terraform: one aws_iam_policy."""
        written = self.json().replace("${", "$${").replace("\n", "\n  ")  # IAM's variables are none of Terraform's
        return (
            f'resource "aws_iam_policy" "{self.name.replace("-", "_")}" {{\n'
            f'  name        = "{self.name}"\n'
            f'  description = "{self.purpose.says}"\n'
            f"  policy = jsonencode({written})\n"
            "}"
        )

    def cloudformation(self) -> str:
        """A CloudFormation template: one managed policy, and its ARN."""
        resource = {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {
                "ManagedPolicyName": self.name,
                "Description": self.purpose.says,
                "PolicyDocument": self.document(),
            },
        }
        template = {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Description": self.purpose.says,
            "Resources": {"Policy": resource},
            "Outputs": {"PolicyArn": {"Value": {"Ref": "Policy"}}},
        }
        return yaml.safe_dump(template, sort_keys=False, width=100).rstrip("\n")

    def _probe(self) -> Iterator[Statement]:
        """A probe of any host, by a document that its holder cannot change: that bounds what is run there."""
        document = self._document(PROBE_DOCUMENT_NAME)
        bound = {"ssm:GetDocument", "ssm:SendCommand"}
        yield Statement(sid="Probe", actions=PROBE - bound - auditing(self.policy))
        yield Statement(sid="SendDocument", actions=bound, resources=(document,))
        yield Statement(sid="SendToHosts", actions={"ssm:SendCommand"}, resources=(self._ec2("instance/*"),))

    def _validation(self) -> Iterator[Statement]:
        """A validation, bound as the deployed service's role is: what takes a volume away, to scratch volumes alone."""
        volumes, instances = (self._ec2("volume/*"),), (self._ec2("instance/*"),)
        document = (self._document(DOCUMENT_NAME),)
        bounds = ScratchBounds()
        yield Statement(sid="Validate", actions=VALIDATION - _WITH_RESOURCES - auditing(self.policy))
        yield Statement(
            sid="MakeScratch", actions={"ec2:CreateVolume"}, resources=volumes, conditions=making_condition(bounds)
        )
        if self.copies:
            made = copying_condition(bounds)
            yield Statement(sid="MakeCopies", actions=COPIES, resources=volumes, conditions=made)
            # What is copied has an id, and the copy has none yet: IAM judges each by itself.
            tagged = tag_condition("aws:ResourceTag", COPY_TAG)
            yield Statement(sid="CopyTagged", actions=COPIES, resources=(self._ec2("volume/vol-*"),), conditions=tagged)
        tags = tagging_condition(copies=self.copies)
        yield Statement(sid="TagWhatIsMade", actions={"ec2:CreateTags"}, resources=volumes, conditions=tags)
        yield Statement(sid="ScratchAlone", actions=ON_SCRATCH_ALONE, resources=volumes, conditions=SCRATCH_CONDITION)
        yield Statement(sid="DetachFromHosts", actions={"ec2:DetachVolume"}, resources=instances)
        for number, tag in enumerate(self.policy.bench_hosts, start=1):
            tagged = tag_condition("aws:ResourceTag", tag)
            yield Statement(
                sid=f"AttachToBench{number}", actions={"ec2:AttachVolume"}, resources=instances, conditions=tagged
            )
        kept = _DOCUMENT - BENCHMARK_DOCUMENT if self.locked_document else _DOCUMENT
        yield Statement(sid="KeepDocument", actions=kept, resources=document)
        yield Statement(sid="SendDocument", actions={"ssm:SendCommand"}, resources=document)
        for number, tag in enumerate((*self.policy.bench_hosts, IN_PLACE_TAG), start=1):
            tagged = tag_condition("ssm:resourceTag", tag)
            yield Statement(
                sid=f"SendToHosts{number}", actions={"ssm:SendCommand"}, resources=instances, conditions=tagged
            )
        if self.bucket is not None:
            yield from self._read_bucket("Results", _RESULTS)

    def _read_bucket(self, what: str, actions: Collection[str]) -> Iterator[Statement]:
        """The reading of a bucket: its list by the bucket itself, the rest by its objects."""
        bucket, listing = f"arn:{self.partition}:s3:::{self.bucket}", {"s3:ListBucket"}
        yield Statement(sid=f"List{what}", actions=listing, resources=(bucket,))
        yield Statement(sid=f"Read{what}", actions=set(actions) - listing, resources=(f"{bucket}/*",))

    def _document(self, name: str) -> str:
        return f"arn:{self.partition}:ssm:*:*:document/{name}"

    def _ec2(self, resource: str) -> str:
        return f"arn:{self.partition}:ec2:*:*:{resource}"


def write_permissions(request: PermissionRequest) -> str:
    """The policy that is asked for, in its format."""
    policy = AwsPolicy(
        purpose=request.purpose,
        policy=request.policy,
        organization=request.organization,
        bucket=request.bucket,
        partition=request.partition,
        copies=request.copies,
        locked_document=request.locked_document,
    )
    match request.format:
        case PolicyFormat.JSON:
            return policy.json()
        case PolicyFormat.TERRAFORM:
            return policy.terraform()
        case PolicyFormat.CLOUDFORMATION:
            return policy.cloudformation()
