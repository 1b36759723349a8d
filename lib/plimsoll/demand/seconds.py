"""Seconds of a volume, as its host counted them: peaks, seconds above a limit, time in which a limit was exceeded, and
latency. They show the bursts that averages of minutes hide."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from plimsoll.model.ceiling import Resource
from plimsoll.model.units import MIB

BELOW_ONE: Final = -1
"""The bin of rates under 1 a second."""


class Source(StrEnum):
    """The counter: the device in its own log page, or the kernel of its host."""

    NVME = "nvme"
    DISKSTATS = "diskstats"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The busiest second: its rate, and when it ended."""

    rate: float
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RateHistogram:
    """Seconds by their rate. Bin n holds rates from `ratio`^n up to `ratio`^(n+1), bin -1 those under 1.

    Rates are IOPS, or bytes a second.
    """

    peak: Peak
    ratio: float
    bins: Mapping[int, int]

    @property
    def seconds(self) -> int:
        """The seconds in all bins."""
        return sum(self.bins.values())

    def seconds_above(self, limit: float) -> tuple[int, int]:
        """The seconds above a limit: at least, and at most, since bins have a width."""
        if self.peak.rate <= limit:
            return 0, 0
        surely = sum(count for number, count in self.bins.items() if number >= 0 and self._from(number) > limit)
        maybe = sum(count for number, count in self.bins.items() if self._to(number) > limit)
        return max(1, surely), maybe

    def quantile(self, share: float) -> float:
        """The least rate that is not exceeded in that share of the seconds, rounded up to its bin's end."""
        left = math.ceil(share * self.seconds)
        for number, count in sorted(self.bins.items()):
            left -= count
            if left <= 0:
                return min(self.peak.rate, self._to(number))
        return self.peak.rate

    def _from(self, number: int) -> float:
        return 0.0 if number == BELOW_ONE else self.ratio**number

    def _to(self, number: int) -> float:
        return 1.0 if number == BELOW_ONE else self.ratio ** (number + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exceeded:
    """An exceeded limit: the time together, and the seconds in which it was exceeded at all."""

    us: int
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyBin:
    """The count of operations that took from `lower_us` to `upper_us`."""

    lower_us: int
    upper_us: int
    count: int


def latency_us(bins: Sequence[LatencyBin], share: float) -> int | None:
    """The latency that a share of the operations kept to: the end of its bin. None if there were no operations."""
    left = math.ceil(share * sum(each.count for each in bins))
    for each in sorted(bins, key=lambda each: each.upper_us):
        left -= each.count
        if left <= 0 < each.count:
            return each.upper_us
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondsSeen:
    """The seconds of a volume that were looked at.

    `seconds` were looked at one by one from `began` on. `missed_s` passed within looks that came late, so that their
    peaks may be higher than told. `restarts` are gaps: the volume was detached, or its counts began anew.
    `exceeded_volume` and `exceeded_host` are None where the host does not count them, and so are `reads` and `writes`,
    the histograms of latency. `mean_latency_us` is None where nothing was done.
    """

    volume_id: str
    began: datetime
    source: Source
    seconds: int
    missed_s: int
    restarts: int
    iops: RateHistogram
    bytes_s: RateHistogram
    most_queue: int
    mean_queue: float
    mean_latency_us: float | None
    exceeded_volume: Mapping[Resource, Exceeded] | None = None
    exceeded_host: Mapping[Resource, Exceeded] | None = None
    reads: tuple[LatencyBin, ...] | None = field(default=None, repr=False)
    writes: tuple[LatencyBin, ...] | None = field(default=None, repr=False)

    @property
    def p99_read_us(self) -> int | None:
        """The latency that 99 % of the reads kept to, None if it is not known."""
        return None if self.reads is None else latency_us(self.reads, 0.99)

    @property
    def p99_write_us(self) -> int | None:
        """The latency that 99 % of the writes kept to, None if it is not known."""
        return None if self.writes is None else latency_us(self.writes, 0.99)

    def seconds_above(self, *, iops: float, throughput_mib_s: float) -> Mapping[Resource, tuple[int, int]]:
        """The seconds above these limits: at least and at most, by resource."""
        return {
            Resource.IOPS: self.iops.seconds_above(iops),
            Resource.THROUGHPUT: self.bytes_s.seconds_above(throughput_mib_s * MIB),
        }

    @property
    def lacks(self) -> tuple[str, ...]:
        """The figures that this host lacks, as sentences that say what would have them."""
        return tuple(self._lacks())

    def _lacks(self) -> Iterator[str]:
        """Yields sentences about what the probe could not see, and what to do."""
        if self.source is Source.DISKSTATS:
            yield (
                "This host has no NVMe statistics of the volume, so the kernel's counts were read. They do not show "
                "how long a limit was exceeded, nor the latency of the slowest operations. A host with NVMe "
                "statistics (a Nitro instance) that is read as root has both."
            )
        if self.missed_s:
            yield (
                f"{self.missed_s:,} s passed while the host was too busy to be read. Peaks may be higher than these: "
                "probe again when it has less to do."
            )
        if self.restarts:
            times = "once" if self.restarts == 1 else f"{self.restarts:,} times"
            yield (
                f"The counts restarted {times}; work in between is unknown. Probe again "
                "while the volume stays attached."
            )
