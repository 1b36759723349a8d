"""Tasks: what a host is asked to run, and what came of it."""

from dataclasses import dataclass
from enum import StrEnum


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
