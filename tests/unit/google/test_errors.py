"""Errors of Google's clients: each its class, each sentence its place, permission and remedy."""

import grpc
import pytest
import requests
from google.api_core import exceptions as api
from google.api_core.exceptions import from_grpc_status, from_http_response
from google.auth.exceptions import DefaultCredentialsError, RefreshError, TransportError
from google.protobuf.json_format import ParseError
from google.rpc.error_details_pb2 import ErrorInfo

from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.model.errors import (
    AccessDenied,
    ApiDisabled,
    BadCredentials,
    CloudError,
    QuotaUsedUp,
    Throttled,
    Unexpected,
    Unreachable,
)
from plimsoll_google.errors import GOOGLE_AUDITING, google_error, google_errors
from tests.unit.google.google_here import denied, disabled, refusal, written

PLACE = "plimsoll-shop/us-central1"
PERMISSION = "compute.disks.list"


def over_http(answer):
    """The exception that the clients make of an answer."""
    status, body = answer
    response = requests.Response()
    response.status_code = status
    response.request = requests.Request("GET", "https://compute.googleapis.com/x?y=z").prepare()
    response.json = lambda: written(body)
    return from_http_response(response)


def over_grpc(code, message, reason=None, **metadata):
    info = ErrorInfo(reason=reason, domain="googleapis.com", metadata=metadata) if reason else None
    return from_grpc_status(code, message, error_info=info)


CASES = {
    "denied by Compute Engine": (over_http(denied(PERMISSION, "plimsoll-shop")), AccessDenied, "roles/compute.viewer"),
    "denied by ErrorInfo": (
        over_http(refusal(403, "PERMISSION_DENIED", "no", "IAM_PERMISSION_DENIED")),
        AccessDenied,
        "IAM_PERMISSION_DENIED for compute.disks.list in plimsoll-shop",
    ),
    "denied by gRPC": (over_grpc(grpc.StatusCode.PERMISSION_DENIED, "no"), AccessDenied, "leave the project out"),
    "no quota project": (
        over_http(refusal(403, "PERMISSION_DENIED", "The API requires a quota project, which is not set")),
        BadCredentials,
        "gcloud auth application-default set-quota-project",
    ),
    "another's quota project": (
        over_http(refusal(403, "PERMISSION_DENIED", "no", "USER_PROJECT_DENIED")),
        AccessDenied,
        "serviceusage.services.use",
    ),
    "no billing": (
        over_http(refusal(403, "PERMISSION_DENIED", "no", "BILLING_DISABLED")),
        CloudError,
        "billing account",
    ),
    "API off": (
        over_http(disabled("plimsoll-shop")),
        ApiDisabled,
        "not enabled in plimsoll-shop (or in 4711, the project that the call counted for). It is left out of the audit",
    ),
    "API off in the older words": (
        over_http(refusal(403, "forbidden", "no", "accessNotConfigured")),
        ApiDisabled,
        "the API compute.googleapis.com is not enabled in plimsoll-shop",
    ),
    "API off by gRPC": (
        over_grpc(
            grpc.StatusCode.PERMISSION_DENIED,
            "no",
            "SERVICE_DISABLED",
            service="monitoring.googleapis.com",
            consumer="projects/4711",
        ),
        ApiDisabled,
        "gcloud services enable monitoring.googleapis.com --project plimsoll-shop",
    ),
    "not there": (
        over_http(refusal(404, "NOT_FOUND", "The resource 'projects/x' was not found")),
        CloudError,
        "it is not there (The resource 'projects/x' was not found). Check the project's id",
    ),
    "not signed in": (
        over_http(refusal(401, "UNAUTHENTICATED", "Invalid token")),
        BadCredentials,
        "application-default",
    ),
    "signed out by gRPC": (
        over_grpc(grpc.StatusCode.UNAUTHENTICATED, "no"),
        BadCredentials,
        "application-default login",
    ),
    "no credentials": (DefaultCredentialsError("not found"), BadCredentials, "GOOGLE_APPLICATION_CREDENTIALS"),
    "credentials not renewed": (RefreshError("invalid_grant", {}), BadCredentials, "invalid_grant"),
    "too many": (over_http(refusal(429, "RESOURCE_EXHAUSTED", "slow")), Throttled, "--resume"),
    "too many by gRPC": (over_grpc(grpc.StatusCode.RESOURCE_EXHAUSTED, "slow"), Throttled, "same run later"),
    "too many in the older words": (
        over_http(refusal(403, "forbidden", "slow", "rateLimitExceeded")),
        Throttled,
        "for too many calls until the retries were used up (rateLimitExceeded)",
    ),
    "too many operations at once": (
        over_http(refusal(403, "forbidden", "slow", "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED", older="rateLimitExceeded")),
        Throttled,
        "for too many calls until the retries were used up",
    ),
    "too many operations of one resource": (
        over_http(refusal(403, "forbidden", "Too frequent operations", "RESOURCE_OPERATION_RATE_EXCEEDED")),
        Throttled,
        "for too many calls",
    ),
    "quota used up": (
        over_http(refusal(403, "forbidden", "Quota 'SSD_TOTAL_GB' exceeded. Limit: 500.0", "quotaExceeded")),
        QuotaUsedUp,
        "Limit: 500.0. It is left out of the audit; ask for a higher quota",
    ),
    "quota used up by ErrorInfo": (
        over_http(refusal(403, "forbidden", "no", "QUOTA_EXCEEDED")),
        QuotaUsedUp,
        "ask for a higher quota",
    ),
    "quota used up, by words alone": (over_http(refusal(403, "", "Quota exceeded")), QuotaUsedUp, "a higher quota"),
    "denied, with a quota in its name": (
        over_http(refusal(403, "PERMISSION_DENIED", "needs serviceusage.quotas.get", "IAM_PERMISSION_DENIED")),
        AccessDenied,
        "IAM_PERMISSION_DENIED",
    ),
    "not available": (over_http(refusal(503, "UNAVAILABLE", "later")), Unreachable, "no answer to compute.disks.list"),
    "not available by gRPC": (over_grpc(grpc.StatusCode.UNAVAILABLE, "later"), Unreachable, "Run again later"),
    "too late": (over_grpc(grpc.StatusCode.DEADLINE_EXCEEDED, "late"), Unreachable, "(late)"),
    "no connection": (requests.ConnectionError("refused"), Unreachable, "Check the network and the proxy"),
    "no connection for a token": (TransportError("refused"), Unreachable, "Check the network and the proxy"),
    "given up": (api.RetryError("gave up", over_http(refusal(503, "UNAVAILABLE", "no"))), Unreachable, "no answer"),
    "an error of theirs": (over_http(refusal(500, "INTERNAL", "broken")), Unexpected, "failed with INTERNAL: broken"),
    "a request of ours": (over_http(refusal(400, "invalid", "Invalid value")), Unexpected, "Invalid value"),
    "no JSON": (ParseError("no JSON"), Unexpected, "ParseError: no JSON"),
}


@pytest.mark.parametrize(("error", "kind", "said"), CASES.values(), ids=CASES)
def test_what_google_s_clients_raise_is_a_sentence_with_its_remedy(error, kind, said):
    found = google_error(error, f"read {PLACE}", PLACE, PERMISSION, GOOGLE_AUDITING)
    assert type(found) is kind
    assert str(found).startswith(f"cannot read {PLACE}: ")
    assert str(found).endswith(".")
    assert len(str(found).splitlines()) == 1
    assert said in str(found)
    assert "PLIMSOLL_CALLS_PER_S" not in str(found)  # paces CloudWatch
    assert "https://" not in str(found)


def test_the_block_raises_it_from_what_was_raised():
    with pytest.raises(Throttled) as caught, google_errors(f"read {PLACE}", PLACE, PERMISSION, GOOGLE_AUDITING):
        raise api.TooManyRequests("slow")
    assert isinstance(caught.value.__cause__, api.TooManyRequests)


def test_an_api_that_is_off_is_switched_on_by_a_line_to_copy():
    said = str(google_error(over_http(disabled("plimsoll-shop")), f"read {PLACE}", PLACE, PERMISSION, GOOGLE_AUDITING))
    assert "`gcloud services enable compute.googleapis.com --project plimsoll-shop`" in said


def test_an_error_of_ours_passes():
    with pytest.raises(ZeroDivisionError), google_errors(f"read {PLACE}", PLACE, PERMISSION, GOOGLE_AUDITING):
        raise ZeroDivisionError


def test_an_attempt_of_another_kind_says_what_it_is_for():
    purpose = CallPurpose(goes_on="Nothing is measured", allow="grant it", again="run again")
    with (
        pytest.raises(
            AccessDenied, match=r"cannot make a disk: .* for compute\.disks\.create in lab\. Nothing is measured"
        ),
        google_errors("make a disk", "lab", "compute.disks.create", purpose),
    ):
        raise api.Forbidden("no")


def test_an_api_off_that_no_project_is_known_of_names_a_place_to_fill_in():
    error = over_grpc(grpc.StatusCode.PERMISSION_DENIED, "no", "SERVICE_DISABLED")
    found = google_error(
        error, "list", "folders/1", "resourcemanager.projects.list", CallPurpose(goes_on="-", allow="-", again="-")
    )
    assert "gcloud services enable cloudresourcemanager.googleapis.com --project PROJECT" in str(found)
