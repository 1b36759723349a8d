"""Updates: changes of the IOPS and throughput of disks, as the operations of their zones or regions tell them.

An operation has its time, its requester's id and its error, and not the figures that were asked for: a disk shows them
once it is done. Operations are kept for a limited time (Compute Engine v1: `disks.update`, `regionDisks.update`,
`zoneOperations.list`, `Operation`; read 2026-11-27). Both figures change in one call, because one alone may be refused
beside the other's old figure (hashicorp/terraform-provider-google, issue 26315). Not proved on a live project: that
such an operation has the type `update`, that two `paths` may change in one call, by which reason an update within four
hours of another is refused, and whether one that failed counts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Literal

from google.api_core.exceptions import GoogleAPICallError, NotFound
from google.cloud import compute_v1
from pydantic import Field

from plimsoll.clouds.common.answers import CloudAnswer, read_answer
from plimsoll.clouds.common.calls import in_chunks
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.model.errors import (
    AccessDenied,
    ApiDisabled,
    BadCredentials,
    CloudError,
    QuotaUsedUp,
    Throttled,
    Unanswered,
    VolumeGone,
)
from plimsoll.model.volume import Modification, Volume, VolumeSpec
from plimsoll.ports import Target, UnreadVolume
from plimsoll_google.clients import Clients
from plimsoll_google.errors import GOOGLE_FAILURES, google_error, message_of, reason_of, reasons_of
from plimsoll_google.listing import ListedDisk, read_named
from plimsoll_google.names import LIST_REGION_OPERATIONS, LIST_ZONE_OPERATIONS, UPDATE_DISK, moment, within_project
from plimsoll_google.pages import ListCall, PagedList
from plimsoll_google.resources import Id, Time

CHANGING_DISKS: Final = CallPurpose(
    goes_on="Nothing was changed by it",
    allow="grant it to the caller there (`plimsoll permissions --cloud google --for change`)",
    again="it is tried again in the next pass",
)
RATE_EXCEEDED: Final = "RESOURCE_OPERATION_RATE_EXCEEDED"
_RATE: Final = re.compile(r"resource_?operation_?rate_?exceeded|operation rate exceeded|\d+ hours", re.IGNORECASE)
_SERVER_FAILED: Final = 500
_CODES_OF: Final = (
    (Throttled, "rateLimitExceeded"),
    (QuotaUsedUp, "quotaExceeded"),
    (AccessDenied, "forbidden"),
)
_UPDATE: Final = "update"
_PAGE: Final = 500
_NAMES_A_FILTER: Final = 40


class OperationFault(CloudAnswer):
    """A reason why an operation failed."""

    code: str = ""
    message: str = ""


class OperationFaults(CloudAnswer):
    """The reasons why an operation failed; none while it has not."""

    errors: tuple[OperationFault, ...] = ()


class DiskUpdate(CloudAnswer):
    """An operation that gives a disk other figures, or failed to."""

    disk_id: Id = Field(alias="targetId")
    begun: Time = Field(alias="insertTime")
    ended: Time | None = Field(alias="endTime", default=None)
    status: Literal["PENDING", "RUNNING", "DONE"]
    request_id: str = Field(alias="clientOperationId", default="")
    faults: OperationFaults = Field(alias="error", default=OperationFaults())

    @property
    def start(self) -> datetime:
        return moment(self.begun)

    def make_modification(self, spec: VolumeSpec) -> Modification:
        """The latest update of a disk that has these figures. Its target is known once it is done."""
        failure = "; ".join(f"{fault.code}: {fault.message}" for fault in self.faults.errors)
        state = "modifying" if self.status != "DONE" else "failed" if failure else "completed"
        return Modification(
            state=state,
            started=self.start,
            ended=moment(self.ended) if self.ended is not None else None,
            target=spec if state == "completed" else None,
            message=failure,
            request_id=self.request_id,
        )


class UpdateRefused(CloudError):
    """Google refused an update, for a reason of its own, which is its `code`."""

    def __init__(self, sentence: str, code: str = "") -> None:
        """`sentence` is what a person reads."""
        super().__init__(sentence)
        self.code = code


def read_disks(clients: Clients, target: Target, ids: Sequence[str]) -> Iterator[ListedDisk | UnreadVolume]:
    """The disks of a target with these ids, each with its latest update, or why it is unread. Raises CloudError."""
    entries, latest = list(read_named(clients, target, ids, CHANGING_DISKS)), dict[str, DiskUpdate]()
    scopes: dict[str, list[str]] = {}
    for entry in entries:
        if not isinstance(entry, UnreadVolume):
            scopes.setdefault(_scope_of(entry.path), []).append(entry.id)
    for scope, names in scopes.items():
        for update in read_updates(clients, target, scope, names):
            known = latest.get(str(update.disk_id), update)
            latest[str(update.disk_id)] = max(known, update, key=lambda each: each.start)
    for entry in entries:
        if isinstance(entry, UnreadVolume) or not isinstance(entry.found, Volume) or entry.id not in latest:
            yield entry
        else:
            modification = latest[entry.id].make_modification(entry.found.spec)
            yield replace(entry, found=replace(entry.found, modification=modification))


def read_starts(clients: Clients, target: Target, disk_id: str, path: str) -> list[datetime]:
    """The starts of all updates of a disk that Google still knows. Raises CloudError."""
    return [update.start for update in read_updates(clients, target, _scope_of(path), [disk_id])]


def begin_update(clients: Clients, target: Target, path: str, figures: Mapping[str, int], request_id: str) -> datetime:
    """The start of the update of the disk at a path. It is asked for as often as it takes: Google knows it by its id.

    Raises UpdateRefused, Unanswered if it is not known whether it was taken, VolumeGone and other CloudErrors.
    """
    place = f"{path.rpartition('/')[2]} in {target}"
    try:
        answer = clients.update_disk(path, figures, request_id)
    except GOOGLE_FAILURES as error:
        raise _refusal(error, target, place) from error
    return read_answer(DiskUpdate, answer, call=UPDATE_DISK, place=place).start


def _refusal(error: Exception, target: Target, place: str) -> CloudError:
    """The error of an update: refused by a reason, not answered, or not for this disk's reasons."""
    translated = google_error(error, f"modify {place}", str(target), UPDATE_DISK, CHANGING_DISKS)
    if isinstance(translated, BadCredentials | ApiDisabled):
        return translated
    if not isinstance(error, GoogleAPICallError) or int(error.code or _SERVER_FAILED) >= _SERVER_FAILED:
        return Unanswered(f"no answer to disks.update of {place}: {type(error).__name__}.")
    if isinstance(error, NotFound):
        return VolumeGone(f"{place} does not exist any more.")
    message = message_of(error)
    if any(_RATE.search(text) for text in (message, *reasons_of(error))):
        return UpdateRefused(f"{RATE_EXCEEDED}: {message}", RATE_EXCEEDED)
    code = next((code for kind, code in _CODES_OF if isinstance(translated, kind)), reason_of(error))
    return UpdateRefused(f"{code}: {message}", code)


def _scope_of(path: str) -> str:
    """The zone or region of a disk's path: zones/us-central1-a."""
    return within_project(path).partition("/disks/")[0]


def read_updates(clients: Clients, target: Target, scope: str, ids: Sequence[str]) -> Iterator[DiskUpdate]:
    """The updates of disks of one zone or region (`zones/us-central1-a`), in no order. Raises CloudError."""
    kind, _, name = scope.partition("/")
    is_zone = kind == "zones"
    permission = LIST_ZONE_OPERATIONS if is_zone else LIST_REGION_OPERATIONS
    place = f"{target.account}/{name}"
    listed = PagedList(
        clients=clients,
        what=f"read the changes of disks in {place}",
        place=place,
        permission=permission,
        deadline=clients.list_deadline(),
        purpose=CHANGING_DISKS,
        size=lambda page: len(page.items),
    )
    for part in in_chunks(ids, _NAMES_A_FILTER):
        asked: dict[str, Any] = {
            "project": target.account,
            "filter": " OR ".join(f"(targetId = {number})" for number in part),
            "max_results": _PAGE,
        }
        pages = listed.pages(*_list_call(clients, asked, name, is_zone=is_zone))
        for page in pages:
            for operation in page.items:
                if operation.operation_type == _UPDATE:
                    yield read_answer(DiskUpdate, _plain(operation), call=permission, place=place)


def _list_call(clients: Clients, asked: Mapping[str, Any], name: str, *, is_zone: bool) -> tuple[ListCall, Any]:
    """The call that lists the operations of a zone or a region, and its request."""
    if is_zone:
        zonal = clients.rest(compute_v1.ZoneOperationsClient).list
        return zonal, compute_v1.ListZoneOperationsRequest(zone=name, **asked)
    regional = clients.rest(compute_v1.RegionOperationsClient).list
    return regional, compute_v1.ListRegionOperationsRequest(region=name, **asked)


def _plain(operation: compute_v1.Operation) -> Any:
    return compute_v1.Operation.to_dict(
        operation,
        use_integers_for_enums=False,
        preserving_proto_field_name=False,
        always_print_fields_with_no_presence=False,
    )
