"""Campaigns: one YAML file each, with figures as their source printed them, into Measurements.

What the file's author wrote is checked first. Every scalar arrives as text, so that what is shown is what was printed,
to the digit. Figures that are computed with are converted here, once. A figure that is absent stays absent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import yaml
from pydantic import Field, ValidationError

from plimsoll.envelopes.printed import (
    PrintedEntry,
    PrintedFigures,
    StrictEntry,
    days_of,
    device_iops,
    earliest_day,
    flat,
    latency,
    rates,
)
from plimsoll.envelopes.run_facts import run_facts
from plimsoll.files import read_text
from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.envelope import (
    BOTH_SIDES,
    Admission,
    BoundBy,
    JobShape,
    Measurement,
    Provenance,
    Ruling,
    TimeSeries,
    locate,
    name_own,
)
from plimsoll.model.errors import BadInput
from plimsoll.model.units import mib_s_from_mb_s
from plimsoll.model.volume import VolumeSpec
from plimsoll.yaml_text import parse_yaml

KIB_PER_GIB: Final = 1 << 20

Printed = tuple[tuple[str, str], ...]
"""Figures as (dotted name, text as printed)."""

_TEXT_ONLY: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Reads scalars as text and makes no objects. libyaml's loader if it is installed."""


class HostEntry(StrictEntry):
    """A host and its published ceiling: its baseline, and the maximum that a burst reaches."""

    type: str
    baseline_iops: float | None = None
    maximum_iops: float | None = None
    baseline_throughput_mb_s: float | None = None
    maximum_throughput_mb_s: float | None = None
    baseline_throughput_mib_s: float | None = None
    maximum_throughput_mib_s: float | None = None
    source: str | None = None


class JobEntry(StrictEntry):
    """The benchmark's job as the campaign states it."""

    engine: str | None = None
    iodepth: int | None = None
    jobs: int | None = None
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


class SeriesEntry(StrictEntry):
    """A result over time: the mean of each step of `step_s` seconds, as numbers with spaces between them."""

    step_s: float = Field(gt=0)
    iops: str = ""
    throughput_mib_s: str = ""

    def series(self) -> TimeSeries:
        """The series. Raises ValueError if a rate is no number."""
        return TimeSeries(
            step_s=self.step_s,
            iops=tuple(float(rate) for rate in self.iops.split()),
            throughput_mib_s=tuple(float(rate) for rate in self.throughput_mib_s.split()),
        )


class SpecEntry(StrictEntry):
    """The volume spec. A figure is absent if the source leaves it out."""

    type: str
    size_gib: int = 0
    iops: int | None = None
    throughput_mib_s: int | None = None


class SystemEntry(StrictEntry):
    """One class of volume: its spec and, if it has its own, its host and published limits."""

    title: str
    spec: SpecEntry
    volumes: int = Field(default=1, ge=1)
    host: HostEntry | None = None
    published: PrintedFigures = Field(default_factory=dict)
    note: str | None = None


class MeasuredEntry(PrintedEntry):
    """One result of a system: its shape, its printed figures, and its job if that is not the campaign's."""

    system: str
    mode: str
    block_kib: float = Field(gt=0)
    bound_by: BoundBy = BoundBy.UNKNOWN
    rejected: Literal["iops", "throughput", "all"] | None = None
    tool: str | None = None
    job: JobEntry = Field(default_factory=JobEntry)
    note: str | None = None
    series: SeriesEntry | None = None


class CampaignEntry(StrictEntry):
    """A whole campaign file. `measured_on` is a day, a month (2020-12) or a year, as in the source.

    `cited` is what people call it, `names` what they call each source of its measurements, `link` where it can be
    opened. `imported_on` is the day on which a user added it.
    """

    campaign: str
    title: str
    source: str
    tool: str
    tool_version: str | None = None
    measured_on: str | None = None
    imported_on: str | None = None
    cited: str | None = None
    names: dict[str, str] = Field(default_factory=dict)
    link: str | None = None
    provider: str
    account: str | None = None
    region: str | None = None
    placed: bool = False
    host: HostEntry | None = None
    job: JobEntry = Field(default_factory=JobEntry)
    published: list[PrintedFigures] = Field(default_factory=list)
    systems: dict[str, SystemEntry]
    measurements: list[MeasuredEntry] = Field(min_length=1)
    profiles: dict[str, PrintedFigures] = Field(default_factory=dict)


def read_campaign_file(path: Path) -> CampaignEntry:
    """A campaign file as written. Raises BadInput, which names the place, if it is wrong."""
    try:
        written = parse_yaml(read_text(path), _TEXT_ONLY)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else " ".join(str(error).split())
        raise BadInput(f"the campaign {path} cannot be read: {reason}.") from error
    try:
        file = CampaignEntry.model_validate(written)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "its top"
        raise BadInput(f"the campaign {path} is wrong at {where}: {first['msg'].lower()}.") from error
    unknown = {entry.system for entry in file.measurements} - set(file.systems)
    if unknown:
        raise BadInput(f"the campaign {path} measures {', '.join(sorted(unknown))}, which is not under systems.")
    return file


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One class of volume in a campaign: its spec, its host, and all measurements of it.

    `host_maximum` and `host_baseline` are the host's published ceilings (infinite where not published), None where
    the host is not known. `published_iops` is what the source says is published for the volume.
    """

    name: str
    title: str
    spec: VolumeSpec
    volumes: int
    provider: str
    host_type: str | None
    host_maximum: Ceiling | None
    host_baseline: Ceiling | None
    published_iops: float | None
    measurements: tuple[Measurement, ...]
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """A campaign file: its systems, the profiles by host type, and the published formulas that its source cites."""

    name: str
    title: str
    source: str
    systems: tuple[System, ...]
    profiles: Mapping[str, Printed]
    published: tuple[Printed, ...]


def load_campaign(path: Path, at: str | None = None) -> Campaign:
    """The campaign in a file. Raises BadInput, which names the place, if it is wrong.

    `at` is the address at which people open it, if that is elsewhere.
    """
    file = read_campaign_file(path)
    try:
        systems = tuple(_system(name, file, at or str(path)) for name in file.systems)
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise BadInput(f"the campaign {path} has a figure that cannot be read: {reason}.") from error
    return Campaign(
        name=file.campaign,
        title=file.title,
        source=file.source,
        systems=systems,
        profiles={host: tuple(flat(figures)) for host, figures in file.profiles.items()},
        published=tuple(tuple(flat(figures)) for figures in file.published),
    )


def _system(name: str, file: CampaignEntry, at: str) -> System:
    """The system of that name in a campaign's file."""
    system = file.systems[name]
    host = system.host or file.host
    spec = VolumeSpec(**system.spec.model_dump())
    published_iops = system.published.get("iops")
    return System(
        name=name,
        title=system.title,
        spec=spec,
        volumes=system.volumes,
        provider=file.provider,
        host_type=host.type if host else None,
        host_maximum=_maximum(host) if host else None,
        host_baseline=_baseline(host) if host else None,
        published_iops=None if published_iops is None else float(published_iops),
        measurements=tuple(
            _measurement(entry, spec, host, file, at) for entry in file.measurements if entry.system == name
        ),
        note=system.note,
    )


def _maximum(host: HostEntry) -> Ceiling:
    throughput = host.maximum_throughput_mib_s
    return Ceiling(
        iops=_figure_or_infinity(host.maximum_iops),
        throughput_mib_s=_mib_s(host.maximum_throughput_mb_s) if throughput is None else throughput,
    )


def _baseline(host: HostEntry) -> Ceiling:
    throughput = host.baseline_throughput_mib_s
    return Ceiling(
        iops=_figure_or_infinity(host.baseline_iops),
        throughput_mib_s=_mib_s(host.baseline_throughput_mb_s) if throughput is None else throughput,
    )


def _figure_or_infinity(figure: float | None) -> float:
    return float("inf") if figure is None else figure


def _mib_s(throughput_mb_s: float | None) -> float:
    return mib_s_from_mb_s(_figure_or_infinity(throughput_mb_s))


def _measurement(
    entry: MeasuredEntry, spec: VolumeSpec, host: HostEntry | None, file: CampaignEntry, at: str
) -> Measurement:
    iops, throughput_mib_s = rates(entry)
    return Measurement(
        system=entry.system,
        spec=spec,
        host_type=host.type if host else None,
        job=_job(entry, file),
        iops=iops,
        throughput_mib_s=throughput_mib_s,
        provenance=_provenance(entry, file, at),
        latency=latency(entry),
        device_iops=device_iops(entry.figures),
        bound_by=entry.bound_by,
        volumes=file.systems[entry.system].volumes,
        run=run_facts(entry),
        rulings=tuple(_author_rejections(entry)),
        series=None if entry.series is None else entry.series.series(),
        printed=tuple(_printed_figures(entry)),
        note=entry.note,
    )


def _author_rejections(entry: MeasuredEntry) -> Iterator[Ruling]:
    """The ruling of a measurement that the campaign's author rejects."""
    if entry.rejected is not None:
        yield Ruling(
            rule="campaign",
            admission=Admission.REJECTED,
            text="the campaign itself keeps it out of the fit, because it is not the device's",
            source="the campaign's author",
            sides=BOTH_SIDES if entry.rejected == "all" else frozenset({Resource(entry.rejected)}),
        )


def _job(entry: MeasuredEntry, file: CampaignEntry) -> JobShape:
    """The campaign's job, overridden by the measurement's own figures and job."""
    figures = entry.figures
    named = {"engine": "engine", "iodepth": "iodepth", "numjobs": "jobs", "runtime_s": "runtime_s"}
    job_figures: PrintedFigures = {ours: figures[theirs] for theirs, ours in named.items() if theirs in figures}
    if "file_size_kib" in figures:
        job_figures["file_size_gib"] = float(figures["file_size_kib"]) / KIB_PER_GIB
    shape = file.job.model_copy(
        update=type(file.job).model_validate(job_figures).model_dump(exclude_unset=True)
        | entry.job.model_dump(exclude_unset=True)
    )
    return JobShape(mode=entry.mode, block_kib=entry.block_kib, **shape.model_dump())


_DATES: Final = ("printed_on", "stamped")
"""Figures that hold other days of an output: its printed date beside the user's, and its clock's."""


def _provenance(entry: MeasuredEntry, file: CampaignEntry, at: str) -> Provenance:
    """The origin of one measurement of a campaign's file; the entry's own facts go before the file's."""
    figures = entry.figures
    printed_on = figures.get("date", file.measured_on)
    cited, reference = _cite(entry, file, at)
    days = [days_of(str(day)) for day in (printed_on, *map(figures.get, _DATES)) if day is not None]
    source = ", ".join(str(figures[key]) for key in ("source", "path") if key in figures) or file.source
    return Provenance(
        campaign=file.campaign,
        source=source,
        tool=entry.tool or file.tool,
        tool_version=figures.get("fio", file.tool_version),
        measured_on=min((first for first, _ in days), default=None),
        dated=None if printed_on is None else str(printed_on),
        provider=file.provider,
        account=file.account,
        region=file.region,
        placed=file.placed,
        cited=cited,
        reference=reference,
        days=tuple(days),
        imported_on=None if file.imported_on is None else earliest_day(file.imported_on),
    )


def _cite(entry: MeasuredEntry, file: CampaignEntry, at: str) -> tuple[str, str]:
    """A source's name, and its name with its address. A source without a public name is the user's own."""
    figures = entry.figures
    public = figures.get("source") or (file.cited if file.account is None else None)
    if public is not None:
        return file.names.get(str(public), str(public)), locate(str(public), figures.get("path") or file.link)
    printed_on, title = figures.get("date", file.measured_on), file.systems[entry.system].title
    host = file.systems[entry.system].host or file.host
    subject = title.removesuffix(f" on {host.type}") if host else title
    name = file.cited or name_own(None if printed_on is None else days_of(str(printed_on)), f"on {subject}")
    return name, locate(f"{name} ({entry.tool or file.tool})", at)


def _printed_figures(entry: MeasuredEntry) -> Iterator[tuple[str, str]]:
    """Yields each figure of an entry as it was printed, by name."""
    headline = {"iops": entry.iops, "throughput": entry.throughput, "latency_bin": entry.latency_bin}
    yield from ((name, text) for name, text in headline.items() if text is not None)
    yield from flat(entry.figures)
