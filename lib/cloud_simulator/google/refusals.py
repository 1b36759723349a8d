"""Refusals: what Google's services answer when something is wrong, over HTTP and over gRPC.

The shapes are those of google.rpc.Status with ErrorInfo (package googleapis-common-protos 1.76) and of Compute's older
error list beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cloud_simulator.faults import Refused


@dataclass(frozen=True, slots=True)
class _Kind:
    """A code's HTTP status, gRPC status and Compute's word for it."""

    http: int
    grpc: str
    reason: str


_KINDS: Final = {
    "INVALID_ARGUMENT": _Kind(400, "INVALID_ARGUMENT", "invalid"),
    "FAILED_PRECONDITION": _Kind(412, "FAILED_PRECONDITION", "conditionNotMet"),
    "UNAUTHENTICATED": _Kind(401, "UNAUTHENTICATED", "authError"),
    "PERMISSION_DENIED": _Kind(403, "PERMISSION_DENIED", "forbidden"),
    "SERVICE_DISABLED": _Kind(403, "PERMISSION_DENIED", "accessNotConfigured"),
    "NOT_FOUND": _Kind(404, "NOT_FOUND", "notFound"),
    "ALREADY_EXISTS": _Kind(409, "ALREADY_EXISTS", "alreadyExists"),
    "RESOURCE_IN_USE": _Kind(400, "FAILED_PRECONDITION", "resourceInUseByAnotherResource"),
    "RESOURCE_EXHAUSTED": _Kind(429, "RESOURCE_EXHAUSTED", "rateLimitExceeded"),
    "INTERNAL": _Kind(500, "INTERNAL", "backendError"),
    "UNIMPLEMENTED": _Kind(501, "UNIMPLEMENTED", "notImplemented"),
    "UNAVAILABLE": _Kind(503, "UNAVAILABLE", "backendError"),
    "DEADLINE_EXCEEDED": _Kind(504, "DEADLINE_EXCEEDED", "deadlineExceeded"),
}

_DETAIL: Final = "type.googleapis.com/google.rpc.ErrorInfo"
_TITLES: Final = {
    "compute.googleapis.com": "Compute Engine API",
    "monitoring.googleapis.com": "Cloud Monitoring API",
    "cloudresourcemanager.googleapis.com": "Cloud Resource Manager API",
    "cloudbilling.googleapis.com": "Cloud Billing API",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refusal as a service answers: its statuses, sentence and, where there is one, ErrorInfo."""

    http: int
    grpc: str
    message: str
    reason: str
    info: Mapping[str, Any] | None = None

    @property
    def body(self) -> dict[str, Any]:
        """As JSON over HTTP."""
        error: dict[str, Any] = {
            "code": self.http,
            "message": self.message,
            "status": self.grpc,
            "errors": [{"message": self.message, "domain": "global", "reason": self.reason}],
        }
        return {"error": {**error, "details": [{"@type": _DETAIL, **self.info}]} if self.info else error}


def refusal_of(refused: Refused, service: str, project: str) -> Refusal:
    """A refusal by a service of a project; a code that Google does not have becomes INTERNAL."""
    kind = _KINDS.get(refused.code, _KINDS["INTERNAL"])
    if refused.code == "SERVICE_DISABLED":
        message, info = _disabled(service, project)
    elif kind.grpc == "PERMISSION_DENIED":
        message, info = refused.message, _info("IAM_PERMISSION_DENIED", service, project)
    elif kind.grpc == "RESOURCE_EXHAUSTED":
        message, info = refused.message, _info("RATE_LIMIT_EXCEEDED", service, project)
    else:
        message, info = refused.message, None
    return Refusal(http=kind.http, grpc=kind.grpc, message=message, reason=kind.reason, info=info)


def _disabled(service: str, project: str) -> tuple[str, Mapping[str, Any]]:
    where = f"https://console.developers.google.com/apis/api/{service}/overview?project={project}"
    message = (
        f"{_TITLES.get(service, service)} has not been used in project {project} before or it is disabled. "
        f"Enable it by visiting {where} then retry."
    )
    return message, _info("SERVICE_DISABLED", service, project)


def _info(reason: str, service: str, project: str) -> Mapping[str, Any]:
    metadata = {"service": service, "consumer": f"projects/{project}"}
    return {"reason": reason, "domain": "googleapis.com", "metadata": metadata}
