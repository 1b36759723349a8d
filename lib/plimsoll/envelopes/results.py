"""Results: what one output of fio or sysbench says, before the volume is known."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from plimsoll.domain.envelope import JobShape, Latency
from plimsoll.envelopes.campaign_file import Figures, PrintedEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """Reads or writes of a result. `operations` is the number completed, None where not printed."""

    iops: float
    throughput_mib_s: float
    operations: int | None
    latency: Latency


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One job group of a benchmark's output: jobs that ran together and are reported as one.

    `iops` and `throughput_mib_s` are both directions together, None where nothing was done. `latency` of several
    directions or jobs is, per percentile, the worst of them: an upper bound. `directions` holds those that did I/O.
    `device_iops` is what the device itself counted, None where it cannot be told from other groups'. `measured_on` is
    the date as printed, `options` the job's options as printed, `error` the errno that the job ended with (0: none).
    `printed` are the figures for a campaign file, as printed. The job's block size is the mean where it varied; a mode
    that the output does not tell is unstated-read, unstated-write or unstated-rw.
    """

    name: str
    group: int
    tool: str
    tool_version: str | None
    job: JobShape
    iops: float | None
    throughput_mib_s: float | None
    latency: Latency
    directions: Mapping[str, Direction]
    printed: PrintedEntry
    device_iops: float | None = None
    measured_on: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    error: int = 0

    @property
    def rate_capped(self) -> bool:
        """Whether the job was held to a rate. It then proves that rate, and no maximum."""
        return any(self.options.get(option) for option in ("rate", "rate_iops"))

    @property
    def fault(self) -> str | None:
        """Why this is no measurement, None where it is one."""
        if self.error:
            return f"the job {self.name} ended with error {self.error} ({os.strerror(self.error)})"
        return None if self.directions else f"the job {self.name} did no reads and no writes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A result that says something of the host alone: sysbench's cpu, memory, mutex or threads.

    `kind` is the test (`events` where the output does not tell it), `events_per_s` its operations a second, `job` the
    command as printed, `figures` what was printed.
    """

    kind: str
    tool: str
    tool_version: str | None
    job: str | None
    events_per_s: float
    latency: Latency
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Everything that one output says: results of storage, and profiles of its host."""

    results: tuple[Result, ...] = ()
    profiles: tuple[Profile, ...] = ()


class Broken(Exception):
    """An output that breaks off. `line` counts from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def line_at(text: str, position: int) -> int:
    """The line, from 1, of a position in a text."""
    return text.count("\n", 0, position) + 1
