"""Measurements, and the envelopes fitted to them: the rates that a class of volume was seen to carry."""

import math
import re
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Final

from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.volume import VolumeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSeries:
    """Mean rates over consecutive steps of `step_s` seconds. A side that was not recorded is empty."""

    step_s: float
    iops: tuple[float, ...] = ()
    throughput_mib_s: tuple[float, ...] = ()

    def rates(self, side: Resource) -> tuple[float, ...]:
        return self.iops if side is Resource.IOPS else self.throughput_mib_s

    @property
    def length_s(self) -> float:
        """The seconds from its start to its end."""
        return self.step_s * max(len(self.iops), len(self.throughput_mib_s))


class BoundBy(StrEnum):
    """The limit that stopped a measurement from going higher, as far as its source or its figures tell."""

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

    def percentile_us(self, percentile: float) -> float | None:
        """The latency at that percentile (50, 99, 99.9); None if the source does not give it."""
        return dict(self.percentiles_us).get(percentile)


_COLON: Final = re.compile(r"(?<!\\):")

SYNCHRONOUS: Final = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2"})
"""Engines of one outstanding I/O a job, whatever iodepth says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobShape:
    """The job that a benchmark ran. `mode` is fio's rw or sysbench's test mode; None: the source does not say.

    `synced`: what was written had to reach the device (fsync, O_SYNC). `verify`: what was written was read back and
    compared. `target` are the device nodes that it was to use, between colons, and `places` their number, or that of
    the directories of its files. `outstanding` is the most I/O that all jobs could keep in flight. `held_by` names what
    held the load back, `rate_iops` and `rate_mib_s` the rates that it was held to. `set_gib` is all that could be
    touched, `skew` what made some of it hotter. `partly_sequential`: random offsets, but runs of I/O from each.
    `chained`: a job waited for another.
    """

    mode: str
    block_kib: float
    iodepth: int | None = None
    jobs: int | None = None
    engine: str | None = None
    runtime_s: float | None = None
    direct: bool | None = None
    file_size_gib: float | None = None
    synced: bool | None = None
    verify: bool | None = None
    target: str | None = None
    places: int | None = None
    outstanding: float | None = None
    held_by: str | None = None
    rate_iops: float | None = None
    rate_mib_s: float | None = None
    set_gib: float | None = None
    skew: str | None = None
    partly_sequential: bool | None = None
    chained: bool | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """The device nodes of `target`, split at the colons; a colon of a name has a backslash."""
        return () if self.target is None else tuple(_COLON.split(self.target))

    @property
    def depth(self) -> float | None:
        """The most I/O in flight, by the options; None if they do not tell it."""
        if self.outstanding is not None:
            return self.outstanding
        if self.iodepth is None and self.jobs is None:
            return None
        return (1 if self.engine in SYNCHRONOUS else self.iodepth or 1) * (self.jobs or 1)

    @property
    def is_random(self) -> bool | None:
        """Each I/O went to an offset of its own; None if the mode is not told."""
        if self.mode.startswith("unstated"):
            return None
        return self.mode.startswith(("rand", "rnd")) and not self.partly_sequential

    @property
    def is_write_only(self) -> bool | None:
        """True if the job only writes, False if it only reads, None if it does both."""
        if self.mode.endswith(("write", "wr")):
            return True
        return False if self.mode.endswith(("read", "rd")) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The origin of a measurement: the document, who ran it with what tool, when, and where.

    `measured_on` is the first day that the source's date can mean, and `dated` that date as the source tells it (a day,
    a month, a year). `account` and `region` are set for measurements made by Plimsoll itself; they are what makes grade
    A. `placed`: Plimsoll chose the device itself, so that it is known to be the volume. `cited` is what people call the
    source (for one's own: `your measurement of 12 November 2026 on gp3 500 GiB`), and `reference` says as well where it
    can be opened. `days` are all days that file and user tell, as (first, last) day that each can mean; `imported_on`
    is the day of the import.
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
    placed: bool = False
    cited: str
    reference: str
    days: tuple[tuple[date, date], ...] = ()
    imported_on: date | None = None


_REPOSITORY: Final = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?:#(?P<issue>\d+))?")


def name_own(days: tuple[date, date] | None, subject: str) -> str:
    """The name of a user's own measurement, e.g. "your measurement of 12 November 2026 on gp3 500 GiB".

    `days` are the first and last day that its date can mean.
    """
    when = "" if days is None else f" of {_days_text(*days)}"
    return f"your measurement{when} {subject}"


def locate(name: str, place: str | None) -> str:
    """The name of a source and where it can be opened. A name like owner/repository is one of GitHub."""
    repository = _REPOSITORY.fullmatch(name)
    if repository is not None:
        issue = f"/issues/{repository['issue']}" if repository["issue"] else ""
        name = f"github.com/{repository['name']}{issue}"
    return f"{name}: {place}" if place else name


def _days_text(first: date, last: date) -> str:
    if first == last:
        return f"{first.day} {first:%B %Y}"
    return f"{first:%B %Y}" if first.month == last.month else f"{first:%Y}"


DELIVERED: Final = 0.98
"""What was measured has delivered a figure from this share of it: volumes of exactly 3,000 IOPS were measured at 2,980
to 3,023 (a published campaign on gp2 and gp3, 2021), so figures differ by that much for no reason of the volume's."""

_US_PER_S: Final = 1e6

LEAST_IN_FLIGHT: Final = 1.5
"""With less I/O in flight a load waits for each answer, and shows the latency instead of a limit."""

SIMULATED_TOOL: Final = "simulated fio"
"""What measured where no device stood behind the volume; evidence names it in its text."""


class Admission(StrEnum):
    """The weight that a rule gives to a figure. Of several rules the gravest holds; these are in that order."""

    COUNTS = "counts"
    BOUNDED = "counts up to a bound"
    UNKNOWN = "unknown"
    SHOWN = "shown only"
    REJECTED = "rejected"

    @property
    def gravity(self) -> int:
        """The place in that order: 0 counts in full, more counts less."""
        return list(Admission).index(self)

    @property
    def proves(self) -> bool:
        """The figure is fitted, and is evidence at all."""
        return self.gravity < Admission.SHOWN.gravity


BOTH_SIDES: Final = frozenset(Resource)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The verdict of one rule on a measurement: its name, why, what to do, and where the rule is from.

    `sides` are the resources that it is about. As something that lasts the figure counts up to `lasting_most` only.
    """

    rule: str
    admission: Admission
    text: str
    source: str
    sides: frozenset[Resource] = BOTH_SIDES
    lasting_most: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFacts:
    """The figures that one job printed of one direction; None if it did not. `*_slack` is how far rounding can have
    moved it.

    `latency` is of one kind alone (completion, or total if only that is printed), `total_us` the mean of a whole
    operation. `took_no_time`: one of them took 0 ns.
    """

    direction: str
    iops: float
    throughput_mib_s: float
    iops_slack: float = 0.0
    throughput_slack: float = 0.0
    operations: float | None = None
    moved_mib: float | None = None
    moved_slack: float = 0.0
    run_s: float | None = None
    latency: Latency = field(default_factory=Latency)
    total_us: float | None = None
    took_no_time: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """The course of a run, as far as its output says.

    `error` is the errno of its job, `lost_share` the share of its operations that were short, dropped or `failed`.
    `devices` counted it, with the number of their `members`, which stand `behind` them; `shared`: with other groups.
    `elapsed_s` is the time of the whole run, of which the jobs account for `accounted_s`. `merged_share` is the share
    of its operations that the kernel merged, `device_share` what the devices counted of the operations of all groups.
    `hosts` ran it. `reached_depth`: the highest of the histogram of depths. None: not said.
    """

    error: int = 0
    lost_share: float | None = None
    devices: tuple[str, ...] = ()
    members: int | None = None
    behind: tuple[str, ...] = ()
    read_too: bool = False
    failed: bool = False
    shared: bool = False
    sides: tuple[SideFacts, ...] = ()
    elapsed_s: float | None = None
    accounted_s: float | None = None
    merged_share: float | None = None
    device_share: float | None = None
    hosts: int | None = None
    reached_depth: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """The rates that a time series shows of one side: in a burst, and when the credits are spent.

    `sustained_rate` is None if it does not show that, `credits` None if none were seen to end. `text` is a sentence
    with figures.
    """

    side: Resource
    burst_rate: float
    sustained_rate: float | None
    credits: float | None
    spent_at_s: float | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One benchmark result: configuration, job shape, IOPS, MiB/s, latency and provenance.

    `iops` and `throughput_mib_s` are both directions together, None where the source gives none. `device_iops` is what
    the device itself counted. `printed` keeps the figures that the source printed, in its own words and units, so that
    nothing is lost by conversion. `rulings` say what it counts for. `series` is what it did over time, None where that
    is not told, and `lastings` what that shows.
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
    run: RunFacts = field(default_factory=RunFacts)
    rulings: tuple[Ruling, ...] = ()
    series: TimeSeries | None = None
    lastings: tuple[Lasting, ...] = ()
    printed: tuple[tuple[str, str], ...] = ()
    note: str | None = None

    def figure(self, side: Resource) -> float | None:
        """The figure of that side as it was measured."""
        return self.iops if side is Resource.IOPS else self.throughput_mib_s

    def admission(self, side: Resource) -> Admission:
        """The weight of that side's figure, by all rulings."""
        admissions = [ruling.admission for ruling in self.rulings if side in ruling.sides]
        return max(admissions, key=lambda admission: admission.gravity, default=Admission.COUNTS)

    def is_kept_out(self, side: Resource) -> bool:
        """The figure of that side is neither fitted nor evidence."""
        return not self.admission(side).proves

    def served_figure(self, side: Resource) -> float | None:
        """The figure of that side that the device served; None if the source has none or a rule keeps it out."""
        return None if self.is_kept_out(side) else self.figure(side)

    @property
    def mean_in_flight(self) -> float | None:
        """The mean I/O in flight by Little's law, IOPS times mean latency; None if latencies are not told.

        A job that only writes and has read as well verified: it did one after the other.
        """
        sides = self.run.sides
        if not sides or any(side.total_us is None for side in sides):
            return None
        each = [side.iops * (side.total_us or 0.0) / _US_PER_S for side in sides]
        return max(each) if self.job.is_write_only and self.run.read_too else sum(each)

    @property
    def io_in_flight(self) -> float | None:
        """The I/O in flight: the depth of the options, or less if the run itself shows less."""
        reached = self.mean_in_flight
        if reached is None and self.run.reached_depth is not None and self.job.jobs is not None:
            reached = float(self.run.reached_depth * self.job.jobs)
        depths = [depth for depth in (self.job.depth, reached) if depth is not None]
        return min(depths, default=None)

    @property
    def held_back(self) -> bool:
        """The load asked for less than it could get: pauses, a target, syncs, or one I/O at a time."""
        if self.bound_by is BoundBy.LOAD or self.job.held_by is not None:
            return True
        in_flight = self.io_in_flight
        return in_flight is not None and in_flight < LEAST_IN_FLIGHT

    def lasting(self, side: Resource) -> float | None:
        """The part of `served_figure` that is known to last when all credits are spent."""
        served = self.served_figure(side)
        if served is None:
            return None
        return min([served, *(ruling.lasting_most for ruling in self.rulings if side in ruling.sides)])


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

    @property
    def source_names(self) -> str:
        """The names of its measurements' sources."""
        return "; ".join(dict.fromkeys(measurement.provenance.cited for measurement in self.measurements))

    @property
    def reference(self) -> str:
        """The names of its measurements' sources, and where each can be opened."""
        return "; ".join(dict.fromkeys(measurement.provenance.reference for measurement in self.measurements))

    def roof(self, side: Resource) -> float | None:
        return self.iops if side is Resource.IOPS else self.throughput_mib_s

    def best(self, side: Resource) -> float | None:
        """The most that the device was seen to serve on that side, uncut; None if it served nothing."""
        return max(
            (seen for measurement in self.measurements if (seen := measurement.served_figure(side)) is not None),
            default=None,
        )

    def count_in_reads(self, measurement: Measurement, side: Resource) -> float | None:
        """The figure of that side that the device served, in reads as its published ceiling counts.

        A write that costs half of a read is half of one. Of both directions together the lesser cost is taken, because
        their mix is not told.
        """
        served = measurement.served_figure(side)
        return (
            None
            if served is None or self.published is None
            else served * cost_in_reads(self.published, side, measurement.job)
        )


def cost_in_reads(published: Ceiling, side: Resource, job: JobShape) -> float:
    """The number of reads that an operation, or a MiB, of a job counts for at least."""
    cost = published.write_iops_cost if side is Resource.IOPS else published.write_throughput_cost
    return 1.0 if job.is_write_only is False else cost if job.is_write_only else min(1.0, cost)
