"""The probe: hosts read their own volumes once a second, and the seconds are kept.

    find the hosts -> begin on each -> wait until each has ended -> keep

A host's probe is one document. Whoever asks for the same volumes again goes on with it, whatever ended the process
before. A host reads for as long as it was asked to, and no longer.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol

from plimsoll.auditing.list import find_listed
from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.probe_book import ProbeLine
from plimsoll.jobs.document import StoredDocument
from plimsoll.jobs.kernel import DONE, LOOK_EVERY_S, BenchPatience, EndedJob, JobKind, JobStepRow
from plimsoll.model.errors import BadInput, CloudError, NotMeasured, PlimsollError
from plimsoll.model.task import Task, TaskMode
from plimsoll.model.volume import Volume
from plimsoll.ports import Bench, RunStore, Target
from plimsoll_measure.bench.probe.answer import read_probe
from plimsoll_measure.validation.command import HostCommand

_UNDER_WAY: Final = "probes/under-way/"
"""The folder of the documents of probes under way."""

MOST_SECONDS: Final = 86_400
MOST_VOLUMES_A_HOST: Final = 25
"""The answer of one host has room for these (20,000 characters, bench/probe/on_host.py)."""
MOST_HOSTS: Final = 50

ENDING_S: Final = 60
"""The seconds that a host may take beyond its reading."""

MOST_PAUSE_S: Final = 60.0
"""The longest pause between looks at a host that still reads: an early end is noticed by then."""

ANSWER_KEPT: Final = timedelta(days=7)
"""The time for which a command's answer is used: Systems Manager keeps it for 30 days (AWS Systems Manager User Guide,
"AWS Systems Manager Run Command", read 2026-11-20), and nobody waits that long."""


class ProbeStep(StrEnum):
    """The next step of a host's probe."""

    BEGIN = "begin"
    LOOK = "look"
    KEEP = "keep"
    DONE = DONE


PROBE_STEPS: Final = frozenset(ProbeStep) - {ProbeStep.DONE}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProbe:
    """Volumes that one host reads."""

    target: Target
    host_id: str
    volume_ids: tuple[str, ...]
    seconds: int
    began: datetime
    command_id: str | None = None  # None until it begins
    failed_looks: int = 0
    lines: tuple[ProbeLine, ...] | None = None  # what the host saw; None until it has ended
    absent: tuple[str, ...] = ()  # volumes of which it saw no second
    is_noted: bool = False  # the book has the lines

    @property
    def next(self) -> ProbeStep:
        """The next step of the probe."""
        if self.command_id is None:
            return ProbeStep.BEGIN
        if self.lines is None:
            return ProbeStep.LOOK
        return ProbeStep.DONE if self.is_noted else ProbeStep.KEEP

    @property
    def key(self) -> str:
        return f"{_UNDER_WAY}{self.target.provider}/{self.target.account}/{self.target.region}/{self.host_id}.json"

    @property
    def task(self) -> Task:
        """The host's task."""
        limit_s = self.seconds + ENDING_S
        return Task(mode=TaskMode.PROBE, volume_ids=self.volume_ids, seconds=self.seconds, limit_s=limit_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """The seconds seen of a volume. They are kept."""

    line: ProbeLine


@dataclass(frozen=True, slots=True, kw_only=True)
class NotProbed:
    """Volumes without a second seen, and the reason. The others go on."""

    volume_ids: tuple[str, ...]
    error: PlimsollError


ProbeEvent = Probed | NotProbed


class SecondsBook(Protocol):
    """A book of the seconds seen."""

    def add(self, line: ProbeLine) -> None:
        """Notes the seconds seen of a volume. A second call changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeContext:
    """The ports, the book and the patience. `say` hears each step as a sentence."""

    bench: Bench
    store: RunStore
    book: SecondsBook
    patience: BenchPatience
    say: Callable[[str], None]

    @property
    def jobs(self) -> RunStore:
        return self.store


def probe_document(key: str) -> StoredDocument[HostProbe]:
    return StoredDocument(key, HostProbe, noun="probe", remedy="begin a new probe")


def group_by_host(
    volume_ids: Sequence[str], seconds: int, ports: AuditPorts, now: datetime
) -> Iterator[HostProbe | NotProbed]:
    """A probe for each host of these volumes, and the volumes that cannot be probed with the reason.

    Raises BadInput if the time or the number of volumes exceeds the bounds of a probe.
    """
    if not 1 <= seconds <= MOST_SECONDS:
        raise BadInput(f"a probe takes from 1 s to {MOST_SECONDS:,} s (a day): give --for a time within that.")
    by_host: dict[tuple[Target, str], set[str]] = {}
    for word, listed in find_listed(volume_ids, [ports]).items():
        if isinstance(listed, PlimsollError):
            yield NotProbed(volume_ids=(word,), error=listed)
        elif not isinstance(listed.volume, Volume):
            yield NotProbed(volume_ids=(word,), error=listed.volume.error)
        elif len(listed.volume.hosts) == 1:
            host_id = listed.volume.hosts[0].id
            by_host.setdefault((listed.listing.target, host_id), set()).add(listed.volume.id)
        else:
            yield NotProbed(volume_ids=(listed.volume.id,), error=_hostless(listed.volume))
    _check_bounds(by_host.values())
    for (target, host_id), ids in by_host.items():
        yield HostProbe(target=target, host_id=host_id, volume_ids=tuple(sorted(ids)), seconds=seconds, began=now)


def probe_hosts(hosts: Iterable[HostProbe], context: ProbeContext) -> Iterator[ProbeEvent]:
    """Begins on every host, or goes on with an earlier probe, and waits until each has ended.

    The hosts read on if this is interrupted. The same call later goes on with them.
    """
    for ended in PROBES.drive(hosts, context, PROBE_STEPS):
        yield from events_of(ended)


def events_of(ended: EndedJob[HostProbe]) -> Iterator[ProbeEvent]:
    """The events of a probe that has ended: each volume that was seen, and those that were not."""
    host_probe = ended.job
    if ended.error is not None:
        yield NotProbed(volume_ids=host_probe.volume_ids, error=ended.error)
        return
    yield from (Probed(line=line) for line in host_probe.lines or ())
    if host_probe.absent:
        yield NotProbed(volume_ids=host_probe.absent, error=_deviceless(host_probe.absent, host_probe))


def _pause_s(running: Collection[HostProbe], patience: BenchPatience) -> float:
    """Seconds until the next look at the hosts: until the first ends, within bounds."""
    first_s = (min(map(_end_of, running)) - patience.now()).total_seconds()
    return max(patience.every_s, min(first_s, MOST_PAUSE_S))


def begin_on_host(host_probe: HostProbe, context: ProbeContext) -> HostProbe:
    """Asks a host to read, once. A probe of the same volumes that is under way goes on.

    Raises NotMeasured if the host takes no commands or reads other volumes just now, and CloudError.
    """
    before = probe_document(host_probe.key).find(context.jobs)
    if before is not None and before.began + ANSWER_KEPT > context.patience.now():
        if before.volume_ids != host_probe.volume_ids:
            raise NotMeasured(
                f"{host_probe.host_id} in {host_probe.target} reads {', '.join(before.volume_ids)} until "
                f"{_end_of(before):%Y-%m-%d %H:%M} UTC, by an earlier probe. Probe these volumes again to "
                "get its result, or end it with --stop."
            )
        context.say(f"going on with {host_probe.host_id}, which reads until {_end_of(before):%Y-%m-%d %H:%M} UTC")
        return before
    (host,) = context.bench.hosts(host_probe.target, (), (host_probe.host_id,))
    if not host.ready:
        raise NotMeasured(host.not_ready)
    command_id = context.bench.send(host_probe.target, host_probe.host_id, host_probe.task)
    ids, until = ", ".join(host_probe.volume_ids), _end_of(host_probe)
    context.say(f"{host_probe.host_id} reads {ids} until {until:%Y-%m-%d %H:%M} UTC")
    return replace(host_probe, command_id=command_id)


def look_at_host(host_probe: HostProbe, context: ProbeContext) -> HostProbe:
    """Looks once at a host. Once it has ended, the probe has what it saw.

    Raises NotMeasured if the host takes too long or saw nothing, and CloudError if several looks in a row have failed.
    """
    command = _command(host_probe)
    outcome = command.look(context.bench)
    if outcome is None:
        limit_s = host_probe.task.limit_s + context.patience.grace_s
        context.patience.check(host_probe.began, limit_s=limit_s, otherwise=command.overdue(limit_s))
        return replace(host_probe, failed_looks=command.failed_looks)
    if not outcome.output.strip():
        command.answer(outcome)  # which says how it ended
    seen, absent = read_probe(outcome.output)
    account, region, host_id = host_probe.target.account, host_probe.target.region, host_probe.host_id
    lines = tuple(ProbeLine(account=account, region=region, host_id=host_id, seen=seconds) for seconds in seen)
    return replace(host_probe, lines=lines, absent=tuple(absent))


def keep_seconds(host_probe: HostProbe, context: ProbeContext) -> HostProbe:
    """Notes the seconds that a host saw. A second call changes nothing."""
    for line in host_probe.lines or ():
        context.book.add(line)
    return replace(host_probe, is_noted=True)


def forget_failed(host_probe: HostProbe, error: BaseException, context: ProbeContext) -> HostProbe:
    """Forgets a probe whose host failed. If the cloud or the book is away, what the host saw can be kept for days."""
    if host_probe.next is ProbeStep.LOOK and not isinstance(error, CloudError):
        probe_document(host_probe.key).delete(context.jobs)
    return host_probe


def cancel(hosts: Iterable[HostProbe], context: ProbeContext) -> Iterator[HostProbe]:
    """Ends the probes under way on these hosts, and yields them.

    Raises CloudError, and BadInput, once the others have ended, for one that cannot be read: nobody can end it.
    """
    unreadable = list[BadInput]()
    for host_probe in hosts:
        document = probe_document(host_probe.key)
        try:
            before = document.get(context.jobs)
        except BadInput as error:
            unreadable.append(error)
            continue
        if before is not None:
            _command(before).give_up(context.bench)
            document.delete(context.jobs)
            yield before
    if unreadable:
        raise unreadable[0]


def _command(host_probe: HostProbe) -> HostCommand:
    if host_probe.command_id is None:
        raise BadInput(f"nothing was asked of {host_probe.host_id}: begin first.")
    return HostCommand(
        id=host_probe.command_id,
        target=host_probe.target,
        host_id=host_probe.host_id,
        failed_looks=host_probe.failed_looks,
    )


def _end_of(host_probe: HostProbe) -> datetime:
    return host_probe.began + timedelta(seconds=host_probe.seconds)


def _check_bounds(volume_lists: Iterable[Collection[str]]) -> None:
    by_host = list(volume_lists)
    if len(by_host) > MOST_HOSTS:
        raise BadInput(f"these volumes are on {len(by_host):,} hosts, and a probe takes {MOST_HOSTS}: name fewer.")
    most = max(map(len, by_host), default=0)
    if most > MOST_VOLUMES_A_HOST:
        raise BadInput(f"a host has {most} of these volumes, and a probe takes {MOST_VOLUMES_A_HOST}: name fewer.")


def _hostless(volume: Volume) -> NotMeasured:
    if volume.hosts:
        return NotMeasured(
            f"{volume.id} is attached to {len(volume.hosts)} hosts, and each counts only its own part. Use its metrics "
            "in CloudWatch, which sum all of them."
        )
    return NotMeasured(f"{volume.id} is attached to no known host. Attach it, or name another volume.")


def _deviceless(absent: Sequence[str], host_probe: HostProbe) -> NotMeasured:
    return NotMeasured(
        f"{host_probe.host_id} saw no second of {', '.join(absent)}: no device of it says that it is that volume, or "
        "it was detached. See on the host with `lsblk -o NAME,SERIAL`, and probe again."
    )


PROBES: Final[JobKind[HostProbe, ProbeContext]] = JobKind(
    document=lambda host_probe: probe_document(host_probe.key),
    steps={
        ProbeStep.BEGIN: JobStepRow("plimsoll_measure.probe:begin_on_host"),
        ProbeStep.LOOK: JobStepRow("plimsoll_measure.probe:look_at_host", every_s=LOOK_EVERY_S),
        ProbeStep.KEEP: JobStepRow("plimsoll_measure.probe:keep_seconds"),
    },
    way_out="plimsoll_measure.probe:forget_failed",
    pause_s=_pause_s,
    outlives_process=True,
    is_forgotten=True,
)
"""Probes, of which each host has one."""
