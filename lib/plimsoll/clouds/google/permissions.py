"""Permissions: exactly those of an audit, a validation and a sweep, and the custom roles that grant them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from plimsoll.clouds.google.names import (
    COMPUTE,
    GET_PROJECT,
    LIST_DISKS,
    LIST_FOLDERS,
    LIST_INSTANCES,
    LIST_LOG_ENTRIES,
    LIST_PROJECTS,
    LIST_REGIONS,
    LIST_TIME_SERIES,
    MONITORING,
    RESOURCE_MANAGER,
)
from plimsoll.clouds.permissions import Purpose
from plimsoll.model.policy import Policy

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

GOOGLE_CHANGE: Final = frozenset(
    {
        "compute.disks.create",
        "compute.disks.createSnapshot",
        "compute.disks.delete",
        "compute.disks.get",
        "compute.disks.resize",
        "compute.disks.update",
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
never changes a disk. To start a VM that runs as a service account, iam.serviceAccounts.actAs is needed as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleRole:
    """The custom role for a purpose.

    `organization` adds the permissions to find the projects of a folder or an organization. Such a role is made in the
    organization, since projects.list is granted nowhere else.
    """

    purpose: Purpose
    policy: Policy
    organization: bool = False

    @property
    def name(self) -> str:
        """The role's id."""
        return f"plimsoll{self.purpose.capitalize()}"

    @property
    def permissions(self) -> frozenset[str]:
        """All permissions of the role."""
        if self.purpose is Purpose.CHANGE:
            return GOOGLE_CHANGE
        granted = GOOGLE_AUDIT | (GOOGLE_AUDIT_LOG if self.policy.read_audit_log else frozenset())
        granted |= BELOW | NUMBERED if self.organization else frozenset()
        return granted | GOOGLE_VALIDATION if self.purpose is Purpose.VALIDATE else granted

    def document(self) -> dict[str, Any]:
        """The role as `gcloud iam roles create --file` takes it."""
        return {
            "title": f"Plimsoll {self.purpose}",
            "description": self.purpose.says,
            "stage": "GA",
            "includedPermissions": sorted(self.permissions),
        }

    def json(self) -> str:
        """JSON, for gcloud."""
        return json.dumps(self.document(), indent=2)

    def terraform(self) -> str:
        """Terraform: one custom role, of the provider's project or of an organization."""
        kind, place, head = "google_project_iam_custom_role", "", ""
        if self.organization:
            kind, place = "google_organization_iam_custom_role", "  org_id      = var.organization_id\n"
            head = 'variable "organization_id" {\n  type = string\n}\n\n'
        permissions = "".join(f'    "{permission}",\n' for permission in sorted(self.permissions))
        return (
            f'{head}resource "{kind}" "plimsoll_{self.purpose}" {{\n{place}'
            f'  role_id     = "{self.name}"\n'
            f'  title       = "Plimsoll {self.purpose}"\n'
            f'  description = "{self.purpose.says}"\n'
            f"  permissions = [\n{permissions}  ]\n"
            "}"
        )
