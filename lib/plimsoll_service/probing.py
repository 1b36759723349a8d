"""A probe in two short steps: begin on every host, and look until each has ended, so that a state machine can wait.

What is under way on a host, and how far each execution is, are documents in the store. A step that is called again goes
on with them.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from plimsoll.clouds.probe_book import ProbeLine
from plimsoll.jobs.document import StoredDocument
from plimsoll.jobs.kernel import EndedJob
from plimsoll.model.errors import BadInput, PlimsollError
from plimsoll.model.units import HOUR_S
from plimsoll.ports import RunStore, Target
from plimsoll_measure.probe import (
    MOST_HOSTS,
    MOST_SECONDS,
    PROBES,
    HostProbe,
    NotProbed,
    ProbeContext,
    Probed,
    ProbeEvent,
    ProbeStep,
    events_of,
    group_by_host,
    probe_document,
)
from plimsoll_service.service import Service
from plimsoll_service.step_messages import RunId, StepAnswer, StepMessage
from plimsoll_service.target_ports import find_place, ports_at
from plimsoll_service.validating import step_patience
from plimsoll_service.validation_messages import VolumeName

USUAL_S: Final = HOUR_S
"""For how long hosts are read where nobody says."""


class ProbeInput(BaseModel):
    """The input of a probe's execution: volumes, no more than it may have hosts, and for how long."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    volume_ids: Annotated[tuple[VolumeName, ...], Field(min_length=1, max_length=MOST_HOSTS)]
    seconds: Annotated[int, Field(ge=1, le=MOST_SECONDS)] = USUAL_S


class BeginProbeMessage(StepMessage):
    """An execution of the probe: its name, and its input."""

    about = "name"

    name: RunId
    given: ProbeInput = Field(validation_alias=AliasChoices("input", "given"))


class ProbeMessage(StepMessage):
    """A probe that was begun."""

    about = "probe"

    probe: RunId


class ProbeState(StepAnswer):
    """The state of a probe: how many hosts still read, the volumes seen, and why others were not."""

    probe: RunId
    reading: int
    seen: tuple[str, ...]
    not_seen: tuple[str, ...]


_log = logging.getLogger(__name__)

_RUNS: Final = "probes/runs/"
_SEEN: Final = "probes/seen/"


class _Run(BaseModel):
    """The state of an execution: documents of hosts that still read, the volumes seen, and why others were not."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    keys: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    not_seen: tuple[str, ...] = ()

    def with_events(self, events: Iterable[ProbeEvent], keys: Iterable[str]) -> "_Run":
        """The same after these events, with those hosts still reading."""
        listed = list(events)
        seen = [_full_name(event.line) for event in listed if isinstance(event, Probed)]
        not_seen = [f"{', '.join(event.volume_ids)}: {event.error}" for event in listed if isinstance(event, NotProbed)]
        return _Run(keys=tuple(keys), seen=(*self.seen, *seen), not_seen=(*self.not_seen, *not_seen))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProbes:
    """The last probe of each volume, in the service's store."""

    store: RunStore

    def add(self, line: ProbeLine) -> None:
        """Keeps a volume's probe in place of the one before."""
        _seen_document(line.account, line.region, line.seen.volume_id).put(self.store, line)

    def latest(self, target: Target, volume_id: str) -> ProbeLine | None:
        """A volume's last probe. None if it was never probed, or if another version wrote the record."""
        return _seen_document(target.account, target.region, volume_id).find(self.store)


def begin_probe(service: Service, message: BeginProbeMessage) -> ProbeState:
    """Begins on every host of the volumes; a volume that cannot be probed is named, and stops no other."""
    if (known := _document(message.name).get(service.store)) is not None:
        return _state(message.name, known)
    events: list[NotProbed] = []
    begun: list[HostProbe] = []
    for host in _hosts(service, message):
        if isinstance(host, NotProbed):
            events.append(host)
            continue
        try:
            begun.append(PROBES.take(host, _context(service, host.target)))
        except PlimsollError as error:
            events.append(NotProbed(volume_ids=host.volume_ids, error=error))
    return _keep_state(service, message.name, _Run().with_events(events, (host.key for host in begun)))


def look_at_probe(service: Service, message: ProbeMessage) -> ProbeState:
    """Looks once at every host that still reads, and keeps the results of those that ended.

    Raises BadInput for a probe that was never begun.
    """
    name = message.probe
    run = _document(name).get(service.store)
    if run is None:
        raise BadInput(f"there is no probe {name}: begin one by the state machine of probes.")
    events: list[ProbeEvent] = []
    left: list[str] = []
    for key in run.keys:
        try:
            host = probe_document(key).get(service.store)
        except BadInput as error:
            host_id = key.rpartition("/")[2].removesuffix(".json")
            events.append(NotProbed(volume_ids=(f"volumes on {host_id}",), error=error))
            continue
        if host is None:  # another execution had asked for the same volumes, and has read the answer
            continue
        looked = _look_once(service, host)
        if looked.error is None and looked.job.next is not ProbeStep.DONE:
            left.append(key)
        else:
            events += events_of(looked)
    return _keep_state(service, name, run.with_events(events, left))


def _look_once(service: Service, host: HostProbe) -> EndedJob[HostProbe]:
    try:
        context = _context(service, host.target)
        looked = PROBES.advance(host, context, (ProbeStep.LOOK,))
        return EndedJob(job=PROBES.take(looked.job, context)) if looked.job.next is ProbeStep.KEEP else looked
    except PlimsollError as error:  # the account cannot be entered now: what its host saw can be read for days
        late = host.began + timedelta(seconds=host.task.limit_s + step_patience(service).grace_s)
        return EndedJob(job=host, error=error if service.clock.now() >= late else None)


def _hosts(service: Service, message: BeginProbeMessage) -> Iterator[HostProbe | NotProbed]:
    """The hosts of the volumes, target by target; a volume, or a target, that cannot be found stops no other."""
    now = service.clock.now()
    by_target: dict[Target, list[str]] = {}
    for name in dict.fromkeys(message.given.volume_ids):
        try:
            target, volume_id = find_place(name, now, service)
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
        patience=step_patience(service),
        say=_log.info,
    )


def _keep_state(service: Service, name: str, run: _Run) -> ProbeState:
    return _state(name, _document(name).put(service.store, run))


def _state(name: str, run: _Run) -> ProbeState:
    return ProbeState(probe=name, reading=len(run.keys), seen=run.seen, not_seen=run.not_seen)


def _full_name(line: ProbeLine) -> str:
    return f"{line.account}/{line.region}/{line.seen.volume_id}"


def _document(name: str) -> StoredDocument[_Run]:
    return StoredDocument(f"{_RUNS}{name}.json", _Run, "probe", "begin a new probe")


def _seen_document(account: str, region: str, volume_id: str) -> StoredDocument[ProbeLine]:
    return StoredDocument(f"{_SEEN}{account}/{region}/{volume_id}.json", ProbeLine)
