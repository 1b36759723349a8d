"""Permissions: exactly the IAM actions that each capability uses, for the roles that grant them."""

from collections.abc import Mapping
from typing import Final

from plimsoll.domain.scratch import SCRATCH_TAG

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

SWEEP: Final = frozenset({"ec2:DeleteVolume", "ec2:DescribeVolumes", "ec2:DetachVolume"})
"""What a sweep of scratch volumes uses."""

VALIDATION: Final = SWEEP | {
    "cloudwatch:GetMetricData",
    "ec2:AttachVolume",
    "ec2:CopyVolumes",
    "ec2:CreateTags",
    "ec2:CreateVolume",
    "ec2:DescribeInstances",
    "ec2:DescribeInstanceTypes",
    "s3:GetObject",
    "s3:ListBucket",
    "ssm:CancelCommand",
    "ssm:CreateDocument",
    "ssm:DescribeInstanceInformation",
    "ssm:GetCommandInvocation",
    "ssm:GetDocument",
    "ssm:SendCommand",
    "ssm:UpdateDocument",
}
"""What a validation uses. ec2:CreateTags is no call of its own: it allows the tags that CreateVolume and CopyVolumes
are given. S3 is read only where a bucket for results is named."""

ON_SCRATCH_ALONE: Final = frozenset({"ec2:AttachVolume", "ec2:DeleteVolume", "ec2:DetachVolume"})
"""Those that a role grants on volumes only under `SCRATCH_CONDITION`: the adapter looks for the tag too, but a mistake
of its own must not reach a volume that holds data. Attaching and detaching also need the instance as a resource."""

SCRATCH_CONDITION: Final[Mapping[str, Mapping[str, str]]] = {"Null": {f"aws:ResourceTag/{SCRATCH_TAG}": "false"}}
"""The IAM condition that the resource has the scratch tag."""

TAGGING_CONDITION: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "StringEquals": {"ec2:CreateAction": ("CreateVolume", "CopyVolumes")}
}
"""The IAM condition for ec2:CreateTags: tags are given when a volume is made, so nobody tags a volume that exists as
scratch and deletes it then."""
