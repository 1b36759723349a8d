"""Scratch disks: made with their labels in one call. Later calls touch only disks with these labels."""

import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from google.api_core.exceptions import Conflict, GoogleAPICallError, NotFound
from google.cloud import compute_v1

from plimsoll.clouds.common.dated_data import sold_figures
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.clouds.registry import GOOGLE
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.model.task import ScratchOrder, ScratchVolume, check_tagged
from plimsoll.ports import Target
from plimsoll_google.bench_hosts import (
    GOOGLE_CLEANING,
    GOOGLE_MEASURING,
    cleaning,
    find_instance,
    follow_operation,
    get_instance,
    lent_types,
    measuring,
    pages_of,
)
from plimsoll_google.clients import Clients
from plimsoll_google.names import LIST_DISKS, last_of, moment
from plimsoll_measure.bench.agent import device_name

SCRATCH_LABEL: Final = "plimsoll-scratch"
DEADLINE_LABEL: Final = "plimsoll-deadline"
"""The labels that stand for a scratch order's tags, because a label's key has no colon."""

_NO_LABEL: Final = re.compile(r"[^\w-]", re.ASCII)
_LABEL_CHARS: Final = 63
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


@dataclass(frozen=True, kw_only=True)
class ScratchDisks:
    """The scratch disks of the projects that the clients reach. A repeated step is no error.

    `tags` are given to what is made, as labels besides its own.
    """

    clients: Clients
    tags: Mapping[str, str] = field(default_factory=dict)
    sleep: Callable[[float], None] = time.sleep

    def create(self, order: ScratchOrder) -> str:
        """disks.insert under a name and a request id of the order's own; a clone if the order has a source.

        Raises CloudError if the source cannot be cloned so: a clone has the type and the zone of its source.
        """
        what = f"create a scratch disk of {order.spec} in {order.zone} of {order.account}"
        wanted = compute_v1.Disk(
            name=f"plimsoll-{order.token[:20]}",
            description="Made by Plimsoll to be measured and deleted",
            labels={**labels_of(self.tags), **_labels(order)},
            type_=f"zones/{order.zone}/diskTypes/{order.spec.type}",
            size_gb=order.spec.size_gib,
            **_figure_fields(order),
        )
        if order.source is not None:
            wanted.source_disk = _source(self.clients, order)
        place = {"project": order.account, "zone": order.zone}
        token = str(uuid.UUID(order.token[:32]))
        with measuring(what, f"{order.account}/{order.zone}", "compute.disks.create"):
            try:
                operation = self.clients.disks.insert_unary(
                    request={**place, "disk_resource": wanted, "request_id": token}, **self.clients.tries
                )
            except Conflict:  # the same order was carried out before
                existing = self.clients.disks.get(request={**place, "disk": wanted.name}, **self.clients.tries)
                return str(existing.id)
        self._follow(operation, what, order.account, GOOGLE_MEASURING)
        return str(operation.target_id)

    def scratch(self, target: Target, *, volume_id: str | None = None) -> Sequence[ScratchVolume]:
        """Every disk with the scratch label, page by page, or that one."""
        if volume_id is not None:
            disk = find_disk(self.clients, target, volume_id)
            disks = [disk] if disk is not None and SCRATCH_LABEL in disk.labels else []
        else:
            disks = list(_list_disks(self.clients, target, f"labels.{SCRATCH_LABEL}:*"))
        return [_scratch_volume(self.clients, target, disk) for disk in disks]

    def attach(self, target: Target, volume_id: str, host_id: str) -> None:
        """instances.attachDisk under a device name of the disk's own.

        Raises CloudError if the host has a disk of the same pooled type: a measurement would be of both together.
        """
        what = f"attach {volume_id} to {host_id} in {target}"
        disk = self._scratch_disk(target, volume_id, "attach")
        if disk is None:
            raise CloudError(f"cannot {what}: there is no such disk. Make it anew.")
        host = find_instance(self.clients, target, host_id)
        if host is None:
            raise CloudError(f"cannot {what}: there is no such instance. Name another with --bench-host.")
        if _uses(disk, host):
            return
        if _type_of(disk) in lent_types(self.clients, target, host):
            raise CloudError(
                f"cannot {what}: {host.name} has another disk of {_type_of(disk)}, and a VM's disks of one such type "
                "share their performance. Name a host with --bench-host whose disks are of other types."
            )
        attached = compute_v1.AttachedDisk(
            source=f"projects/{target.account}{_path(disk)}",
            device_name=device_name(volume_id),
            auto_delete=False,
            boot=False,
        )
        with measuring(what, f"{target.account}/{_zone_of(disk)}", "compute.instances.attachDisk"):
            try:
                operation = self.clients.instances.attach_disk_unary(
                    request={**_place_of(target, host), "attached_disk_resource": attached}, **self.clients.tries
                )
            except GoogleAPICallError:
                now = self._scratch_disk(target, volume_id, "attach")
                if now is not None and _uses(now, host):  # an earlier try had worked
                    return
                raise
        self._follow(operation, what, target.account, GOOGLE_MEASURING)

    def detach(self, target: Target, volume_id: str, *, force: bool = False) -> None:  # noqa: ARG002  # there is none
        """instances.detachDisk. Raises BadInput for a disk without the scratch label. Google knows no force."""
        disk = self._scratch_disk(target, volume_id, "detach")
        if disk is None:
            return
        for user in disk.users:
            host = get_instance(self.clients, target, user.split("/zones/")[1].split("/")[0], last_of(user))
            names = (
                [attached.device_name for attached in host.disks if attached.source.endswith(_path(disk))]
                if host
                else []
            )
            if host is not None and names:
                self._detach_one(target, volume_id, host, names[0])

    def _detach_one(self, target: Target, volume_id: str, host: compute_v1.Instance, name: str) -> None:
        what = f"detach {volume_id} from {host.name} in {target}"
        with cleaning(what, f"{target.account}/{_zone_of(host)}", "compute.instances.detachDisk"):
            try:
                operation = self.clients.instances.detach_disk_unary(
                    request={**_place_of(target, host), "device_name": name}, **self.clients.tries
                )
            except GoogleAPICallError:
                now = self._scratch_disk(target, volume_id, "detach")
                if now is None or not _uses(now, host):  # it came off meanwhile
                    return
                raise
        self._follow(operation, what, target.account, GOOGLE_CLEANING)

    def delete(self, target: Target, volume_id: str) -> None:
        """disks.delete. Raises BadInput for a disk without the scratch label, CloudError while it is attached."""
        disk = self._scratch_disk(target, volume_id, "delete")
        if disk is None or disk.status == "DELETING":
            return
        what = f"delete {volume_id} in {target}"
        if disk.users:
            raise CloudError(f"cannot {what}: it is attached to {last_of(disk.users[0])}. Detach it first.")
        with cleaning(what, f"{target.account}/{_zone_of(disk)}", "compute.disks.delete"):
            try:
                operation = self.clients.disks.delete_unary(
                    project=target.account, zone=_zone_of(disk), disk=disk.name, **self.clients.tries
                )
            except NotFound:
                return
        self._follow(operation, what, target.account, GOOGLE_CLEANING)

    def _scratch_disk(self, target: Target, volume_id: str, what: str) -> compute_v1.Disk | None:
        """The disk as it is now. None if it is gone. Raises BadInput if it has not the scratch label."""
        disk = find_disk(self.clients, target, volume_id)
        if disk is not None:
            check_tagged(SCRATCH_LABEL, disk.labels, f"{what} {volume_id} ({disk.name}) in {target}")
        return disk

    def _follow(self, operation: compute_v1.Operation, what: str, project: str, purpose: CallPurpose) -> None:
        follow_operation(self.clients, operation, what, project=project, purpose=purpose, sleep=self.sleep)


def labels_of(tags: Mapping[str, str]) -> dict[str, str]:
    """The labels for these tags: small letters, digits, - and _, in keys after a letter; at most 63 characters."""
    keys = {key: _label(key if key[0].isalpha() and key.isascii() else f"tag-{key}") for key in tags}
    return {keys[key]: _label(value) for key, value in tags.items()}


def _label(text: str) -> str:
    return _NO_LABEL.sub("_", text.lower())[:_LABEL_CHARS]


def _labels(order: ScratchOrder) -> dict[str, str]:
    if not _LABEL_VALUE.fullmatch(order.validation_id):
        raise BadInput(
            f"cannot make a scratch disk for the validation {order.validation_id}: a label holds at most 63 small "
            "letters, digits, - and _. Name the validation so."
        )
    deadline = order.deadline.astimezone(UTC)
    return {SCRATCH_LABEL: order.validation_id, DEADLINE_LABEL: deadline.strftime(_TIME)}


def _figure_fields(order: ScratchOrder) -> dict[str, int]:
    """The figures that the type sells by itself: Compute Engine refuses the others."""
    sold = sold_figures(order.spec, GOOGLE)
    figures = {"provisioned_iops": sold.iops, "provisioned_throughput": sold.throughput_mib_s}
    return {name: figure for name, figure in figures.items() if figure is not None}


def _source(clients: Clients, order: ScratchOrder) -> str:
    target = Target(account=order.account, region=order.region, provider=GOOGLE)
    source = find_disk(clients, target, order.source or "")
    what = f"cannot copy {order.source} to {order.spec} in {order.zone} of {order.account}"
    if source is None:
        raise CloudError(f"{what}: there is no such disk in {target}. Name another.")
    place = (_type_of(source), _zone_of(source))
    if place != (order.spec.type, order.zone):
        raise CloudError(
            f"{what}: it is {place[0]} in {place[1]}, and Google clones a disk only to its own type in its own zone. "
            "Measure an empty disk instead: --mode canary."
        )
    return f"projects/{target.account}{_path(source)}"


def find_disk(clients: Clients, target: Target, volume_id: str) -> compute_v1.Disk | None:
    """A zonal disk of the target's region by its numeric id. None if there is none."""
    if not volume_id.isdecimal():
        return None
    listed = _list_disks(clients, target, f"id = {volume_id}")
    return next((disk for disk in listed if str(disk.id) == volume_id), None)


def _list_disks(clients: Clients, target: Target, wanted: str) -> Iterator[compute_v1.Disk]:
    request = {"project": target.account, "filter": wanted, "max_results": _PAGE}
    with cleaning(f"list scratch disks in {target}", str(target), LIST_DISKS):
        for page in pages_of(target, clients.disks.aggregated_list(request=request, **clients.tries)):
            yield from (disk for disk in page.disks if disk.zone)


def _scratch_volume(clients: Clients, target: Target, disk: compute_v1.Disk) -> ScratchVolume:
    state = _STATES.get(disk.status, "in-use" if disk.users else "available")
    return ScratchVolume(
        id=str(disk.id),
        account=target.account,
        region=target.region,
        zone=_zone_of(disk),
        validation_id=disk.labels[SCRATCH_LABEL],
        deadline=_deadline(disk.labels.get(DEADLINE_LABEL, "")),
        created=moment(disk.creation_timestamp),
        state=state,
        attached_to=_user_id(clients, target, disk) if disk.users else None,
        attachment="attached" if disk.users else None,
    )


def _user_id(clients: Clients, target: Target, disk: compute_v1.Disk) -> str:
    """The id of the instance that has the disk, its name if it is gone meanwhile."""
    name = last_of(disk.users[0])
    instance = get_instance(clients, target, _zone_of(disk), name)
    return str(instance.id) if instance else name


def _deadline(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def _type_of(disk: compute_v1.Disk) -> str:
    return last_of(disk.type_)


def _zone_of(resource: compute_v1.Disk | compute_v1.Instance) -> str:
    return last_of(resource.zone)


def _path(disk: compute_v1.Disk) -> str:
    return f"/zones/{_zone_of(disk)}/disks/{disk.name}"


def _place_of(target: Target, host: compute_v1.Instance) -> dict[str, str]:
    return {"project": target.account, "zone": _zone_of(host), "instance": host.name}


def _uses(disk: compute_v1.Disk, host: compute_v1.Instance) -> bool:
    path = f"/zones/{_zone_of(host)}/instances/{host.name}"
    return any(user.endswith(path) for user in disk.users)
