"""Operations: what Compute Engine has begun, followed for a while so that what it refuses late is heard."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from google.cloud import compute_v1

from plimsoll.clouds.google.clients import CALL_S, Clients
from plimsoll.clouds.google.errors import Purpose, attempted
from plimsoll.domain.errors import CloudError

FOLLOWED_S: Final = 30.0
"""How long an operation is followed; one that takes longer is waited for by whoever wants its result."""

_PAUSES_S: Final = (0.2, 0.4, 0.8, 1.6, 3.0)
_REMEDIES: Final[Mapping[str, str]] = {
    "QUOTA_EXCEEDED": "Ask for a higher quota in IAM & Admin, Quotas",
    "ZONE_RESOURCE_POOL_EXHAUSTED": "The zone has none left: try again later, or measure in another zone",
    "PERMISSIONS_ERROR": "Give the caller the role of docs/validation.md there",
}
_OTHERWISE: Final = "Try again; if it stays so, see the operation in the activity log of the project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Follower:
    """Follows the operations of a project, for a purpose."""

    clients: Clients
    project: str
    purpose: Purpose
    sleep: Callable[[float], None]

    def follow(self, operation: compute_v1.Operation, what: str) -> None:
        """Waits until a zone's operation is done, or for FOLLOWED_S; CloudError, "cannot `what`", where it fails."""
        operations = self.clients.rest(compute_v1.ZoneOperationsClient)
        zone = operation.zone.rpartition("/")[2]
        waited_s, looks = 0.0, 0
        while operation.status != compute_v1.Operation.Status.DONE:
            if waited_s >= FOLLOWED_S:
                return
            pause_s = _PAUSES_S[min(looks, len(_PAUSES_S) - 1)]
            self.sleep(pause_s)
            waited_s, looks = waited_s + pause_s, looks + 1
            with attempted(what, f"{self.project}/{zone}", "compute.zoneOperations.get", self.purpose):
                operation = operations.get(
                    project=self.project,
                    zone=zone,
                    operation=operation.name,
                    retry=self.clients.retry,
                    timeout=CALL_S,
                )
        for error in operation.error.errors:
            remedy = _REMEDIES.get(error.code, _OTHERWISE)
            raise CloudError(f"cannot {what}: {error.code}: {error.message.rstrip('.')}. {remedy}.")
