"""The audit log: what was changed of the disks and instances of a project, as Cloud Logging lists it, oldest first."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cloud_simulator.faults import Refused
from cloud_simulator.google.compute import Resource
from cloud_simulator.google.fleet import GoogleFleet, SimulatedDisk
from cloud_simulator.google.http_front import Call, Front, Route
from cloud_simulator.paging import page_of

_SINCE: Final = re.compile(r'timestamp>="([^"]+)"')
_MOST: Final = 1000


def add_audit_log(front: Front, fleet: GoogleFleet) -> None:
    """Adds its route."""
    front.routes["POST", "/v2/entries:list"] = Route("entries.list", lambda call: _list_entries(call, fleet))


def _list_entries(call: Call, fleet: GoogleFleet) -> Mapping[str, Any]:
    """A page of entries; refused for a project that is not simulated, and for a filter without a time."""
    project = str((call.body.get("resourceNames") or [""])[0]).removeprefix("projects/")
    if project not in fleet.accounts:
        raise Refused("PERMISSION_DENIED", f"Permission logging.logEntries.list denied on {project or 'nothing'}.")
    since = _SINCE.search(str(call.body.get("filter", "")))
    if since is None:
        raise Refused("INVALID_ARGUMENT", "The simulated Cloud Logging wants to know since when.")
    entries = sorted(
        (entry for disk in fleet.volumes if disk.project == project for entry in _of(disk)),
        key=lambda entry: str(entry["timestamp"]),
    )
    entries = [entry for entry in entries if str(entry["timestamp"]) >= since[1]]
    asked_for = call.body.get("pageToken"), call.body.get("pageSize")
    page, token = page_of(entries, *asked_for, most=_MOST, refusal="INVALID_ARGUMENT")
    return {"entries": page, **({"nextPageToken": token} if token else {})}


def _of(disk: SimulatedDisk) -> Iterator[Resource]:
    """The changes of a disk and of its instance."""
    zone = disk.zones[0]
    for at, method, asked in disk.changes:
        kind, name = ("instances", disk.hosts[0].name) if method == "instances.setMachineType" else ("disks", disk.name)
        yield {
            "timestamp": at.isoformat(),
            "operation": {"first": True},
            "protoPayload": {
                "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
                "serviceName": "compute.googleapis.com",
                "methodName": f"v1.compute.{method}",
                "resourceName": f"projects/{disk.project}/zones/{zone}/{kind}/{name}",
                "request": {"@type": f"type.googleapis.com/compute.{method}", **dict(asked)},
            },
        }
