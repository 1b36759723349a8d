"""The hierarchy: the organization's folders and projects, a closing one too, as Resource Manager lists them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cloud_simulator.faults import Refused
from cloud_simulator.google.compute import Resource
from cloud_simulator.google.http_front import Call, Front, Route
from cloud_simulator.google.projects import PROJECTS
from cloud_simulator.paging import page_of

ORGANIZATION: Final = "organizations/100000000001"
PRODUCTION: Final = "folders/200000000001"
ANALYTICS: Final = "folders/200000000002"
"""A folder in `PRODUCTION`."""

_MOST: Final = 300
_FOLDERS: Final[Sequence[Resource]] = [
    {"name": name, "parent": parent, "displayName": title, "state": "ACTIVE"}
    for name, parent, title in ((PRODUCTION, ORGANIZATION, "production"), (ANALYTICS, PRODUCTION, "analytics"))
]
_PARENTS: Final = dict(zip(PROJECTS, (PRODUCTION, ANALYTICS, ORGANIZATION), strict=True))
_PROJECTS: Final[Sequence[Resource]] = [
    {
        "name": f"projects/{number}",
        "parent": _PARENTS.get(project, ORGANIZATION),
        "projectId": project,
        "displayName": project,
        "state": "ACTIVE" if project in PROJECTS else "DELETE_REQUESTED",
    }
    for number, project in enumerate((*PROJECTS, "plimsoll-sim-closing"), start=400_000_000_001)
]


def add_hierarchy(front: Front) -> None:
    """Adds its routes."""
    front.routes["GET", "/v3/projects"] = Route("projects.list", lambda call: _under(call, "projects", _PROJECTS))
    front.routes["GET", r"/v3/projects/(?P<project>[^/:]+)"] = Route("projects.get", _project)
    front.routes["GET", "/v3/folders"] = Route("folders.list", lambda call: _under(call, "folders", _FOLDERS))


def _project(call: Call) -> Resource:
    for project in _PROJECTS:
        if call.project in {project["projectId"], project["name"].removeprefix("projects/")}:
            return project
    raise Refused("PERMISSION_DENIED", f"Permission denied on resource project {call.project}.")


def _under(call: Call, kind: str, listed: Sequence[Resource]) -> Mapping[str, Any]:
    """A page of what is directly in a parent; what is being deleted if that is asked for."""
    parent = call.query.get("parent", "")
    if parent not in {ORGANIZATION, PRODUCTION, ANALYTICS}:
        raise Refused("PERMISSION_DENIED", f"The caller does not have permission on {parent or 'no parent'}.")
    closing = call.query.get("showDeleted", "").lower() == "true"
    children = [child for child in listed if child["parent"] == parent and (closing or child["state"] == "ACTIVE")]
    asked_for = call.query.get("pageToken"), call.query.get("pageSize")
    page, token = page_of(children, *asked_for, most=_MOST, refusal="INVALID_ARGUMENT")
    return {kind: page, **({"nextPageToken": token} if token else {})}
