"""The region that stacks are deployed in, as far as synthesis knows it, and what AWS lacks there."""

import os
from collections.abc import Mapping
from typing import Final

from aws_cdk import App, Aspects, IAspect
from aws_cdk import aws_lambda as lambda_
from aws_cdk.region_info import RegionInfo
from constructs import IConstruct
from jsii import implements

from infra.settings import PREFIX, Deployment
from plimsoll.model.errors import BadInput

_VARIABLES: Final = ("CDK_DEFAULT_REGION", "AWS_REGION", "AWS_DEFAULT_REGION")
"""Who says the region: CDK's command line of the profile that it deploys with, else the caller's environment."""

WITHOUT_FUNCTION_URLS: Final = frozenset(
    {
        *("ap-east-2", "ap-south-2", "ap-southeast-4", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7"),
        *("ca-west-1", "eu-central-2", "eu-south-2", "il-central-1", "me-central-1"),
    }
)
"""The regions without Lambda function URLs ("Creating and managing Lambda function URLs", Lambda Developer Guide).
GovCloud and China have none either (AWS GovCloud (US) User Guide, Getting Started with AWS in China). Read
2026-11-27."""

_TRACED: Final = ("aws", "aws-us-gov")
"""The partitions whose functions X-Ray traces; China's are not (Getting Started with AWS in China, read 2026-11-27)."""


def find_region(environment: Mapping[str, str] = os.environ) -> str | None:
    """The region that the stacks go to. None if nothing says it, as where only templates are written."""
    return next((region for name in _VARIABLES if (region := environment.get(name))), None)


def check_region(deployment: Deployment, region: str | None) -> None:
    """Raises BadInput if a chosen part does not exist in the region, or belongs to another one."""
    if region is None or deployment.slack is None:
        return
    if deployment.slack_door == "function-url" and not has_function_urls(region):
        raise BadInput(
            f"slack_door: Lambda has no function URLs in {region}. Choose the other door: {PREFIX}SLACK_DOOR=rest-api."
        )
    acl = deployment.slack_web_acl_arn
    if acl is not None and acl.split(":")[3] != region:
        raise BadInput(
            f"slack_web_acl_arn: the web ACL is in {acl.split(':')[3]}, and the service goes to {region}. AWS WAF "
            "takes one of the same region."
        )


def has_function_urls(region: str) -> bool:
    """True where Lambda has function URLs, as far as AWS says: other partitions than its public one have none."""
    return _partition(region) == "aws" and region not in WITHOUT_FUNCTION_URLS


def leave_out_what_is_missing(app: App, region: str | None) -> None:
    """Takes from the stacks what does not exist in the region, and would stop their deployment."""
    if region is not None and _partition(region) not in _TRACED:
        Aspects.of(app).add(_Untraced())


@implements(IAspect)
class _Untraced:
    """Takes the tracing from functions."""

    def visit(self, node: IConstruct) -> None:
        """Takes it from one construct, if that is a function."""
        if isinstance(node, lambda_.CfnFunction):
            node.tracing_config = None


def _partition(region: str) -> str:
    return RegionInfo.get(region).partition or ""
