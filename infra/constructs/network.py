"""The network: functions in subnets of a VPC, and the endpoints there of what they ask in their own region."""

from collections.abc import Mapping
from typing import Final

from aws_cdk import Aws, CfnCondition, CfnResource, Fn
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.grants import Grant
from infra.settings import Network

INTERFACES: Final = Grant(
    actions=(
        "ec2:AssignPrivateIpAddresses",
        "ec2:CreateNetworkInterface",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSubnets",
        "ec2:UnassignPrivateIpAddresses",
    ),
    resources=("*",),
    conditions={"Null": {"lambda:SourceFunctionArn": "true"}},
    wildcard="Lambda makes the interfaces of functions; calls of a function's own code are not allowed.",
)
"""The rights of Lambda in a VPC (AWS managed policy AWSLambdaVPCAccessExecutionRole). Calls of a function's code carry
its ARN, and those of Lambda itself do not (AWS Lambda Developer Guide, "Using source function ARN", read
2026-11-27)."""

ENDPOINTS: Final[Mapping[str, str]] = {
    "cloudwatch": "monitoring",
    "ec2": "ec2",
    "events": "events",
    "lambda": "lambda",
    "secretsmanager": "secretsmanager",
    "ssm": "ssm",
    "stepfunctions": "states",
    "sts": "sts",
}
"""The names of interface endpoints, by the services that functions ask in the region deployed in."""

GATEWAYS: Final = ("dynamodb", "s3")
"""The services whose endpoints are routes, and cost nothing."""

NAMED_APART_IN_CHINA: Final = frozenset({"ec2", "lambda", "monitoring", "states", "sts"})
"""The interface endpoints whose names begin with `cn.com.amazonaws` in China, and not with `com.amazonaws` as
everywhere else ("Endpoints and ARNs for Amazon Web Services in China", and CDK's InterfaceVpcEndpointAwsService, read
2026-11-27)."""

_HTTPS: Final = 443


def connect(function: lambda_.Function, network: Network) -> None:
    """Puts a function into the subnets."""
    made = function.node.default_child
    if not isinstance(made, lambda_.CfnFunction):
        raise TypeError(f"{function.node.path} has no resource of its own.")
    made.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
        subnet_ids=list(network.subnet_ids), security_group_ids=list(network.security_group_ids)
    )


class Endpoints(Construct):
    """The endpoints in a VPC, which take HTTPS from the functions' security groups alone.

    They are plain resources: CDK's classes for EC2 take more time and memory than all others together.
    """

    def __init__(self, scope: Construct, *, network: Network, tags: Mapping[str, str]) -> None:
        super().__init__(scope, "Endpoints")
        self._network = network
        # Templates are for every region of every partition, so that only their deployment knows which names are meant.
        china = CfnCondition(self, "China", expression=Fn.condition_equals(Aws.PARTITION, "aws-cn"))
        self._apart = Fn.condition_if(china.logical_id, "cn.com.amazonaws", "com.amazonaws").to_string()
        self._tags = [{"Key": key, "Value": value} for key, value in sorted(tags.items())]
        group = self._make(
            "Group",
            "AWS::EC2::SecurityGroup",
            GroupDescription="Plimsoll: HTTPS from its functions to endpoints of AWS",
            SecurityGroupIngress=[
                {
                    "Description": "HTTPS from the functions",
                    "IpProtocol": "tcp",
                    "FromPort": _HTTPS,
                    "ToPort": _HTTPS,
                    "SourceSecurityGroupId": functions,
                }
                for functions in network.security_group_ids
            ],
            # An endpoint answers, and begins nothing; without any rule EC2 would let everything out.
            SecurityGroupEgress=[{"Description": "Nothing", "IpProtocol": "-1", "CidrIp": "127.0.0.1/32"}],
        )
        for name in ENDPOINTS.values():
            self._endpoint(
                name,
                VpcEndpointType="Interface",
                PrivateDnsEnabled=True,
                SubnetIds=list(network.subnet_ids),
                SecurityGroupIds=[group.get_att("GroupId").to_string()],
            )
        for name in GATEWAYS:
            self._endpoint(name, VpcEndpointType="Gateway", RouteTableIds=list(network.route_table_ids))

    def _endpoint(self, name: str, **properties: object) -> None:
        beginning = self._apart if name in NAMED_APART_IN_CHINA else "com.amazonaws"
        service = f"{beginning}.{Aws.REGION}.{name}"
        self._make(name.capitalize(), "AWS::EC2::VPCEndpoint", ServiceName=service, **properties)

    def _make(self, construct: str, kind: str, **properties: object) -> CfnResource:
        given = {"VpcId": self._network.vpc_id, **properties, **({"Tags": self._tags} if self._tags else {})}
        return CfnResource(self, construct, type=kind, properties=given)
