"""The one place that translates what AWS and botocore raise into Plimsoll's errors, each with its remedy."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)
from botocore.exceptions import (
    ConnectionError as BotoConnectionError,
)
from botocore.parsers import ResponseParserError

from plimsoll.domain.errors import (
    AccessDenied,
    BadCredentials,
    ClockSkewed,
    CloudError,
    RegionUnavailable,
    Throttled,
    Unexpected,
    Unreachable,
)

FAILURES = (ClientError, BotoCoreError, ResponseParserError)
"""Everything that a call through botocore can end in."""

GOES_ON = "The audit goes on without it"

_DENIED = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "Forbidden", "NotAuthorized"}
_CREDENTIALS = {
    "InvalidClientTokenId",
    "UnrecognizedClientException",
    "InvalidAccessKeyId",
    "ExpiredToken",
    "ExpiredTokenException",
    "RequestExpired",
    "MissingAuthenticationToken",
    "IncompleteSignature",
    "InvalidToken",
}
_REGION = {"OptInRequired", "AuthFailure", "InvalidRegion", "SubscriptionRequiredException", "RegionDisabledException"}
_CLOCK = {"RequestTimeTooSkewed", "RequestInTheFuture", "InvalidSignatureException", "SignatureDoesNotMatch"}
_THROTTLED = {
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "TooManyRequestsException",
    "LimitExceededException",
    "PriorRequestNotComplete",
}
_NO_CREDENTIALS = (
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    CredentialRetrievalError,
    TokenRetrievalError,
    SSOError,
)


@contextmanager
def translated(place: str, permission: str) -> Iterator[None]:
    """Raises what botocore raises inside the block as a CloudError that names the place and the IAM permission."""
    try:
        yield
    except FAILURES as error:
        raise translate(error, place, permission) from error


def translate(error: Exception, place: str, permission: str) -> CloudError:
    """The CloudError for something that botocore raised while `permission` (service:Operation) was used at `place`."""
    what = f"cannot read {place}"
    if isinstance(error, ClientError):
        found = error.response.get("Error", {})
        return from_code(str(found.get("Code", "")), str(found.get("Message", "")), what, permission)
    if isinstance(error, _NO_CREDENTIALS):
        return BadCredentials(
            f"{what}: no usable AWS credentials ({_line(str(error))}). Sign in (aws sso login, aws configure), or name "
            "another --profile."
        )
    if isinstance(error, BotoConnectionError | HTTPClientError):
        return Unreachable(
            f"{what}: no connection for {permission} ({_line(str(error))}). Check the network, the proxy and the "
            f"region's name. {GOES_ON}."
        )
    if isinstance(error, NoRegionError):
        return BadCredentials(f"{what}: no region is configured. Name one with --region.")
    return Unexpected(f"{what}: {permission} failed with {type(error).__name__}: {_line(str(error))}. {GOES_ON}.")


def from_code(code: str, message: str, what: str, permission: str) -> CloudError:
    """The CloudError for an AWS error code."""
    name = code.removeprefix("Client.")
    skewed = any(text in message.lower() for text in ("expired", "not yet current"))
    if name in _CLOCK and (skewed or name in {"RequestTimeTooSkewed", "RequestInTheFuture"}):
        return ClockSkewed(
            f"{what}: AWS says that this machine's clock is wrong ({name}). Set the clock (chronyc makestep, "
            "timedatectl set-ntp true) and run again."
        )
    if name in _DENIED:
        return AccessDenied(
            f"{what}: {name} for {permission}. {GOES_ON}; deploy the member role or allow the action, or leave the "
            "place out with --region or --role-arn."
        )
    if name in _CREDENTIALS or name in _CLOCK:
        return BadCredentials(
            f"{what}: AWS refuses the credentials ({name}: {_line(message)}). Sign in again, or name another "
            "--profile or --role-arn."
        )
    if name in _REGION:
        return RegionUnavailable(
            f"{what}: the region is switched off for this account or does not exist ({name}). {GOES_ON}; enable it in "
            "the account's settings, or leave it out with --region."
        )
    if name in _THROTTLED or "throttl" in name.lower():
        return Throttled(
            f"{what}: AWS kept throttling {permission} until the retries were used up ({name}). {GOES_ON}; run again "
            "with --resume, or lower PLIMSOLL_CALLS_PER_S."
        )
    return Unexpected(f"{what}: {permission} failed with {name}: {_line(message)}. {GOES_ON}.")


def _line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")
