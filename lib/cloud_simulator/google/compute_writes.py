"""Writes to the simulated projects: scratch disks, attachments, metadata, and the agents' answers.

The fleet stays as it is; what is made, attached and deleted lives here and is shown beside it. These routes lie over
those that read. Operations take a little time.
"""

import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import inf
from typing import Any, Final

from cloud_simulator.devices.block_devices import Devices, Disk
from cloud_simulator.faults import Effect, Faults, Refused
from cloud_simulator.google.bench_agents import BenchAgents, Metadata, VmKey
from cloud_simulator.google.compute import BASE, ZONE, Compute, Resource, Source
from cloud_simulator.google.http_front import Call, Front, Route, loopback
from cloud_simulator.published import UNBOUNDED, Ceiling, VolumeSpec, disk_types, machine

BENCH_LABEL: Final = "plimsoll-bench"
_DEVICE: Final = "persistent-disk-1"
"""The name of a device without one."""
_VM: Final = rf"{ZONE}/instances/(?P<name>[^/]+)"
_NAME: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL: Final = re.compile(r"[a-z0-9_-]{0,63}")


@contextmanager
def benches(front: Front, compute: Compute, *, plain: bool = False, pace_s: float = 0.1) -> Iterator["BenchWrites"]:
    """Lays the writes over what reads the fleet, for as long as the block lasts.

    `plain`: files with fio's own limits stand for disks, whatever this machine could do. `pace_s`: how long an
    operation takes.
    """
    metadata, devices = Metadata(), Devices(plain=plain)
    with loopback(metadata.answer) as port:
        agents = BenchAgents(metadata=metadata, devices=devices, host=f"127.0.0.1:{port}", faults=front.faults)
        writes = BenchWrites(compute=compute, faults=front.faults, agents=agents, pace_s=pace_s)
        for method, path, operation, answer in (
            ("POST", rf"{ZONE}/disks", "disks.insert", writes.insert),
            ("DELETE", rf"{ZONE}/disks/(?P<name>[^/]+)", "disks.delete", writes.delete),
            ("POST", rf"{_VM}/attachDisk", "instances.attachDisk", writes.attach),
            ("POST", rf"{_VM}/detachDisk", "instances.detachDisk", writes.detach),
            ("POST", rf"{_VM}/setMetadata", "instances.setMetadata", writes.set_metadata),
            ("GET", rf"{_VM}/getGuestAttributes", "instances.getGuestAttributes", writes.guest_attributes),
            ("GET", rf"{ZONE}/operations/(?P<operation>[^/]+)", "zoneOperations.get", writes.operation),
        ):
            front.routes[method, path] = Route(operation, answer)
        try:
            yield writes
        finally:
            metadata.close()
            devices.stop()


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

    def resource(self) -> Resource:
        """The disk as JSON."""
        zone = f"{BASE}/projects/{self.project}/zones/{self.zone}"
        users = [f"{BASE}/projects/{self.vm.project}/zones/{self.vm.zone}/instances/{self.vm.name}"] if self.vm else []
        return {
            **self.body,
            "kind": "compute#disk",
            "id": self.id,
            "zone": zone,
            "type": f"{zone}/diskTypes/{_last(self.body['type'])}",
            "status": self.status,
            "creationTimestamp": self.created.isoformat(timespec="milliseconds"),
            "selfLink": f"{BASE}/{self.path}",
            "users": users,
        }


@dataclass(slots=True)
class _Operation:
    """An operation under way. It is done at `due_s`, or never if a fault lets it hang."""

    resource: Resource
    due_s: float
    comes_about: Callable[[], None]


@dataclass(slots=True, kw_only=True)
class BenchWrites:
    """The handlers, and all scratch disks and the operations on them. Each handler raises Refused."""

    compute: Compute
    faults: Faults
    agents: BenchAgents
    pace_s: float
    _below: tuple[Source, Source] = field(init=False, repr=False)
    _disks: dict[str, ScratchDisk] = field(default_factory=dict, repr=False)
    _operations: dict[str, _Operation] = field(default_factory=dict, repr=False)
    _asked: dict[str, str] = field(default_factory=dict, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def __post_init__(self) -> None:
        self._below = self.compute.disks, self.compute.instances
        self.compute.disks, self.compute.instances = self._all_disks, self._all_instances

    def disks(self) -> list[ScratchDisk]:
        """The scratch disks that exist now."""
        with self._lock:
            self._settle()
            return list(self._disks.values())

    def insert(self, call: Call) -> Mapping[str, Any]:
        """Begins to make a disk; a clone has its source's type and zone. The same request id is the same operation."""
        body, asked = call.body, call.query.get("requestId", "")
        if body.get("sourceDisk"):
            original = self.compute.one(_rename_call(call, _last(body["sourceDisk"])), "disks")
            if _last(original["type"]) != _last(body["type"]):
                raise Refused("INVALID_ARGUMENT", "The disk type of a clone must be that of its source.")
        if not _NAME.fullmatch(body.get("name", "")) or not all(
            _LABEL.fullmatch(value) for value in body.get("labels", {}).values()
        ):
            raise Refused("INVALID_ARGUMENT", "Invalid value for field 'resource.name' or 'resource.labels'.")
        with self._lock:
            self._settle()
            if asked in self._asked:
                return self._operations[self._asked[asked]].resource
            if self._scratch(call, body["name"]):
                raise Refused("ALREADY_EXISTS", f"The resource '{body['name']}' already exists")
            disk_id = str(secrets.randbelow(9 * 10**18) + 10**18)
            made = ScratchDisk(disk_id, call.project, call.place, dict(body), datetime.now(UTC))
            self._disks[disk_id] = made

            def ready() -> None:
                made.status = "READY"

            begun = self._begin(call, "insert", disk_id, ready)
            self._asked[asked or str(begun["name"])] = str(begun["name"])
            return begun

    def delete(self, call: Call) -> Mapping[str, Any]:
        """Begins to delete a scratch disk."""
        with self._lock:
            disk = self._own(call, call.named["name"])
            if disk.vm is not None:
                raise Refused("RESOURCE_IN_USE", f"The disk resource '{disk.path}' is already being used")
            disk.status = "DELETING"
            begun = self._begin(call, "delete", disk.id, lambda: self._forget(disk))
        self.agents.devices.delete(disk.id)
        return begun

    def attach(self, call: Call) -> Mapping[str, Any]:
        """Begins to attach a scratch disk."""
        instance = self.compute.one(call, "instances")
        vm = VmKey(call.project, call.place, instance["name"])
        disk, device = self._own(call, _last(call.body["source"])), call.body.get("deviceName", _DEVICE)

        def there() -> None:
            disk.vm, disk.device = vm, device

        with self._lock:
            if disk.vm is not None or disk.status != "READY":
                raise Refused("RESOURCE_IN_USE", f"The disk resource '{disk.path}' is already being used or not ready")
            begun = self._begin(call, "attachDisk", disk.id, there)
        if not self.faults.has_effect(Effect.NO_DEVICE, "instances.attachDisk", call.project, call.place):
            made = Disk(
                id=disk.id,
                link=f"google-{device}",
                size_gib=int(disk.body["sizeGb"]),
                copy=bool(disk.body.get("sourceDisk")),
            )
            self.agents.devices.attach(made, vm.word, disk_ceiling(_spec(disk.body), _last(instance["machineType"])))
        return begun

    def detach(self, call: Call) -> Mapping[str, Any]:
        """Begins to detach a disk, by device name."""
        key, name = self._key(call), call.query.get("deviceName", "")
        disk = next((attached for attached in self.disks() if (attached.vm, attached.device) == (key, name)), None)
        if disk is None:
            known = f"Invalid value for field 'disk': '{name}'. No attached disk has that name."
            raise Refused("INVALID_ARGUMENT", known)
        self.agents.devices.detach(disk.id)

        def away() -> None:
            disk.vm, disk.device = None, ""

        with self._lock:
            return self._begin(call, "detachDisk", disk.id, away)

    def set_metadata(self, call: Call) -> Mapping[str, Any]:
        """instances.setMetadata; a task in it wakes the agent of a bench VM."""
        instance = self.compute.one(call, "instances")
        key = self._key(call)
        items = {item["key"]: item.get("value", "") for item in call.body.get("items", [])}
        if not self.agents.metadata.set(key, items, call.body.get("fingerprint", "")):
            raise Refused("FAILED_PRECONDITION", "Supplied fingerprint does not match current metadata fingerprint.")
        if BENCH_LABEL in instance.get("labels", {}):
            self.agents.wake(key)
        with self._lock:
            return self._begin(call, "setMetadata", instance["id"], lambda: None)

    def guest_attributes(self, call: Call) -> Mapping[str, Any]:
        """instances.getGuestAttributes of a namespace; a VM without the agent has none."""
        if BENCH_LABEL not in self.compute.one(call, "instances").get("labels", {}):
            raise Refused("NOT_FOUND", f"The resource '{call.path}' of guest attributes was not found")
        namespace = call.query.get("queryPath", "").partition("/")[0]
        written = self.agents.guest_attributes(self._key(call), time.time())
        items = [{"namespace": namespace, "key": name, "value": value} for name, value in sorted(written.items())]
        return {"kind": "compute#guestAttributes", "queryPath": f"{namespace}/", "queryValue": {"items": items}}

    def operation(self, call: Call) -> Mapping[str, Any]:
        """An operation as it is now."""
        with self._lock:
            self._settle()
            operation = self._operations.get(call.named["operation"])
            if operation is None:
                raise Refused("NOT_FOUND", f"The resource '{call.path}' was not found")
            return operation.resource

    def _begin(self, call: Call, kind: str, target_id: str, comes_about: Callable[[], None]) -> Mapping[str, Any]:
        name = f"operation-{secrets.token_hex(8)}"
        zone = f"{BASE}/projects/{call.project}/zones/{call.place}"
        made = {
            "kind": "compute#operation",
            "id": str(secrets.randbelow(10**18)),
            "name": name,
            "zone": zone,
            "operationType": kind,
            "targetId": target_id,
            "status": "RUNNING",
            "selfLink": f"{zone}/operations/{name}",
        }
        hangs = kind in {"attachDisk", "detachDisk"} and self.faults.has_effect(
            Effect.HANGS, f"instances.{kind}", call.project, call.place
        )
        self._operations[name] = _Operation(made, inf if hangs else time.monotonic() + self.pace_s, comes_about)
        return dict(made)

    def _settle(self) -> None:
        """Carries out the operations that are due."""
        for operation in self._operations.values():
            if operation.resource["status"] != "DONE" and time.monotonic() >= operation.due_s:
                operation.resource["status"] = "DONE"
                operation.comes_about()

    def _forget(self, disk: ScratchDisk) -> None:
        self._disks.pop(disk.id, None)

    def _key(self, call: Call) -> VmKey:
        return VmKey(call.project, call.place, self.compute.one(call, "instances")["name"])

    def _scratch(self, call: Call, name: str) -> ScratchDisk | None:
        """The scratch disk of a call's zone by its name or id."""
        disks = [disk for disk in self.disks() if (disk.project, disk.zone) == (call.project, call.place)]
        return next((disk for disk in disks if name in {disk.body["name"], disk.id}), None)

    def _own(self, call: Call, name: str) -> ScratchDisk:
        disk = self._scratch(call, name)
        if disk is None:
            self.compute.one(_rename_call(call, name), "disks")
            raise Refused("PERMISSION_DENIED", f"The caller may not change '{name}': it is no scratch disk.")
        return disk

    def _all_disks(self, project: str) -> Iterator[tuple[str, Resource]]:
        yield from self._below[0](project)
        for disk in self.disks():
            if disk.project == project:
                yield f"zones/{disk.zone}", disk.resource()

    def _all_instances(self, project: str) -> Iterator[tuple[str, Resource]]:
        for scope, instance in self._below[1](project):
            key = VmKey(project, _last(scope), instance["name"])
            first = {item["key"]: item["value"] for item in instance.get("metadata", {}).get("items", ())}
            data = self.agents.metadata.of(key, first)
            items = [{"key": name, "value": value} for name, value in sorted(data.metadata.items())]
            attached = [
                {"source": f"{BASE}/{disk.path}", "deviceName": disk.device, "type": "PERSISTENT"}
                for disk in self.disks()
                if disk.vm == key
            ]
            metadata = {"fingerprint": data.fingerprint, "items": items}
            yield scope, {**instance, "disks": [*instance.get("disks", ()), *attached], "metadata": metadata}


def disk_ceiling(spec: VolumeSpec, machine_type: str) -> Ceiling:
    """The ceiling of a disk on a machine, by the published limits of both. No other disk shares a pool with it."""
    kind, known = disk_types().get(spec.type), machine(machine_type)
    cap = dict(known.caps).get(spec.type) if known else None
    return (kind.ceiling(spec) if kind else UNBOUNDED) & (cap or UNBOUNDED)


def _spec(body: Mapping[str, Any]) -> VolumeSpec:
    iops, throughput = body.get("provisionedIops"), body.get("provisionedThroughput")
    return VolumeSpec(
        type=_last(body["type"]),
        size_gib=int(body["sizeGb"]),
        iops=int(iops) if iops else None,
        throughput_mib_s=int(throughput) if throughput else None,
    )


def _rename_call(call: Call, name: str) -> Call:
    """The same call, about another resource of its zone."""
    return replace(call, named={**call.named, "name": name})


def _last(url: str) -> str:
    return url.rpartition("/")[2]
