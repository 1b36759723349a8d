"""Permissions of measuring: what a validation and a sweep use beside what an audit reads with."""

from typing import Final

from plimsoll.clouds.google.names import LIST_DISKS, LIST_INSTANCES

SWEEP: Final = frozenset(
    {
        LIST_DISKS,
        "compute.disks.delete",
        "compute.disks.use",
        "compute.instances.detachDisk",
        "compute.instances.get",
        "compute.zoneOperations.get",
    }
)
"""What finding, detaching and deleting scratch disks takes. Compute Engine asks compute.disks.use for a disk that is
attached or detached, and labels only where they are changed later (access control of Compute Engine, from memory: not
held against a live project)."""

VALIDATION: Final = SWEEP | {
    LIST_INSTANCES,
    "compute.disks.create",
    "compute.disks.get",
    "compute.disks.setLabels",
    "compute.disks.useReadOnly",
    "compute.instances.attachDisk",
    "compute.instances.getGuestAttributes",
    "compute.instances.setMetadata",
}
"""What a validation does, copies included (useReadOnly, of the disk that is cloned). compute.instances.setMetadata lets
its holder give the VM another startup script, so grant it on bench VMs alone; where a VM runs as a service account, the
holder needs iam.serviceAccounts.actAs on that account as well."""
