"""Agents: Plimsoll's own agent, run on this machine for the VM whose metadata holds a task.

One metadata server stands for those of all VMs; each has its own under `/PROJECT/ZONE/NAME` (VmKey.path).
"""

import hashlib
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from cloud_simulator.devices.block_devices import Devices
from cloud_simulator.devices.script_runs import Place, read_share_of, run_script
from cloud_simulator.faults import Effect, Faults
from cloud_simulator.google.http_front import Answered
from plimsoll_measure.bench.agent import TASK_KEY, agent_script, agent_version

_ROOT: Final = "computeMetadata/v1/instance"
_LONGEST_WAIT_S: Final = 30.0


@dataclass(frozen=True, slots=True, order=True)
class VmKey:
    """A VM's key."""

    project: str
    zone: str
    name: str

    @property
    def path(self) -> str:
        """The path of its metadata server on the one server."""
        return f"/{self.project}/{self.zone}/{self.name}"

    @property
    def word(self) -> str:
        """The key as a part of a file's name."""
        return f"{self.project}.{self.zone}.{self.name}"


@dataclass(slots=True)
class VmData:
    """A VM's custom metadata and guest attributes."""

    metadata: dict[str, str] = field(default_factory=dict)
    guest: dict[str, str] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """A text that changes with the metadata. Compute Engine's are base64."""
        return hashlib.sha256(repr(sorted(self.metadata.items())).encode()).hexdigest()[:16]


@dataclass(slots=True)
class Metadata:
    """The metadata of all VMs; threads wait for changes."""

    _vms: dict[VmKey, VmData] = field(default_factory=dict, repr=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)
    _closed: bool = False

    def of(self, vm: VmKey, first: Mapping[str, str] | None = None) -> VmData:
        """A VM's own, as it is now: a copy. `given` is what its metadata hold before anybody changed them."""
        with self._changed:
            data = self._vms.setdefault(vm, VmData(dict(first or {})))
            return VmData(dict(data.metadata), dict(data.guest))

    def set(self, vm: VmKey, items: Mapping[str, str], fingerprint: str) -> bool:
        """Replaces a VM's metadata; False where the fingerprint is not that of what is there."""
        with self._changed:
            data = self._vms.setdefault(vm, VmData())
            if fingerprint != data.fingerprint:
                return False
            data.metadata = dict(items)
            self._changed.notify_all()
            return True

    def write(self, vm: VmKey, key: str, value: str | None) -> None:
        """Writes a guest attribute, or removes it (None)."""
        with self._changed:
            guest = self._vms.setdefault(vm, VmData()).guest
            guest.pop(key, None)
            if value is not None:
                guest[key] = value

    def wait_for_value(self, vm: VmKey, key: str, last_etag: str, timeout_s: float) -> tuple[str, str] | None:
        """A value and its etag: at once where it is another than the last, else when it changes or the time is up."""
        end = time.monotonic() + min(timeout_s, _LONGEST_WAIT_S)
        with self._changed:
            while True:
                value = self._vms.setdefault(vm, VmData()).metadata.get(key)
                if value is None:
                    return None
                etag = hashlib.sha256(value.encode()).hexdigest()[:16]
                if etag != last_etag or self._closed or not self._changed.wait(end - time.monotonic()):
                    return value, etag

    def answer(self, method: str, target: str, headers: Message, body: bytes) -> Answered:
        """The answer of a VM's metadata server. It reads a value, perhaps awaited, or changes a guest attribute."""
        parts = urlsplit(target)
        place, _, tail = parts.path.partition(f"/{_ROOT}/")
        words, (kind, _, key) = place.strip("/").split("/"), tail.partition("/")
        flavor = {"Metadata-Flavor": "Google"}
        if len(words) != 3 or headers.get("Metadata-Flavor") != "Google":
            return 404, flavor, b""
        vm, (namespace, _, name) = VmKey(*words), key.partition("/")
        if kind == "attributes" and method == "GET":
            query = dict(parse_qsl(parts.query))
            last = query.get("last_etag", "0") if query.get("wait_for_change") == "true" else ""
            value = self.wait_for_value(vm, key, last, float(query.get("timeout_sec", _LONGEST_WAIT_S)))
            if value is not None:
                return 200, {**flavor, "ETag": value[1]}, value[0].encode()
        elif kind == "guest-attributes" and method in {"PUT", "DELETE"} and namespace == "plimsoll" and name:
            self.write(vm, name, body.decode() if method == "PUT" else None)
            return 200, flavor, b""
        return 404, flavor, b""

    def close(self) -> None:
        """Ends every wait."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


_SEND: Final = "instances.setMetadata"
_GIVEN_UP_S: Final = 7200.0
_KEPT_OF_CUT: Final = 200
"""The characters that a fault leaves of an output."""


@dataclass(slots=True)
class BenchAgents:
    """Runs the agent for each task that a VM is given: one process a task, with a home of its own."""

    metadata: Metadata
    devices: Devices
    host: str
    faults: Faults = field(default_factory=Faults)
    _begun: set[tuple[VmKey, str]] = field(default_factory=set, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def guest_attributes(self, vm: VmKey, now_s: float) -> dict[str, str]:
        """The guest attributes of a bench VM: that its agent is ready, and what the agent has written."""
        guest = self.metadata.of(vm).guest
        return {"ready": f"{agent_version()} {int(now_s)}", **{k: v for k, v in guest.items() if k != "ready"}}

    def wake(self, vm: VmKey) -> None:
        """Begins the task that the VM's metadata holds, unless it was begun before or a fault keeps it."""
        task = dict(
            line.split("=", 1) for line in self.metadata.of(vm).metadata.get(TASK_KEY, "").splitlines() if "=" in line
        )
        task_id = task.get("id", "")
        with self._lock:
            if not task_id or (vm, task_id) in self._begun:
                return
            self._begun.add((vm, task_id))
        if self._has_effect(Effect.UNDELIVERED, vm):
            return
        if self._has_effect(Effect.HANGS, vm):
            self.metadata.write(vm, f"{task_id}-state", "running")
        elif self._has_effect(Effect.FAILS, vm):
            self.metadata.write(vm, f"{task_id}-end", "how=ended\nexit=1\npieces=0\nerror=\n")
        else:
            threading.Thread(target=self._run, args=(vm, task_id, task), daemon=True).start()

    def _run(self, vm: VmKey, task_id: str, task: dict[str, str]) -> None:
        share = read_share_of(task.get("Job", ""))
        folder = self.devices.folder()
        home = folder / f"agent-{task_id}"
        place = Place(
            surroundings=self.devices.surroundings(vm.word, task.get("VolumeId", ""), share),
            lock=folder / f"{vm.word}.lock",
            read_share=share,
            lacks_fio=self._has_effect(Effect.NO_FIO, vm),
            environment={
                "GCE_METADATA_HOST": f"{self.host}{vm.path}",
                "PLIMSOLL_HOME": str(home),
                "PLIMSOLL_TASKS": "1",
                "PLIMSOLL_PAUSE": "1",
            },
        )
        cut = self._has_effect(Effect.CUT, vm)
        try:
            run_script(agent_script(), _GIVEN_UP_S, place, folder)
        except OSError as error:
            self.metadata.write(vm, f"{task_id}-end", f"how=ended\nexit=1\npieces=0\nerror=the simulated VM: {error}\n")
        if cut:
            first = self.metadata.of(vm).guest.get(f"{task_id}-0", "")
            self.metadata.write(vm, f"{task_id}-0", first[:_KEPT_OF_CUT])

    def _has_effect(self, effect: Effect, vm: VmKey) -> bool:
        return self.faults.has_effect(effect, _SEND, vm.project, vm.zone)
