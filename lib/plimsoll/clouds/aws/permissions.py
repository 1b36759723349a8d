"""Permissions: exactly the IAM actions that each capability uses, for the roles that grant them."""

from collections.abc import Mapping
from typing import Any, Final

from plimsoll.clouds.aws.names import CLAIM_PREFIX, EVENT_SOURCE
from plimsoll.model.policy import Policy, TagMatch
from plimsoll.model.task import SCRATCH_TAG, ScratchBounds

AUDIT: Final = frozenset(
    {
        "aco-automation:GetEnrollmentConfiguration",
        "cloudwatch:GetMetricData",
        "ec2:DescribeInstances",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeRegions",
        "ec2:DescribeVolumes",
        "ec2:DescribeVolumesModifications",
        "pricing:GetProducts",
        "sts:GetCallerIdentity",
    }
)
"""What an audit reads with; sts:AssumeRole is the caller's side of a member role."""

AUDIT_LOG: Final = frozenset({"cloudtrail:LookupEvents"})
"""What an audit reads besides, where the policy says so (read_audit_log)."""


def auditing(policy: Policy) -> frozenset[str]:
    """The permissions that an audit by that policy reads with."""
    return AUDIT | AUDIT_LOG if policy.read_audit_log else AUDIT


SWEEP: Final = frozenset({"ec2:DeleteVolume", "ec2:DescribeVolumes", "ec2:DetachVolume"})
"""What a sweep of scratch volumes uses."""

BENCHMARK_DOCUMENT: Final = frozenset({"ssm:AddTagsToResource", "ssm:CreateDocument", "ssm:UpdateDocument"})
"""What making the document that measures uses, once a region for each version of it. Where the document is deployed as
a template, nobody who measures has it. ssm:AddTagsToResource is no call of its own: it allows the tags that
CreateDocument is given."""

VALIDATION: Final = (
    SWEEP
    | BENCHMARK_DOCUMENT
    | {
        "cloudwatch:GetMetricData",
        "ec2:AttachVolume",
        "ec2:CreateTags",
        "ec2:CreateVolume",
        "ec2:DescribeInstances",
        "ec2:DescribeInstanceTypes",
        "s3:GetObject",
        "s3:ListBucket",
        "ssm:CancelCommand",
        "ssm:DescribeInstanceInformation",
        "ssm:GetCommandInvocation",
        "ssm:GetDocument",
        "ssm:SendCommand",
    }
)
"""What a validation uses that copies no volume. ec2:CreateTags is no call of its own: it allows the tags that
CreateVolume is given. S3 is read only where a bucket for results is named."""

COPIES: Final = frozenset({"ec2:CopyVolumes"})
"""What the mode `copy` uses besides. Whoever has it can read what is on the volumes that it is granted on."""

PROBE: Final = frozenset(
    {
        "ec2:DescribeInstances",
        "ec2:DescribeInstanceTypes",
        "ssm:CancelCommand",
        "ssm:DescribeInstanceInformation",
        "ssm:GetCommandInvocation",
        "ssm:GetDocument",
        "ssm:SendCommand",
    }
)
"""What a probe uses besides an audit's, where its document is there already. IAM looks at the document and at the
instances of ssm:SendCommand one by one. So whoever may probe any host must not hold `VALIDATION` as well, or its
document could be run on any host too."""

PROBE_DOCUMENT: Final = BENCHMARK_DOCUMENT
"""What making the probe's document uses, once a region for each version of it. No policy for probes has it: whoever may
write a document, and send it to any host, may do anything there."""

COMPARISON: Final = frozenset({"compute-optimizer:GetEBSVolumeRecommendations", "ec2:DescribeVolumes"})
"""What a comparison with Compute Optimizer uses besides an audit's own answers. Compute Optimizer asks for
ec2:DescribeVolumes too (AWS Compute Optimizer User Guide, "Controlling access", read 2026-11-27)."""

STATES: Final = frozenset(
    {
        "cloudtrail:LookupEvents",
        "cloudwatch:GetMetricData",
        "ec2:DescribeFastSnapshotRestores",
        "ec2:DescribeImageAttribute",
        "ec2:DescribeImages",
        "ec2:DescribeInstances",
        "ec2:DescribeLaunchTemplateVersions",
        "ec2:DescribeLockedSnapshots",
        "ec2:DescribeSnapshotAttribute",
        "ec2:DescribeSnapshots",
        "ec2:DescribeVolumes",
        "rbin:GetRule",
        "rbin:ListRules",
    }
)
"""What `plimsoll states` reads besides an audit's own answers. Each is optional: nothing is said that rests on one that
is denied, and that one is named."""

BILL: Final = frozenset({"s3:GetObject", "s3:ListBucket"})
"""The permissions for reading a bill in S3, on its bucket. One with a KMS key also needs kms:Decrypt on that key."""

CHANGE: Final = frozenset(
    {
        "cloudtrail:LookupEvents",
        "cloudwatch:DescribeAlarms",
        "cloudwatch:GetMetricData",
        "ec2:DescribeInstances",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeVolumes",
        "ec2:DescribeVolumesModifications",
        "ec2:ModifyVolume",
        "sts:GetCallerIdentity",
    }
)
"""The permissions of `plimsoll change`: it looks at volumes, and modifies those of an approved plan. Without
cloudtrail:LookupEvents other people's modifications are not counted. Rules that name alarms use
cloudwatch:DescribeAlarms."""

CHANGE_TAG: Final = "plimsoll:change"
"""The tag of a volume that a plan changes; its value is the plan's id."""

CHANGED_CONDITION: Final[Mapping[str, Mapping[str, str]]] = {"Null": {f"aws:ResourceTag/{CHANGE_TAG}": "false"}}
"""The IAM condition that a plan has marked the volume: in the deployed service nothing else is modified."""

PLANNING: Final = frozenset(
    {
        "ec2:CreateTags",
        "ec2:DescribeInstances",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeVolumes",
        "ec2:DescribeVolumesModifications",
        "sts:GetCallerIdentity",
    }
)
"""The permissions to make a plan in the service: ec2:CreateTags under `MARKING_CONDITION`. Another role changes."""

MARKING_CONDITION: Final[Mapping[str, Mapping[str, Any]]] = {
    "ForAllValues:StringEquals": {"aws:TagKeys": (CHANGE_TAG,)},
    "Null": {f"aws:RequestTag/{CHANGE_TAG}": "false"},
}
"""The IAM condition that no other tag is given."""

FACTS_WRITING: Final = frozenset({"s3:PutObject"})
"""On the objects of the bucket of facts, under `FACTS_CONDITION`: nothing is deleted there, or written over."""

FACTS_CONDITION: Final[Mapping[str, Mapping[str, str]]] = {"Null": {"s3:if-none-match": "false"}}
"""The IAM condition that an object is written only if there is none (Amazon S3 User Guide, "Enforce conditional writes
on Amazon S3 buckets", read 2026-11-27)."""

SWITCH: Final = frozenset({"ssm:GetParameter"})
"""The permission to read the switch that ends changes, on its parameter."""

ON_SCRATCH_ALONE: Final = frozenset({"ec2:AttachVolume", "ec2:DeleteVolume", "ec2:DetachVolume"})
"""Those that a role grants on volumes only under `SCRATCH_CONDITION`: the adapter looks for the tag too, but a mistake
of its own must not reach a volume that holds data. Attaching and detaching also need the instance as a resource."""

SCRATCH_CONDITION: Final[Mapping[str, Mapping[str, str]]] = {"Null": {f"aws:ResourceTag/{SCRATCH_TAG}": "false"}}
"""The IAM condition that the resource has the scratch tag."""

COPY_TAG: Final = TagMatch(tag="plimsoll:copy", value="true")
"""The tag of a volume that may be copied. Its owner sets it: no role of ours may tag a volume that exists."""

IN_PLACE_TAG: Final = TagMatch(tag="plimsoll:in-place", value="true")
"""The tag of an instance whose volumes may be measured in place. Bench hosts do not need it."""


def tag_condition(key: str, match: TagMatch) -> Mapping[str, Mapping[str, str]]:
    """The IAM condition that a resource has a tag. A key is, for example, aws:ResourceTag."""
    if match.value is None:
        return {"Null": {f"{key}/{match.tag}": "false"}}
    return {"StringEquals": {f"{key}/{match.tag}": match.value}}


def tagging_condition(*, copies: bool) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The IAM condition for ec2:CreateTags: tags are given when a volume is made, so nobody tags a volume that exists
    as scratch and deletes it then."""
    return {"StringEquals": {"ec2:CreateAction": ("CreateVolume", "CopyVolumes") if copies else ("CreateVolume",)}}


MADE_AS_SCRATCH: Final[Mapping[str, Mapping[str, str]]] = {"Null": {f"aws:RequestTag/{SCRATCH_TAG}": "false"}}
"""The IAM condition that a volume is made with the scratch tag."""


def making_condition(bounds: ScratchBounds) -> Mapping[str, Mapping[str, str]]:
    """The IAM condition for making an empty volume: with the scratch tag, and no larger than that.

    EC2 sends a size with every one, IOPS and throughput where they are given (Service Authorization Reference,
    ec2:VolumeSize, ec2:VolumeIops and ec2:VolumeThroughput).
    """
    sold = {"ec2:VolumeIops": str(bounds.iops), "ec2:VolumeThroughput": str(bounds.throughput_mib_s)}
    return {
        **MADE_AS_SCRATCH,
        "NumericLessThanEquals": {"ec2:VolumeSize": str(bounds.size_gib)},
        "NumericLessThanEqualsIfExists": sold,
    }


def copying_condition(bounds: ScratchBounds) -> Mapping[str, Mapping[str, str]]:
    """The same for making a copy. That EC2 sends its size is not published: where it does, it is bounded too."""
    made = making_condition(bounds)
    size, sold = made["NumericLessThanEquals"], made["NumericLessThanEqualsIfExists"]
    return {**MADE_AS_SCRATCH, "NumericLessThanEqualsIfExists": {**size, **sold}}


STORE_READING: Final = frozenset({"s3:GetObject"})
"""On the objects of the store's bucket. One that reads needs `STORE_LISTING` for the same keys too: without it S3
answers for a key that is not there as for one that may not be read, and the store cannot tell."""

STORE_LISTING: Final = frozenset({"s3:ListBucket"})
"""On the bucket itself. A condition of s3:prefix must hold where there is no prefix too (`IfExists`): the question
whether a key is missing is asked while an object is read, and nothing published says that a prefix comes with it."""

STORE_WRITING: Final = frozenset({"s3:AbortMultipartUpload", "s3:DeleteObject", "s3:PutObject"})
"""On the objects of the store's bucket."""

WITH_KEY: Final = frozenset({"kms:Decrypt", "kms:GenerateDataKey"})
"""What S3 does with the caller's rights where a bucket is encrypted with a KMS key. DynamoDB does the same with
kms:Decrypt, by a grant that it makes itself when the table is made."""

CLAIMS: Final = frozenset({"dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem"})
"""What claims use, on the table of coordination, where `CLAIMS_CONDITION` keeps them to their own items."""

CLAIMS_CONDITION: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "ForAllValues:StringLike": {"dynamodb:LeadingKeys": (f"{CLAIM_PREFIX}*",)}
}
"""The IAM condition that every item is a claim's."""

IDEMPOTENCY: Final = frozenset({"dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"})
"""What Powertools' idempotency uses on the same table."""

HISTORY: Final = frozenset({"dynamodb:BatchGetItem", "dynamodb:BatchWriteItem"})
"""What remembering a run's recommendations in the history of volumes uses, on its table."""

EVENTS: Final = frozenset({"events:PutEvents"})
"""What sending events uses, on the bus, under `EVENTS_CONDITION`."""

EVENTS_CONDITION: Final[Mapping[str, Mapping[str, str]]] = {"StringEquals": {"events:source": EVENT_SOURCE}}
"""The IAM condition that events say they are Plimsoll's."""

EXECUTIONS: Final = frozenset({"states:ListExecutions"})
"""What looking for an audit under way uses, on the state machine."""

BEGUN: Final = frozenset({"states:DescribeExecution"})
"""What finding out whether one of that name was begun before uses, on the executions of a state machine."""

ORGANIZATION: Final = frozenset(
    {
        "organizations:ListAccounts",
        "organizations:ListAccountsForParent",
        "organizations:ListOrganizationalUnitsForParent",
    }
)
"""What finding the accounts of an Organization uses: in its management account, or in a delegated administrator's."""

CONFIGURATION: Final = frozenset({"ssm:GetParameter"})
"""What reading the service's configuration uses, on its parameter."""

MEMBERS: Final = frozenset({"sts:AssumeRole"})
"""What signing in to another account uses, on `names.role_arn("*", ...)`."""


OWN_ORGANIZATION: Final[Mapping[str, str]] = {"aws:ResourceOrgID": "${aws:PrincipalOrgID}"}
"""What must be equal so that a role is entered in the caller's own Organization alone (IAM User Guide, "AWS global
condition context keys", read 2026-11-23): a role of that name that a stranger makes is not entered."""


def trust_condition(external_id: str | None) -> Mapping[str, Mapping[str, str]]:
    """The IAM condition under which a member role trusts the service: the external id is given, where there is one."""
    return {} if external_id is None else {"StringEquals": {"sts:ExternalId": external_id}}


SECRET: Final = frozenset({"secretsmanager:GetSecretValue"})
"""What reading Slack's signing secret and token uses, on their secret. One with a KMS key also needs `WITH_KEY`."""

HANDING_OVER: Final = frozenset({"lambda:InvokeFunction"})
"""What handing a request to the function that carries it out uses, on that function."""

BEGINNING: Final = frozenset({"states:StartExecution"})
"""What beginning an audit or a validation uses, on its state machine."""

DECISIONS: Final = frozenset({"dynamodb:BatchGetItem", "dynamodb:UpdateItem"})
"""What reading and adding to people's decisions uses, on the table of the history of volumes."""
