"""The world that the pipelines need, as protocols named for the need.

Every implementation passes one contract suite, and so do those in memory (`tests/in_memory`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from plimsoll.model.errors import CloudError
from plimsoll.model.volume import Host

if TYPE_CHECKING:
    # Protocols are not asked at run time what they speak of, and most functions need little of it.
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from plimsoll.decide.answer import ChangeSteps
    from plimsoll.decide.history import HistoryEntry
    from plimsoll.model.market import PriceBook, VolumeType
    from plimsoll.model.people import Decision
    from plimsoll.model.policy import TagMatch
    from plimsoll.model.task import ScratchOrder, ScratchVolume, Task, TaskOutcome
    from plimsoll.model.volume import Volume, VolumeSpec
    from plimsoll.reading.known import Ask, Found


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Target:
    """One account (or project) in one region: the unit that succeeds or fails on its own. `provider` is its cloud."""

    account: str
    region: str
    provider: str = "aws"

    def __str__(self) -> str:
        return f"{self.account}/{self.region}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTarget:
    """A target that could not even be named in full (a role that cannot be assumed, a profile without credentials)."""

    name: str
    error: CloudError


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadVolume:
    """A volume that exists but has no answer, because an entry of it or of its neighbors cannot be used.

    `id` is None where even that is missing; `what` then says what is unread, such as a page.
    """

    id: str | None
    error: CloudError
    what: str = "a volume"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The recommendation of the cloud's own tool for a volume.

    `target` is `current` if it recommends no change. `usd_month_saved` is None if the tool names none in USD, and
    `performance_risk` is on the tool's own scale. It looked at `days` of metrics.
    """

    account: str
    region: str
    volume_id: str
    current: VolumeSpec
    target: VolumeSpec
    usd_month_saved: float | None
    performance_risk: float | None
    days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """The most queries and datapoints that one API call brings."""

    queries: int
    datapoints: int


@dataclass(slots=True, kw_only=True)
class Usage:
    """The requests to a cloud so far: API calls, metrics (series) and datapoints, retries included."""

    calls: int = 0
    metrics: int = 0
    datapoints: int = 0


class Inventory(Protocol):
    """Which volumes are there, on which hosts, owned by whom?"""

    def targets(self) -> Sequence[Target | FailedTarget]:
        """Every account and region in scope, and those that cannot be reached with why."""
        ...

    def volumes(self, target: Target) -> Iterator[Volume | UnreadVolume]:
        """Every volume of a target, as pages arrive; raises CloudError.

        What comes later of a volume takes the place of what came before. A host's volumes are all readable, or all
        unread: its traffic is that of all of them.
        """
        ...

    def notices(self, target: Target) -> Sequence[str]:
        """Notices of what else acts on these volumes or limits the answer, a sentence each; raises CloudError."""
        ...


class Metrics(Protocol):
    """A source of what the workload asked for."""

    @property
    def usage(self) -> Usage:
        """The requests so far."""
        ...

    @property
    def retention_days(self) -> Mapping[int, float]:
        """The days for which data of each period, in seconds, live."""
        ...

    @property
    def memory_days(self) -> float:
        """For how many days before now it can be read what was before the window; 0: not at all."""
        ...

    @property
    def visible_after_s(self) -> int:
        """The seconds after its end until a period is there as a whole."""
        ...

    def series(self, volume: Volume) -> int:
        """The number of series that the cloud publishes of a volume."""
        ...

    def host_series(self, volume: Volume) -> int:
        """The number of series that the cloud publishes of the limits of a volume's only host."""
        ...

    @property
    def call_limits(self) -> CallLimits:
        """The most that one call can bring."""
        ...

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """The series of each look, or why its volume could not be read, in order. Raises CloudError if none can be.

        All volumes are of one account and region.
        """
        ...

    def remarks(self, target: Target) -> Sequence[str]:
        """Remarks on what was read of a target, a sentence each, the same for each of its parts."""
        ...


class Prices(Protocol):
    """A source of what things cost at a place."""

    def book(self, target: Target) -> PriceBook | None:
        """The price book of a target's region, None where no price is known."""
        ...


class Catalog(Protocol):
    """The types that a cloud sells, and the way to make a change there."""

    @property
    def provider(self) -> str:
        """The cloud's name, as envelopes give it."""
        ...

    @property
    def types(self) -> Mapping[str, VolumeType]:
        """The published volume types by name."""
        ...

    def change(self, volume: Volume, target: VolumeSpec) -> ChangeSteps:
        """The steps by which the volume's owner makes the change, and takes it back."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchHost:
    """An instance that could measure. `ready` is False where the cloud's agent does not manage it, or it is offline.

    `not_ready` says why, in a sentence that names the host, the place and the remedy. `shares` are the types of which
    it has volumes that would share their ceiling with one more.
    """

    host: Host
    account: str
    region: str
    zone: str
    ready: bool = True
    not_ready: str = ""
    shares: tuple[str, ...] = ()


class Bench(Protocol):
    """The place and the means to measure a volume. Each call is one step, so that any driver can carry them out; all
    raise CloudError."""

    def hosts(self, target: Target, tags: Sequence[TagMatch], ids: Sequence[str]) -> Sequence[BenchHost]:
        """The running instances with one of these tags or ids; CloudError for an id that no
        running instance has."""
        ...

    def create(self, order: ScratchOrder) -> str:
        """Makes a scratch volume, or a copy of the order's source, and gives its id; the same order gives the same."""
        ...

    def scratch(self, target: Target, *, volume_id: str | None = None) -> Sequence[ScratchVolume]:
        """All scratch volumes of a target, or that one (none where it no longer exists)."""
        ...

    def attach(self, target: Target, volume_id: str, host_id: str) -> None:
        """Begins to attach a volume to a host, at a device name that is free there."""
        ...

    def detach(self, target: Target, volume_id: str, *, force: bool = False) -> None:
        """Begins to detach a scratch volume; done already is no error."""
        ...

    def delete(self, target: Target, volume_id: str) -> None:
        """Deletes a scratch volume, and nothing that has not its tag; gone already is no error."""
        ...

    def send(self, target: Target, host_id: str, task: Task) -> str:
        """Begins a task on a host and gives the command's id."""
        ...

    def outcome(self, target: Target, host_id: str, command_id: str) -> TaskOutcome | None:
        """The outcome of a command; None while it runs."""
        ...

    def cancel(self, target: Target, host_id: str, command_id: str) -> None:
        """Asks a command to stop; its process may go on until its own limit."""
        ...

    def mean_latency_us(self, target: Target, volume_id: str, start: datetime, end: datetime) -> float | None:
        """The mean latency of the volume's operations in a span, None where none is published or nothing was done."""
        ...


class RunStore(Protocol):
    """A place for the parts of a run that many workers share. All raise CloudError."""

    def put(self, key: str, content: bytes) -> None:
        """Keeps content under a key, whole or not at all, in the place of what was there."""
        ...

    def get(self, key: str) -> bytes | None:
        """The object under a key; None if there is none."""
        ...

    def keys(self, prefix: str) -> Iterator[str]:
        """The keys that begin with a prefix, in the order of their bytes."""
        ...

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """The keys of `keys`, each with the bytes of its object."""
        ...

    def pieces(self, key: str) -> Iterator[bytes]:
        """The object under a key, in pieces of any length; no piece where there is no object."""
        ...

    def put_pieces(self, key: str, pieces: Iterable[bytes]) -> None:
        """Does as `put`, piece after piece: only a few are in memory and none on a disk."""
        ...

    def delete(self, key: str) -> None:
        """Keeps nothing under a key any more; nothing there already is no error."""
        ...

    def put_file(self, key: str, path: Path) -> None:
        """Does as `put`, from a file that need not fit into memory."""
        ...

    def get_file(self, key: str, path: Path) -> bool:
        """Brings what is kept into a file that need not fit into memory; False where nothing is."""
        ...


class FactStore(RunStore, Protocol):
    """A store in which facts are kept: something under a new key, and never in the place of another."""

    def put_new(self, key: str, content: bytes) -> bool:
        """Keeps content under a key, whole or not at all; False if something is there already, which stays."""
        ...


class Claims(Protocol):
    """Who is doing what only one may do at a time? All raise CloudError."""

    def claim(self, key: str, holder: str, until: datetime, now: datetime) -> bool:
        """Takes a key for a holder until that time; True as well where the holder has it, False where another has."""
        ...

    def release(self, key: str, holder: str) -> None:
        """Gives a key up; another's stays."""
        ...

    def holder(self, key: str, now: datetime) -> str | None:
        """Who has a key now, None where nobody has."""
        ...


class Executions(Protocol):
    """Which other runs of the same kind are under way?"""

    def older(self, execution: str, started: datetime) -> str | None:
        """The name of one that was begun before this one and has not ended, None where there is none; CloudError.

        `started` is when this one was begun, which the cloud may not list yet.
        """
        ...

    def begin(self, kind: Literal["audit", "validation", "probe"], name: str, inputs: Mapping[str, Any]) -> bool:
        """Begins a run of that name; False where one of that name was begun before, which goes on.

        BadInput where that kind is not deployed; CloudError.
        """
        ...


class Events(Protocol):
    """Who wants to know what happened? Raises CloudError."""

    def send(self, events: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Tells everybody who listens: the kind of each event, and its detail as plain values."""
        ...


class HistoryStore(Protocol):
    """The recommendations of each volume before, and what became of them. All raise CloudError."""

    def entries(self, target: Target, volume_ids: Sequence[str]) -> Mapping[str, HistoryEntry]:
        """The entries of those volumes that have one, by volume id."""
        ...

    def write(self, entries: Sequence[HistoryEntry]) -> None:
        """Keeps entries in the place of earlier ones of the same volumes; what people decided stays."""
        ...

    def decisions(self, target: Target, volume_ids: Sequence[str]) -> Mapping[str, Sequence[Decision]]:
        """The decisions of people on these volumes, by volume id and in no order."""
        ...

    def decide(self, decision: Decision) -> bool:
        """Adds what somebody decided; False where the same request (by its id) was added before."""
        ...


SIMULATED_CLOCK: Final = "PLIMSOLL_SIMULATED_CLOCK"
"""The environment variable that names a simulated cloud's clock. `plimsoll simulate` prints it."""


class Clock(Protocol):
    """The time of now."""

    def now(self) -> datetime:
        """The present, in UTC."""
        ...
