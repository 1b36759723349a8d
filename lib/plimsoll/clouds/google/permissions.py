"""Permissions: exactly what each capability uses, for the roles that grant it."""

from collections.abc import Mapping
from typing import Final

from plimsoll.clouds.google.names import (
    COMPUTE,
    GET_PROJECT,
    LIST_DISKS,
    LIST_FOLDERS,
    LIST_INSTANCES,
    LIST_PROJECTS,
    LIST_REGIONS,
    LIST_TIME_SERIES,
    MONITORING,
    RESOURCE_MANAGER,
)

AUDIT: Final = frozenset({LIST_DISKS, LIST_INSTANCES, LIST_REGIONS, LIST_TIME_SERIES})
"""What an audit reads a project with. compute.regions.list is used only where regions are named. Newer prices need no
permission, but cloudbilling.googleapis.com in the project that calls count for; without it the shipped book is used."""

NUMBERED: Final = frozenset({GET_PROJECT})
"""What finding the id of a project takes that is named by its number, on that project."""

BELOW: Final = frozenset({LIST_FOLDERS, LIST_PROJECTS})
"""What finding the projects of a folder or an organization takes, on it."""

APIS: Final[Mapping[str, frozenset[str]]] = {
    COMPUTE: frozenset({LIST_DISKS, LIST_INSTANCES, LIST_REGIONS}),
    MONITORING: frozenset({LIST_TIME_SERIES}),
    RESOURCE_MANAGER: frozenset({GET_PROJECT, LIST_FOLDERS, LIST_PROJECTS}),
}
"""The API behind each. Compute Engine and Cloud Monitoring must be enabled in every project that is read, Resource
Manager in the one that calls count for."""

ROLE_ID: Final = "plimsollAudit"
"""The id of the custom role."""


def custom_role(permissions: frozenset[str] = AUDIT) -> str:
    """The YAML of a custom role, for `gcloud iam roles create plimsollAudit --project PROJECT --file FILE`, or with
    `--organization` for all projects of one. BELOW can only be granted at the folder or organization."""
    lines = [
        "title: Plimsoll audit",
        "description: Reads disks, instances and disk metrics; changes nothing.",
        "stage: GA",
        "includedPermissions:",
        *(f"- {permission}" for permission in sorted(permissions)),
    ]
    return "\n".join(lines) + "\n"
