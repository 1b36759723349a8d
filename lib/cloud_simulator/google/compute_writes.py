"""What changes the simulated projects: scratch disks, attachments, metadata, and what agents answer.

These routes lie over those that read the fleet, and show scratch disks beside the fleet's.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from cloud_simulator.devices.block_devices import Devices, Disk
from cloud_simulator.faults import Effect, Faults, Refused
from cloud_simulator.google.bench_agents import BenchAgents
from cloud_simulator.google.compute import ZONE, Compute, Source
from cloud_simulator.google.compute_resources import BASE, Resource
from cloud_simulator.google.http_front import Call, Front, Route
from cloud_simulator.google.metadata_server import Metadata, VmKey, metadata_server
from cloud_simulator.google.scratch_disks import DEVICE, ScratchDisk, ScratchDisks
from cloud_simulator.published import UNBOUNDED, Ceiling, VolumeSpec, disk_types, machine

BENCH_LABEL: Final = "plimsoll-bench"
_VM: Final = rf"{ZONE}/instances/(?P<name>[^/]+)"


@contextmanager
def benches(front: Front, compute: Compute, *, plain: bool = False, pace_s: float = 0.1) -> Iterator["BenchWrites"]:
    """Lays the writes over what reads the fleet, for as long as the block lasts.

    `plain`: files with fio's own limits stand for disks, whatever this machine could do.
    """
    metadata, devices = Metadata(), Devices(plain=plain)
    server = metadata_server(metadata)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    host = f"127.0.0.1:{server.server_port}"
    writes = BenchWrites(
        compute=compute,
        faults=front.faults,
        disks=ScratchDisks(faults=front.faults, pace_s=pace_s),
        metadata=metadata,
        agents=BenchAgents(metadata=metadata, devices=devices, host=host, faults=front.faults),
        devices=devices,
        below=(compute.disks, compute.instances),
    )
    writes.add_to(front)
    try:
        yield writes
    finally:
        metadata.close()
        devices.stop()
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(slots=True, kw_only=True)
class BenchWrites:
    """The handlers. `below` are the fleet's own disks and instances."""

    compute: Compute
    faults: Faults
    disks: ScratchDisks
    metadata: Metadata
    agents: BenchAgents
    devices: Devices
    below: tuple[Source, Source]

    def add_to(self, front: Front) -> None:
        """Shows what is made here beside the fleet, and adds the routes."""
        self.compute.disks, self.compute.instances = self._all_disks, self._all_instances
        for method, path, operation, answer in (
            ("POST", rf"{ZONE}/disks", "disks.insert", self.insert),
            ("DELETE", rf"{ZONE}/disks/(?P<name>[^/]+)", "disks.delete", self.delete),
            ("POST", rf"{_VM}/attachDisk", "instances.attachDisk", self.attach),
            ("POST", rf"{_VM}/detachDisk", "instances.detachDisk", self.detach),
            ("POST", rf"{_VM}/setMetadata", "instances.setMetadata", self.set_metadata),
            ("GET", rf"{_VM}/getGuestAttributes", "instances.getGuestAttributes", self.guest_attributes),
            ("GET", rf"{ZONE}/operations/(?P<operation>[^/]+)", "zoneOperations.get", self.disks.operation),
        ):
            front.routes[method, path] = Route(operation, answer)

    def insert(self, call: Call) -> Mapping[str, Any]:
        """disks.insert; a clone has its source's type and zone."""
        source = call.body.get("sourceDisk", "")
        if source:
            original = self.compute.one(_named(call, source.rpartition("/")[2]), "disks")
            if original["type"].rpartition("/")[2] != call.body["type"].rpartition("/")[2]:
                raise Refused("INVALID_ARGUMENT", "The disk type of a clone must be that of its source.")
        return self.disks.insert(call)

    def delete(self, call: Call) -> Mapping[str, Any]:
        """disks.delete, of a scratch disk."""
        found = self._own(call, call.named["name"])
        answered = self.disks.delete(call, found)
        self.devices.delete(found.id)
        return answered

    def attach(self, call: Call) -> Mapping[str, Any]:
        """instances.attachDisk, of a scratch disk."""
        found = self.compute.one(call, "instances")
        key = VmKey(call.project, call.place, found["name"])
        disk = self._own(call, call.body["source"].rpartition("/")[2])
        answered = self.disks.attach(call, disk, key)
        if not self.faults.has(Effect.NO_DEVICE, "instances.attachDisk", call.project, call.place):
            link = f"google-{call.body.get('deviceName', DEVICE)}"
            made = Disk(
                id=disk.id, link=link, size_gib=int(disk.body["sizeGb"]), copy=bool(disk.body.get("sourceDisk"))
            )
            self.devices.attach(made, key.word, ceiling_of(_spec(disk.body), _last(found["machineType"])))
        return answered

    def detach(self, call: Call) -> Mapping[str, Any]:
        """instances.detachDisk, by device name."""
        key, name = self._key(call), call.query.get("deviceName", "")
        for disk in self.disks.all():
            if (disk.vm, disk.device) == (key, name):
                self.devices.detach(disk.id)
                return self.disks.detach(call, disk)
        raise Refused("INVALID_ARGUMENT", f"Invalid value for field 'disk': '{name}'. No attached disk has that name.")

    def set_metadata(self, call: Call) -> Mapping[str, Any]:
        """instances.setMetadata; a task in it wakes the agent of a bench VM."""
        found = self.compute.one(call, "instances")
        key = self._key(call)
        items = {item["key"]: item.get("value", "") for item in call.body.get("items", [])}
        if not self.metadata.set(key, items, call.body.get("fingerprint", "")):
            raise Refused("FAILED_PRECONDITION", "Supplied fingerprint does not match current metadata fingerprint.")
        if BENCH_LABEL in found.get("labels", {}):
            self.agents.wake(key)
        return self.disks.done_later(call, "setMetadata", found["id"])

    def guest_attributes(self, call: Call) -> Mapping[str, Any]:
        """instances.getGuestAttributes of a namespace; a VM without the agent has none."""
        if BENCH_LABEL not in self.compute.one(call, "instances").get("labels", {}):
            raise Refused("NOT_FOUND", f"The resource '{call.path}' of guest attributes was not found")
        namespace = call.query.get("queryPath", "").partition("/")[0]
        written = self.agents.guest_attributes(self._key(call), time.time())
        items = [{"namespace": namespace, "key": name, "value": value} for name, value in sorted(written.items())]
        return {"kind": "compute#guestAttributes", "queryPath": f"{namespace}/", "queryValue": {"items": items}}

    def _key(self, call: Call) -> VmKey:
        return VmKey(call.project, call.place, self.compute.one(call, "instances")["name"])

    def _own(self, call: Call, name: str) -> ScratchDisk:
        found = self.disks.named(call.project, call.place, name)
        if found is None:
            self.compute.one(_named(call, name), "disks")
            raise Refused("PERMISSION_DENIED", f"The caller may not change '{name}': it is no scratch disk.")
        return found

    def _all_disks(self, project: str) -> Iterator[tuple[str, Resource]]:
        yield from self.below[0](project)
        for disk in self.disks.all():
            if disk.project == project:
                yield f"zones/{disk.zone}", disk.resource()

    def _all_instances(self, project: str) -> Iterator[tuple[str, Resource]]:
        for scope, found in self.below[1](project):
            key = VmKey(project, scope.rpartition("/")[2], found["name"])
            own = {item["key"]: item["value"] for item in found.get("metadata", {}).get("items", ())}
            data = self.metadata.of(key, own)
            items = [{"key": name, "value": value} for name, value in sorted(data.metadata.items())]
            attached = [
                {"source": f"{BASE}/{one.path}", "deviceName": one.device, "type": "PERSISTENT"}
                for one in self.disks.all()
                if one.vm == key
            ]
            metadata = {"fingerprint": data.fingerprint, "items": items}
            yield scope, {**found, "disks": [*found.get("disks", ()), *attached], "metadata": metadata}


def ceiling_of(spec: VolumeSpec, machine_type: str) -> Ceiling:
    """What a disk carries on a machine by the published limits of both; of a pooled type it is the only one there."""
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


def _named(call: Call, name: str) -> Call:
    """The same call, about another resource of its zone."""
    return replace(call, named={**call.named, "name": name})


def _last(url: str) -> str:
    return url.rpartition("/")[2]
