"""Work: what a scene's volume does, minute by minute, as a function of the time alone."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

NOW: Final = datetime.fromisoformat("2026-11-20T09:30:00+00:00")
"""A Friday. The window of 14 days begins on 6 November at midnight and ends at 09:00: 14 days and 9 hours."""
KIB, MIB = 1024, 1024 * 1024


@dataclass(frozen=True)
class Time:
    """Consecutive minutes since the epoch."""

    minute: npt.NDArray[np.int64]

    @property
    def hour(self) -> Numbers:
        """The hour of the day (UTC), with its fraction."""
        return self.minute % 1440 / 60

    @property
    def day(self) -> npt.NDArray[np.int64]:
        """Days since the epoch; a Monday is 4 modulo 7."""
        return self.minute // 1440

    @property
    def ago_h(self) -> Numbers:
        """How many hours before NOW each minute begins."""
        return (NOW.timestamp() // 60 - self.minute) / 60

    def daily(self, first: float, last: float) -> Flags:
        """Between two hours of every day."""
        return (self.hour >= first) & (self.hour < last)

    def once(self, ago_h: float, minutes: int = 1) -> Flags:
        """So many minutes that begin that many hours ago."""
        first = round(NOW.timestamp() / 60 - 60 * ago_h)
        return (self.minute >= first) & (self.minute < first + minutes)

    def wave(self, low: float, high: float) -> Numbers:
        """A day's curve: `low` at 02:00, exactly `high` at 14:00."""
        return low + (high - low) * (0.5 - 0.5 * np.cos(2 * np.pi * (self.hour - 2) / 24))


@dataclass(frozen=True)
class Work:
    """What was served in each minute.

    `iops_exceeded` and `throughput_exceeded` are the volume's checks, None where they never arrive; `busy_s` are the
    seconds in which it worked, `lacking` the series that an answer leaves out.
    """

    iops: Numbers
    io_kib: Numbers | float = 16.0
    read_share: Numbers | float = 0.5
    iops_exceeded: Flags | bool | None = False
    throughput_exceeded: Flags | bool | None = False
    balance_pct: Numbers | float = 100.0
    busy_s: Numbers | float = 30.0
    present: Flags | bool = True
    lacking: tuple[str, ...] = ()

    def held(self, iops: Numbers | float = np.inf, mib_s: Numbers | float = np.inf) -> "Work":
        """The part of it that such a ceiling lets through; the rest is never done."""
        by_bytes = np.asarray(mib_s) * KIB / np.asarray(self.io_kib)
        return replace(self, iops=np.minimum(self.iops, np.minimum(iops, by_bytes)))

    def series(self) -> dict[str, Numbers]:
        """The eight series of the minutes, NaN where there is no point."""
        ops = np.round(self.iops * 60)
        reads = np.round(ops * self.read_share)
        size = np.broadcast_to(np.round(np.asarray(self.io_kib, dtype=float) * KIB), ops.shape)
        made = {
            "read_ops": reads,
            "write_ops": ops - reads,
            "read_bytes": reads * size,
            "write_bytes": (ops - reads) * size,
            "idle_s": np.where(ops > 0, 60.0 - np.asarray(self.busy_s), 60.0),
            "burst_balance_pct": np.where(ops > 0, self.balance_pct, np.nan),
            "iops_exceeded": _check(self.iops_exceeded, ops),
            "throughput_exceeded": _check(self.throughput_exceeded, ops),
        }
        made |= {name: np.full_like(ops, np.nan) for name in self.lacking}
        present = np.broadcast_to(np.asarray(self.present), ops.shape)
        return {name: np.where(present, values, np.nan) for name, values in made.items()}


Does = Callable[[Time], Work]


def _check(flags: Flags | bool | None, like: Numbers) -> Numbers:
    return np.full_like(like, np.nan) if flags is None else np.broadcast_to(np.asarray(flags, dtype=float), like.shape)


def flat(iops: float, **more: object) -> Does:
    """The same in every minute."""
    return lambda t: Work(np.full(t.minute.shape, float(iops)), **more)  # type: ignore[arg-type]  # names of its fields


def day(low: float, high: float, **more: object) -> Does:
    """A day's curve."""
    return lambda t: Work(t.wave(low, high), **more)  # type: ignore[arg-type]  # names of its fields


def job(base: float, busy: float, hours: tuple[float, float], **more: object) -> Does:
    """Quiet but between two hours of every day."""
    return lambda t: Work(np.where(t.daily(*hours), busy, base), **more)  # type: ignore[arg-type]  # names of its fields
