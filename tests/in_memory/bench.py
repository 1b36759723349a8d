"""A bench in memory: the reference implementation of the Bench port, for tests, examples and embedding.

Nothing passes by itself: a state that passes is shown by `looks` looks, and is over at the next. What goes wrong is
given as `faults`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from plimsoll.model.errors import BadInput, CloudError
from plimsoll.model.policy import TagMatch
from plimsoll.model.task import ScratchOrder, ScratchVolume, Task, TaskEnd, TaskMode, TaskOutcome
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import BenchHost, Clock, Target
from tests.in_memory.faults import Fault, Faults
from tests.in_memory.states import Command, Kept

Measure = Callable[[VolumeSpec | None, Task], str | TaskOutcome]
"""What a task on a volume (None: no volume in particular) prints when it succeeds, or how else it ends."""

_NOT_THERE: Final = '{"plimsoll":1,"error":{"stage":"find-device","text":"no device of this host is the volume"}}'


@dataclass(slots=True, kw_only=True)
class MemoryBench:
    """Hosts given as a list; scratch volumes as they are made; tasks answered by `measure`.

    `fleet` holds the specs of the volumes that are there anyway, to be copied or measured in place; `latency_us` what
    is published of a volume's mean latency.
    """

    given: Sequence[BenchHost]
    measure: Measure
    clock: Clock
    fleet: Mapping[str, VolumeSpec] = field(default_factory=dict)
    latency_us: Mapping[str, float] = field(default_factory=dict)
    looks: int = 1
    faults: Sequence[Fault] = ()
    _kept: dict[str, Kept] = field(default_factory=dict, repr=False)
    _ids: dict[ScratchOrder, str] = field(default_factory=dict, repr=False)
    _commands: dict[str, Command] = field(default_factory=dict, repr=False)
    _calls: Faults = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._calls = Faults(self.faults)

    @property
    def left(self) -> Sequence[ScratchVolume]:
        """Every scratch volume that exists, seen or not, without looking: what a leak would be."""
        for kept in self._kept.values():
            kept.settle()
        return [kept.shown() for kept in self._kept.values() if kept.state != "deleted"]

    @property
    def calls(self) -> Mapping[str, int]:
        """How often each step was called."""
        return dict(self._calls.calls)

    def hosts(self, target: Target, tags: Sequence[TagMatch], ids: Sequence[str]) -> Sequence[BenchHost]:
        """Those of the target with one of these tags or ids, in the order given."""
        with self._calls.step("hosts"):
            here = [found for found in self.given if (found.account, found.region) == (target.account, target.region)]
            for lost in sorted(set(ids) - {found.host.id for found in here}):
                raise CloudError(f"cannot measure on {lost} in {target}: there is no such instance. Name another.")
            return [
                found
                for found in here
                if found.host.id in ids or any(tag.is_match(dict(found.host.tags)) for tag in tags)
            ]

    def create(self, order: ScratchOrder) -> str:
        """Makes a volume of the order, once; CloudError where its source is no volume of the fleet."""
        with self._calls.step("create") as struck:
            if order.source is not None and order.source not in self.fleet:
                raise CloudError(f"cannot copy {order.source}: there is no such volume. Name another.")
            if order not in self._ids:
                made = self._ids[order] = f"vol-{len(self._ids) + 1:017x}"
                self._kept[made] = Kept(
                    id=made,
                    order=order,
                    created=self.clock.now(),
                    looks_left=math.inf if struck.hangs else self.looks,
                    unseen=struck.unseen,
                )
            return self._ids[order]

    def scratch(self, target: Target, *, volume_id: str | None = None) -> Sequence[ScratchVolume]:
        """The target's volumes as one look sees them; the look brings what is passing nearer to its end."""
        with self._calls.step("scratch"):
            seen = []
            for kept in self._kept.values():
                place = (kept.order.account, kept.order.region)
                if place != (target.account, target.region) or volume_id not in (None, kept.id):
                    continue
                kept.settle()
                if kept.unseen > 0:
                    kept.unseen -= 1
                elif kept.state != "deleted":
                    seen.append(kept.shown())
                    kept.looks_left -= 1
            return seen

    def attach(self, target: Target, volume_id: str, host_id: str) -> None:
        """Begins to attach; attached to that host already is no error."""
        with self._calls.step("attach") as struck:
            kept = self._find(target, volume_id)
            what = f"cannot attach {volume_id} to {host_id} in {target}"
            if kept is None:
                raise CloudError(f"{what}: there is no such volume. Make it anew.")
            if kept.attached_to == host_id and kept.attachment != "detaching":
                return
            if kept.state != "available":
                raise CloudError(f"{what}: it is {kept.attachment or kept.state}. Wait until it is available.")
            if (host_id, kept.order.zone) not in {(found.host.id, found.zone) for found in self.given}:
                raise CloudError(f"{what}: no such instance is in {kept.order.zone}. Name one that is.")
            kept.state, kept.attached_to, kept.attachment = "in-use", host_id, "attaching"
            kept.looks_left = math.inf if struck.hangs else self.looks

    def detach(self, target: Target, volume_id: str, *, force: bool = False) -> None:
        """Begins to detach; what hangs is only moved by force."""
        with self._calls.step("detach") as struck:
            kept = self._find(target, volume_id)
            if kept is None or kept.attachment is None or (kept.attachment == "detaching" and not force):
                return
            kept.attachment = "detaching"
            kept.looks_left = math.inf if struck.hangs else self.looks

    def delete(self, target: Target, volume_id: str) -> None:
        """Begins to delete; CloudError until it is available, BadInput for a volume of the fleet."""
        with self._calls.step("delete") as struck:
            kept = self._find(target, volume_id)
            if kept is None or kept.state == "deleting":
                return
            if kept.state != "available":
                raise CloudError(
                    f"cannot delete {volume_id} in {target}: it is {kept.state}. Wait, or detach it first."
                )
            kept.state, kept.looks_left = "deleting", math.inf if struck.hangs else self.looks

    def send(self, target: Target, host_id: str, task: Task) -> str:
        """Keeps the task; CloudError for a host that is not ready."""
        with self._calls.step("send") as struck:
            ready = {found.host.id for found in self.given if found.ready and found.account == target.account}
            if host_id not in ready:
                raise CloudError(f"cannot run a command on {host_id} in {target}: it is not managed. Name another.")
            command_id = f"{len(self._commands) + 1:08x}-0000-4000-8000-000000000000"
            looks = math.inf if struck.hangs else self.looks
            self._commands[command_id] = Command(host_id=host_id, task=task, looks_left=looks)
            return command_id

    def outcome(self, target: Target, host_id: str, command_id: str) -> TaskOutcome | None:
        """None for as many looks as a state takes to pass, then what `measure` says."""
        with self._calls.step("outcome"):
            command = self._commands.get(command_id)
            if command is None or command.host_id != host_id:
                return None
            if command.outcome is None and command.looks_left <= 0:
                command.outcome = self._measured(target, command)
            command.looks_left -= 1
            return command.outcome

    def cancel(self, target: Target, host_id: str, command_id: str) -> None:
        """Ends a command that has not ended; one that hangs goes on, and so does one that nobody knows."""
        with self._calls.step("cancel"):
            command = self._commands.get(command_id)
            if command is not None and command.outcome is None and command.looks_left < math.inf:
                reason = f"the command on {host_id} in {target} was cancelled"
                command.outcome = TaskOutcome(end=TaskEnd.CANCELLED, output="", reason=reason)

    def mean_latency_us(
        self,
        target: Target,  # volumes' ids are their own here, wherever they are
        volume_id: str,
        start: datetime,
        end: datetime,
    ) -> float | None:
        """What was given for the volume, whatever the span."""
        with self._calls.step("mean_latency_us"):
            return self.latency_us.get(volume_id) if start < end else None

    def _find(self, target: Target, volume_id: str) -> Kept | None:
        """A scratch volume that can be seen; BadInput for a volume of the fleet, which is not to be touched."""
        if volume_id in self.fleet:
            raise BadInput(f"{volume_id} in {target} is no scratch volume: it has not the tag, so it is left alone.")
        kept = self._kept.get(volume_id)
        if kept is None or (kept.order.account, kept.order.region) != (target.account, target.region):
            return None
        kept.settle()
        return None if kept.unseen > 0 or kept.state == "deleted" else kept

    def _measured(self, target: Target, command: Command) -> TaskOutcome:
        """What the task finds on its host: a raw device is there only while it is attached there."""
        task = command.task
        kept = self._find(target, task.volume_id) if task.mode is TaskMode.DEVICE else None
        if task.mode is TaskMode.DEVICE and (
            kept is None or (kept.attached_to, kept.attachment) != (command.host_id, "attached")
        ):
            return TaskOutcome(end=TaskEnd.FAILED, output=_NOT_THERE, reason="the document ended with exit code 1")
        spec = kept.order.spec if kept else self.fleet.get(task.volume_id)
        answer = self.measure(spec, task)
        return answer if isinstance(answer, TaskOutcome) else TaskOutcome(end=TaskEnd.SUCCESS, output=answer)
