"""What the pipelines need of the world, as protocols named for the need.

Each has an in-memory implementation in `clouds.memory` that ships, and every implementation passes one contract suite.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from plimsoll.domain.branch_and_bound import Ask, Found
from plimsoll.domain.errors import CloudError
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.volume import Volume, VolumeSpec
from plimsoll.domain.volume_types import VolumeType


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Target:
    """One account (or project) in one region: the unit that succeeds or fails on its own."""

    account: str
    region: str

    def __str__(self) -> str:
        return f"{self.account}/{self.region}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTarget:
    """A target that could not even be named in full (a role that cannot be assumed, a profile without credentials)."""

    name: str
    error: CloudError


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """The most queries and datapoints that one API call brings."""

    queries: int
    datapoints: int


@dataclass(slots=True, kw_only=True)
class Usage:
    """What has been asked of a cloud so far: API calls, metrics (series) and datapoints, retries included."""

    calls: int = 0
    metrics: int = 0
    datapoints: int = 0


class Inventory(Protocol):
    """Which volumes are there, on which hosts, owned by whom?"""

    def targets(self) -> Sequence[Target | FailedTarget]:
        """Every account and region in scope, and those that cannot be reached with why."""
        ...

    def volumes(self, target: Target) -> Iterator[Volume]:
        """Every volume of a target, as pages arrive; raises CloudError."""
        ...

    def notices(self, target: Target) -> Sequence[str]:
        """What else acts on these volumes or limits the answer, a sentence each; raises CloudError."""
        ...


class Metrics(Protocol):
    """What did the workload ask for?"""

    @property
    def usage(self) -> Usage:
        """What has been asked so far."""
        ...

    @property
    def retention_days(self) -> Mapping[int, float]:
        """How many days data of each period, in seconds, lives."""
        ...

    def series(self, volume: Volume) -> int:
        """How many series the cloud publishes of such a volume."""
        ...

    @property
    def call_limits(self) -> CallLimits:
        """How much one call can bring."""
        ...

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """What each look found, or why its volume could not be read, in order; raises CloudError when none can be."""
        ...


class Prices(Protocol):
    """What does it cost there?"""

    def book(self, target: Target) -> PriceBook | None:
        """The price book of a target's region, None where no price is known."""
        ...


class Catalogue(Protocol):
    """What can be bought of a cloud, and how a change is made there."""

    @property
    def provider(self) -> str:
        """The cloud's name, as envelopes give it."""
        ...

    @property
    def types(self) -> Mapping[str, VolumeType]:
        """The published volume types by name."""
        ...

    def change(self, volume: Volume, target: VolumeSpec) -> str:
        """How the volume's owner makes it so: commands or the text to change, and what undoes it."""
        ...


class Clock(Protocol):
    """What time is it?"""

    def now(self) -> datetime:
        """The present, in UTC."""
        ...
