"""Measurements and the envelopes fitted to them: what a class of volume was seen to carry."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from plimsoll.domain.ceiling import Ceiling, Resource
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
    (with `under_us` None for an open last bin). It says so as well of percentiles that are the worst of several jobs or
    directions.
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

    @property
    def writes(self) -> bool | None:
        """Whether nothing but writes was asked for; None where both directions were."""
        if self.mode.endswith(("write", "wr")):
            return True
        return False if self.mode.endswith(("read", "rd")) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a measurement comes from: the document, who ran it with what, when, and where.

    `measured_on` is the first day that the source's date can mean, and `dated` that date as the source tells it (a
    day, a month, a year). `account` and `region` are set for measurements made by Plimsoll itself; they are what makes
    grade A.
    """

    campaign: str
    source: str
    tool: str
    tool_version: str | None = None
    measured_on: date | None = None
    dated: str | None = None
    provider: str
    account: str | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """What makes a result say something else than it seems to; `rejects` are the sides whose figures are not the
    device's, empty where the figures stand and only need the explanation."""

    code: str
    text: str
    rejects: frozenset[Resource] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One benchmark result: configuration, job shape, IOPS, MiB/s, latency and provenance.

    `iops` and `throughput_mib_s` are both directions together, None where the source gives none. `device_iops` is what
    the device itself counted. `printed` keeps the figures that the source printed, in its own words and units, so that
    nothing is lost by conversion. `rejected_side` names a side ("iops", "throughput" or "all") whose figures the
    campaign itself says are not the device's; `anomalies` are those that its figures give away.
    """

    system: str
    spec: VolumeSpec
    host_type: str | None
    job: JobShape
    iops: float | None
    throughput_mib_s: float | None
    provenance: Provenance
    latency: Latency = field(default_factory=Latency)
    device_iops: float | None = None
    bound_by: BoundBy = BoundBy.UNKNOWN
    volumes: int = 1
    rejected_side: str | None = None
    anomalies: tuple[Anomaly, ...] = ()
    printed: tuple[tuple[str, str], ...] = ()
    note: str | None = None

    def figure(self, side: Resource) -> float | None:
        """The figure of that side as it was measured."""
        return self.iops if side is Resource.IOPS else self.throughput_mib_s

    def rejected(self, side: str) -> bool:
        """Whether the figures of that side are not the device's."""
        return self.rejected_side in {side, "all"} or any(side in one.rejects for one in self.anomalies)

    def served(self, side: Resource) -> float | None:
        """The figure of that side where the device served it, None where the source has none or it is rejected."""
        return None if self.rejected(side) else self.figure(side)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The roofline fitted to the measurements of one system (a class of volume in one campaign), latency included.

    `iops` and `throughput_mib_s` are the fitted roofs, counted in reads, None where no measurement reached that side
    (so the best seen is only a lower bound; see `best`). `published` is the ceiling of the volume and `host` the
    maximum of its host, for volumes of that type; roofs never exceed either, and `cut` says which sides were measured
    above. `host_bound` names the sides where the host, not the volume, set the roof.
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
    host: Ceiling | None = None
    cut: tuple[str, ...] = ()
    host_bound: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def roof(self, side: Resource) -> float | None:
        """The fitted roof of that side."""
        return self.iops if side is Resource.IOPS else self.throughput_mib_s

    def best(self, side: Resource) -> float | None:
        """The most that the device was seen to serve on that side, uncut; None where nothing of it was."""
        return max((seen for one in self.measurements if (seen := one.served(side)) is not None), default=None)

    def in_reads(self, one: Measurement, side: Resource) -> float | None:
        """What the device served on that side, counted as its published ceiling counts: a write that costs half of a
        read is half of one. Of both directions together the lesser cost is taken, because their mix is not told."""
        served = one.served(side)
        return None if served is None or self.published is None else served * cost_of(self.published, side, one.job)


def cost_of(published: Ceiling, side: Resource, job: JobShape) -> float:
    """How many reads an operation, or a MiB, of a job counts for at least."""
    cost = published.write_iops_cost if side is Resource.IOPS else published.write_throughput_cost
    return 1.0 if job.writes is False else cost if job.writes else min(1.0, cost)
