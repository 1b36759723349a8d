"""Scratch disks: those that are made in the simulated projects, and their life in Compute Engine's states.

The fleet stays as it is; what is made, attached and deleted lives here. Operations take a little time.
"""

import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from typing import Any, Final

from cloud_simulator.faults import Effect, Faults, Refused
from cloud_simulator.google.compute_resources import BASE
from cloud_simulator.google.http_front import Call
from cloud_simulator.google.metadata_server import VmKey

DEVICE: Final = "persistent-disk-1"
"""What a device is called unless it is named."""

_NAME: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL: Final = re.compile(r"[a-z0-9_-]{0,63}")


@dataclass(slots=True)
class ScratchDisk:
    """A disk as disks.insert was asked for it, and where it is attached under which device name."""

    id: str
    project: str
    zone: str
    body: Mapping[str, Any]
    created: datetime
    status: str = "CREATING"
    vm: VmKey | None = None
    device: str = ""

    @property
    def path(self) -> str:
        """Its partial URL."""
        return f"projects/{self.project}/zones/{self.zone}/disks/{self.body['name']}"

    def resource(self) -> dict[str, Any]:
        """The disk as JSON."""
        zone = f"{BASE}/projects/{self.project}/zones/{self.zone}"
        users = [f"{BASE}/projects/{self.vm.project}/zones/{self.vm.zone}/instances/{self.vm.name}"] if self.vm else []
        return {
            **self.body,
            "kind": "compute#disk",
            "id": self.id,
            "zone": zone,
            "type": f"{zone}/diskTypes/{self.body['type'].rpartition('/')[2]}",
            "status": self.status,
            "creationTimestamp": self.created.isoformat(timespec="milliseconds"),
            "selfLink": f"{BASE}/{self.path}",
            "users": users,
        }


@dataclass(slots=True)
class _Operation:
    """What is under way: from `due_s` on it has come about; never where a fault lets it hang."""

    resource: dict[str, Any]
    due_s: float
    comes_about: Callable[[], None]


@dataclass(slots=True)
class ScratchDisks:
    """All scratch disks and the operations on them. Each call raises Refused."""

    faults: Faults = field(default_factory=Faults)
    pace_s: float = 0.1
    _disks: dict[str, ScratchDisk] = field(default_factory=dict, repr=False)
    _operations: dict[str, _Operation] = field(default_factory=dict, repr=False)
    _asked: dict[str, str] = field(default_factory=dict, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def all(self) -> list[ScratchDisk]:
        """Those that exist now."""
        with self._lock:
            self._settle()
            return list(self._disks.values())

    def named(self, project: str, zone: str, name: str) -> ScratchDisk | None:
        """One by its name or id, None where there is none."""
        found = [one for one in self.all() if (one.project, one.zone) == (project, zone)]
        return next((one for one in found if name in {one.body["name"], one.id}), None)

    def insert(self, call: Call) -> Mapping[str, Any]:
        """Begins to make a disk; the same request id again is the same operation."""
        body, zone, asked = call.body, call.place, call.query.get("requestId", "")
        if not _NAME.fullmatch(body.get("name", "")) or not all(
            _LABEL.fullmatch(value) for value in body.get("labels", {}).values()
        ):
            raise Refused("INVALID_ARGUMENT", "Invalid value for field 'resource.name' or 'resource.labels'.")
        with self._lock:
            self._settle()
            if asked in self._asked:
                return self._operations[self._asked[asked]].resource
            if self.named(call.project, zone, body["name"]):
                raise Refused("ALREADY_EXISTS", f"The resource '{body['name']}' already exists")
            disk_id = str(secrets.randbelow(9 * 10**18) + 10**18)
            made = ScratchDisk(disk_id, call.project, zone, dict(body), datetime.now(UTC))
            self._disks[disk_id] = made

            def ready() -> None:
                made.status = "READY"

            begun = self._begin(call, "insert", made, ready)
            self._asked[asked or str(begun["name"])] = str(begun["name"])
            return begun

    def attach(self, call: Call, disk: ScratchDisk, vm: VmKey) -> Mapping[str, Any]:
        """Begins to attach a disk."""
        with self._lock:
            self._settle()
            if disk.vm is not None or disk.status != "READY":
                raise Refused("RESOURCE_IN_USE", f"The disk resource '{disk.path}' is already being used or not ready")
            device = call.body.get("deviceName", DEVICE)

            def there() -> None:
                disk.vm, disk.device = vm, device

            return self._begin(call, "attachDisk", disk, there, hangs=self._hangs(call, "instances.attachDisk"))

    def detach(self, call: Call, disk: ScratchDisk) -> Mapping[str, Any]:
        """Begins to detach a disk."""

        def away() -> None:
            disk.vm, disk.device = None, ""

        with self._lock:
            return self._begin(call, "detachDisk", disk, away, hangs=self._hangs(call, "instances.detachDisk"))

    def delete(self, call: Call, disk: ScratchDisk) -> Mapping[str, Any]:
        """Begins to delete a disk."""
        with self._lock:
            self._settle()
            if disk.vm is not None:
                raise Refused("RESOURCE_IN_USE", f"The disk resource '{disk.path}' is already being used")
            disk.status = "DELETING"
            return self._begin(call, "delete", disk, lambda: self._forget(disk))

    def done_later(self, call: Call, kind: str, target_id: str) -> Mapping[str, Any]:
        """An operation of another kind, which is as good as done."""
        with self._lock:
            made = self._operation_of(call, kind, target_id)
            self._operations[made["name"]] = _Operation(made, time.monotonic() + self.pace_s, lambda: None)
            return made

    def operation(self, call: Call) -> Mapping[str, Any]:
        """An operation as it is now."""
        with self._lock:
            self._settle()
            found = self._operations.get(call.named["operation"])
            if found is None:
                raise Refused("NOT_FOUND", f"The resource '{call.path}' was not found")
            return found.resource

    def _begin(
        self, call: Call, kind: str, disk: ScratchDisk, comes_about: Callable[[], None], *, hangs: bool = False
    ) -> Mapping[str, Any]:
        made = self._operation_of(call, kind, disk.id)
        due_s = inf if hangs else time.monotonic() + self.pace_s
        self._operations[made["name"]] = _Operation(made, due_s, comes_about)
        return dict(made)

    def _operation_of(self, call: Call, kind: str, target_id: str) -> dict[str, Any]:
        name = f"operation-{secrets.token_hex(8)}"
        zone = f"{BASE}/projects/{call.project}/zones/{call.place}"
        return {
            "kind": "compute#operation",
            "id": str(secrets.randbelow(10**18)),
            "name": name,
            "zone": zone,
            "operationType": kind,
            "targetId": target_id,
            "status": "RUNNING",
            "selfLink": f"{zone}/operations/{name}",
        }

    def _settle(self) -> None:
        """Lets what is due come about."""
        for operation in self._operations.values():
            if operation.resource["status"] != "DONE" and time.monotonic() >= operation.due_s:
                operation.resource["status"] = "DONE"
                operation.comes_about()

    def _forget(self, disk: ScratchDisk) -> None:
        self._disks.pop(disk.id, None)

    def _hangs(self, call: Call, operation: str) -> bool:
        return self.faults.has(Effect.HANGS, operation, call.project, call.place)
