"""Campaigns: one YAML file each, with figures as their source printed them, into Measurements.

What is computed with is converted here once; a figure that is absent stays absent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.envelope import JobShape, Measurement, Provenance
from plimsoll.domain.errors import BadInput
from plimsoll.domain.units import mib_s_from_mb_s
from plimsoll.domain.volume import VolumeSpec
from plimsoll.envelopes.campaign_file import CampaignEntry, Figures, HostEntry, MeasuredEntry, read_campaign_file
from plimsoll.envelopes.printed_numbers import earliest_day
from plimsoll.envelopes.printed_rates import device_iops, latency, rates

KIB_PER_GIB: Final = 1 << 20

Printed = tuple[tuple[str, str], ...]
"""Figures as (dotted name, text as printed)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One class of volume in a campaign: what it was, on which host, and everything measured on it.

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


def load_campaign(path: Path) -> Campaign:
    """The campaign in a file; BadInput says what is wrong with it and where."""
    found = read_campaign_file(path)
    try:
        systems = tuple(_system(name, found) for name in found.systems)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise BadInput(f"the campaign {path} has a figure that cannot be read: {reason}.") from error
    return Campaign(
        name=found.campaign,
        title=found.title,
        source=found.source,
        systems=systems,
        profiles={host: tuple(flat(figures)) for host, figures in found.profiles.items()},
        published=tuple(tuple(flat(figures)) for figures in found.published),
    )


def flat(figures: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested figures as (dotted name, text)."""
    for key, value in figures.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{name}.")
        else:
            yield name, str(value)


def _system(name: str, file: CampaignEntry) -> System:
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
            _measurement(one, spec, host, system.volumes, file) for one in file.measurements if one.system == name
        ),
        note=system.note,
    )


def _maximum(host: HostEntry) -> Ceiling:
    throughput = host.maximum_throughput_mib_s
    return Ceiling(
        iops=_or_unbounded(host.maximum_iops),
        throughput_mib_s=_mib_s(host.maximum_throughput_mb_s) if throughput is None else throughput,
    )


def _baseline(host: HostEntry) -> Ceiling:
    return Ceiling(
        iops=_or_unbounded(host.baseline_iops),
        throughput_mib_s=_mib_s(host.baseline_throughput_mb_s),
    )


def _or_unbounded(figure: float | None) -> float:
    return float("inf") if figure is None else figure


def _mib_s(throughput_mb_s: float | None) -> float:
    return mib_s_from_mb_s(_or_unbounded(throughput_mb_s))


def _measurement(
    one: MeasuredEntry, spec: VolumeSpec, host: HostEntry | None, volumes: int, file: CampaignEntry
) -> Measurement:
    iops, throughput_mib_s = rates(one)
    return Measurement(
        system=one.system,
        spec=spec,
        host_type=host.type if host else None,
        job=_job(one, file),
        iops=iops,
        throughput_mib_s=throughput_mib_s,
        provenance=_provenance(one, file),
        latency=latency(one),
        device_iops=device_iops(one.figures),
        bound_by=one.bound_by,
        volumes=volumes,
        rejected_side=one.rejected,
        printed=tuple(_printed(one)),
        note=one.note,
    )


def _job(one: MeasuredEntry, file: CampaignEntry) -> JobShape:
    """The campaign's job, and what a single point says of its own."""
    figures = one.figures
    named = {"engine": "engine", "iodepth": "iodepth", "numjobs": "jobs", "runtime_s": "runtime_s"}
    own: Figures = {ours: figures[theirs] for theirs, ours in named.items() if theirs in figures}
    if "file_size_kib" in figures:
        own["file_size_gib"] = float(figures["file_size_kib"]) / KIB_PER_GIB
    shape = file.job.model_copy(
        update=type(file.job).model_validate(own).model_dump(exclude_unset=True)
        | one.job.model_dump(exclude_unset=True)
    )
    return JobShape(mode=one.mode, block_kib=one.block_kib, **shape.model_dump())


def _provenance(one: MeasuredEntry, file: CampaignEntry) -> Provenance:
    figures = one.figures
    told_on = figures.get("date", file.measured_on)
    source = ", ".join(str(figures[key]) for key in ("source", "path") if key in figures) or file.source
    return Provenance(
        campaign=file.campaign,
        source=source,
        tool=one.tool or file.tool,
        tool_version=figures.get("fio", file.tool_version),
        measured_on=None if told_on is None else earliest_day(str(told_on)),
        dated=None if told_on is None else str(told_on),
        provider=file.provider,
        account=file.account,
        region=file.region,
    )


def _printed(one: MeasuredEntry) -> Iterator[tuple[str, str]]:
    headline = {"iops": one.iops, "throughput": one.throughput, "latency_bin": one.latency_bin}
    yield from ((name, text) for name, text in headline.items() if text is not None)
    yield from flat(one.figures)
