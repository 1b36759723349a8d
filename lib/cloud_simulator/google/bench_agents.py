"""Agents: Plimsoll's own agent, run on this machine for the VM whose metadata holds a task."""

import threading
from dataclasses import dataclass, field
from typing import Final

from cloud_simulator.devices.block_devices import Devices
from cloud_simulator.devices.script_runs import Place, read_share_of, run
from cloud_simulator.faults import Effect, Faults
from cloud_simulator.google.metadata_server import Metadata, VmKey
from plimsoll.bench.agent import TASK_KEY, agent_script, agent_version

_SEND: Final = "instances.setMetadata"
_GIVEN_UP_S: Final = 7200.0
_KEPT_OF_CUT: Final = 200
"""How many characters are left of an output that a fault cuts."""


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
        given = dict(
            line.split("=", 1) for line in self.metadata.of(vm).metadata.get(TASK_KEY, "").splitlines() if "=" in line
        )
        task_id = given.get("id", "")
        with self._lock:
            if not task_id or (vm, task_id) in self._begun:
                return
            self._begun.add((vm, task_id))
        if self._has(Effect.UNDELIVERED, vm):
            return
        if self._has(Effect.HANGS, vm):
            self.metadata.write(vm, f"{task_id}-state", "running")
        elif self._has(Effect.FAILS, vm):
            self.metadata.write(vm, f"{task_id}-end", "how=ended\nexit=1\npieces=0\nerror=\n")
        else:
            threading.Thread(target=self._run, args=(vm, task_id, given), daemon=True).start()

    def _run(self, vm: VmKey, task_id: str, given: dict[str, str]) -> None:
        share = read_share_of(given.get("Job", ""))
        folder = self.devices.folder()
        home = folder / f"agent-{task_id}"
        place = Place(
            surroundings=self.devices.surroundings(vm.word, given.get("VolumeId", ""), share),
            lock=folder / f"{vm.word}.lock",
            read_share=share,
            lacks_fio=self._has(Effect.NO_FIO, vm),
            environment={
                "GCE_METADATA_HOST": f"{self.host}{vm.path}",
                "PLIMSOLL_HOME": str(home),
                "PLIMSOLL_TASKS": "1",
                "PLIMSOLL_PAUSE": "1",
            },
        )
        cut = self._has(Effect.CUT, vm)
        try:
            run(agent_script(), _GIVEN_UP_S, place, folder)
        except OSError as error:
            self.metadata.write(vm, f"{task_id}-end", f"how=ended\nexit=1\npieces=0\nerror=the simulated VM: {error}\n")
        if cut:
            first = self.metadata.of(vm).guest.get(f"{task_id}-0", "")
            self.metadata.write(vm, f"{task_id}-0", first[:_KEPT_OF_CUT])

    def _has(self, effect: Effect, vm: VmKey) -> bool:
        return self.faults.has(effect, _SEND, vm.project, vm.zone)
