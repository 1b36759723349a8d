"""Tasks: what a host is asked to run, and what came of it.

Scratch volumes: made to be measured and to be deleted, tagged so that a sweep finds them whatever happens.
"""

import hashlib
from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from plimsoll.model.errors import BadInput
from plimsoll.model.volume import VolumeSpec


class TaskMode(StrEnum):
    """The modes of the document."""

    DEVICE = "device"
    FILE = "file"
    INSPECT = "inspect"
    PROBE = "probe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The task of a document."""

    mode: TaskMode
    volume_id: str = ""
    job: str = ""
    limit_s: int = 3600
    initialize: bool = False
    file_size_mib: int = 1024
    most_queue: int = 0
    most_latency_us: int = 0
    alarm: str | None = None
    volume_ids: tuple[str, ...] = ()
    seconds: int = 0


class TaskEnd(StrEnum):
    """The ends of a task."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMED_OUT = "timed-out"
    CANCELLED = "cancelled"
    UNDELIVERED = "undelivered"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutcome:
    """The outcome of a task: its end, its standard output, and the reason that a failed one gave.

    The output is read from storage if the API cuts it.
    """

    end: TaskEnd
    output: str
    reason: str = ""


SCRATCH_TAG: Final = "plimsoll:scratch"
"""Holds the id of the validation that made the volume; nothing without it is ever deleted."""

DEADLINE_TAG: Final = "plimsoll:deadline"
"""Holds the time, in ISO 8601 and UTC, from which a sweep deletes the volume."""


def check_tagged(tag: str, tags: Container[str], what: str) -> None:
    """Raises BadInput for a volume without the scratch tag: it is somebody's. `what` follows "cannot"."""
    if tag not in tags:
        raise BadInput(
            f"cannot {what}: it lacks the tag {tag}, so it is not a scratch volume. If you want this done, "
            "do it yourself."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchBounds:
    """The largest scratch volume that may be made."""

    size_gib: int = 16_384
    iops: int = 80_000
    throughput_mib_s: int = 2_000

    def excess(self, spec: VolumeSpec) -> str | None:
        """The figures of a spec that are over the bounds, in words; None if all are within them."""
        figures = (
            (spec.size_gib, self.size_gib, "GiB"),
            (spec.iops or 0, self.iops, "IOPS"),
            (spec.throughput_mib_s or 0, self.throughput_mib_s, "MiB/s"),
        )
        over = [f"{asked:,} of at most {most:,} {unit}" for asked, most, unit in figures if asked > most]
        return ", ".join(over) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchOrder:
    """A scratch volume to make in a zone. `source` is the volume to copy, None for an empty one."""

    validation_id: str
    account: str
    region: str
    zone: str
    spec: VolumeSpec
    deadline: datetime
    source: str | None = None

    @property
    def tags(self) -> Mapping[str, str]:
        """The tags it is made with, in the same call that makes it."""
        return {
            "Name": "plimsoll scratch volume",
            SCRATCH_TAG: self.validation_id,
            DEADLINE_TAG: self.deadline.isoformat(),
        }

    @property
    def token(self) -> str:
        """The name of the order: 64 characters, the same for the same order."""
        facts = (self.validation_id, self.account, self.region, self.zone, self.spec, self.deadline, self.source)
        return hashlib.sha256(repr(facts).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchVolume:
    """A scratch volume that exists. `deadline` is None where its tag cannot be read, which counts as past.

    `state` is the cloud's word for it (creating, available, in-use, deleting, error), `attached_to` the instance it is
    attached to, being attached to or detached from, `attachment` that attachment's state.
    """

    id: str
    account: str
    region: str
    zone: str
    validation_id: str
    deadline: datetime | None
    created: datetime
    state: str
    attached_to: str | None = None
    attachment: str | None = None

    def is_due(self, now: datetime) -> bool:
        """True if a sweep should delete it: its deadline is past, or cannot be read."""
        return self.deadline is None or now >= self.deadline
