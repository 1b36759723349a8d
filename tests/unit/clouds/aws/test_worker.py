"""Handing over to a function that does it in its own time: how Lambda is asked, and what its refusals become."""

import boto3
import pytest
from botocore.exceptions import ConnectionClosedError, ReadTimeoutError
from botocore.stub import Stubber

from plimsoll.clouds.aws.service import LambdaWorker
from plimsoll.model.errors import AccessDenied, Throttled, Unanswered


@pytest.fixture
def lambda_():
    client = boto3.client("lambda", region_name="eu-west-1", aws_access_key_id="x", aws_secret_access_key="x")
    with Stubber(client) as stubber:
        yield stubber


def test_a_message_is_handed_over_to_be_done_later(lambda_):
    asked = {"FunctionName": "work", "InvocationType": "Event", "Payload": '{"id": "größer"}'.encode()}
    lambda_.add_response("invoke", {"StatusCode": 202}, asked)
    LambdaWorker(function="work", client=lambda_.client).hand_over('{"id": "größer"}')
    lambda_.assert_no_pending_responses()


@pytest.mark.parametrize("lost", [ReadTimeoutError, ConnectionClosedError])
def test_what_may_have_been_taken_is_not_said_to_be_undone(lost):
    class Silent:
        def invoke(self, **_given):
            raise lost(endpoint_url="https://lambda.example")

    with pytest.raises(Unanswered, match="may or may not be carried out") as caught:
        LambdaWorker(function="work", client=Silent()).hand_over("{}")
    assert "Nothing of it was done" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        ("AccessDeniedException", AccessDenied, r"lambda:InvokeFunction\. Nothing of it was done; allow the action"),
        ("TooManyRequestsException", Throttled, "ask again later"),
    ],
)
def test_a_refusal_names_the_function_and_the_remedy(code, error, said, lambda_):
    lambda_.add_client_error("invoke", code)
    with pytest.raises(error, match=said) as caught:
        LambdaWorker(function="work", client=lambda_.client).hand_over("{}")
    assert "hand a request over to the function work" in str(caught.value)
