"""A probe in two short steps: begin on every host, and look until each has ended, so that a state machine can wait.

What is under way on a host, and how far each execution is, are documents in the store. A step that is called again goes
on with them.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from plimsoll.clouds.probe_book import ProbeLine
from plimsoll.domain.errors import BadInput, PlimsollError
from plimsoll.domain.units import HOUR_S
from plimsoll.ports import RunStore, Target
from plimsoll.probe import (
    MOST_HOSTS,
    MOST_SECONDS,
    HostProbe,
    NotProbed,
    ProbeContext,
    Probed,
    ProbeEvent,
    begin_on_host,
    find_probe,
    group_by_host,
    look_at_host,
)
from plimsoll.service.service import Service
from plimsoll.service.step_messages import Answer, Message, RunId
from plimsoll.service.target_ports import placed, ports_at
from plimsoll.service.validating import patience_of
from plimsoll.service.validation_messages import VolumeName

USUAL_S: Final = HOUR_S
"""For how long hosts are read where nobody says."""


class ProbeInput(BaseModel):
    """What an execution of the probe is begun with: volumes, no more than it may have hosts, and for how long."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    volume_ids: Annotated[tuple[VolumeName, ...], Field(min_length=1, max_length=MOST_HOSTS)]
    seconds: Annotated[int, Field(ge=1, le=MOST_SECONDS)] = USUAL_S


class BeginProbeMessage(Message):
    """An execution of the probe: its name, and what it was begun with."""

    about = "name"

    name: RunId
    given: ProbeInput = Field(validation_alias=AliasChoices("input", "given"))


class ProbeMessage(Message):
    """A probe that was begun."""

    about = "probe"

    probe: RunId


class ProbeState(Answer):
    """How far a probe is: how many hosts still read, the volumes that were seen, and why others were not."""

    probe: RunId
    reading: int
    seen: tuple[str, ...]
    not_seen: tuple[str, ...]


_log = logging.getLogger(__name__)

_RUNS: Final = "probes/runs/"
_SEEN: Final = "probes/seen/"


class _Run(BaseModel):
    """How far an execution is: the documents of the hosts that still read, what was seen, and why the rest was not."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    keys: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    not_seen: tuple[str, ...] = ()

    def having(self, events: Iterable[ProbeEvent], keys: Iterable[str]) -> "_Run":
        """The same after these events, with those hosts still reading."""
        found = list(events)
        seen = [_full_name(one.line) for one in found if isinstance(one, Probed)]
        not_seen = [f"{', '.join(one.volume_ids)}: {one.error}" for one in found if isinstance(one, NotProbed)]
        return _Run(keys=tuple(keys), seen=(*self.seen, *seen), not_seen=(*self.not_seen, *not_seen))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProbes:
    """What was seen of each volume last, in the service's store."""

    store: RunStore

    def add(self, line: ProbeLine) -> None:
        """Keeps what was seen of a volume, in the place of what was seen before."""
        key = _seen_key(line.account, line.region, line.seen.volume_id)
        self.store.put(key, line.model_dump_json().encode())

    def latest(self, target: Target, volume_id: str) -> ProbeLine | None:
        """What was seen of a volume last, None where it was never probed, or another version wrote what is kept."""
        kept = self.store.get(_seen_key(target.account, target.region, volume_id))
        try:
            return None if kept is None else ProbeLine.model_validate_json(kept)
        except ValidationError:
            return None


def begin_probe(service: Service, message: BeginProbeMessage) -> ProbeState:
    """Begins on every host of the volumes; what cannot be probed is named, and costs itself only."""
    if (known := _run(service.store, message.name)) is not None:
        return _state(message.name, known)
    events: list[NotProbed] = []
    begun: list[HostProbe] = []
    for one in _hosts(service, message):
        if isinstance(one, NotProbed):
            events.append(one)
            continue
        try:
            begun.append(begin_on_host(one, _context(service, one.target)))
        except PlimsollError as error:
            events.append(NotProbed(volume_ids=one.volume_ids, error=error))
    return _kept(service, message.name, _Run().having(events, (one.key for one in begun)))


def look_at_probe(service: Service, name: str) -> ProbeState:
    """Looks once at every host that still reads, and keeps what those saw that have ended. BadInput for a probe that
    was never begun."""
    run = _run(service.store, name)
    if run is None:
        raise BadInput(f"there is no probe {name}: begin one by the state machine of probes.")
    events: list[ProbeEvent] = []
    left: list[str] = []
    for key in run.keys:
        one = find_probe(key, service.store)
        if one is None:  # another execution had asked for the same volumes, and has read the answer
            continue
        found = _looked(service, one)
        if isinstance(found, HostProbe):
            left.append(key)
        else:
            events += found
    return _kept(service, name, run.having(events, left))


def _looked(service: Service, one: HostProbe) -> HostProbe | Iterable[ProbeEvent]:
    try:
        return look_at_host(one, _context(service, one.target))
    except PlimsollError as error:  # the account cannot be entered now: what its host saw can be read for days
        late = one.began + timedelta(seconds=one.task.limit_s + patience_of(service).grace_s)
        return one if service.clock.now() < late else [NotProbed(volume_ids=one.volume_ids, error=error)]


def _hosts(service: Service, message: BeginProbeMessage) -> Iterator[HostProbe | NotProbed]:
    """The hosts of the volumes, target by target; a volume, or a target, that cannot be found costs itself only."""
    now = service.clock.now()
    by_target: dict[Target, list[str]] = {}
    for name in dict.fromkeys(message.given.volume_ids):
        try:
            target, volume_id = placed(name, now, service)
        except PlimsollError as error:
            yield NotProbed(volume_ids=(name,), error=error)
        else:
            by_target.setdefault(target, []).append(volume_id)
    for target, volume_ids in by_target.items():
        try:
            yield from group_by_host(volume_ids, message.given.seconds, ports_at(target, now, service), now)
        except PlimsollError as error:
            yield NotProbed(volume_ids=tuple(volume_ids), error=error)


def _context(service: Service, target: Target) -> ProbeContext:
    return ProbeContext(
        bench=service.places.prober(target),
        store=service.store,
        book=StoredProbes(store=service.store),
        patience=patience_of(service),
        say=_log.info,
    )


def _run(store: RunStore, name: str) -> _Run | None:
    kept = store.get(_run_key(name))
    return None if kept is None else _Run.model_validate_json(kept)


def _kept(service: Service, name: str, run: _Run) -> ProbeState:
    service.store.put(_run_key(name), run.model_dump_json().encode())
    return _state(name, run)


def _state(name: str, run: _Run) -> ProbeState:
    return ProbeState(probe=name, reading=len(run.keys), seen=run.seen, not_seen=run.not_seen)


def _full_name(line: ProbeLine) -> str:
    return f"{line.account}/{line.region}/{line.seen.volume_id}"


def _run_key(name: str) -> str:
    return f"{_RUNS}{name}.json"


def _seen_key(account: str, region: str, volume_id: str) -> str:
    return f"{_SEEN}{account}/{region}/{volume_id}.json"
