"""Attaching, detaching and deleting scratch disks, each so that doing it again is no error."""

from collections.abc import Callable

from google.api_core.exceptions import GoogleAPICallError, NotFound
from google.cloud import compute_v1

from plimsoll.bench.agent import device_name
from plimsoll.clouds.google.bench_calls import CLEANING, MEASURING, Follower, cleaning, measuring
from plimsoll.clouds.google.bench_hosts import find_instance, instance_of, lent_types
from plimsoll.clouds.google.clients import CALL_S, Clients
from plimsoll.clouds.google.scratch_disks import check_scratch, type_of, zone_of
from plimsoll.domain.errors import CloudError
from plimsoll.ports import Target

Sleep = Callable[[float], None]


def attach_disk(clients: Clients, target: Target, volume_id: str, host_id: str, sleep: Sleep) -> None:
    """Begins to attach a scratch disk under a device name of its own; attached to that host already is no error.

    CloudError where the host has a disk of the same pooled type: what was measured would be both together.
    """
    what = f"attach {volume_id} to {host_id} in {target}"
    disk = check_scratch(clients, target, volume_id, "attach")
    if disk is None:
        raise CloudError(f"cannot {what}: there is no such disk. Make it anew.")
    host = find_instance(clients, target, host_id)
    if host is None:
        raise CloudError(f"cannot {what}: there is no such instance. Name another with --bench-host.")
    if _uses(disk, host):
        return
    if type_of(disk) in lent_types(clients, target, host):
        raise CloudError(
            f"cannot {what}: {host.name} has another disk of {type_of(disk)}, and a VM's disks of one such type share "
            "their performance. Name a host with --bench-host whose disks are of other types."
        )
    attached = compute_v1.AttachedDisk(
        source=f"projects/{target.account}/zones/{zone_of(disk)}/disks/{disk.name}",
        device_name=device_name(volume_id),
        auto_delete=False,
        boot=False,
    )
    with measuring(what, f"{target.account}/{zone_of(disk)}", "compute.instances.attachDisk"):
        try:
            operation = clients.instances.attach_disk_unary(
                request={
                    "project": target.account,
                    "zone": zone_of(host),
                    "instance": host.name,
                    "attached_disk_resource": attached,
                },
                retry=clients.retry,
                timeout=CALL_S,
            )
        except GoogleAPICallError:
            now = check_scratch(clients, target, volume_id, "attach")
            if now is not None and _uses(now, host):  # an earlier try had worked
                return
            raise
    Follower(clients=clients, project=target.account, purpose=MEASURING, sleep=sleep).follow(operation, what)


def detach_disk(clients: Clients, target: Target, volume_id: str, sleep: Sleep) -> None:
    """Begins to detach a scratch disk from wherever it is; BadInput for any other disk. Google knows no force here."""
    disk = check_scratch(clients, target, volume_id, "detach")
    if disk is None:
        return
    for user in disk.users:
        host = instance_of(clients, target, user.split("/zones/")[1].split("/")[0], user.rpartition("/")[2])
        names = [one.device_name for one in host.disks if one.source.endswith(_path(disk))] if host else []
        if host is not None and names:
            _detach_one(clients, target, volume_id, host, names[0], sleep)


def _detach_one(
    clients: Clients, target: Target, volume_id: str, host: compute_v1.Instance, name: str, sleep: Sleep
) -> None:
    what = f"detach {volume_id} from {host.name} in {target}"
    with cleaning(what, f"{target.account}/{zone_of(host)}", "compute.instances.detachDisk"):
        try:
            operation = clients.instances.detach_disk_unary(
                request={
                    "project": target.account,
                    "zone": zone_of(host),
                    "instance": host.name,
                    "device_name": name,
                },
                retry=clients.retry,
                timeout=CALL_S,
            )
        except GoogleAPICallError:
            now = check_scratch(clients, target, volume_id, "detach")
            if now is None or not _uses(now, host):  # it came off meanwhile
                return
            raise
    Follower(clients=clients, project=target.account, purpose=CLEANING, sleep=sleep).follow(operation, what)


def delete_disk(clients: Clients, target: Target, volume_id: str, sleep: Sleep) -> None:
    """Deletes a scratch disk; BadInput for any other disk, CloudError while it is attached."""
    disk = check_scratch(clients, target, volume_id, "delete")
    if disk is None or disk.status == "DELETING":
        return
    what = f"delete {volume_id} in {target}"
    if disk.users:
        raise CloudError(f"cannot {what}: it is attached to {disk.users[0].rpartition('/')[2]}. Detach it first.")
    with cleaning(what, f"{target.account}/{zone_of(disk)}", "compute.disks.delete"):
        try:
            operation = clients.disks.delete_unary(
                project=target.account, zone=zone_of(disk), disk=disk.name, retry=clients.retry, timeout=CALL_S
            )
        except NotFound:
            return
    Follower(clients=clients, project=target.account, purpose=CLEANING, sleep=sleep).follow(operation, what)


def _uses(disk: compute_v1.Disk, host: compute_v1.Instance) -> bool:
    path = f"/zones/{zone_of(host)}/instances/{host.name}"
    return any(user.endswith(path) for user in disk.users)


def _path(disk: compute_v1.Disk) -> str:
    return f"/zones/{zone_of(disk)}/disks/{disk.name}"
