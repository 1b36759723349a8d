"""The hierarchy: the organization's folders and projects, as Resource Manager lists and searches them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cloud_simulator.faults import Refused
from cloud_simulator.google.compute import Resource
from cloud_simulator.google.fleet import GoogleFleet
from cloud_simulator.google.http_front import Call, Front, Route

_MOST: Final = 300
_FIRST_NUMBER: Final = 400_000_000_001


@dataclass(slots=True)
class Hierarchy:
    """Folders and projects of a fleet's organization, closing ones too."""

    fleet: GoogleFleet

    def add_to(self, front: Front) -> None:
        """Adds its routes."""
        front.routes["GET", "/v3/projects"] = Route("projects.list", lambda call: self._under(call, self._projects()))
        front.routes["GET", r"/v3/projects/(?P<project>[^/:]+)"] = Route("projects.get", self._project)
        front.routes["GET", "/v3/folders"] = Route("folders.list", lambda call: self._under(call, self._folders()))

    def _project(self, call: Call) -> Resource:
        for project in self._projects()["projects"]:
            if call.project in {project["projectId"], project["name"].removeprefix("projects/")}:
                found: Resource = project
                return found
        raise Refused("PERMISSION_DENIED", f"Permission denied on resource project {call.project}.")

    def _under(self, call: Call, listed: Mapping[str, list[Resource]]) -> Mapping[str, Any]:
        """What is directly in a parent; what is being deleted if that is asked for."""
        parent = call.query.get("parent", "")
        if parent not in {self.fleet.organization, *(folder.name for folder in self.fleet.folders)}:
            raise Refused("PERMISSION_DENIED", f"The caller does not have permission on {parent or 'no parent'}.")
        closing = call.query.get("showDeleted", "").lower() == "true"
        ((kind, resources),) = listed.items()
        wanted = [one for one in resources if one["parent"] == parent and (closing or one["state"] == "ACTIVE")]
        return _page(call, kind, wanted)

    def _projects(self) -> dict[str, list[Resource]]:
        parents = {**dict(self.fleet.parents), **dict.fromkeys(self.fleet.closing, self.fleet.organization)}
        return {
            "projects": [
                {
                    "name": f"projects/{_FIRST_NUMBER + number}",
                    "parent": parent,
                    "projectId": project,
                    "displayName": project,
                    "state": "DELETE_REQUESTED" if project in self.fleet.closing else "ACTIVE",
                }
                for number, (project, parent) in enumerate(parents.items())
            ]
        }

    def _folders(self) -> dict[str, list[Resource]]:
        return {
            "folders": [
                {"name": one.name, "parent": one.parent, "displayName": one.title, "state": "ACTIVE"}
                for one in self.fleet.folders
            ]
        }


def _page(call: Call, kind: str, found: list[Resource]) -> Mapping[str, Any]:
    begin, size = int(call.query.get("pageToken") or 0), min(int(call.query.get("pageSize") or _MOST), _MOST)
    answer: dict[str, Any] = {kind: found[begin : begin + size]}
    return {**answer, "nextPageToken": str(begin + size)} if begin + size < len(found) else answer
