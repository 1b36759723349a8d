"""Updates: Hyperdisks get other IOPS and throughput, at most as often as their types say, and operations tell of it.

What is not published for certain and chosen here: the code of the refusal by rate, that a failed update does not count,
and that an update takes some seconds.
"""

import secrets
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from cloud_simulator.clock import SimulatedClock
from cloud_simulator.faults import Effect, Faults, Refused
from cloud_simulator.google.compute import (
    BASE,
    PROJECT,
    Compute,
    Resource,
    Source,
    disk_url,
    list_page,
    parse_filter,
    scope_of,
)
from cloud_simulator.google.fleet import SimulatedDisk
from cloud_simulator.google.http_front import Call, Front, Route
from cloud_simulator.metrics.modifications import Modification
from cloud_simulator.published import VolumeSpec, disk_types
from cloud_simulator.units import HOUR_S

UPDATING_S: Final = 8.0
_FIGURES: Final = {"provisionedIops": "iops", "provisionedThroughput": "throughput_mib_s"}
_PLACES: Final = (
    ("zones", "zone", "disks", "zoneOperations"),
    ("regions", "region", "regionDisks", "regionOperations"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskOperation:
    """An update as it was asked for, and what it makes of its disk."""

    disk: SimulatedDisk
    name: str
    request_id: str
    change: Modification

    def resource(self, now_s: float) -> Resource:
        """The operation as JSON at a time."""
        scope, done = f"{BASE}/projects/{self.disk.project}/{scope_of(self.disk)}", now_s >= self.change.moved_s
        made: Resource = {
            "kind": "compute#operation",
            "id": str(int(self.name.rpartition("-")[2], 16)),
            "name": self.name,
            scope_of(self.disk).partition("/")[0].removesuffix("s"): scope,
            "operationType": "update",
            "targetId": self.disk.id,
            "targetLink": disk_url(self.disk),
            "status": "DONE" if done else "RUNNING",
            "insertTime": _stamp(self.change.started_s),
            "startTime": _stamp(self.change.started_s),
            "selfLink": f"{scope}/operations/{self.name}",
        }
        if self.request_id:
            made["clientOperationId"] = self.request_id
        if done:
            made["endTime"] = _stamp(self.change.moved_s)
        if done and self.change.is_failed:
            made["error"] = {"errors": [{"code": "INTERNAL_ERROR", "message": "Internal error. Please try again."}]}
        return made


@dataclass(slots=True, kw_only=True)
class DiskUpdates:
    """The handlers, and all updates since the fleet was laid out. Its disks are shown and measured as they are now."""

    compute: Compute
    faults: Faults
    clock: SimulatedClock
    made: list[DiskOperation] = field(default_factory=list)
    _below: Source = field(init=False, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def __post_init__(self) -> None:
        self._below, self.compute.disks = self.compute.disks, self._disks_now

    def add_to(self, front: Front) -> None:
        """Adds its routes."""
        for places, place, disks, operations in _PLACES:
            scope = rf"{PROJECT}/{places}/(?P<{place}>[^/]+)"
            update = Route(f"{disks}.update", partial(self.update, operation=f"{disks}.update"))
            front.routes["PATCH", rf"{scope}/disks/(?P<name>[^/]+)"] = update
            front.routes["GET", rf"{scope}/operations"] = Route(f"{operations}.list", self.list_operations)

    def spec(self, disk: SimulatedDisk) -> VolumeSpec:
        """The figures of a disk as it is now."""
        now_s = self.clock.now_s()
        specs = [each.after for each in disk.lived if not each.is_failed and each.moved_s <= now_s]
        return specs[-1] if specs else disk.spec

    def update(self, call: Call, operation: str) -> Resource:
        """Begins an update. The same request id is the same operation. Raises Refused."""
        with self._lock:
            request_id = call.query.get("requestId", "")
            known = next((each for each in self.made if request_id and each.request_id == request_id), None)
            if known is not None:
                return known.resource(self.clock.now_s())
            disk = self._find(call)
            before, now_s = self.spec(disk), self.clock.now_s()
            after = _with_figures(call, before)
            _check_rate(disk, now_s)
            change = Modification(
                volume_id=disk.id,
                before=before,
                after=after,
                started_s=now_s,
                modifying_s=UPDATING_S,
                optimizing_s=0.0,
                is_failed=self.faults.has_effect(Effect.FAILS, operation, call.project, call.place),
            )
            name = f"operation-{secrets.token_hex(7)}"
            begun = DiskOperation(disk=disk, name=name, request_id=request_id, change=change)
            self.made.append(begun)
            disk.lived.append(change)
        if self.faults.has_effect(Effect.LOST, operation, call.project, call.place):
            raise Refused("UNAVAILABLE", "The service is currently unavailable.")
        return begun.resource(now_s)

    def list_operations(self, call: Call) -> Mapping[str, Any]:
        """A page of the updates of a zone's or a region's disks."""
        scope = f"zones/{call.place}" if "zone" in call.named else f"regions/{call.place}"
        wanted, now_s = parse_filter(call.query.get("filter", "")), self.clock.now_s()
        with self._lock:
            here = [each for each in self.made if (each.disk.project, scope_of(each.disk)) == (call.project, scope)]
        listed, token = list_page(call.query, [made for each in here if wanted(made := each.resource(now_s))])
        answer = {"kind": "compute#operationList", "items": listed}
        return {**answer, "nextPageToken": token} if token else answer

    def _find(self, call: Call) -> SimulatedDisk:
        found = self.compute.one(call, "disks")
        disks = (disk for disk in self.compute.fleet.disks(call.project) if disk.id == found["id"])
        disk = next(disks, None)
        if disk is None or disk_types()[disk.spec.type].changes is None:
            raise Refused(
                "INVALID_ARGUMENT", f"The figures of '{found['name']}' cannot be updated: it is no Hyperdisk."
            )
        return disk

    def _disks_now(self, project: str) -> Iterator[tuple[str, Resource]]:
        lived = {disk.id: disk for disk in self.compute.fleet.disks(project) if disk.lived}
        for scope, resource in self._below(project):
            disk = lived.get(resource["id"])
            if disk is None:
                yield scope, resource
                continue
            spec = self.spec(disk)
            figures = {name: getattr(spec, figure) for name, figure in _FIGURES.items()}
            yield scope, {**resource, **{name: str(value) for name, value in figures.items() if value is not None}}


def _with_figures(call: Call, before: VolumeSpec) -> VolumeSpec:
    """The spec with the figures that the call's paths name. Raises Refused for one that the disk does not have."""
    names = [value for name, value in call.fields if name == "paths"]
    for name in names:
        if name not in _FIGURES or getattr(before, _FIGURES[name]) is None or not call.body.get(name):
            raise Refused("INVALID_ARGUMENT", f"Invalid value for field 'paths': '{name}'.")
    if not names:
        raise Refused("INVALID_ARGUMENT", "Required field 'paths' not specified.")
    asked: dict[str, Any] = {_FIGURES[name]: int(call.body[name]) for name in names}
    return replace(before, **asked)


def _check_rate(disk: SimulatedDisk, now_s: float) -> None:
    limit = disk_types()[disk.spec.type].changes
    begun_s = [each.started_s for each in disk.lived if not each.is_failed]
    if limit is not None and begun_s and now_s < max(begun_s) + limit.hours * HOUR_S:
        raise Refused(
            "RESOURCE_OPERATION_RATE_EXCEEDED",
            f"Operation rate exceeded for resource '{disk.name}': its figures can be updated once in "
            f"{limit.hours:g} hours.",
        )


def _stamp(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds")
