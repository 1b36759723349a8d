"""The one place that translates what AWS and botocore raise into Plimsoll's errors, each with its remedy."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

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
from urllib3.exceptions import HTTPError

from plimsoll.clouds.common.messages import CallPurpose, ErrorRow, one_line, translate_error
from plimsoll.model.errors import (
    AccessDenied,
    BadAnswer,
    BadCredentials,
    ClockSkewed,
    CloudError,
    DeniedByPolicy,
    RegionUnavailable,
    Throttled,
    Unexpected,
    Unreachable,
)

FAILURES = (ClientError, BotoCoreError, ResponseParserError, HTTPError)
"""Everything that a call through botocore can end in: `endpoints.read_strictly` makes of what its parsers raise a
ResponseParserError. HTTPError is what a body that is streamed can raise while it is read."""


AUDITING: Final = CallPurpose(
    goes_on="It is left out of the audit",
    allow="deploy the member role or allow the action, or leave the place out (--region, --role-arn; in the service, "
    "its regions and accounts)",
    region="enable it in the account's settings, or leave it out (--region; in the service, its regions)",
    again="go on with the same run later (--resume; in the service, its run_id), or lower PLIMSOLL_CALLS_PER_S",
)
MEASURING: Final = CallPurpose(
    goes_on="Nothing is measured there",
    allow="deploy the validation role or allow the action",
    region="enable it in the account's settings",
    again="run again later",
)
COPYING: Final = replace(
    MEASURING,
    allow="let the volume's owner tag it plimsoll:copy=true, and allow the action (validation.copies, or `plimsoll "
    "permissions --for validate --copies`)",
)
WRITING_DOCUMENT: Final = replace(
    MEASURING,
    allow="deploy the validation role or allow the action; where the document is locked, deploy its template, "
    "benchmark-document, of this version",
)
PROBING: Final = replace(
    MEASURING,
    goes_on="Nothing is probed there",
    allow="allow the action; where the document is missing, let an administrator probe there once, which makes it",
)
COMPARING: Final = CallPurpose(
    goes_on="Compute Optimizer's side is missing there",
    allow="allow the action (`plimsoll permissions --for compare`)",
    region="enable it in the account's settings",
    again="compare again later",
)
CLEANING: Final = CallPurpose(
    goes_on="The scratch volume may still be there",
    allow="deploy the validation role or allow the action, then run `plimsoll sweep`",
    region="enable it in the account's settings, then run `plimsoll sweep`",
    again="run `plimsoll sweep` later",
)
KEEPING: Final = CallPurpose(
    goes_on="Nothing that needs it goes on",
    allow="allow the action to the role of this function; deploying the service again does",
    region="deploy the service in a region that is enabled",
    again="start the execution again under the same run id, which does only what is missing",
)
DECIDING: Final = replace(KEEPING, goes_on="Nothing was done", again="ask again in a minute")

_DENIAL: Final = re.compile(r"explicit deny in an? ([a-z -]+? policy|permissions boundary)")
"""How AWS says which policy denies (IAM User Guide, "Troubleshoot access denied error messages", read 2026-11-26)."""
_OF_ORGANIZATIONS: Final = frozenset({"service control policy", "resource control policy"})
_DENIED: Final = ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "Forbidden", "NotAuthorized")
_DENIED_BY_POLICY: Final = "DeniedByPolicy"
_CLOCK: Final = "RequestTimeTooSkewed"
_SIGNATURE: Final = ("InvalidSignatureException", "SignatureDoesNotMatch")
"""Said of a wrong key as well as of a wrong clock, which the message tells apart."""
_THROTTLED: Final = "Throttling"


@contextmanager
def translate_errors(what: str, permission: str, purpose: CallPurpose = AUDITING) -> Iterator[None]:
    """Raises what botocore raises inside the block as a CloudError: `what` follows "cannot" in its sentence, which
    names the IAM permission (service:Operation) too."""
    try:
        yield
    except FAILURES as error:
        raise cloud_error(error, what, permission, purpose) from error


def cloud_error(error: Exception, what: str, permission: str, purpose: CallPurpose = AUDITING) -> CloudError:
    """The CloudError for something that botocore raised during an attempt."""
    if isinstance(error, ClientError):
        name, message = code_of(error), str(error.response.get("Error", {}).get("Message", ""))
    else:
        name, message = type(error).__name__, str(error)
    denial = _DENIAL.search(message)
    translated = translate_error(
        _ROWS,
        error,
        _code_in_table(name, message, purpose) if isinstance(error, ClientError) else "",
        what,
        name=name,
        message=one_line(message),
        permission=permission,
        purpose=purpose,
        remedy=REMEDIES.get(name),
        denial="" if denial is None else f", with an {denial[0]}",
    )
    if isinstance(translated, BadAnswer):
        translated.raw = str(getattr(error, "raw", ""))
    return translated


def code_of(error: ClientError) -> str:
    """The AWS error code, without the prefix that EC2 sometimes gives it."""
    return str(error.response.get("Error", {}).get("Code", "")).removeprefix("Client.")


def _code_in_table(name: str, message: str, purpose: CallPurpose) -> str:
    """The code under which the table has an answer: its own, or that of which its message shows that it is one."""
    denial = _DENIAL.search(message)
    if name in _DENIED and denial is not None and denial[1] in _OF_ORGANIZATIONS:
        return _DENIED_BY_POLICY
    if name in _SIGNATURE and any(text in message.lower() for text in ("expired", "not yet current")):
        return _CLOCK
    if name in REMEDIES:
        return name if purpose is not AUDITING else ""
    return _THROTTLED if "throttl" in name.lower() else name


REMEDIES: Final = {
    "VolumeLimitExceeded": "Delete volumes that nobody needs, or ask for a higher EBS quota in Service Quotas",
    "MaxIOPSLimitExceeded": "Ask for a higher EBS quota of provisioned IOPS in Service Quotas",
    "InsufficientVolumeCapacity": "AWS has no room for it in this zone now: try later, or validate in another zone",
    "VolumeTypeNotAvailableInZone": "Choose a target of another type, or validate in another zone",
    "InvalidZone.NotFound": "Check the zone's name, and that it is enabled in the account",
    "InvalidParameterValue": "Choose a target within the published limits of its type",
    "InvalidParameterCombination": "Choose a target within the published limits of its type",
    "IdempotentParameterMismatch": "Another volume was made under this validation's name: start a new validation",
    "InvalidVolume.NotFound": "It was deleted meanwhile: start a new validation",
    "InvalidVolume.ZoneMismatch": "Name a bench host in the volume's zone with --bench-host",
    "IncorrectState": "It is not in a state that allows this: wait, and run again",
    "VolumeInUse": "It is attached: wait until it is detached, and run again",
    "IncorrectInstanceState": "Start the instance, or name another with --bench-host",
    "InvalidInstanceID.NotFound": "Name an instance that exists with --bench-host",
    "InvalidInstanceID.Malformed": "Name an instance that exists with --bench-host",
    "AttachmentLimitExceeded": "Detach volumes from the instance, or name another with --bench-host",
    "UnsupportedOperation": "AWS does not do this with such a volume or instance: name another bench host or target",
    "InvalidDocument": "Run again; if it stays so, delete the document in Systems Manager, Documents",
    "InvalidDocumentVersion": "Run again; if it stays so, delete the document in Systems Manager, Documents",
    "InvalidDocumentContent": "This version of Plimsoll brings a document that AWS does not take: update Plimsoll",
    "DocumentLimitExceeded": "Delete documents that nobody needs in Systems Manager, Documents",
    "DocumentVersionLimitExceeded": "Delete the document in Systems Manager, Documents: the next run writes it again",
    "InvalidInstanceId": (
        "Its SSM agent does not take commands: start the agent, give the instance a profile with "
        "AmazonSSMManagedInstanceCore, or name another with --bench-host for a benchmark"
    ),
    "InvalidParameters": "The document in Systems Manager is not this version's: delete it there, and run again",
    "InvalidOutputFolder": "Check the name of the bucket for results",
    "UnsupportedPlatformType": "fio and probes need Linux: name a Linux instance with --bench-host for a benchmark",
    "NoSuchBucket": "Check the name of the bucket",
    "ResourceNotFoundException": "Check its name, and deploy the service again where it was deleted",
    "StateMachineDoesNotExist": "Deploy the service again",
    "AWSOrganizationsNotInUseException": "This account is in no Organization: name the accounts with --account",
    "OptInRequiredException": (
        "Opt in to Compute Optimizer in this account (aws compute-optimizer update-enrollment-status --status Active), "
        "and compare again when it has looked at the volumes, a day later"
    ),
    "ParentNotFoundException": "Check the unit's id (ou-... or r-...) in AWS Organizations, or leave it out",
}
"""Codes are those of the services' API references (EC2 "Error codes", Systems Manager "SendCommand", "CreateDocument"
and "UpdateDocument", S3 "Error responses", read 2026-11-20; DynamoDB "BatchWriteItem", EventBridge "PutEvents", Step
Functions "ListExecutions" and Organizations "ListAccountsForParent", read 2026-11-21; Compute Optimizer
"GetEBSVolumeRecommendations", read 2026-11-27)."""

_CREDENTIALS: Final = (
    *("InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId", "ExpiredToken", *_SIGNATURE),
    *("ExpiredTokenException", "RequestExpired", "MissingAuthenticationToken", "IncompleteSignature", "InvalidToken"),
)
_TOO_MANY: Final = (
    *(_THROTTLED, "RequestLimitExceeded", "TooManyRequestsException", "LimitExceededException", "SlowDown"),
    *("PriorRequestNotComplete", "ProvisionedThroughputExceededException"),
)
"""And every code with "throttl" in it."""
_NO_CREDENTIALS: Final = (
    *(NoCredentialsError, PartialCredentialsError, ProfileNotFound, CredentialRetrievalError),
    *(TokenRetrievalError, SSOError),
)
_ROWS: Final = (
    ErrorRow(
        (_CLOCK, "RequestInTheFuture"),
        ClockSkewed,
        "AWS says that this machine's clock is wrong ({name}). Set the clock (chronyc makestep, timedatectl set-ntp "
        "true) and run again.",
    ),
    ErrorRow(
        (_DENIED_BY_POLICY,),
        DeniedByPolicy,
        "{name} for {permission}{denial}. {purpose.goes_on}. No role can override the organization's "
        "denial: leave the place out, or set PLIMSOLL_DENIED_PLACES_EXPECTED=true if it is intended.",
    ),
    ErrorRow(_DENIED, AccessDenied, "{name} for {permission}{denial}. {purpose.goes_on}; {purpose.allow}."),
    ErrorRow(
        _CREDENTIALS,
        BadCredentials,
        "AWS refuses the credentials ({name}: {message}). Sign in again, or name another --profile or --role-arn.",
    ),
    ErrorRow(
        ("OptInRequired", "AuthFailure", "InvalidRegion", "SubscriptionRequiredException", "RegionDisabledException"),
        RegionUnavailable,
        "the region is switched off for this account or does not exist ({name}). {purpose.goes_on}; {purpose.region}.",
    ),
    ErrorRow(
        _TOO_MANY,
        Throttled,
        "AWS kept throttling {permission} until the retries were used up ({name}). {purpose.goes_on}; {purpose.again}.",
    ),
    ErrorRow(tuple(REMEDIES), CloudError, "{name}: {message}. {remedy}. {purpose.goes_on}."),
    ErrorRow(
        _NO_CREDENTIALS,
        BadCredentials,
        "no usable AWS credentials ({message}). Sign in (aws sso login, aws configure), or name another --profile.",
    ),
    ErrorRow(
        (ResponseParserError,),
        BadAnswer,
        "the answer to {permission} is unusable ({message:.200}). {purpose.goes_on}; run again later, and "
        "check whether a proxy answers instead of AWS.",
    ),
    ErrorRow(
        (BotoConnectionError, HTTPClientError, HTTPError),
        Unreachable,
        "no connection for {permission} ({message}). Check the network, the proxy and the region's name. "
        "{purpose.goes_on}.",
    ),
    ErrorRow((NoRegionError,), BadCredentials, "no region is configured. Name one with --region."),
    ErrorRow((Exception,), Unexpected, "{permission} failed with {name}: {message}. {purpose.goes_on}."),
)
