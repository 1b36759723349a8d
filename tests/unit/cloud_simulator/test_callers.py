"""Who calls: the home key, assumed roles, and strangers."""

import boto3
import pytest
from botocore.exceptions import ClientError

from .served import HOME, ONCE

pytestmark = pytest.mark.once


@pytest.mark.parametrize("number", [HOME, "222222222222", "333333333333"])
def test_each_caller_is_in_an_account_of_its_own_and_sees_its_own_volumes(account, number):
    assert account.client("sts", account=number).get_caller_identity()["Account"] == number
    pages = account.client("ec2", account=number).get_paginator("describe_volumes").paginate()
    seen = {volume["VolumeId"] for page in pages for volume in page["Volumes"]}
    assert seen == {volume.id for volume in account.fleet.at(number, "us-east-1")}


def test_a_role_outside_the_organization_cannot_be_assumed(account):
    with pytest.raises(ClientError, match=r"AccessDenied.*sts:AssumeRole"):
        account.client("sts").assume_role(RoleArn="arn:aws:iam::999999999999:role/x", RoleSessionName="test")


@pytest.mark.parametrize(
    ("service", "call", "code"),
    [
        ("sts", "get_caller_identity", "InvalidClientTokenId"),
        ("ec2", "describe_volumes", "AuthFailure"),
        ("compute-optimizer", "get_enrollment_status", "UnrecognizedClientException"),
    ],
)
def test_an_unknown_key_is_refused_as_each_service_does(account, service, call, code):
    stranger = boto3.Session().client(
        service,
        region_name="us-east-1",
        endpoint_url=account.endpoint,
        aws_access_key_id="AKIANOBODY",
        aws_secret_access_key="x",
        config=ONCE,
    )
    with pytest.raises(ClientError) as refused:
        getattr(stranger, call)()
    assert refused.value.response["Error"]["Code"] == code
