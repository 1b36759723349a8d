"""Google learns who asks from a request that the function's AWS role signs, and no key is ever there."""

import os

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from plimsoll.model.errors import BadCredentials, Unreachable
from plimsoll_google.clients import READ_ONLY_SCOPES, Clients, keyless_credentials
from plimsoll_google.errors import GOOGLE_AUDITING, google_errors
from plimsoll_google.federation import FederationConfig
from tests.federation import AUDIENCE, FEDERATED, IMPERSONATED, fake_google

LAMBDA = {
    "AWS_ACCESS_KEY_ID": "ASIAEXAMPLE000000000",
    "AWS_SECRET_ACCESS_KEY": "the-secret-of-the-role",
    "AWS_SESSION_TOKEN": "the-session-of-the-role",
    "AWS_REGION": "eu-west-1",
}
"""What Lambda's runtime gives a function (AWS Lambda Developer Guide, "Defined runtime environment variables")."""


@pytest.fixture
def google(monkeypatch):
    """Google on loopback, in an environment such as a function's; whatever leaves this machine ends there as well."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    for name, value in LAMBDA.items():
        monkeypatch.setenv(name, value)
    with fake_google() as there:
        monkeypatch.setenv("HTTPS_PROXY", there.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield there


def list_disks(google, **more):
    credentials = keyless_credentials(FederationConfig.model_validate(google.config(**more)))
    clients = Clients(url=google.url, credentials=credentials)
    with google_errors("read storage-prod", "storage-prod", "compute.disks.list", GOOGLE_AUDITING):
        found = list(clients.disks.aggregated_list(project="storage-prod"))
    clients.close()
    return found


def test_the_role_s_signed_question_who_it_is_buys_the_token_that_compute_engine_is_asked_with(google):
    list_disks(google)
    (exchange,), (disks,) = google.of("/v1/token"), google.of("/aggregated/disks")
    assert exchange.form["audience"] == AUDIENCE
    assert exchange.form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange"
    assert exchange.form["scope"].split() == list(READ_ONLY_SCOPES)
    assert exchange.proof["method"] == "POST"
    assert exchange.proof["url"] == ("https://sts.eu-west-1.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15")
    assert disks.bearer == FEDERATED


def test_the_question_is_signed_as_botocore_signs_it(google):
    list_disks(google)
    proof = google.of("/v1/token")[0].proof
    signed = proof["headers"]
    again = AWSRequest(method="POST", url=proof["url"], headers={"x-amz-date": signed["x-amz-date"]})
    assert signature_by_botocore(again, signed["x-amz-date"]) == signed["authorization"].partition("Signature=")[2]
    assert signed["x-amz-security-token"] == LAMBDA["AWS_SESSION_TOKEN"]
    assert signed["x-goog-cloud-target-resource"] == AUDIENCE
    sent = " ".join(f"{request.headers} {request.body}" for request in google.asked)
    assert LAMBDA["AWS_SECRET_ACCESS_KEY"] not in sent


def test_no_metadata_server_is_asked(google):
    list_disks(google)
    assert not google.of("169.254.169.254")


def test_a_service_account_may_stand_between(google):
    address = f"{google.url}/v1/projects/-/serviceAccounts/plimsoll@tools.iam.gserviceaccount.com:generateAccessToken"
    list_disks(google, service_account_impersonation_url=address)
    (asked,), (disks,) = google.of(":generateAccessToken"), google.of("/aggregated/disks")
    assert (asked.bearer, disks.bearer) == (FEDERATED, IMPERSONATED)


def test_a_role_that_the_pool_does_not_know_is_told_by_what_google_says_of_it(google):
    google.refusal = {"error": "unauthorized_client", "error_description": "The given credential is rejected"}
    with pytest.raises(BadCredentials, match="The given credential is rejected") as refused:
        list_disks(google)
    assert "provider of the workload identity pool" in str(refused.value)
    assert "gcloud auth application-default" not in str(refused.value)


def test_before_metrics_are_asked_for_a_refused_role_is_told_as_such_and_not_as_a_lost_connection(google):
    google.refusal = {"error": "unauthorized_client", "error_description": "The given credential is rejected"}
    clients = Clients(credentials=keyless_credentials(FederationConfig.model_validate(google.config())))
    with pytest.raises(BadCredentials, match=r"cannot sign in to Google Cloud: .*The given credential is rejected"):
        _ = clients.metrics
    assert len(google.of("/v1/token")) == 1
    google.refusal = None
    assert clients.metrics is clients.metrics
    clients.close()
    assert len(google.of("/v1/token")) == 2


@pytest.mark.parametrize("failure", [{"error": {"code": 503, "status": "UNAVAILABLE"}}, {"error": "server_error"}])
def test_a_token_service_that_is_down_is_tried_again_and_refuses_nobody(google, monkeypatch, failure):
    monkeypatch.setattr("google.api_core.retry.retry_unary.time.sleep", lambda _: None)
    google.refusal = failure
    credentials = keyless_credentials(FederationConfig.model_validate(google.config()))
    with pytest.raises(Unreachable, match="no connection"):
        _ = Clients(credentials=credentials, attempts=3).metrics
    assert len(google.of("/v1/token")) == 3


def test_one_token_serves_call_after_call(google):
    credentials = keyless_credentials(FederationConfig.model_validate(google.config()))
    clients = Clients(url=google.url, credentials=credentials)
    for _ in range(3):
        list(clients.disks.aggregated_list(project="storage-prod"))
    clients.close()
    assert (len(google.of("/aggregated/disks")), len(google.of("/v1/token"))) == (3, 1)


def signature_by_botocore(request, when):
    """The signature of a request at that time, by AWS's own library."""
    signer = SigV4Auth(
        Credentials(LAMBDA["AWS_ACCESS_KEY_ID"], LAMBDA["AWS_SECRET_ACCESS_KEY"], LAMBDA["AWS_SESSION_TOKEN"]),
        "sts",
        LAMBDA["AWS_REGION"],
    )
    request.context["timestamp"] = when
    request.headers["X-Amz-Security-Token"] = LAMBDA["AWS_SESSION_TOKEN"]
    canonical = signer.canonical_request(request)
    return signer.signature(signer.string_to_sign(request, canonical), request)
