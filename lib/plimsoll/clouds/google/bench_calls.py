"""Calls of the bench: what measuring and cleaning up say of a failed call, and operations followed to their end."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from google.api_core.exceptions import Forbidden
from google.cloud import compute_v1

from plimsoll.clouds.common.messages import Purpose
from plimsoll.clouds.google.clients import CALL_S, Clients
from plimsoll.clouds.google.errors import attempted, message_of, too_many
from plimsoll.domain.errors import CloudError

MEASURING: Final = Purpose(
    goes_on="Nothing is measured there",
    allow="grant it to the caller there (docs/validation.md has the role), or use credentials that have it",
    again="try again later",
)
CLEANING: Final = Purpose(
    goes_on="The scratch disk may still be there",
    allow="grant it to the caller there (docs/validation.md has the role), or use credentials that have it",
    again="run `plimsoll sweep --cloud google` later",
)

_QUOTAS: Final = ("quota", "limit exceeded")


@contextmanager
def measuring(what: str, place: str, permission: str) -> Iterator[None]:
    """Raises what Google's clients raise inside as a CloudError, "cannot `what`"; Google calls a quota that is used up
    forbidden."""
    with attempted(what, place, permission, MEASURING):
        try:
            yield
        except Forbidden as error:
            said = message_of(error)
            used_up = any(word in said.lower() for word in _QUOTAS) and "quota project" not in said
            if too_many(error) or not used_up:
                raise
            raise CloudError(f"cannot {what}: {said}. Ask for a higher quota in IAM & Admin, Quotas.") from error


@contextmanager
def cleaning(what: str, place: str, permission: str) -> Iterator[None]:
    """As `measuring`, for what finds, detaches and deletes scratch disks."""
    with attempted(what, place, permission, CLEANING):
        yield


FOLLOWED_S: Final = 30.0
"""How long an operation is followed; one that takes longer is waited for by whoever wants its result."""

_PAUSES_S: Final = (0.2, 0.4, 0.8, 1.6, 3.0)
_REMEDIES: Final[Mapping[str, str]] = {
    "QUOTA_EXCEEDED": "Ask for a higher quota in IAM & Admin, Quotas",
    "ZONE_RESOURCE_POOL_EXHAUSTED": "The zone has none left: try again later, or measure in another zone",
    "PERMISSIONS_ERROR": "Give the caller the role of docs/validation.md there",
}
_OTHERWISE: Final = "Try again; if it stays so, see the operation in the activity log of the project"


def follow(
    clients: Clients,
    operation: compute_v1.Operation,
    what: str,
    *,
    project: str,
    purpose: Purpose,
    sleep: Callable[[float], None],
) -> None:
    """Waits until a zone's operation is done, or for FOLLOWED_S; CloudError, "cannot `what`", where it fails."""
    operations = clients.rest(compute_v1.ZoneOperationsClient)
    zone = operation.zone.rpartition("/")[2]
    waited_s, looks = 0.0, 0
    while operation.status != compute_v1.Operation.Status.DONE:
        if waited_s >= FOLLOWED_S:
            return
        pause_s = _PAUSES_S[min(looks, len(_PAUSES_S) - 1)]
        sleep(pause_s)
        waited_s, looks = waited_s + pause_s, looks + 1
        with attempted(what, f"{project}/{zone}", "compute.zoneOperations.get", purpose):
            operation = operations.get(
                project=project, zone=zone, operation=operation.name, retry=clients.retry, timeout=CALL_S
            )
    for error in operation.error.errors:
        remedy = _REMEDIES.get(error.code, _OTHERWISE)
        raise CloudError(f"cannot {what}: {error.code}: {error.message.rstrip('.')}. {remedy}.")
