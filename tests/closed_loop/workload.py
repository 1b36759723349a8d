"""Workloads whose true demand is known, and what a volume carries of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

BUCKET_S: Final = 300
DAY: Final = 86_400 // BUCKET_S
WEEK: Final = 7 * DAY
KIB: Final = 1024
WATCHED: Final = 8
"""The weeks that a volume is watched before its first audit: a real one has a past."""
LARGEST_KIB: Final = 256
"""The largest operation that counts as one."""


@dataclass
class Workload:
    """A demand a bucket: operations a second and their size; `backlog` of a job is what it has still to do.

    `born` is the bucket in which the volume is made, 0 where it was there before."""

    kind: str
    iops: Numbers
    io_kib: Numbers
    job: bool = False
    born: int = 0
    backlog: float = field(default=0.0, init=False)

    def carried(self, first: int, last: int, iops: float, mib_s: float) -> Numbers:
        """What a ceiling lets through of some buckets: the rest is lost, or, of a job, done later."""
        size = self.io_kib[first:last]
        most = np.minimum(iops / np.maximum(1.0, size / LARGEST_KIB), mib_s * KIB / size)
        if not self.job:
            return np.minimum(self.iops[first:last], most)
        done = np.empty(last - first)
        for place, (rate, carries) in enumerate(zip(self.iops[first:last].tolist(), most.tolist(), strict=True)):
            work = self.backlog + rate
            done[place] = min(work, carries)
            self.backlog = work - done[place]
        return done

    def wants(self, first: int, last: int) -> tuple[float, float]:
        """The highest IOPS and MiB/s that it asks for in some buckets."""
        iops = self.iops[first:last]
        return float(iops.max()), float((iops * self.io_kib[first:last]).max() / KIB)


def of_kind(kind: str, weeks: int, rng: np.random.Generator) -> Workload:
    """A workload of a kind: its peak is from 2,000 to 16,000 IOPS, in operations of 8 to 128 KiB."""
    time = np.arange(weeks * WEEK)
    hour = time % DAY / DAY * 24
    peak = 10 ** rng.uniform(3.3, 4.2)
    iops = peak * (0.35 + 0.65 * np.exp(-(((hour - 14) / 4) ** 2))) * np.exp(rng.normal(0, 0.12, len(time)))
    io_kib = np.full(len(time), rng.choice([8.0, 16.0, 32.0, 64.0, 128.0]))
    return _KINDS[kind](kind, iops, io_kib, peak, rng)


def _plain(kind: str, iops: Numbers, io_kib: Numbers, _peak: float, _rng: np.random.Generator) -> Workload:
    return Workload(kind, iops, io_kib)


def _bursty(kind: str, iops: Numbers, io_kib: Numbers, peak: float, rng: np.random.Generator) -> Workload:
    """Three buckets of a thousand near the peak, the others quiet."""
    iops = 0.4 * iops
    some = rng.integers(0, len(iops), int(len(iops) * 0.003))
    iops[some] = peak * rng.uniform(0.7, 1.1, len(some))
    return Workload(kind, iops, io_kib)


def _growing(kind: str, iops: Numbers, io_kib: Numbers, _peak: float, rng: np.random.Generator) -> Workload:
    """By a fifth of a percent to one percent of the beginning each day."""
    return Workload(kind, iops * (1 + 0.01 * np.arange(len(iops)) / DAY * rng.uniform(0.2, 1)), io_kib)


def _mixed(kind: str, iops: Numbers, io_kib: Numbers, _peak: float, _rng: np.random.Generator) -> Workload:
    """Large operations between one and four at night."""
    hour = np.arange(len(iops)) % DAY / DAY * 24
    return Workload(kind, iops, np.where((hour > 1) & (hour < 4), 256.0, io_kib))


def _job(kind: str, iops: Numbers, io_kib: Numbers, peak: float, _rng: np.random.Generator) -> Workload:
    """A nightly job with so much to do that its peak would do it in three hours; it takes all that it gets."""
    hour = np.arange(len(iops)) % DAY / DAY * 24
    begins = np.diff(hour >= 1, prepend=False) & (hour >= 1)
    return Workload(kind, np.where(begins, peak * 3 * 3600 / BUCKET_S, 50.0), io_kib, job=True)


def _young(kind: str, iops: Numbers, io_kib: Numbers, _peak: float, rng: np.random.Generator) -> Workload:
    """Made two to six days before the first audit; from a tenth to a half of what it comes to within five weeks."""
    born = WATCHED * WEEK - int(rng.uniform(2, 6) * DAY)
    first, lasting = rng.uniform(0.1, 0.5), rng.uniform(1, 5) * WEEK
    since = np.clip((np.arange(len(iops)) - born) / lasting, 0, 1)
    return Workload(kind, iops * (first + (1 - first) * since), io_kib, born=born)


def _ramps(kind: str, iops: Numbers, io_kib: Numbers, _peak: float, rng: np.random.Generator) -> Workload:
    """Flat for months, and then in some weeks to 1.5 to 4 times that: once between the first audit and the last."""
    begins = int(rng.uniform(WATCHED + 1, len(iops) / WEEK - 8) * WEEK)
    times, lasting = rng.uniform(1.5, 4), rng.uniform(2, 6) * WEEK
    since = np.clip((np.arange(len(iops)) - begins) / lasting, 0, 1)
    return Workload(kind, iops * times ** (since - 1), io_kib)


_KINDS: Final[dict[str, Callable[..., Workload]]] = {
    "diurnal": _plain,
    "bursty": _bursty,
    "growing": _growing,
    "mixed": _mixed,
    "job": _job,
    "young": _young,
    "ramps": _ramps,
}
KINDS: Final = tuple(_KINDS)
