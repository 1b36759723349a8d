"""The one place that translates errors of Google's clients into Plimsoll's, each with its remedy."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from google.api_core import exceptions as api
from google.auth import exceptions as auth
from google.protobuf.json_format import ParseError
from requests import RequestException

from plimsoll.clouds.common.answers import bad_answer
from plimsoll.clouds.common.messages import CallPurpose, ErrorRow, one_line, translate_error
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
from plimsoll_google.names import BILLING, COMPUTE, LOGGING, MONITORING, RESOURCE_MANAGER

GOOGLE_FAILURES = (api.GoogleAPIError, auth.GoogleAuthError, RequestException, ParseError)
"""Everything that a call through Google's clients can end in."""

UNREADABLE = (ParseError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What Google's clients stumble over in an answer that is not of its type: a page of HTML, a body that was cut, a text
where a number belongs, an error whose parts are not where they belong."""

_SIGN_IN: Final = (
    "Sign in with `gcloud auth application-default login`, or name a file of credentials in "
    "GOOGLE_APPLICATION_CREDENTIALS"
)
_FEDERATE: Final = (
    "Google's token service knows nobody by this proof: compare the provider of the workload identity pool, its "
    "account, its condition and its mapping, with who asks here (infra/google.md)"
)
_ACT_AS: Final = (
    "Grant who asks roles/iam.workloadIdentityUser on the service account, and enable iamcredentials.googleapis.com "
    "(infra/google.md)"
)
_NOT_FOR_ALL: Final = "; where it is a workload identity pool that an API refuses, go through a service account"
_IMPERSONATING: Final = "Unable to acquire impersonated credentials"
"""The beginning of google-auth's message that it may not act as a service account
(`google.auth.impersonated_credentials`, 2.62)."""
_OAUTH_CODE: Final = re.compile(r"^Error code (?!server_error|temporarily_unavailable)[a-z_]+(:| -|$)")
"""How google-auth writes that the token service refuses, by a code of OAuth's (RFC 6749, 5.2), and not that it is down
(`google.oauth2.utils.handle_error_response`, 2.62)."""


GOOGLE_AUDITING: Final = CallPurpose(
    goes_on="It is left out of the audit",
    allow="grant it to the caller there (roles/compute.viewer and roles/monitoring.viewer have what an audit reads "
    "with), or leave the project out (--project)",
    again="go on with the same run later (--resume; in the service, its run_id)",
)

_API_OF: Final = {
    "compute": COMPUTE,
    "monitoring": MONITORING,
    "resourcemanager": RESOURCE_MANAGER,
    "cloudbilling": BILLING,
    "logging": LOGGING,
}
_TOO_MANY: Final = (
    "RATE_LIMIT_EXCEEDED",
    "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED",
    "RESOURCE_OPERATION_RATE_EXCEEDED",
    "rateLimitExceeded",
    "userRateLimitExceeded",
    "concurrentLimitExceeded",
)
"""The reasons by which Compute Engine forbids what it would take a little later (its pages "Troubleshoot quota errors"
and "Concurrent operation quotas", read 2026-11-27; the third is in googleapis/python-compute, issue 279)."""
_USED_UP: Final = ("QUOTA_EXCEEDED", "quotaExceeded")
_QUOTA_WORDS: Final = ("quota", "limit exceeded")
_UNNAMED: Final = frozenset({"forbidden"})
_NO_QUOTA: Final = "no quota project"
_NO_ANSWER: Final = "no answer of the token service"
"""The codes under which the table has what is known by its message alone."""

_REQUEST: Final = re.compile(r"^[A-Z]+ https?://\S+: ")


@contextmanager
def google_errors(what: str, place: str, permission: str, purpose: CallPurpose) -> Iterator[None]:
    """Raises errors of Google's clients inside the block as a CloudError that names the place and the permission.

    `what` follows "cannot" in the sentence.
    """
    try:
        yield
    except GOOGLE_FAILURES as error:
        raise google_error(error, what, place, permission, purpose) from error


@contextmanager
def call_errors(what: str, place: str, permission: str, purpose: CallPurpose) -> Iterator[None]:
    """The same as `google_errors`, around a call alone: raises BadAnswer as well if its answer cannot be read."""
    with google_errors(what, place, permission, purpose):
        try:
            yield
        except UNREADABLE as error:
            if isinstance(error, GOOGLE_FAILURES) and not isinstance(error, ParseError):
                raise
            reason = f"{type(error).__name__}: {one_line(str(error))}"
            raise bad_answer(reason, reason, call=permission, place=place) from error


def google_error(error: Exception, what: str, place: str, permission: str, purpose: CallPurpose) -> CloudError:
    """The CloudError for an error during an attempt at `place` (project or project/region)."""
    if isinstance(error, api.RetryError) and isinstance(error.cause, Exception):
        error = error.cause
    message = message_of(error) if isinstance(error, api.GoogleAPICallError) else one_line(str(error))
    return translate_error(
        _ROWS,
        error,
        _code_in_table(error, message),
        what,
        name=reason_of(error) or type(error).__name__,
        message=message,
        permission=permission,
        purpose=purpose,
        holder=_holder(place),
        credentials=no_credentials(error) if isinstance(error, auth.GoogleAuthError) else "",
        **_disabled_api(error, place, permission),
    )


def no_credentials(error: auth.GoogleAuthError) -> str:
    """A sentence on missing or unusable credentials: why, and what to do."""
    reason = one_line(str(error.args[0] if error.args else error))
    remedy = _FEDERATE if isinstance(error, auth.OAuthError) else _ACT_AS if _IMPERSONATING in reason else _SIGN_IN
    return f"no usable Google credentials ({reason}). {remedy}."


def no_token_now(error: Exception) -> bool:
    """True if the token service of federation failed, and refused nothing."""
    return isinstance(error, auth.OAuthError) and not _OAUTH_CODE.match(str(error.args[0] if error.args else ""))


def too_many(error: Exception) -> bool:
    """True if Google asks for fewer calls; Compute Engine says so with 403 as well as with 429."""
    return isinstance(error, api.TooManyRequests) or not reasons_of(error).isdisjoint(_TOO_MANY)


def _code_in_table(error: Exception, message: str) -> str:
    """The code under which the table has an error. Its reasons count only if it is forbidden or too much."""
    if no_token_now(error):
        return _NO_ANSWER
    if not isinstance(error, api.Forbidden) and not too_many(error):
        return ""
    if "requires a quota project" in message:
        return _NO_QUOTA
    reasons = reasons_of(error)
    is_by_words = isinstance(error, api.Forbidden) and reasons <= _UNNAMED
    if is_by_words and any(word in message.lower() for word in _QUOTA_WORDS):
        return _USED_UP[0]
    codes = (code for row in _ROWS for code in row.codes if isinstance(code, str))
    return next((code for code in codes if code in reasons), "")


def _disabled_api(error: Exception, place: str, permission: str) -> dict[str, str]:
    """The API that would have answered, its project, and another project that the call counted for."""
    known = (error.metadata if isinstance(error, api.GoogleAPICallError) else None) or {}
    service = known.get("service") or _API_OF.get(permission.split(".", maxsplit=1)[0], COMPUTE)
    counted = str(known.get("consumer", "")).removeprefix("projects/")
    holder = _holder(place)
    project = (counted or "PROJECT") if "/" in holder or " " in holder else holder
    other = f" (or in {counted}, the project that the call counted for)" if counted not in {"", project} else ""
    return {"service": service, "project": project, "other": other}


def _holder(place: str) -> str:
    """The resource with the permissions: the project of a place, or the folder or organization that it is."""
    return place if place.startswith(("folders/", "organizations/")) else place.split("/", maxsplit=1)[0]


def message_of(error: api.GoogleAPICallError) -> str:
    """Google's message on one line, without the request that the clients put before it."""
    return one_line(_REQUEST.sub("", str(error.message or error)))


def reason_of(error: Exception) -> str:
    """Google's own name of a refusal, from its ErrorInfo or the older first error; "" if it has none."""
    return next(iter(_list_reasons(error)), "")


def reasons_of(error: Exception) -> frozenset[str]:
    """All names that Google gives a refusal: its ErrorInfo and its older errors may have different ones."""
    return frozenset(_list_reasons(error))


def _list_reasons(error: Exception) -> list[str]:
    if not isinstance(error, api.GoogleAPICallError):
        return []
    older = [detail.get("reason") for detail in error.errors if isinstance(detail, dict)]
    return [str(reason) for reason in (error.reason, *older) if reason]


_ROWS: Final = (
    ErrorRow(
        (api.TooManyRequests, *_TOO_MANY),
        Throttled,
        "Google kept refusing {permission} for too many calls until the retries were used up ({name}). "
        "{purpose.goes_on}; {purpose.again}.",
    ),
    ErrorRow(
        (api.Unauthorized,), BadCredentials, f"Google refuses the credentials ({{message}}). {_SIGN_IN}{_NOT_FOR_ALL}."
    ),
    ErrorRow(
        (_NO_QUOTA,),
        BadCredentials,
        "these credentials name no project that calls count for. Name one with "
        "`gcloud auth application-default set-quota-project PROJECT`.",
    ),
    ErrorRow(_USED_UP, QuotaUsedUp, "{message}. {purpose.goes_on}; ask for a higher quota in IAM & Admin, Quotas."),
    ErrorRow(
        ("BILLING_DISABLED", "billingNotEnabled"),
        CloudError,
        "the project has no billing account ({name}). {purpose.goes_on}; link one, or leave the project out "
        "(--project).",
    ),
    ErrorRow(
        ("SERVICE_DISABLED", "accessNotConfigured"),
        ApiDisabled,
        "the API {service} is not enabled in {project}{other}. {purpose.goes_on}; enable it with "
        "`gcloud services enable {service} --project {project}`, or leave the project out (--project).",
    ),
    ErrorRow(
        ("USER_PROJECT_DENIED",),
        AccessDenied,
        "the caller may not use the project that its calls count for ({message}). {purpose.goes_on}; grant "
        "serviceusage.services.use there, or name another with "
        "`gcloud auth application-default set-quota-project PROJECT`.",
    ),
    ErrorRow(
        (api.Forbidden,), AccessDenied, "{name} for {permission} in {holder}. {purpose.goes_on}; {purpose.allow}."
    ),
    ErrorRow(
        (api.NotFound,),
        CloudError,
        "it is not there ({message}). Check the project's id with `gcloud projects list`, or leave it out. "
        "{purpose.goes_on}.",
    ),
    ErrorRow(
        (api.ServiceUnavailable, api.BadGateway, api.GatewayTimeout),
        Unreachable,
        "no answer to {permission} ({message}). Run again later. {purpose.goes_on}.",
    ),
    ErrorRow(
        (RequestException, auth.TransportError, _NO_ANSWER),
        Unreachable,
        "no connection for {permission} ({message}). Check the network and the proxy. {purpose.goes_on}.",
    ),
    ErrorRow((auth.GoogleAuthError,), BadCredentials, "{credentials}"),
    ErrorRow((Exception,), Unexpected, "{permission} failed with {name}: {message}. {purpose.goes_on}."),
)
