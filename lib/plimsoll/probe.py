"""The probe: volumes are read by their own hosts once a second, and what was seen is kept.

    find the hosts -> begin on each -> wait until each has ended -> keep

What is under way on a host is one document. Whoever asks for the same volumes again goes on with it, whatever ended the
process before. A host reads for as long as it was asked to, and no longer.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Final, Protocol

from pydantic import TypeAdapter, ValidationError

from plimsoll.auditing.inventory import listings
from plimsoll.auditing.ports import AuditPorts
from plimsoll.bench.probe.answer import read_probe
from plimsoll.clouds.probe_book import ProbeLine
from plimsoll.domain.errors import BadInput, CloudError, NotMeasured, PlimsollError
from plimsoll.domain.metrics.seconds_seen import SecondsSeen
from plimsoll.domain.task import Task, TaskMode
from plimsoll.domain.volume import Volume
from plimsoll.ports import Bench, FailedTarget, RunStore, Target
from plimsoll.validation.command import Command
from plimsoll.validation.patience import Patience

PROBES: Final = "probes/under-way/"
"""Where the documents of what is under way are kept."""

MOST_SECONDS: Final = 86_400
MOST_VOLUMES_A_HOST: Final = 25
"""What the answer of one host has room for (20,000 characters; bench/probe/on_host.py)."""
MOST_HOSTS: Final = 50

ENDING_S: Final = 60
"""What a host may take beyond the time that it reads."""

MOST_PAUSE_S: Final = 60.0
"""How long a host that still reads is left alone, at most: an answer that says why it ended early is heard by then."""

KEPT: Final = timedelta(days=7)
"""How long a command's answer can be asked for: Systems Manager keeps it for 30 days (AWS Systems Manager User Guide,
"AWS Systems Manager Run Command", read 2026-11-20), and nobody waits that long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProbe:
    """Volumes that one host reads. `command_id` is None until that is begun."""

    target: Target
    host_id: str
    volume_ids: tuple[str, ...]
    seconds: int
    began: datetime
    command_id: str | None = None
    failed_looks: int = 0

    @property
    def key(self) -> str:
        """Where its document is kept."""
        return f"{PROBES}{self.target.provider}/{self.target.account}/{self.target.region}/{self.host_id}.json"

    @property
    def task(self) -> Task:
        """What the host is asked."""
        limit_s = self.seconds + ENDING_S
        return Task(mode=TaskMode.PROBE, volume_ids=self.volume_ids, seconds=self.seconds, limit_s=limit_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What was seen of a volume. It is kept."""

    line: ProbeLine


@dataclass(frozen=True, slots=True, kw_only=True)
class NotProbed:
    """Volumes of which nothing was seen, and why; the others go on."""

    volume_ids: tuple[str, ...]
    error: PlimsollError


Event = Probed | NotProbed


class Seen(Protocol):
    """Where what was seen is kept."""

    def add(self, line: ProbeLine) -> None:
        """Notes what was seen of a volume; doing it again changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeContext:
    """The ports and how long is waited. `say` hears each step as a sentence."""

    bench: Bench
    store: RunStore
    book: Seen
    patience: Patience
    say: Callable[[str], None]


def hosts_of(
    volume_ids: Sequence[str], seconds: int, ports: AuditPorts, now: datetime
) -> Iterator[HostProbe | NotProbed]:
    """Each host of these volumes with those that are attached to it, and the volumes that cannot be probed with why.

    BadInput for a time or a number of volumes beyond what a probe may take.
    """
    if not 1 <= seconds <= MOST_SECONDS:
        raise BadInput(f"a probe takes from 1 s to {MOST_SECONDS:,} s (a day): give --for a time within that.")
    wanted, unsearched = dict.fromkeys(volume_ids), list[str]()
    there: dict[tuple[Target, str], list[str]] = {}
    for listing in listings(ports):
        if listing.error is not None:
            unsearched.append(str(listing.error))
        if isinstance(listing, FailedTarget):
            continue
        for volume in listing.volumes:
            if volume.id not in wanted:
                continue
            del wanted[volume.id]
            if len(volume.hosts) == 1:
                there.setdefault((listing.target, volume.hosts[0].id), []).append(volume.id)
            else:
                yield NotProbed(volume_ids=(volume.id,), error=_hostless(volume))
    for missing in wanted:
        why = f" ({'; '.join(dict.fromkeys(unsearched))})" if unsearched else ""
        error = BadInput(f"there is no volume {missing} in these accounts and regions{why}: check --region and its id.")
        yield NotProbed(volume_ids=(missing,), error=error)
    _check_bounds(there.values())
    for (target, host_id), found in there.items():
        yield HostProbe(target=target, host_id=host_id, volume_ids=tuple(sorted(found)), seconds=seconds, began=now)


def probe(hosts: Iterable[HostProbe], context: ProbeContext) -> Iterator[Event]:
    """Begins on every host, or goes on with what was begun before, and waits until each has ended.

    What is under way goes on if this is interrupted; the same call later goes on with it.
    """
    running: list[HostProbe] = []
    for one in hosts:
        try:
            running.append(begin(one, context))
        except PlimsollError as error:
            yield NotProbed(volume_ids=one.volume_ids, error=error)
    while running:
        left: list[HostProbe] = []
        for one in running:
            found = look(one, context)
            if isinstance(found, HostProbe):
                left.append(found)
            else:
                yield from found
        running = left
        if running:
            context.patience.pause(_pause_s(running, context.patience))


def _pause_s(running: Sequence[HostProbe], patience: Patience) -> float:
    """How long to wait before the hosts are asked again: until the first ends, within bounds."""
    first_s = (min(map(_end_of, running)) - patience.now()).total_seconds()
    return max(patience.every_s, min(first_s, MOST_PAUSE_S))


def begin(one: HostProbe, context: ProbeContext) -> HostProbe:
    """Asks a host to read, once: a probe of the same volumes that is under way is gone on with.

    NotMeasured where the host takes no commands, or reads other volumes just now; CloudError.
    """
    before = find(one.key, context.store)
    if before is not None and before.began + KEPT > context.patience.now():
        if before.volume_ids != one.volume_ids:
            raise NotMeasured(
                f"{one.host_id} in {one.target} reads {', '.join(before.volume_ids)} until "
                f"{_end_of(before):%Y-%m-%d %H:%M} UTC, by an earlier probe. Probe these volumes again to get what it "
                "saw, or end it with --stop."
            )
        context.say(f"going on with {one.host_id}, which reads until {_end_of(before):%Y-%m-%d %H:%M} UTC")
        return before
    (host,) = context.bench.hosts(one.target, (), (one.host_id,))
    if not host.ready:
        raise NotMeasured(host.not_ready)
    command_id = context.bench.send(one.target, one.host_id, one.task)
    begun = replace(one, command_id=command_id)
    _keep(begun, context)
    context.say(f"{one.host_id} reads {', '.join(one.volume_ids)} until {_end_of(begun):%Y-%m-%d %H:%M} UTC")
    return begun


def look(one: HostProbe, context: ProbeContext) -> HostProbe | Sequence[Event]:
    """The probe, while its host still reads; else what came of it. What was seen is kept."""
    command = _command(one)
    try:
        outcome = command.look(context.bench)
        if outcome is None:
            limit_s = one.task.limit_s + context.patience.grace_s
            context.patience.check(one.began, limit_s=limit_s, otherwise=command.overdue(limit_s))
            return _looked(one, command, context)
        if not outcome.output.strip():
            command.answer(outcome)  # which says how it ended
        seen, absent = read_probe(outcome.output)
    except PlimsollError as error:
        if not isinstance(error, CloudError):
            context.store.delete(one.key)
        return [NotProbed(volume_ids=one.volume_ids, error=error)]
    events: list[Event] = [Probed(line=_kept(one, found, context)) for found in seen]
    context.store.delete(one.key)
    if absent:
        events.append(NotProbed(volume_ids=tuple(absent), error=_deviceless(absent, one)))
    return events


def cancel(hosts: Iterable[HostProbe], context: ProbeContext) -> Iterator[HostProbe]:
    """Ends what is under way on these hosts; gives what was ended. CloudError."""
    for one in hosts:
        before = find(one.key, context.store)
        if before is not None:
            _command(before).give_up(context.bench)
            context.store.delete(before.key)
            yield before


def find(key: str, store: RunStore) -> HostProbe | None:
    """What is under way on a host; None where nothing is. A damaged document is begun anew, and so is None too."""
    kept = store.get(key)
    try:
        return None if kept is None else _document().validate_json(kept)
    except ValidationError:
        return None


def _looked(one: HostProbe, command: Command, context: ProbeContext) -> HostProbe:
    """The probe with how often looking at it failed, for whoever looks next."""
    if command.failed_looks == one.failed_looks:
        return one
    looked = replace(one, failed_looks=command.failed_looks)
    _keep(looked, context)
    return looked


def _kept(one: HostProbe, seen: SecondsSeen, context: ProbeContext) -> ProbeLine:
    line = ProbeLine(account=one.target.account, region=one.target.region, host_id=one.host_id, seen=seen)
    context.book.add(line)
    return line


def _keep(one: HostProbe, context: ProbeContext) -> None:
    context.store.put(one.key, _document().dump_json(one))


def _command(one: HostProbe) -> Command:
    if one.command_id is None:
        raise BadInput(f"nothing was asked of {one.host_id}: begin first.")
    return Command(id=one.command_id, target=one.target, host_id=one.host_id, failed_looks=one.failed_looks)


def _end_of(one: HostProbe) -> datetime:
    return one.began + timedelta(seconds=one.seconds)


def _check_bounds(found: Iterable[Sequence[str]]) -> None:
    by_host = list(found)
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


def _deviceless(absent: Sequence[str], one: HostProbe) -> NotMeasured:
    return NotMeasured(
        f"{one.host_id} saw no second of {', '.join(absent)}: no device of it says that it is that volume, or it was "
        "detached. See on the host with `lsblk -o NAME,SERIAL`, and probe again."
    )


@cache
def _document() -> TypeAdapter[HostProbe]:
    return TypeAdapter(HostProbe)
