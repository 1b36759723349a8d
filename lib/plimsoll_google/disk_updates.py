"""Updates: changes of the IOPS and throughput of disks, as the operations of their zones or regions tell them.

An operation has its time, its requester's id and its error, and not the figures that were asked for: a disk shows them
once it is done (Compute Engine v1, `Operation` and `zoneOperations.list`, read 2026-11-27). Operations are kept for a
limited time.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from google.cloud import compute_v1
from pydantic import Field

from plimsoll.clouds.common.answers import CloudAnswer, read_answer
from plimsoll.clouds.common.calls import in_chunks
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.ports import Target
from plimsoll_google.clients import Clients
from plimsoll_google.names import LIST_REGION_OPERATIONS, LIST_ZONE_OPERATIONS, UPDATE_DISK
from plimsoll_google.pages import ListCall, PagedList
from plimsoll_google.resources import Id, Time

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
    def failure(self) -> str:
        """The reasons why it failed; empty if it did not."""
        return "; ".join(f"{fault.code}: {fault.message}" for fault in self.faults.errors)


def begin_update(clients: Clients, path: str, figures: Mapping[str, int], request_id: str, place: str) -> DiskUpdate:
    """The update of the disk at a path, asked for as often as it takes: Google knows it by its id.

    Raises what Google's clients raise, and BadAnswer.
    """
    answer = clients.update_disk(path, figures, request_id)
    return read_answer(DiskUpdate, answer, call=UPDATE_DISK, place=place)


def read_updates(
    clients: Clients, target: Target, scope: str, ids: Sequence[str], purpose: CallPurpose
) -> Iterator[DiskUpdate]:
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
        purpose=purpose,
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
