"""Tasks: what a host is asked to run, and what came of it."""

from dataclasses import dataclass
from enum import StrEnum


class TaskMode(StrEnum):
    """What the document does. `device` writes to a raw scratch volume, `file` to a bounded file on the filesystem of
    the volume, `inspect` only reads how the host's volumes are put together, `probe` reads once a second what the host
    counts of them (a document of its own, which does no I/O)."""

    DEVICE = "device"
    FILE = "file"
    INSPECT = "inspect"
    PROBE = "probe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What the document is given.

    `job` is the text of a fio job file without filename, directory or size (the document adds where to write).
    `limit_s` bounds the whole task on the host. `initialize` reads the whole device first (a copy, a snapshot).
    `file_size_mib` is the size of the file in mode `file`. `most_queue` and `most_latency_us` stop a run in mode `file`
    when the device's own queue or mean latency stays above them; 0: no such limit. `alarm` is the name of an alarm of
    the cloud's that stops the command. `volume_ids` are looked at for `seconds` in mode `probe`.
    """

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
    """How a task ended."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMED_OUT = "timed-out"
    CANCELLED = "cancelled"
    UNDELIVERED = "undelivered"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutcome:
    """A task's end, all that it printed to standard output (read from storage where the API cuts it), and the reason
    that a failed one gave."""

    end: TaskEnd
    output: str
    reason: str = ""
