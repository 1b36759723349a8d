"""Campaigns: one YAML file each, with figures as their source printed them, into Measurements.

Scalars are read as text, so that what is shown is what was printed, to the digit; what is computed with is converted
here once. A figure that is absent stays absent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from plimsoll.domain.envelope import BoundBy, JobShape, Latency, Measurement, Provenance
from plimsoll.domain.errors import BadInput
from plimsoll.domain.volume import VolumeSpec
from plimsoll.envelopes.figures import iops_in, latency_under_us, throughput_mib_s_in

Figures = dict[str, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Host(_Strict):
    type: str
    maximum_iops: float | None = None
    maximum_throughput_mb_s: float | None = None
    source: str | None = None


class _Job(_Strict):
    engine: str | None = None
    iodepth: int | None = None
    jobs: int | None = None
    runtime_s: float | None = None
    direct: bool | None = None
    file_size_gib: float | None = None


class _Spec(_Strict):
    type: str
    size_gib: int = 0
    iops: int | None = None
    throughput_mib_s: int | None = None


class _System(_Strict):
    title: str
    spec: _Spec
    volumes: int = 1
    host: _Host | None = None
    published: Figures = Field(default_factory=dict)
    note: str | None = None


class _Measured(_Strict):
    system: str
    mode: str
    block_kib: float
    iops: str | None = None
    throughput: str | None = None
    latency_bin: str | None = None
    bound_by: BoundBy = BoundBy.UNKNOWN
    rejected: str | None = None
    note: str | None = None
    figures: Figures = Field(default_factory=dict)


class _File(_Strict):
    campaign: str
    title: str
    source: str
    tool: str
    tool_version: str | None = None
    measured_on: date | None = None
    provider: str
    account: str | None = None
    region: str | None = None
    host: _Host | None = None
    job: _Job = Field(default_factory=_Job)
    published: list[Figures] = Field(default_factory=list)
    systems: dict[str, _System]
    measurements: list[_Measured] = Field(min_length=1)
    profiles: dict[str, Figures] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One class of volume in a campaign: what it was, on which host, and everything measured on it.

    `host_iops` and `host_throughput_mb_s` are the host's published maximum.
    """

    name: str
    title: str
    spec: VolumeSpec
    volumes: int
    provider: str
    host_type: str | None
    host_iops: float | None
    host_throughput_mb_s: float | None
    published_iops: float | None
    measurements: tuple[Measurement, ...]
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """A campaign file: its systems, and what else its source tells (host profiles, published formulas)."""

    name: str
    title: str
    source: str
    systems: tuple[System, ...]
    profiles: Mapping[str, Figures]
    published: tuple[Figures, ...]


def load_campaign(path: Path) -> Campaign:
    """The campaign in a file; BadInput says what is wrong with it and where."""
    try:
        written = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)  # noqa: S506  # text only, no objects
        found = _File.model_validate(written)
        unknown = {one.system for one in found.measurements} - set(found.systems)
        if unknown:
            raise BadInput(f"the campaign {path} measures {', '.join(sorted(unknown))}, which is not under systems.")
        return Campaign(
            name=found.campaign,
            title=found.title,
            source=found.source,
            systems=tuple(_system(name, system, found) for name, system in found.systems.items()),
            profiles=found.profiles,
            published=tuple(found.published),
        )
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadInput(f"the campaign {path} cannot be read: {' '.join(str(error).split())}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"the campaign {path} is wrong at {where}: {first['msg'].lower()}.") from error


def _system(name: str, system: _System, file: _File) -> System:
    host = system.host or file.host
    measured = [one for one in file.measurements if one.system == name]
    spec = VolumeSpec(**system.spec.model_dump())
    published_iops = system.published.get("iops")
    return System(
        name=name,
        title=system.title,
        spec=spec,
        volumes=system.volumes,
        provider=file.provider,
        host_type=host.type if host else None,
        host_iops=host.maximum_iops if host else None,
        host_throughput_mb_s=host.maximum_throughput_mb_s if host else None,
        published_iops=None if published_iops is None else float(published_iops),
        measurements=tuple(_measurement(one, name, spec, host, system.volumes, file) for one in measured),
        note=system.note,
    )


def _measurement(
    one: _Measured, name: str, spec: VolumeSpec, host: _Host | None, volumes: int, file: _File
) -> Measurement:
    iops, throughput_mib_s = _rates(one)
    given: dict[str, Any] = {**file.job.model_dump(), **_job_in(one.figures)}
    return Measurement(
        system=name,
        spec=spec,
        host_type=host.type if host else None,
        job=JobShape(mode=one.mode, block_kib=one.block_kib, **given),
        iops=iops,
        throughput_mib_s=throughput_mib_s,
        provenance=Provenance(
            campaign=file.campaign,
            source=str(one.figures.get("path", file.source)),
            tool=file.tool,
            tool_version=str(one.figures.get("fio", "")) or file.tool_version,
            measured_on=file.measured_on,
            provider=file.provider,
            account=file.account,
            region=file.region,
        ),
        latency=_latency(one),
        bound_by=one.bound_by,
        volumes=volumes,
        rejected_side=one.rejected,
        printed=tuple(_printed(one)),
        note=one.note,
    )


def _rates(one: _Measured) -> tuple[float, float]:
    """IOPS and MiB/s of both directions; the mean of fio's samples where its headline is rounded to thousands."""
    if one.iops is None or one.throughput is None:
        sides = [one.figures[side] for side in ("read", "write") if side in one.figures]
        return sum(float(side["iops"]) for side in sides), sum(float(side["mib_s"]) for side in sides)
    precise = one.figures.get("iops_samples", {}).get("avg")
    iops = float(precise) if precise is not None and one.iops.endswith("k") else iops_in(one.iops)
    return iops, throughput_mib_s_in(one.throughput)


def _latency(one: _Measured) -> Latency:
    figures = one.figures
    if one.latency_bin is not None:
        return Latency(under_us=latency_under_us(one.latency_bin), upper_bound=True)
    if "clat_us" in figures:
        clat = {key: float(value) for key, value in figures["clat_us"].items()}
        percentiles = tuple((float(key), float(value)) for key, value in figures["clat_percentiles_us"].items())
        return Latency(
            mean_us=clat["avg"],
            least_us=clat["min"],
            most_us=clat["max"],
            stdev_us=clat["stdev"],
            percentiles_us=percentiles,
        )
    if "latency_ms" in figures:
        ms = {key: float(value) * 1000 for key, value in figures["latency_ms"].items()}
        return Latency(
            mean_us=ms["avg"], least_us=ms["min"], most_us=ms["max"], percentiles_us=((95.0, ms["95th percentile"]),)
        )
    known = ((50.0, figures.get("p50_us")), (99.0, figures.get("p99_us")))
    return Latency(percentiles_us=tuple((percent, float(value)) for percent, value in known if value is not None))


def _job_in(figures: Figures) -> dict[str, Any]:
    """What a single point says of its own job."""
    names = {"engine": "engine", "iodepth": "iodepth", "numjobs": "jobs", "runtime_s": "runtime_s"}
    found = {ours: figures[theirs] for theirs, ours in names.items() if theirs in figures}
    return _Job.model_validate(found).model_dump(exclude_unset=True)


def _printed(one: _Measured) -> Iterator[tuple[str, str]]:
    if one.iops is not None:
        yield "iops", one.iops
    if one.throughput is not None:
        yield "throughput", one.throughput
    if one.latency_bin is not None:
        yield "latency_bin", one.latency_bin
    yield from flat(one.figures)


def flat(figures: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested figures as (dotted name, text)."""
    for key, value in figures.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{name}.")
        else:
            yield name, str(value)
