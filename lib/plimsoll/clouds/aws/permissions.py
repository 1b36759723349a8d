"""Permissions: exactly the IAM actions that each capability uses, for the roles that grant them."""

from typing import Final

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
