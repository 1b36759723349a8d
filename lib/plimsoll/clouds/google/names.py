"""Names that the adapters of Google Cloud agree on. Patterns are for a whole name, without ^ and $."""

from typing import Final

COMPUTE: Final = "compute.googleapis.com"
MONITORING: Final = "monitoring.googleapis.com"
RESOURCE_MANAGER: Final = "cloudresourcemanager.googleapis.com"
BILLING: Final = "cloudbilling.googleapis.com"
"""The APIs that are asked, as `gcloud services enable` calls them."""

LIST_DISKS: Final = "compute.disks.list"
LIST_INSTANCES: Final = "compute.instances.list"
LIST_REGIONS: Final = "compute.regions.list"
LIST_TIME_SERIES: Final = "monitoring.timeSeries.list"
GET_PROJECT: Final = "resourcemanager.projects.get"
LIST_PROJECTS: Final = "resourcemanager.projects.list"
LIST_FOLDERS: Final = "resourcemanager.folders.list"
"""Permissions, as roles and refusals call them."""

PROJECT_ID: Final = r"([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]"
"""A project's id, perhaps under a domain (Resource Manager v3, `Project.project_id`, read 2026-11-22)."""

PROJECT_NUMBER: Final = r"[0-9]{6,19}"
"""A project's number, which all APIs take for its id."""

FOLDER_ID: Final = r"(folders/)?[0-9]{1,20}"
ORGANIZATION_ID: Final = r"(organizations/)?[0-9]{1,20}"
"""A number, alone or as the API names it."""

REGION_NAME: Final = r"[a-z]{2,12}-[a-z]{2,12}[0-9]{1,2}"
"""A region, such as us-central1 or northamerica-northeast1."""

DISK_ID: Final = r"[0-9]{1,20}"
"""A disk's own number, which has 64 bits (Compute Engine v1, `Disk.id`)."""
