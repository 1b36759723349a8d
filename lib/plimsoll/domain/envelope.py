"""Measurements and the envelopes fitted to them: what a class of volume was seen to carry."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.volume import VolumeSpec


class BoundBy(StrEnum):
    """What stopped a measurement from going higher, as far as its source or its figures tell."""

    VOLUME_IOPS = "volume-iops"
    VOLUME_THROUGHPUT = "volume-throughput"
    HOST = "host"
    LOAD = "load"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Completion latency in microseconds; a figure the source does not give is absent.

    `under_us` is the upper edge of the histogram bin where that is all the source gives, and `upper_bound` says so
    (with `under_us` None for an open last bin).
    """

    under_us: float | None = None

    mean_us: float | None = None
    least_us: float | None = None
    most_us: float | None = None
    stdev_us: float | None = None
    percentiles_us: tuple[tuple[float, float], ...] = ()
    upper_bound: bool = False

    def at(self, percentile: float) -> float | None:
        """The latency at that percentile (50, 99, 99.9), None where the source does not give it."""
        return dict(self.percentiles_us).get(percentile)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobShape:
    """What the benchmark asked for. `mode` is fio's rw or sysbench's test mode; None is not stated by the source."""

    mode: str
    block_kib: float
    iodepth: int | None = None
    jobs: int | None = None
    engine: str | None = None
    runtime_s: float | None = None
    direct: bool | None = None
    file_size_gib: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a measurement comes from: the document, who ran it with what, when, and where.

    `account` and `region` are set for measurements made by Plimsoll itself; they are what makes grade A.
    """

    campaign: str
    source: str
    tool: str
    tool_version: str | None = None
    measured_on: date | None = None
    provider: str = "aws"
    account: str | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One benchmark result: configuration, job shape, IOPS, MiB/s, latency and provenance.

    `iops` and `throughput_mib_s` are both directions together. `printed` keeps the figures that the source printed, in
    its own words and units, so that nothing is lost by conversion. `rejected_side` names a side ("iops", "throughput"
    or "all") whose figures are not the device's.
    """

    system: str
    spec: VolumeSpec
    host_type: str | None
    job: JobShape
    iops: float
    throughput_mib_s: float
    provenance: Provenance
    latency: Latency = field(default_factory=Latency)
    bound_by: BoundBy = BoundBy.UNKNOWN
    volumes: int = 1
    rejected_side: str | None = None
    printed: tuple[tuple[str, str], ...] = ()
    note: str | None = None

    def rejected(self, side: str) -> bool:
        """Whether the figures of that side are not the device's."""
        return self.rejected_side in {side, "all"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The roofline fitted to the measurements of one system (a class of volume in one campaign), latency included.

    `iops` and `throughput_mib_s` are the fitted roofs, None where no measurement reached that side (so the best seen
    is only a lower bound; see `best_iops`, `best_throughput_mib_s`). `published` is the ceiling that cut it, and `cut`
    says which sides were measured above it. `host_bound` names the sides where the host, not the volume, set the roof.
    """

    name: str
    spec: VolumeSpec
    volumes: int
    host_type: str | None
    provider: str
    iops: float | None
    throughput_mib_s: float | None
    measurements: tuple[Measurement, ...]
    published: Ceiling | None = None
    cut: tuple[str, ...] = ()
    host_bound: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def best_iops(self) -> float:
        """The highest IOPS that the device was measured at, uncut; 0 where every figure is rejected."""
        return max((one.iops for one in self.measurements if not one.rejected("iops")), default=0.0)

    @property
    def best_throughput_mib_s(self) -> float:
        """The highest MiB/s that the device was measured at, uncut; 0 where every figure is rejected."""
        return max((one.throughput_mib_s for one in self.measurements if not one.rejected("throughput")), default=0.0)
