"""Permissions: exactly those of an audit, a validation, a sweep and a change."""

from collections.abc import Mapping
from typing import Final

from plimsoll_google.names import (
    COMPUTE,
    GET_PROJECT,
    LIST_DISKS,
    LIST_FOLDERS,
    LIST_INSTANCES,
    LIST_LOG_ENTRIES,
    LIST_PROJECTS,
    LIST_REGION_OPERATIONS,
    LIST_REGIONS,
    LIST_TIME_SERIES,
    LIST_ZONE_OPERATIONS,
    MONITORING,
    RESOURCE_MANAGER,
    UPDATE_DISK,
)

GOOGLE_AUDIT: Final = frozenset({LIST_DISKS, LIST_INSTANCES, LIST_REGIONS, LIST_TIME_SERIES})
"""The permissions of an audit on a project. compute.regions.list is used only where regions are named. Newer prices
need no permission, but cloudbilling.googleapis.com in the project that calls count for; without it the shipped book is
used."""

GOOGLE_AUDIT_LOG: Final = frozenset({LIST_LOG_ENTRIES})
"""The permission to read audit logs, for a policy that says so (read_audit_log)."""

NUMBERED: Final = frozenset({GET_PROJECT})
"""The permission to find the id of a project that is named by its number, on that project."""

BELOW: Final = frozenset({LIST_FOLDERS, LIST_PROJECTS})
"""The permissions to find the projects of a folder or an organization, on it."""

APIS: Final[Mapping[str, frozenset[str]]] = {
    COMPUTE: frozenset({LIST_DISKS, LIST_INSTANCES, LIST_REGIONS}),
    MONITORING: frozenset({LIST_TIME_SERIES}),
    RESOURCE_MANAGER: frozenset({GET_PROJECT, LIST_FOLDERS, LIST_PROJECTS}),
}
"""The API behind each. Compute Engine and Cloud Monitoring must be enabled in every project that is read, Resource
Manager in the one that calls count for."""

GOOGLE_SWEEP: Final = frozenset(
    {
        LIST_DISKS,
        "compute.disks.delete",
        "compute.disks.use",
        "compute.instances.detachDisk",
        "compute.instances.get",
        "compute.zoneOperations.get",
    }
)
"""The permissions to find, detach and delete scratch disks. Compute Engine asks compute.disks.use for a disk that is
attached or detached, and labels only where they are changed later (access control of Compute Engine, from memory: not
held against a live project)."""

GOOGLE_VALIDATION: Final = GOOGLE_SWEEP | {
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

GOOGLE_CHANGE_CALLS: Final = frozenset(
    {LIST_DISKS, LIST_INSTANCES, LIST_REGION_OPERATIONS, LIST_TIME_SERIES, LIST_ZONE_OPERATIONS, UPDATE_DISK}
)
"""The permissions by which `plimsoll change` looks at Hyperdisks, updates and judges them."""

GOOGLE_CHANGE: Final = GOOGLE_CHANGE_CALLS | frozenset(
    {
        "compute.disks.create",
        "compute.disks.createSnapshot",
        "compute.disks.delete",
        "compute.disks.get",
        "compute.disks.resize",
        "compute.disks.use",
        "compute.instances.attachDisk",
        "compute.instances.detachDisk",
        "compute.instances.get",
        "compute.instances.start",
        "compute.instances.stop",
        "compute.snapshots.create",
        "compute.snapshots.delete",
        "compute.snapshots.get",
        "compute.snapshots.useReadOnly",
        "compute.globalOperations.get",
        "compute.regionOperations.get",
        "compute.zoneOperations.get",
    }
)
"""What a person or a pipeline uses to carry out the gcloud lines of a recommendation: updates and resizes in place, and
copies by a snapshot (access control of Compute Engine, from memory: not held against a live project). Plimsoll itself
updates Hyperdisks alone, by GOOGLE_CHANGE_CALLS. To start a VM that runs as a service account,
iam.serviceAccounts.actAs is needed as well."""
