"""The one place that translates what Google's clients raise into Plimsoll's errors, each with its remedy."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from google.api_core import exceptions as api
from google.auth import exceptions as auth
from google.protobuf.json_format import ParseError
from requests import RequestException

from plimsoll.clouds.common.answers import bad_answer
from plimsoll.clouds.common.messages import Purpose, one_line
from plimsoll.clouds.google.names import BILLING, COMPUTE, LOGGING, MONITORING, RESOURCE_MANAGER
from plimsoll.domain.errors import (
    AccessDenied,
    ApiDisabled,
    BadCredentials,
    CloudError,
    Throttled,
    Unexpected,
    Unreachable,
)

FAILURES = (api.GoogleAPIError, auth.GoogleAuthError, RequestException, ParseError)
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
    "account, its condition and its mapping, with who asks here (docs/google-cloud.md, Keyless)"
)
_ACT_AS: Final = (
    "Grant who asks roles/iam.workloadIdentityUser on the service account, and enable iamcredentials.googleapis.com "
    "(docs/google-cloud.md, Keyless)"
)
_NOT_FOR_ALL: Final = "; where it is a workload identity pool that an API refuses, go through a service account"
_IMPERSONATING: Final = "Unable to acquire impersonated credentials"
"""How google-auth begins that it may not act as a service account (`google.auth.impersonated_credentials`, 2.62)."""
_OAUTH_CODE: Final = re.compile(r"^Error code (?!server_error|temporarily_unavailable)[a-z_]+(:| -|$)")
"""How google-auth writes that the token service refuses, by a code of OAuth's (RFC 6749, 5.2), and not that it is down
(`google.oauth2.utils.handle_error_response`, 2.62)."""


AUDITING: Final = Purpose(
    goes_on="The audit goes on without it",
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
_DISABLED: Final = {"SERVICE_DISABLED", "accessNotConfigured"}
_TOO_MANY: Final = {"RATE_LIMIT_EXCEEDED", "rateLimitExceeded", "userRateLimitExceeded", "concurrentLimitExceeded"}
_UNPAID: Final = {"BILLING_DISABLED", "billingNotEnabled"}
_PASSING: Final = (api.ServiceUnavailable, api.BadGateway, api.GatewayTimeout)
_REQUEST: Final = re.compile(r"^[A-Z]+ https?://\S+: ")


@contextmanager
def attempted(what: str, place: str, permission: str, purpose: Purpose) -> Iterator[None]:
    """Raises what Google's clients raise inside the block as a CloudError that names the place and the permission.

    `what` follows "cannot" in the sentence.
    """
    try:
        yield
    except FAILURES as error:
        raise refused(error, what, place, permission, purpose) from error


@contextmanager
def answered(what: str, place: str, permission: str, purpose: Purpose) -> Iterator[None]:
    """As `attempted`, around nothing but a call: BadAnswer as well where its answer cannot be read."""
    with attempted(what, place, permission, purpose):
        try:
            yield
        except UNREADABLE as error:
            if isinstance(error, FAILURES) and not isinstance(error, ParseError):
                raise
            said = f"{type(error).__name__}: {one_line(str(error))}"
            raise bad_answer(said, said, call=permission, place=place) from error


def refused(error: Exception, what: str, place: str, permission: str, purpose: Purpose) -> CloudError:
    """The CloudError for something that was raised during an attempt at `place` (project or project/region)."""
    what = f"cannot {what}"
    if isinstance(error, api.RetryError) and isinstance(error.cause, Exception):
        error = error.cause
    if isinstance(error, api.GoogleAPICallError):
        return _from_answer(error, what, place, permission, purpose)
    if isinstance(error, RequestException | auth.TransportError) or no_token_now(error):
        return Unreachable(
            f"{what}: no connection for {permission} ({one_line(str(error))}). Check the network and the proxy. "
            f"{purpose.goes_on}."
        )
    if isinstance(error, auth.GoogleAuthError):
        return BadCredentials(f"{what}: {no_credentials(error)}")
    return Unexpected(
        f"{what}: {permission} failed with {type(error).__name__}: {one_line(str(error))}. {purpose.goes_on}."
    )


def no_credentials(error: auth.GoogleAuthError) -> str:
    """That there are no usable credentials, why, and what to do."""
    said = one_line(str(error.args[0] if error.args else error))
    remedy = _FEDERATE if isinstance(error, auth.OAuthError) else _ACT_AS if _IMPERSONATING in said else _SIGN_IN
    return f"no usable Google credentials ({said}). {remedy}."


def no_token_now(error: Exception) -> bool:
    """Whether the token service of federation failed, and refused nothing."""
    return isinstance(error, auth.OAuthError) and not _OAUTH_CODE.match(str(error.args[0] if error.args else ""))


def too_many(error: Exception) -> bool:
    """Whether Google asks for fewer calls; Compute Engine says so with 403 as well as with 429."""
    return isinstance(error, api.TooManyRequests) or _reason(error) in _TOO_MANY


def _from_answer(error: api.GoogleAPICallError, what: str, place: str, permission: str, purpose: Purpose) -> CloudError:
    code, said = _reason(error) or type(error).__name__, message_of(error)
    if too_many(error):
        return Throttled(
            f"{what}: Google kept refusing {permission} for too many calls until the retries were used up ({code}). "
            f"{purpose.goes_on}; {purpose.again}."
        )
    if isinstance(error, api.Unauthorized):
        return BadCredentials(f"{what}: Google refuses the credentials ({said}). {_SIGN_IN}{_NOT_FOR_ALL}.")
    if isinstance(error, api.Forbidden):
        return _forbidden(error, what, place, permission, purpose)
    if isinstance(error, api.NotFound):
        return CloudError(
            f"{what}: it is not there ({said}). Check the project's id with `gcloud projects list`, or leave it out. "
            f"{purpose.goes_on}."
        )
    if isinstance(error, _PASSING):
        return Unreachable(f"{what}: no answer to {permission} ({said}). Run again later. {purpose.goes_on}.")
    return Unexpected(f"{what}: {permission} failed with {code}: {said}. {purpose.goes_on}.")


def _forbidden(error: api.GoogleAPICallError, what: str, place: str, permission: str, purpose: Purpose) -> CloudError:
    code, said = _reason(error) or type(error).__name__, message_of(error)
    if "requires a quota project" in said:
        return BadCredentials(
            f"{what}: these credentials name no project that calls count for. Name one with "
            "`gcloud auth application-default set-quota-project PROJECT`."
        )
    if code in _UNPAID:
        return CloudError(
            f"{what}: the project has no billing account ({code}). {purpose.goes_on}; link one, or leave the project "
            "out (--project)."
        )
    if code in _DISABLED:
        return _disabled(error, what, place, permission, purpose)
    if code == "USER_PROJECT_DENIED":
        return AccessDenied(
            f"{what}: the caller may not use the project that its calls count for ({said}). {purpose.goes_on}; grant "
            "serviceusage.services.use there, or name another with "
            "`gcloud auth application-default set-quota-project PROJECT`."
        )
    return AccessDenied(f"{what}: {code} for {permission} in {_holder(place)}. {purpose.goes_on}; {purpose.allow}.")


def _disabled(error: api.GoogleAPICallError, what: str, place: str, permission: str, purpose: Purpose) -> ApiDisabled:
    known = error.metadata or {}
    service = known.get("service") or _API_OF.get(permission.split(".", maxsplit=1)[0], COMPUTE)
    counted = str(known.get("consumer", "")).removeprefix("projects/")
    holder = _holder(place)
    project = (counted or "PROJECT") if "/" in holder or " " in holder else holder
    other = f" (or in {counted}, the project that the call counted for)" if counted not in {"", project} else ""
    return ApiDisabled(
        f"{what}: the API {service} is not enabled in {project}{other}. {purpose.goes_on}; enable it with "
        f"`gcloud services enable {service} --project {project}`, or leave the project out (--project)."
    )


def _holder(place: str) -> str:
    """What permissions are granted on: the project of a place, or the folder or organization that it is."""
    return place if place.startswith(("folders/", "organizations/")) else place.split("/", maxsplit=1)[0]


def message_of(error: api.GoogleAPICallError) -> str:
    """What Google says, on one line, without the request that the clients put before it."""
    return one_line(_REQUEST.sub("", str(error.message or error)))


def _reason(error: Exception) -> str:
    """Google's own name of a refusal: that of its ErrorInfo, or the older one of its first error; "" where none is."""
    if not isinstance(error, api.GoogleAPICallError):
        return ""
    named = [found["reason"] for found in error.errors if isinstance(found, dict) and found.get("reason")]
    return str(error.reason or (named[0] if named else ""))
