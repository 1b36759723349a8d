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

from plimsoll.envelopes.printed import MIXED, MS_PER_S, PrintedFigures, number_in, present
from plimsoll.model.envelope import TimeSeries
from plimsoll_measure.readers.fio_options import is_verified, outstanding_of, start_of
from plimsoll_measure.readers.results import (
    ALL_CLIENTS,
    BenchResult,
    Broken,
    JobPart,
    Output,
    combine_parts,
    disk_figures,
    host_count_figures,
    line_at,
    shared_disks,
)
from plimsoll_measure.readers.series import Work, series_of


def _number(value: object) -> object:
    """A number as printed, so that no digit is lost. None if it is NaN."""
    if value is not None:
        number_in(str(value))
    return value


PrintedNumber = Annotated[str | None, BeforeValidator(_number)]

NUMBERS: Final = {"min": "min", "max": "max", "mean": "avg", "stddev": "stdev"}
"""fio's names in its JSON, and a campaign's, which are those of its normal output."""


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True, populate_by_name=True)


class LatencySpread(_Lenient):
    """A latency: its spread and percentiles. json+ adds bins, which are not kept."""

    min: PrintedNumber = None
    max: PrintedNumber = None
    mean: PrintedNumber = None
    stddev: PrintedNumber = None
    percentile: dict[str, PrintedNumber] = Field(default_factory=dict)


class SideEntry(_Lenient):
    """Reads or writes of a job: bandwidth in KiB/s and, from 3.2 on, in bytes, runtime in milliseconds."""

    io_bytes: PrintedNumber = None
    io_kbytes: PrintedNumber = None
    bw: PrintedNumber = None
    bw_bytes: PrintedNumber = None
    iops: PrintedNumber = None
    runtime: PrintedNumber = None
    total_ios: PrintedNumber = None
    short_ios: PrintedNumber = None
    drop_ios: PrintedNumber = None
    slat: LatencySpread | None = None
    clat: LatencySpread | None = None
    lat: LatencySpread | None = None
    slat_ns: LatencySpread | None = None
    clat_ns: LatencySpread | None = None
    lat_ns: LatencySpread | None = None
    bw_min: PrintedNumber = None
    bw_max: PrintedNumber = None
    bw_agg: PrintedNumber = None
    bw_mean: PrintedNumber = None
    bw_dev: PrintedNumber = None
    bw_samples: PrintedNumber = None
    iops_min: PrintedNumber = None
    iops_max: PrintedNumber = None
    iops_mean: PrintedNumber = None
    iops_stddev: PrintedNumber = None
    iops_samples: PrintedNumber = None


class DiskEntry(_Lenient):
    """A device's own counts over the whole run. `aggr_*` are those of an md device's members."""

    name: str = ""
    read_ios: PrintedNumber = None
    write_ios: PrintedNumber = None
    read_merges: PrintedNumber = None
    write_merges: PrintedNumber = None
    read_ticks: PrintedNumber = None
    write_ticks: PrintedNumber = None
    in_queue: PrintedNumber = None
    util: PrintedNumber = None
    aggr_read_ios: PrintedNumber = None


class FioJob(_Lenient):
    """A job. With group_reporting it is all jobs of a group."""

    jobname: str = ""
    groupid: int = Field(default=0, ge=0, lt=1 << 31)
    error: int = Field(default=0, ge=0, lt=1 << 31)
    total_err: PrintedNumber = None
    elapsed: PrintedNumber = None
    latency_target: PrintedNumber = None
    hostname: str | None = None
    options: dict[str, str | None] | None = Field(default=None, alias="job options")
    read: SideEntry = Field(default_factory=SideEntry)
    write: SideEntry = Field(default_factory=SideEntry)
    trim: SideEntry = Field(default_factory=SideEntry)
    mixed: SideEntry = Field(default_factory=SideEntry)
    job_start: PrintedNumber = None
    usr_cpu: PrintedNumber = None
    sys_cpu: PrintedNumber = None
    ctx: PrintedNumber = None
    majf: PrintedNumber = None
    minf: PrintedNumber = None
    iodepth_level: dict[str, PrintedNumber] = Field(default_factory=dict)
    disk_util: list[DiskEntry] = Field(default_factory=list)


class FioOutput(_Lenient):
    """A whole output. `client_stats` has the jobs that fio ran on other machines."""

    version: str | None = Field(default=None, alias="fio version")
    time: str | None = None
    timestamp: PrintedNumber = None
    options: dict[str, str | None] = Field(default_factory=dict, alias="global options")
    jobs: list[FioJob] = Field(default_factory=list)
    client_stats: list[FioJob] = Field(default_factory=list)
    disk_util: list[DiskEntry] = Field(default_factory=list)


_KEYS: Final = re.compile(r'"(?:fio version|jobs|client_stats)"\s*:')
_OPENING: Final = re.compile(r'\{\s*"fio version"')
_NAN: Final = re.compile(r"(:\s*)-?nan\b")
"""C's text for no number. JSON has none."""

_LATENCIES: Final = {"ns": ("slat_ns", "clat_ns", "lat_ns"), "us": ("slat", "clat", "lat")}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object. A job that names several files prints the same key several times: they are one list."""
    entries: dict[str, Any] = dict(pairs)
    if len(entries) < len(pairs):
        for name in _LISTS & entries.keys():
            entries[name] = ":".join(str(value) for key, value in pairs if key == name)
    return entries


_LISTS: Final = frozenset({"filename", "directory"})
_DECODER: Final = json.JSONDecoder(
    parse_float=str, parse_int=str, parse_constant=lambda _: None, object_pairs_hook=_object
)


def is_fio_json(text: str) -> bool:
    return "{" in text and _KEYS.search(text) is not None


def read_fio_json(text: str) -> Output:
    """Every result in a text. Raises Broken if the JSON is not complete."""
    text = _NAN.sub(r"\1null", text)
    runs: list[list[tuple[FioOutput, int]]] = []
    at = _opening(text, 0)
    while at is not None:
        decoded, end = _decode(text, at)
        line = line_at(text, at)
        output = _validate_output(decoded, line)
        if runs and _is_later(runs[-1][-1][0], output):
            runs[-1].append((output, line))
        else:
            runs.append([(output, line)])
        at = _opening(text, end)
    return Output(results=tuple(result for run in runs for result in _run_results(run)))


def _run_results(snapshots: Sequence[tuple[FioOutput, int]]) -> Iterator[BenchResult]:
    """The results of a run: those of its last snapshot, with the series of all snapshots."""
    by_snapshot = [list(_results(output, line)) for output, line in snapshots]
    for place, last in enumerate(by_snapshot[-1]):
        snapshot_results = [results[place] for results in by_snapshot]
        yield replace(last, series=_series_between(snapshot_results)) if len(snapshot_results) > 1 else last


def _series_between(snapshots: Sequence[BenchResult]) -> TimeSeries | None:
    """The series of a result by its snapshots. Each snapshot has the means since the start."""
    means = [(snapshot.job.runtime_s, snapshot.iops or 0.0, snapshot.throughput_mib_s or 0.0) for snapshot in snapshots]
    known = {seconds: (iops * seconds, mib_s * seconds) for seconds, iops, mib_s in means if seconds}
    times_s = np.array([0.0, *known])
    if len(known) < 2 or (np.diff(times_s) <= 0).any():
        return None
    operations, moved = (np.array([0.0, *(done[side] for done in known.values())]) for side in (0, 1))
    return series_of([Work(times_s, operations)], [Work(times_s, moved)])


_SAME_START_S: Final = 1.0
"""fio counts the seconds of a run in whole ones."""


def _is_later(earlier: FioOutput, later: FioOutput) -> bool:
    """Both outputs are snapshots of one run: they have the same jobs, begun at the same time."""
    alike = [[(job.jobname, job.groupid, job.options) for job in output.jobs] for output in (earlier, later)]
    begun = [_start_s(output) for output in (earlier, later)]
    if alike[0] != alike[1] or not alike[0] or begun[0] is None or begun[1] is None:
        return False
    return abs(begun[0] - begun[1]) <= _SAME_START_S


def _start_s(output: FioOutput) -> float | None:
    elapsed = [number_in(job.elapsed) for job in output.jobs if job.elapsed is not None]
    return number_in(output.timestamp) - max(elapsed) if output.timestamp is not None and elapsed else None


def _opening(text: str, start: int) -> int | None:
    """The position of the next output: at fio's version, else at the first brace of a rearranged output."""
    match = _OPENING.search(text, start)
    if match is not None:
        return match.start()
    return text.index("{") if start == 0 else None


def _decode(text: str, at: int) -> tuple[Any, int]:
    """The JSON value at a place of a text, and its end. Raises Broken with the line."""
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise Broken(f"the JSON breaks off or is wrong: {error.msg.lower()}", line_at(text, error.pos)) from error
    except RecursionError as error:
        raise Broken("the JSON is nested deeper than fio nests it", line_at(text, at)) from error


def _validate_output(decoded: Any, line: int) -> FioOutput:
    """The output of fio in a JSON value. Raises Broken if it is not fio's, or holds no jobs."""
    try:
        output = FioOutput.model_validate(decoded)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "its top"
        raise Broken(f"it is wrong at {where}: {first['msg'].lower()}", line) from error
    if not output.jobs and not output.client_stats:
        raise Broken("it holds no jobs", line)
    return output


def _results(output: FioOutput, line: int) -> Iterator[BenchResult]:
    """One result for each group, in order."""
    clients = [job for job in output.client_stats if job.jobname != ALL_CLIENTS]
    jobs = [*output.jobs, *(clients or ([] if output.jobs else output.client_stats))]
    groups: dict[int, list[FioJob]] = {}
    for job in jobs:
        groups.setdefault(job.groupid, []).append(job)
    together = {at: _parts(group, output, line) for at, group in groups.items()}
    disk = _disk(output.disk_util or [disk for job in jobs for disk in job.disk_util])
    elapsed = _elapsed_figures(jobs, together)
    for at, parts in together.items():
        group_disk = disk if len(groups) == 1 else shared_disks(disk, list(together.values()))
        with _naming_job(groups[at][0].jobname, line):
            yield combine_parts(
                parts,
                version=None if output.version is None else output.version.removeprefix("fio-"),
                measured_on=output.time,
                disk={**group_disk, **elapsed, **_clock_day(output), **host_count_figures(parts)},
            )


def _parts(group: Sequence[FioJob], output: FioOutput, line: int) -> list[JobPart]:
    with _naming_job(group[0].jobname, line):
        return [_part(job, output.options, len(group)) for job in group]


@contextmanager
def _naming_job(name: str, line: int) -> Iterator[None]:
    """Turns a ValueError within the block into Broken, with the job and the line."""
    try:
        yield
    except ValueError as error:
        raise Broken(f"the job {name} cannot be read: {error}", line) from error


def _clock_day(output: FioOutput) -> PrintedFigures:
    """The day of fio's timestamp, beside the date that it prints in words."""
    seconds = 0.0 if output.timestamp is None else number_in(output.timestamp)
    if not _LEAST_STAMP_S < seconds < _MOST_STAMP_S:
        return {}
    return {"stamped": datetime.fromtimestamp(seconds, UTC).date().isoformat()}


_LEAST_STAMP_S: Final = 86_400.0
_MOST_STAMP_S: Final = 1e11


def _elapsed_figures(jobs: Sequence[FioJob], together: Mapping[int, Sequence[JobPart]]) -> PrintedFigures:
    """The seconds of the whole run, and the sum of its groups' seconds."""
    elapsed_s = [number_in(job.elapsed) for job in jobs if job.elapsed is not None]
    if not elapsed_s or not max(elapsed_s):
        return {}
    accounted = sum(max(_span_s(part) for part in parts) for parts in together.values())
    trims = sum(number_in(job.trim.runtime) for job in jobs if job.trim.runtime is not None) / MS_PER_S
    return {"elapsed_s": f"{max(elapsed_s):g}", "accounted_s": f"{accounted + trims:.3f}"}


def _span_s(part: JobPart) -> float:
    """Seconds that a job took. Reads that verify follow the writes, so both count."""
    spans = [number_in(side["runtime_ms"]) / MS_PER_S for side in part.sides.values() if "runtime_ms" in side]
    verified = is_verified(part.options, whole=part.whole)
    return (sum(spans) if verified else max(spans, default=0.0)) + start_of(part.options)


def _part(job: FioJob, shared: dict[str, str | None], together: int) -> JobPart:
    """The part of one job in a result, with the options that it shares with the others."""
    options = {name: value or "" for name, value in {**shared, **(job.options or {})}.items()}
    if job.latency_target is not None and number_in(job.latency_target):
        options.setdefault("latency_target", job.latency_target)
    numjobs = options.get("numjobs", "1")
    sides = {name: side for name, side in (("read", job.read), ("write", job.write)) if _did_anything(side)}
    if not sides and _did_anything(job.mixed):
        sides = {MIXED: job.mixed}
    jobs = int(numjobs) if together == 1 and numjobs.isdecimal() and len(numjobs) < 6 else 1
    whole = job.options is not None
    merged = _has_more_jobs(options, sides, jobs, together)
    return JobPart(
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


def _has_more_jobs(options: Mapping[str, str], sides: Mapping[str, SideEntry], jobs: int, together: int) -> bool | None:
    """The entry sums more jobs than its options tell: each job samples its bandwidth every half second."""
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
"""fio samples each job twice a second. A surplus above this is another section of the job file."""


def _did_anything(side: SideEntry) -> bool:
    return any(figure is not None and number_in(figure) > 0 for figure in (side.iops, side.bw, side.bw_bytes))


def _side(side: SideEntry) -> PrintedFigures:
    """The printed figures of one direction. Raises ValueError if IOPS or bandwidth is missing."""
    if side.iops is None or (side.bw_bytes is None and side.bw is None):
        raise ValueError("it has bandwidth without IOPS, or IOPS without bandwidth")
    figures: PrintedFigures = {
        "iops": side.iops,
        "throughput": f"{side.bw}KiB/s" if side.bw_bytes is None else f"{side.bw_bytes}B/s",
        **present({"runtime_ms": side.runtime, "total_ios": side.total_ios, "io": _moved_size(side)}),
    }
    for unit, names in _LATENCIES.items():
        for name in names:
            figures |= _latency(name.removesuffix("_ns"), unit, getattr(side, name))
    bandwidth = {"min": side.bw_min, "max": side.bw_max, "per_pct": side.bw_agg, "avg": side.bw_mean}
    samples = {"min": side.iops_min, "max": side.iops_max, "avg": side.iops_mean, "stdev": side.iops_stddev}
    return figures | _drop_empty(
        {
            "bw_kib_s": present({**bandwidth, "stdev": side.bw_dev, "samples": side.bw_samples}),
            "iops_samples": present({**samples, "samples": side.iops_samples}),
        }
    )


def _moved_size(side: SideEntry) -> str | None:
    """The size of all I/O with its unit: 2.x prints KiB as io_bytes, 3.x both."""
    if side.io_kbytes is not None or side.bw_bytes is not None:
        return None if side.io_bytes is None else f"{side.io_bytes}B"
    return None if side.io_bytes is None else f"{side.io_bytes}KiB"


def _latency(kind: str, unit: str, spread: LatencySpread | None) -> PrintedFigures:
    """A latency under a campaign's names. Empty without I/O."""
    if spread is None or spread.max is None or number_in(spread.max) == 0:
        return {}
    percentiles = {
        percent: value for percent, value in spread.percentile.items() if value is not None and number_in(percent) > 0
    }
    summary = present({theirs: getattr(spread, ours) for ours, theirs in NUMBERS.items()})
    return _drop_empty({f"{kind}_{unit}": summary, f"{kind}_percentiles_{unit}": percentiles})


def _beside(job: FioJob) -> PrintedFigures:
    """The printed figures of a job besides its directions: errors, CPU, depths and lost operations."""
    cpu = {"usr_pct": job.usr_cpu, "sys_pct": job.sys_cpu, "ctx": job.ctx, "majf": job.majf, "minf": job.minf}
    failed = {} if job.total_err is None or not number_in(job.total_err) else {"total_err": job.total_err}
    return failed | _drop_empty(
        {"cpu": present(cpu), "io_depths_pct": present(job.iodepth_level), "issued_rwts": _lost_io(job)},
    )


def _lost_io(job: FioJob) -> PrintedFigures:
    """The counts of all, short and dropped operations. Empty if none was short or dropped."""
    both = (job.read, job.write)
    lost = [number_in(count) for side in both for count in (side.short_ios, side.drop_ios) if count is not None]
    if not any(lost):
        return {}
    names = {"total": "total_ios", "short": "short_ios", "dropped": "drop_ios"}
    return {name: ",".join(getattr(side, field) or "0" for side in both) for name, field in names.items()}


def _disk(disks: Sequence[DiskEntry]) -> PrintedFigures:
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


def _one_disk(disk: DiskEntry) -> PrintedFigures:
    return {
        "ios": f"{disk.read_ios}/{disk.write_ios}",
        "merge": f"{disk.read_merges or '-'}/{disk.write_merges or '-'}",
        "ticks": f"{disk.read_ticks or '-'}/{disk.write_ticks or '-'}",
        **present({"in_queue": disk.in_queue, "util_pct": disk.util}),
    }


def _drop_empty(groups: dict[str, PrintedFigures]) -> PrintedFigures:
    return {name: figures for name, figures in groups.items() if figures}
