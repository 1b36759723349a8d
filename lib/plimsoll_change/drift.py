"""Drift: what makes a planned line wrong by the time that it is its turn, a code and a sentence each."""

from collections.abc import Iterator
from typing import NamedTuple

from plimsoll.model.volume import Owner, Volume, VolumeSpec, VolumeState
from plimsoll.reports.record import OwnerRecord
from plimsoll_change.plan import PlannedLine

_ALIVE = (VolumeState.IN_USE, VolumeState.AVAILABLE)


class Drift(NamedTuple):
    """A reason to drop a volume from its plan."""

    code: str
    text: str


def compare_advice(line: PlannedLine, run: str, target: VolumeSpec | None) -> Drift | None:
    """The drift by a later run's recommendation; None if it is still the plan's. None as target: it recommends none."""
    if target == line.then:
        return None
    advice = "no change" if target is None else str(target)
    return Drift("newer-recommendation", f"the later run {run} recommends {advice} for it, and the plan {line.then}.")


def find_drifts(line: PlannedLine, volume: Volume) -> Iterator[Drift]:
    """The reasons why a volume is not any more what its plan was made for."""
    change = volume.modification
    if volume.state not in _ALIVE:
        yield Drift("state", f"{line.volume_id} is {volume.state}.")
    if change is not None and change.is_running:
        yield Drift(
            "being-changed",
            f"somebody's modification of {line.volume_id} to {change.target or 'other figures'} is {change.state} "
            f"since {change.started:%Y-%m-%d %H:%M} UTC.",
        )
    if volume.spec != line.now:
        yield Drift("configuration", f"{line.volume_id} is {volume.spec} now, and the plan was made for {line.now}.")
    hosts = tuple(sorted(host.id for host in volume.hosts))
    if hosts != line.hosts:
        words = [" and ".join(names) or "no host" for names in (hosts, line.hosts)]
        yield Drift("host", f"{line.volume_id} is on {words[0]} now, and the plan was made for {words[1]}.")
    owner = name_owner(volume.owner)
    if owner != line.owner:
        yield Drift("owner", f"{line.volume_id} belongs to {owner} now, and the plan was made for {line.owner}.")


def name_owner(owner: Owner | OwnerRecord) -> str:
    """The kind of an owner, and its name if it has one."""
    return f"{owner.kind} {owner.name or ''}".strip()
