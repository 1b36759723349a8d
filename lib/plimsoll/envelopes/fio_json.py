"""fio's JSON and json+, of 2.x (microseconds, KiB/s) and 3.x (nanoseconds, bytes a second).

fio prints notes before the first brace, and a shell may print after the last. Without group_reporting each job stands
alone; the jobs of a group ran together, so they are one result. With --status-interval it prints snapshots of one run,
which are one result: the last, with the others as its series.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from plimsoll.domain.evidence.time_series import TimeSeries, Work, series_of
from plimsoll.envelopes.fio_options import outstanding_of, start_of, verified_of
from plimsoll.envelopes.printed import MIXED, MS_PER_S, Figures, number_in, present
from plimsoll.envelopes.results import (
    ALL_CLIENTS,
    Broken,
    Output,
    Part,
    Result,
    disk_figures,
    hosts_of,
    line_at,
    result_of,
    shared_disks,
)


def _number(value: object) -> object:
    """The text of a number, so that no digit is lost. None for NaN."""
    if value is not None:
        number_in(str(value))
    return value


Number = Annotated[str | None, BeforeValidator(_number)]

NUMBERS: Final = {"min": "min", "max": "max", "mean": "avg", "stddev": "stdev"}
"""fio's names in its JSON, and a campaign's, which are those of its normal output."""


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True, populate_by_name=True)


class Spread(_Lenient):
    """A latency: its spread and percentiles. json+ adds bins, which are not kept."""

    min: Number = None
    max: Number = None
    mean: Number = None
    stddev: Number = None
    percentile: dict[str, Number] = Field(default_factory=dict)


class SideEntry(_Lenient):
    """Reads or writes of a job: bandwidth in KiB/s and, from 3.2 on, in bytes, runtime in milliseconds."""

    io_bytes: Number = None
    io_kbytes: Number = None
    bw: Number = None
    bw_bytes: Number = None
    iops: Number = None
    runtime: Number = None
    total_ios: Number = None
    short_ios: Number = None
    drop_ios: Number = None
    slat: Spread | None = None
    clat: Spread | None = None
    lat: Spread | None = None
    slat_ns: Spread | None = None
    clat_ns: Spread | None = None
    lat_ns: Spread | None = None
    bw_min: Number = None
    bw_max: Number = None
    bw_agg: Number = None
    bw_mean: Number = None
    bw_dev: Number = None
    bw_samples: Number = None
    iops_min: Number = None
    iops_max: Number = None
    iops_mean: Number = None
    iops_stddev: Number = None
    iops_samples: Number = None


class DiskEntry(_Lenient):
    """What a device itself counted over the whole run; `aggr_*` are those of an md device's members."""

    name: str = ""
    read_ios: Number = None
    write_ios: Number = None
    read_merges: Number = None
    write_merges: Number = None
    read_ticks: Number = None
    write_ticks: Number = None
    in_queue: Number = None
    util: Number = None
    aggr_read_ios: Number = None


class FioJob(_Lenient):
    """A job, or where group_reporting is set all jobs of a group."""

    jobname: str = ""
    groupid: int = Field(default=0, ge=0, lt=1 << 31)
    error: int = Field(default=0, ge=0, lt=1 << 31)
    total_err: Number = None
    elapsed: Number = None
    latency_target: Number = None
    hostname: str | None = None
    options: dict[str, str | None] | None = Field(default=None, alias="job options")
    read: SideEntry = Field(default_factory=SideEntry)
    write: SideEntry = Field(default_factory=SideEntry)
    trim: SideEntry = Field(default_factory=SideEntry)
    mixed: SideEntry = Field(default_factory=SideEntry)
    job_start: Number = None
    usr_cpu: Number = None
    sys_cpu: Number = None
    ctx: Number = None
    majf: Number = None
    minf: Number = None
    iodepth_level: dict[str, Number] = Field(default_factory=dict)
    disk_util: list[DiskEntry] = Field(default_factory=list)


class FioOutput(_Lenient):
    """A whole output. `client_stats` has the jobs that fio ran on other machines."""

    version: str | None = Field(default=None, alias="fio version")
    time: str | None = None
    timestamp: Number = None
    options: dict[str, str | None] = Field(default_factory=dict, alias="global options")
    jobs: list[FioJob] = Field(default_factory=list)
    client_stats: list[FioJob] = Field(default_factory=list)
    disk_util: list[DiskEntry] = Field(default_factory=list)


_KEYS: Final = re.compile(r'"(?:fio version|jobs|client_stats)"\s*:')
_OPENING: Final = re.compile(r'\{\s*"fio version"')
_NAN: Final = re.compile(r"(:\s*)-?nan\b")
"""What C prints for no number, which is no JSON."""

_LATENCIES: Final = {"ns": ("slat_ns", "clat_ns", "lat_ns"), "us": ("slat", "clat", "lat")}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object. A job that names several files prints the same key several times: they are one list."""
    found: dict[str, Any] = dict(pairs)
    if len(found) < len(pairs):
        for name in _LISTS & found.keys():
            found[name] = ":".join(str(value) for key, value in pairs if key == name)
    return found


_LISTS: Final = frozenset({"filename", "directory"})
_DECODER: Final = json.JSONDecoder(
    parse_float=str, parse_int=str, parse_constant=lambda _: None, object_pairs_hook=_object
)


def looks_like(text: str) -> bool:
    """Whether this may be fio's JSON."""
    return "{" in text and _KEYS.search(text) is not None


def read(text: str) -> Output:
    """Every result in it. Broken where it is not whole."""
    text = _NAN.sub(r"\1null", text)
    runs: list[list[tuple[FioOutput, int]]] = []
    at = _opening(text, 0)
    while at is not None:
        decoded, end = _decoded(text, at)
        line = line_at(text, at)
        output = _checked(decoded, line)
        if runs and _is_later(runs[-1][-1][0], output):
            runs[-1].append((output, line))
        else:
            runs.append([(output, line)])
        at = _opening(text, end)
    return Output(results=tuple(result for run in runs for result in _of_run(run)))


def _of_run(snapshots: Sequence[tuple[FioOutput, int]]) -> Iterator[Result]:
    """The results of a run: those of its last snapshot, with what lies between all of them."""
    found = [list(_results(output, line)) for output, line in snapshots]
    for place, last in enumerate(found[-1]):
        yield replace(last, series=_between([results[place] for results in found])) if len(found) > 1 else last


def _between(snapshots: Sequence[Result]) -> TimeSeries | None:
    """The series of a result by its snapshots, each of which has the means since the start."""
    told = [(one.job.runtime_s, one.iops or 0.0, one.throughput_mib_s or 0.0) for one in snapshots]
    known = {seconds: (iops * seconds, mib_s * seconds) for seconds, iops, mib_s in told if seconds}
    times_s = np.array([0.0, *known])
    if len(known) < 2 or (np.diff(times_s) <= 0).any():
        return None
    operations, moved = (np.array([0.0, *(done[side] for done in known.values())]) for side in (0, 1))
    return series_of([Work(times_s, operations)], [Work(times_s, moved)])


_SAME_START_S: Final = 1.0
"""fio counts the seconds of a run in whole ones."""


def _is_later(one: FioOutput, other: FioOutput) -> bool:
    """Whether the other is a later snapshot of the same run: the same jobs, begun at the same time."""
    alike = [[(job.jobname, job.groupid, job.options) for job in output.jobs] for output in (one, other)]
    begun = [_begun_s(output) for output in (one, other)]
    if alike[0] != alike[1] or not alike[0] or begun[0] is None or begun[1] is None:
        return False
    return abs(begun[0] - begun[1]) <= _SAME_START_S


def _begun_s(output: FioOutput) -> float | None:
    elapsed = [number_in(job.elapsed) for job in output.jobs if job.elapsed is not None]
    return number_in(output.timestamp) - max(elapsed) if output.timestamp is not None and elapsed else None


def _opening(text: str, start: int) -> int | None:
    """Where the next output begins: fio prints its version first, what others have rearranged begins at a brace."""
    found = _OPENING.search(text, start)
    if found is not None:
        return found.start()
    return text.index("{") if start == 0 else None


def _decoded(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise Broken(f"the JSON breaks off or is wrong: {error.msg.lower()}", line_at(text, error.pos)) from error
    except RecursionError as error:
        raise Broken("the JSON is nested deeper than fio nests it", line_at(text, at)) from error


def _checked(decoded: Any, line: int) -> FioOutput:
    try:
        found = FioOutput.model_validate(decoded)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "its top"
        raise Broken(f"it is wrong at {where}: {first['msg'].lower()}", line) from error
    if not found.jobs and not found.client_stats:
        raise Broken("it holds no jobs", line)
    return found


def _results(output: FioOutput, line: int) -> Iterator[Result]:
    """One result a group, in their order."""
    clients = [job for job in output.client_stats if job.jobname != ALL_CLIENTS]
    jobs = [*output.jobs, *(clients or ([] if output.jobs else output.client_stats))]
    groups: dict[int, list[FioJob]] = {}
    for job in jobs:
        groups.setdefault(job.groupid, []).append(job)
    together = {at: _parts(group, output, line) for at, group in groups.items()}
    disk = _disk(output.disk_util or [disk for job in jobs for disk in job.disk_util])
    elapsed = _elapsed(jobs, together)
    for at, parts in together.items():
        own = disk if len(groups) == 1 else shared_disks(disk, list(together.values()))
        with _whole(groups[at][0].jobname, line):
            yield result_of(
                parts,
                version=None if output.version is None else output.version.removeprefix("fio-"),
                measured_on=output.time,
                disk={**own, **elapsed, **_stamped(output), **hosts_of(parts)},
            )


def _parts(group: Sequence[FioJob], output: FioOutput, line: int) -> list[Part]:
    with _whole(group[0].jobname, line):
        return [_part(job, output.options, len(group)) for job in group]


@contextmanager
def _whole(name: str, line: int) -> Iterator[None]:
    """Broken, with the job and the line, where a figure of it cannot be read."""
    try:
        yield
    except ValueError as error:
        raise Broken(f"the job {name} cannot be read: {error}", line) from error


def _stamped(output: FioOutput) -> Figures:
    """The day of fio's clock in numbers, beside that in words."""
    seconds = 0.0 if output.timestamp is None else number_in(output.timestamp)
    if not _LEAST_STAMP_S < seconds < _MOST_STAMP_S:
        return {}
    return {"stamped": datetime.fromtimestamp(seconds, UTC).date().isoformat()}


_LEAST_STAMP_S: Final = 86_400.0
_MOST_STAMP_S: Final = 1e11


def _elapsed(jobs: Sequence[FioJob], together: Mapping[int, Sequence[Part]]) -> Figures:
    """The seconds of the whole run, and those that its groups account for one after another."""
    told = [number_in(job.elapsed) for job in jobs if job.elapsed is not None]
    if not told or not max(told):
        return {}
    accounted = sum(max(_span_s(part) for part in parts) for parts in together.values())
    trims = sum(number_in(job.trim.runtime) for job in jobs if job.trim.runtime is not None) / MS_PER_S
    return {"elapsed_s": f"{max(told):g}", "accounted_s": f"{accounted + trims:.3f}"}


def _span_s(part: Part) -> float:
    """How long a job took: reads that verify follow the writes."""
    spans = [number_in(side["runtime_ms"]) / MS_PER_S for side in part.sides.values() if "runtime_ms" in side]
    verified = verified_of(part.options, whole=part.whole)
    return (sum(spans) if verified else max(spans, default=0.0)) + start_of(part.options)


def _part(job: FioJob, shared: dict[str, str | None], together: int) -> Part:
    options = {name: value or "" for name, value in {**shared, **(job.options or {})}.items()}
    if job.latency_target is not None and number_in(job.latency_target):
        options.setdefault("latency_target", job.latency_target)
    told = options.get("numjobs", "1")
    sides = {name: side for name, side in (("read", job.read), ("write", job.write)) if _did_anything(side)}
    if not sides and _did_anything(job.mixed):
        sides = {MIXED: job.mixed}
    whole, jobs = job.options is not None, int(told) if together == 1 and told.isdecimal() and len(told) < 6 else 1
    merged = _merged(options, sides, jobs, together)
    return Part(
        name=job.jobname if job.hostname is None else f"{job.jobname}@{job.hostname}",
        group=job.groupid,
        error=job.error,
        jobs=jobs,
        options=options,
        sides={name: _side(side) for name, side in sides.items()},
        beside=_beside(job),
        operations={name: int(number_in(side.total_ios)) for name, side in sides.items() if side.total_ios},
        whole=whole,
        merged=merged,
        host=job.hostname,
        outstanding=None if merged else outstanding_of(options, whole=whole, jobs=jobs),
    )


def _merged(options: Mapping[str, str], sides: Mapping[str, SideEntry], jobs: int, together: int) -> bool | None:
    """Whether an entry is of more jobs than its options tell: each job samples its bandwidth every half second."""
    if together > 1 or options.get("group_reporting", "0") == "0":
        return False
    step_ms = number_in(options["bwavgtime"]) if options.get("bwavgtime", "").isdecimal() else _SAMPLED_MS
    seen = [
        number_in(side.bw_samples) * step_ms / number_in(side.runtime)
        for side in sides.values()
        if side.bw_samples is not None and side.runtime is not None and number_in(side.runtime) >= _SAMPLED_LONG_MS
    ]
    return max(seen) > jobs + _MORE_JOBS if seen else None


_SAMPLED_MS: Final = 500.0
_SAMPLED_LONG_MS: Final = 10_000.0
_MORE_JOBS: Final = 0.6
"""fio samples each job twice a second; so many jobs more than were told are another section of the job file."""


def _did_anything(side: SideEntry) -> bool:
    return any(figure is not None and number_in(figure) > 0 for figure in (side.iops, side.bw, side.bw_bytes))


def _side(side: SideEntry) -> Figures:
    if side.iops is None or (side.bw_bytes is None and side.bw is None):
        raise ValueError("it has bandwidth without IOPS, or IOPS without bandwidth")
    found: Figures = {
        "iops": side.iops,
        "throughput": f"{side.bw}KiB/s" if side.bw_bytes is None else f"{side.bw_bytes}B/s",
        **present({"runtime_ms": side.runtime, "total_ios": side.total_ios, "io": _moved(side)}),
    }
    for unit, names in _LATENCIES.items():
        for name in names:
            found |= _latency(name.removesuffix("_ns"), unit, getattr(side, name))
    bandwidth = {"min": side.bw_min, "max": side.bw_max, "per_pct": side.bw_agg, "avg": side.bw_mean}
    samples = {"min": side.iops_min, "max": side.iops_max, "avg": side.iops_mean, "stdev": side.iops_stddev}
    return found | _grouped(
        {
            "bw_kib_s": present({**bandwidth, "stdev": side.bw_dev, "samples": side.bw_samples}),
            "iops_samples": present({**samples, "samples": side.iops_samples}),
        }
    )


def _moved(side: SideEntry) -> str | None:
    """What was moved: 2.x prints KiB as io_bytes, 3.x both."""
    if side.io_kbytes is not None or side.bw_bytes is not None:
        return None if side.io_bytes is None else f"{side.io_bytes}B"
    return None if side.io_bytes is None else f"{side.io_bytes}KiB"


def _latency(kind: str, unit: str, spread: Spread | None) -> Figures:
    """A latency under a campaign's names; nothing where no I/O was seen."""
    if spread is None or spread.max is None or number_in(spread.max) == 0:
        return {}
    percentiles = {
        percent: value for percent, value in spread.percentile.items() if value is not None and number_in(percent) > 0
    }
    told = present({theirs: getattr(spread, ours) for ours, theirs in NUMBERS.items()})
    return _grouped({f"{kind}_{unit}": told, f"{kind}_percentiles_{unit}": percentiles})


def _beside(job: FioJob) -> Figures:
    cpu = {"usr_pct": job.usr_cpu, "sys_pct": job.sys_cpu, "ctx": job.ctx, "majf": job.majf, "minf": job.minf}
    failed = {} if job.total_err is None or not number_in(job.total_err) else {"total_err": job.total_err}
    return failed | _grouped(
        {"cpu": present(cpu), "io_depths_pct": present(job.iodepth_level), "issued_rwts": _lost(job)},
    )


def _lost(job: FioJob) -> Figures:
    """Operations that were short or dropped, beside all, where there were any."""
    both = (job.read, job.write)
    lost = [number_in(count) for side in both for count in (side.short_ios, side.drop_ios) if count is not None]
    if not any(lost):
        return {}
    names = {"total": "total_ios", "short": "short_ios", "dropped": "drop_ios"}
    return {name: ",".join(getattr(side, field) or "0" for side in both) for name, field in names.items()}


def _disk(disks: Sequence[DiskEntry]) -> Figures:
    """The counts of the device. For an md device only its own, not its members' again."""
    striped = [disk for disk in disks if disk.aggr_read_ios is not None]
    members = [disk.name for disk in disks if disk not in striped and disk.name] if striped else []
    beside = {"members": " ".join(members)} if members else {}
    return disk_figures(
        {
            disk.name or "a device": {**_one_disk(disk), **beside}
            for disk in striped or disks
            if disk.read_ios and disk.write_ios
        }
    )


def _one_disk(disk: DiskEntry) -> Figures:
    return {
        "ios": f"{disk.read_ios}/{disk.write_ios}",
        "merge": f"{disk.read_merges or '-'}/{disk.write_merges or '-'}",
        "ticks": f"{disk.read_ticks or '-'}/{disk.write_ticks or '-'}",
        **present({"in_queue": disk.in_queue, "util_pct": disk.util}),
    }


def _grouped(groups: dict[str, Figures]) -> Figures:
    return {name: figures for name, figures in groups.items() if figures}
