"""Slack's door: the address that Slack calls, in front of the one function that the public reaches.

A web ACL of AWS WAF cannot be attached to a function URL or to an HTTP API, but to a REST API ("AssociateWebACL", AWS
WAFV2 API Reference). CloudFront before a function URL would need a hash of each body, which Slack does not send
("Restrict access to an AWS Lambda function URL origin", CloudFront Developer Guide). Both read 2026-11-27. So the door
that can have one is a REST API, and also where it has none yet: the address that Slack knows then stays the same.
"""

from collections.abc import Mapping
from typing import Final

from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_wafv2 as wafv2
from constructs import Construct

from infra.grants import acknowledge
from infra.names import Names
from infra.settings import Deployment

_REQUESTS_A_SECOND: Final = 20
_BURST: Final = 40
"""More than a workspace presses. What goes beyond is refused by API Gateway, calls no function and costs nothing."""

_PUBLIC: Final[Mapping[str, str]] = {
    "AwsSolutions-APIG1": "Access logs of a REST API need a role of the whole account and region, which is not this "
    "stack's to set. The function logs every refusal, and a web ACL logs its own.",
    "AwsSolutions-APIG2": "Slack signs the bytes of a request, so the function checks them as they came.",
    "AwsSolutions-APIG3": "The web ACL is the owner's choice (slack_web_acl_arn): AWS has no free one.",
    "AwsSolutions-APIG4": "Slack signs its requests, and cannot sign in; the function refuses all others.",
    "AwsSolutions-APIG6": "Logs of a stage's calls need that role too, and would hold what people write.",
    "AwsSolutions-COG4": "As for APIG4: Slack has no user of Cognito.",
}
"""The findings of cdk-nag that a door for Slack has by its nature, with the reasons."""


def open_door(scope: Construct, function: lambda_.Function, *, names: Names, deployment: Deployment) -> str:
    """The address of the door that the settings choose. The function is reached by no other."""
    if deployment.slack_door == "rest-api":
        return _rest_api(scope, function, names=names, web_acl_arn=deployment.slack_web_acl_arn)
    return function.add_function_url(auth_type=lambda_.FunctionUrlAuthType.NONE).url


def _rest_api(scope: Construct, function: lambda_.Function, *, names: Names, web_acl_arn: str | None) -> str:
    """A REST API whose root alone answers, with the methods that Slack has."""
    api = apigateway.RestApi(
        scope,
        "Door",
        rest_api_name=f"{names.prefix}-slack",
        description="Plimsoll: what Slack calls",
        endpoint_types=[apigateway.EndpointType.REGIONAL],
        # Every body comes in base64: its very bytes are signed.
        binary_media_types=["*/*"],
        cloud_watch_role=False,
        deploy_options=apigateway.StageOptions(
            stage_name="slack",
            throttling_rate_limit=_REQUESTS_A_SECOND,
            throttling_burst_limit=_BURST,
        ),
    )
    front = apigateway.LambdaIntegration(function, allow_test_invoke=False)
    for method in ("GET", "POST"):
        api.root.add_method(method, front)
    for finding, reason in _PUBLIC.items():
        acknowledge(api, finding, reason)
    if web_acl_arn is not None:
        wafv2.CfnWebACLAssociation(
            scope, "WebAcl", resource_arn=api.deployment_stage.stage_arn, web_acl_arn=web_acl_arn
        )
    return api.url
