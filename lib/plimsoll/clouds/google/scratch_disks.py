"""Scratch disks: made with their labels in one call. Later calls touch only what has these labels."""

import hashlib
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from google.api_core.exceptions import Conflict
from google.cloud import compute_v1

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.google.bench_calls import MEASURING, Follower, cleaning, measuring
from plimsoll.clouds.google.bench_hosts import check_answered, instance_of
from plimsoll.clouds.google.clients import CALL_S, Clients
from plimsoll.clouds.google.names import LIST_DISKS
from plimsoll.clouds.google.resource_fields import last_of, moment, region_of
from plimsoll.clouds.registry import GOOGLE
from plimsoll.domain.errors import BadInput, CloudError
from plimsoll.domain.scratch import ScratchOrder, ScratchVolume
from plimsoll.domain.volume_types import Provisioned
from plimsoll.ports import Target

SCRATCH_LABEL: Final = "plimsoll-scratch"
DEADLINE_LABEL: Final = "plimsoll-deadline"
"""What the tags of a scratch order are on Google, where a label's key has no colon."""

_TIME: Final = "%Y%m%dt%H%M%Sz"
_LABEL_VALUE: Final = re.compile(r"[a-z0-9_-]{1,63}")
_PAGE: Final = 500
_STATES: Final[Mapping[str, str]] = {
    "CREATING": "creating",
    "RESTORING": "creating",
    "DELETING": "deleting",
    "FAILED": "error",
    "UNAVAILABLE": "error",
}


def create_disk(clients: Clients, order: ScratchOrder, sleep: Callable[[float], None]) -> str:
    """Makes the order's disk, empty or a clone of its source; a retry with the same order gives the same disk.

    CloudError where the source cannot be cloned so: a clone has the type and the zone of its source.
    """
    target = Target(account=order.account, region=order.region, provider=GOOGLE)
    what = f"create a scratch disk of {order.spec} in {order.zone} of {order.account}"
    wanted = compute_v1.Disk(
        name=f"plimsoll-{_digest(order)[:20]}",
        description="Made by Plimsoll to be measured and deleted",
        labels=_labels(order),
        type_=f"zones/{order.zone}/diskTypes/{order.spec.type}",
        size_gb=order.spec.size_gib,
        **_provisioned(order),
    )
    if order.source is not None:
        wanted.source_disk = _source(clients, target, order)
    place = {"project": order.account, "zone": order.zone}
    token = str(uuid.UUID(_digest(order)[:32]))
    with measuring(what, f"{order.account}/{order.zone}", "compute.disks.create"):
        try:
            operation = clients.disks.insert_unary(
                request={**place, "disk_resource": wanted, "request_id": token}, retry=clients.retry, timeout=CALL_S
            )
        except Conflict:  # the same order was carried out before
            found = clients.disks.get(request={**place, "disk": wanted.name}, retry=clients.retry, timeout=CALL_S)
            return str(found.id)
    Follower(clients=clients, project=order.account, purpose=MEASURING, sleep=sleep).follow(operation, what)
    return str(operation.target_id)


def _digest(order: ScratchOrder) -> str:
    """What names an order: the same for the same order."""
    facts = (order.validation_id, order.account, order.region, order.zone, order.spec, order.deadline, order.source)
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def _labels(order: ScratchOrder) -> dict[str, str]:
    if not _LABEL_VALUE.fullmatch(order.validation_id):
        raise BadInput(
            f"cannot make a scratch disk for the validation {order.validation_id}: a label holds at most 63 small "
            "letters, digits, - and _. Name the validation so."
        )
    deadline = order.deadline.astimezone(UTC)
    return {SCRATCH_LABEL: order.validation_id, DEADLINE_LABEL: deadline.strftime(_TIME)}


def _provisioned(order: ScratchOrder) -> dict[str, int]:
    """What the type sells by itself: Compute Engine refuses the others."""
    kind, spec, request = volume_types(GOOGLE).get(order.spec.type), order.spec, {}
    if spec.iops is not None and (kind is None or isinstance(kind.iops, Provisioned)):
        request["provisioned_iops"] = spec.iops
    if spec.throughput_mib_s is not None and (kind is None or isinstance(kind.throughput, Provisioned)):
        request["provisioned_throughput"] = spec.throughput_mib_s
    return request


def _source(clients: Clients, target: Target, order: ScratchOrder) -> str:
    source = find_disk(clients, target, order.source or "")
    what = f"cannot copy {order.source} to {order.spec} in {order.zone} of {order.account}"
    if source is None:
        raise CloudError(f"{what}: there is no such disk in {target}. Name another.")
    there = (type_of(source), zone_of(source))
    if there != (order.spec.type, order.zone):
        raise CloudError(
            f"{what}: it is {there[0]} in {there[1]}, and Google clones a disk only to its own type in its own zone. "
            "Measure an empty disk instead: --mode canary."
        )
    return f"projects/{target.account}/zones/{order.zone}/disks/{source.name}"


def scratch_disks(clients: Clients, target: Target, volume_id: str | None) -> Sequence[ScratchVolume]:
    """All disks of a region with the scratch label, or that one; none where it is gone or has not the label."""
    if volume_id is not None:
        one = find_disk(clients, target, volume_id)
        found = [one] if one is not None and SCRATCH_LABEL in one.labels else []
    else:
        found = list(_listed(clients, target, f"labels.{SCRATCH_LABEL}:*"))
    return [_scratch_volume(clients, target, disk) for disk in found]


def check_scratch(clients: Clients, target: Target, volume_id: str, what: str) -> compute_v1.Disk | None:
    """The disk as it is now, None where it is gone; BadInput where it has not the scratch label."""
    disk = find_disk(clients, target, volume_id)
    if disk is not None and SCRATCH_LABEL not in disk.labels:
        raise BadInput(
            f"cannot {what} {volume_id} ({disk.name}) in {target}: it has not the label {SCRATCH_LABEL}, so it is no "
            "scratch disk. Do it yourself if it is to be done."
        )
    return disk


def find_disk(clients: Clients, target: Target, volume_id: str) -> compute_v1.Disk | None:
    """A zonal disk of the target's region by its numeric id, None where there is none."""
    if not volume_id.isdecimal():
        return None
    listed = _listed(clients, target, f"id = {volume_id}")
    return next((disk for disk in listed if str(disk.id) == volume_id), None)


def _listed(clients: Clients, target: Target, wanted: str) -> Iterator[compute_v1.Disk]:
    request = {"project": target.account, "filter": wanted, "max_results": _PAGE}
    with cleaning(f"list scratch disks in {target}", str(target), LIST_DISKS):
        for scope, page in clients.disks.aggregated_list(request=request, retry=clients.retry, timeout=CALL_S):
            check_answered(scope, page, target)
            for disk in page.disks:
                if disk.zone and region_of(scope) == target.region:
                    yield disk


def _scratch_volume(clients: Clients, target: Target, disk: compute_v1.Disk) -> ScratchVolume:
    state = _STATES.get(disk.status, "in-use" if disk.users else "available")
    return ScratchVolume(
        id=str(disk.id),
        account=target.account,
        region=target.region,
        zone=zone_of(disk),
        validation_id=disk.labels[SCRATCH_LABEL],
        deadline=_deadline(disk.labels.get(DEADLINE_LABEL, "")),
        created=moment(disk.creation_timestamp),
        state=state,
        attached_to=_user_id(clients, target, disk) if disk.users else None,
        attachment="attached" if disk.users else None,
    )


def _user_id(clients: Clients, target: Target, disk: compute_v1.Disk) -> str:
    """The id of the instance that has the disk, its name where it is gone meanwhile."""
    name = last_of(disk.users[0])
    instance = instance_of(clients, target, zone_of(disk), name)
    return str(instance.id) if instance else name


def _deadline(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def type_of(disk: compute_v1.Disk) -> str:
    """A zonal disk's type."""
    return last_of(disk.type_)


def zone_of(disk: compute_v1.Disk) -> str:
    """A disk's zone, empty for a regional one."""
    return last_of(disk.zone)
