"""Names that the adapters of Google Cloud agree on, and fields that many of its resources have.

Patterns are for a whole name, without ^ and $.
"""

from datetime import UTC, datetime
from typing import Final

from plimsoll.clouds.registry import CLOUDS, GOOGLE
from plimsoll.model.errors import Unexpected

COMPUTE: Final = "compute.googleapis.com"
MONITORING: Final = "monitoring.googleapis.com"
RESOURCE_MANAGER: Final = "cloudresourcemanager.googleapis.com"
BILLING: Final = "cloudbilling.googleapis.com"
LOGGING: Final = "logging.googleapis.com"
"""The APIs that are asked, as `gcloud services enable` calls them."""

LIST_DISKS: Final = "compute.disks.list"
LIST_INSTANCES: Final = "compute.instances.list"
LIST_REGIONS: Final = "compute.regions.list"
LIST_TIME_SERIES: Final = "monitoring.timeSeries.list"
LIST_LOG_ENTRIES: Final = "logging.logEntries.list"
UPDATE_DISK: Final = "compute.disks.update"
LIST_ZONE_OPERATIONS: Final = "compute.zoneOperations.list"
LIST_REGION_OPERATIONS: Final = "compute.regionOperations.list"
GET_PROJECT: Final = "resourcemanager.projects.get"
LIST_PROJECTS: Final = "resourcemanager.projects.list"
LIST_FOLDERS: Final = "resourcemanager.folders.list"
"""Permissions, as roles and refusals call them."""

LIST_SKUS: Final = "cloudbilling.skus.list"
"""The call for prices, which needs no permission but the API."""

PROJECT_ID: Final = CLOUDS[GOOGLE].account_id
GOOGLE_REGION_NAME: Final = CLOUDS[GOOGLE].region_name
"""The patterns of a project's id and a region in the cloud's row."""

PROJECT_NUMBER: Final = r"[0-9]{6,19}"
"""A project's number, which all APIs take for its id."""

FOLDER_ID: Final = r"(folders/)?[0-9]{1,20}"
ORGANIZATION_ID: Final = r"(organizations/)?[0-9]{1,20}"
"""A number, alone or as the API names it."""


def last_of(url: str) -> str:
    """The name that a URL ends with."""
    return url.rpartition("/")[2]


def path_of(url: str) -> str:
    """A resource's URL from `projects/` on, which is the same from every host."""
    return "projects/" + url.rpartition("projects/")[2]


def within_project(path: str) -> str:
    """The part of a resource's path after the project: zones/us-central1-a/disks/data."""
    return "/".join(path.split("/")[2:])


def region_of(scope: str) -> str | None:
    """The region of a scope: zones/us-central1-a and regions/us-central1 are of us-central1, `global` is of none."""
    *_, kind, name = ("", "", *scope.split("/"))
    if kind == "zones":
        return name.rpartition("-")[0]
    return name if kind == "regions" else None


def moment(written: str) -> datetime:
    """The time, in UTC, of an RFC 3339 text with an offset. Raises Unexpected if it is none."""
    parsed = _moment(written)
    if parsed is None:
        raise Unexpected(
            f"Google wrote a time as {written!r}, which is none. Run again; if it stays so, report it with that text."
        )
    return parsed


def is_moment(written: str) -> bool:
    """True if a text is a time since Compute Engine began."""
    parsed = _moment(written)
    return parsed is not None and parsed.year >= _FIRST_YEAR


_FIRST_YEAR: Final = 2012
"""Compute Engine was opened in June 2012."""


def _moment(written: str) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(written)
        return parsed.astimezone(UTC) if parsed.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


UNPROBED: Final = (
    "nothing is probed on Google Cloud: Cloud Monitoring publishes the busiest second of each minute, and an audit "
    "sizes by it (size_on: peak-second)."
)
"""Why no host of it is read once a second."""
