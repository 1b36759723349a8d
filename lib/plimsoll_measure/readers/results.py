"""Results in one output of fio or sysbench, before the volume is known.

The jobs that fio ran together and reports as one are one result.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from plimsoll.envelopes.printed import (
    DIRECTIONS,
    MIXED,
    MS_PER_S,
    PrintedEntry,
    PrintedFigures,
    device_iops,
    flat,
    latency,
    number_in,
    rates,
    size_kib_in,
)
from plimsoll.envelopes.printed import scaled_iops as iops_of
from plimsoll.envelopes.printed import side_mib_s as mib_s_of
from plimsoll.model.envelope import JobShape, Latency, TimeSeries
from plimsoll.model.units import KIB, KIB_PER_MIB
from plimsoll_measure.readers.fio_options import (
    block_kib_of,
    direct_of,
    duration_s,
    holding_options,
    is_partly_sequential,
    is_synced,
    is_verified,
    job_places,
    job_targets,
    rate_of,
    set_gib_of,
    skew_of,
    start_of,
)

DEFAULT_KIB: Final = 4.0
"""fio's block size if the job names none."""

_LEAST_SNAP: Final = 0.01
_MOST_SNAP: Final = 0.1
"""The distance that rounding can put between a figure and a power of two: whole IOPS are the coarsest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """Reads or writes of a result. `operations` is the number completed, None if not printed."""

    iops: float
    throughput_mib_s: float
    operations: int | None
    latency: Latency


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchResult:
    """One job group of a benchmark's output: jobs that ran together and are reported as one.

    `iops` and `throughput_mib_s` are both directions together, None without I/O. `latency` of several
    directions or jobs is, per percentile, the worst of them: an upper bound. `directions` holds those that did I/O.
    `device_iops` is what the device itself counted, None where it cannot be told from other groups'. `measured_on` is
    the date as printed, `options` the job's options as printed, `error` the errno that the job ended with (0: none).
    `series` is the result over time, None if it is not printed.
    `printed` are the figures for a campaign file, as printed. The job's block size is the mean where it varied; a mode
    that the output does not tell is unstated-read, unstated-write or unstated-rw.
    """

    name: str
    group: int
    tool: str
    tool_version: str | None
    job: JobShape
    iops: float | None
    throughput_mib_s: float | None
    latency: Latency
    directions: Mapping[str, Direction]
    printed: PrintedEntry
    device_iops: float | None = None
    measured_on: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    error: int = 0
    series: TimeSeries | None = None

    @property
    def has_rate_cap(self) -> bool:
        """The job was held to a rate. It proves that rate, and no maximum."""
        return any(self.options.get(option) for option in ("rate", "rate_iops"))

    @property
    def fault(self) -> str | None:
        """The reason why this is no measurement. None if it is one."""
        if self.error:
            return f"the job {self.name} ended with error {self.error} ({os.strerror(self.error)})"
        return None if self.iops or self.throughput_mib_s else f"the job {self.name} did no reads and no writes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A result about the host alone: sysbench's cpu, memory, mutex or threads.

    `kind` is the test (`events` where the output does not tell it), `job` the command as printed, `figures` the rest.
    """

    kind: str
    job: str | None
    figures: PrintedFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The content of one output: results of storage, profiles of its host, and the number of database tests."""

    results: tuple[BenchResult, ...] = ()
    profiles: tuple[Profile, ...] = ()
    databases: int = 0

    def __add__(self, other: "Output") -> "Output":
        return Output(
            results=self.results + other.results,
            profiles=self.profiles + other.profiles,
            databases=self.databases + other.databases,
        )


def without_repeats(results: Sequence[BenchResult]) -> tuple[BenchResult, ...]:
    """The results, each once. Of a result that is printed again, the print with the most figures stays."""
    kept: list[BenchResult] = []
    for result in results:
        at = next(
            (at for at, earlier in enumerate(kept) if _is_repeat(earlier, result) or _is_repeat(result, earlier)), None
        )
        if at is None:
            kept.append(result)
        elif not _is_repeat(kept[at], result):
            kept[at] = result
    return tuple(kept)


def _is_repeat(result: BenchResult, other: BenchResult) -> bool:
    """The other result adds no figure: its rates, times, process and date are in this result."""
    if (result.name, result.group, result.tool, result.iops) != (other.name, other.group, other.tool, other.iops):
        return False
    return _figure_set(other.printed) <= _figure_set(result.printed)


def _figure_set(printed: PrintedEntry) -> set[tuple[str, str]]:
    headline = {("iops", str(printed.iops)), ("throughput", str(printed.throughput))}
    beside = {name: figure for name, figure in printed.figures.items() if name not in _OF_THE_RUN}
    return headline | set(flat(beside))


_OF_THE_RUN: Final = frozenset({"disk", "disks", "shared_disks", "device_share", "last_status"})


class Broken(Exception):
    """An output that breaks off. `line` counts from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def line_at(text: str, position: int) -> int:
    """The line, from 1, of a position in a text."""
    return text.count("\n", 0, position) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPart:
    """One job as fio reported it, with the names of figures that campaigns use.

    `sides` has the figures of each direction that did I/O, `beside` those of both, and `operations` the number that
    each direction completed. `jobs` is its number of processes, and `outstanding` how much I/O they kept in flight at
    most (None: not told). `whole`: `options` has all that were set, so fio's defaults hold for the others. `merged`: it
    is of several jobs, of which only the first one's options are printed (None: it may be).
    """

    name: str
    group: int
    error: int
    jobs: int
    options: Mapping[str, str]
    sides: Mapping[str, PrintedFigures]
    beside: PrintedFigures = field(default_factory=dict)
    operations: Mapping[str, int] = field(default_factory=dict)
    whole: bool = False
    merged: bool | None = False
    host: str | None = None
    outstanding: float | None = None


def combine_parts(
    parts: Sequence[JobPart], *, version: str | None, measured_on: str | None, disk: PrintedFigures
) -> BenchResult:
    """The result of a group. `disk` has the device's own counts, and is empty if other groups share them."""
    first = parts[0]
    printed = _printed_entry(parts, disk)
    iops, throughput_mib_s = rates(printed) if any(part.sides for part in parts) else (None, None)
    names = dict.fromkeys(part.name for part in parts)
    error = next((part.error for part in parts if part.error), 0)
    return BenchResult(
        name="+".join(names),
        group=first.group,
        tool="fio",
        tool_version=version,
        job=_shape(parts, printed, iops, throughput_mib_s),
        iops=iops,
        throughput_mib_s=throughput_mib_s,
        latency=latency(printed),
        directions=_directions(parts),
        printed=printed if error == 0 else _with_error(printed, error),
        device_iops=device_iops(printed.figures),
        measured_on=measured_on,
        options=first.options,
        error=error,
    )


def _with_error(printed: PrintedEntry, error: int) -> PrintedEntry:
    return printed.model_copy(update={"figures": {**printed.figures, "error": str(error)}})


def disk_figures(disks: Mapping[str, PrintedFigures]) -> PrintedFigures:
    """The devices' own counts, by the device's name, as a result's figures."""
    if len(disks) == 1:
        ((name, figures),) = disks.items()
        return {"disk": {"name": name, **figures}}
    return {"disks": dict(disks)} if disks else {}


def shared_disks(disk: PrintedFigures, groups: Sequence[Sequence[JobPart]]) -> PrintedFigures:
    """The devices of a run of several groups: their names, and their share of all groups' operations."""
    disks = {disk["disk"]["name"]: disk["disk"]} if "disk" in disk else disk.get("disks", {})
    if not disks:
        return {}
    operations = [count for parts in groups for part in parts for count in part.operations.values()]
    counted = sum(
        number_in(count)
        for figures in disks.values()
        for key in ("ios", "merge")
        for count in str(figures.get(key, "")).split("/")
        if count.isdecimal()
    )
    are_counted = all(part.operations for parts in groups for part in parts if part.sides) and sum(operations) > 0
    names = {name: {key: figures[key] for key in ("members",) if key in figures} for name, figures in disks.items()}
    return {"shared_disks": names, **({"device_share": f"{counted / sum(operations):.4g}"} if are_counted else {})}


def host_count_figures(parts: Sequence[JobPart]) -> PrintedFigures:
    """The number of machines of a result: 0 if fio prints only the sum of its clients, empty without clients."""
    hosts = {part.host for part in parts if part.host is not None}
    if any(part.name.partition("@")[0] == ALL_CLIENTS for part in parts):
        return {"hosts": "0"}
    return {"hosts": str(len(hosts))} if hosts else {}


ALL_CLIENTS: Final = "All clients"
"""fio's name for the sum over all machines that it ran on."""


def mean_block_kib(iops: float | None, throughput_mib_s: float | None) -> float | None:
    """The mean I/O size, KiB: a power of two if rounding can explain the difference. None without I/O."""
    if not iops or not throughput_mib_s:
        return None
    mean = throughput_mib_s * KIB_PER_MIB / iops
    slack = min(max(_LEAST_SNAP, 1 / iops), _MOST_SNAP)
    near = next((2.0**power for power in range(-1, 15) if abs(mean / 2.0**power - 1) <= slack), None)
    return near or round(mean, 2) or mean


def unstated_mode(directions: Sequence[str]) -> str:
    """The mode of a job that does not say whether its I/O was random."""
    both = len(set(directions)) > 1 or MIXED in directions
    return f"unstated-{'rw' if both else directions[0]}"


def gib_of(size: str | None) -> float | None:
    """GiB of a size option. None for a share (50%), and without one."""
    kib = None if size is None else size_kib_in(size)
    return None if kib is None else kib / KIB**2


def _printed_entry(parts: Sequence[JobPart], disk: PrintedFigures) -> PrintedEntry:
    runtimes = [side["runtime_ms"] for part in parts for side in part.sides.values() if "runtime_ms" in side]
    longest: PrintedFigures = {"runtime_ms": max(runtimes, key=number_in)} if runtimes else {}
    if len(parts) > 1:
        each = {f"{at}-{part.name}": {**part.sides, **part.beside} for at, part in enumerate(parts)}
        return PrintedEntry(figures={"parts": each, **longest, **disk})
    (part,) = parts
    if len(part.sides) != 1:
        return PrintedEntry(figures={**part.sides, **longest, **part.beside, **disk})
    ((direction, side),) = part.sides.items()
    side_figures = {key: figure for key, figure in side.items() if key not in {"iops", "throughput"}}
    return PrintedEntry(
        iops=side["iops"],
        throughput=side["throughput"],
        figures={"direction": direction, **side_figures, **part.beside, **disk},
    )


def _shape(
    parts: Sequence[JobPart], printed: PrintedEntry, iops: float | None, throughput_mib_s: float | None
) -> JobShape:
    options = parts[0].options
    runtimes = [duration_s(options.get("runtime")), _measured_s(printed.figures)]
    iodepth = options.get("iodepth", "")
    sets = [set_gib_of(part.options, part.jobs) for part in parts]
    targets = dict.fromkeys(name for part in parts for name in job_targets(part.options))
    places = dict.fromkeys(place for part in parts for place in job_places(part.options))
    return JobShape(
        mode=_mode(parts),
        block_kib=_block_kib(parts, mean_block_kib(iops, throughput_mib_s)),
        iodepth=int(iodepth) if iodepth.isdecimal() and len(iodepth) < 10 else None,
        jobs=sum(part.jobs for part in parts),
        engine=options.get("ioengine"),
        runtime_s=min((seconds for seconds in runtimes if seconds), default=None),
        direct=direct_of(options, whole=parts[0].whole),
        file_size_gib=gib_of(options.get("size")),
        synced=is_synced(options, whole=parts[0].whole),
        verify=is_verified(options, whole=parts[0].whole),
        target=":".join(targets) or None,
        places=len(places) or None,
        outstanding=_sum_if_all([part.outstanding for part in parts]),
        held_by=next((held for part in parts if (held := _holding_options(part))), None),
        rate_iops=_sum_if_all([_rate(part, iops=True) for part in parts]),
        rate_mib_s=_sum_if_all([_rate(part, iops=False) for part in parts]),
        set_gib=_shared_set_gib(parts, sets),
        skew=next((skew for part in parts if (skew := skew_of(part.options))), None),
        partly_sequential=any(is_partly_sequential(part.options) for part in parts) or None,
        chained=_has_chain(parts, _measured_s(printed.figures)) or None,
    )


def _block_kib(parts: Sequence[JobPart], mean_kib: float | None) -> float:
    """The block size that all jobs state, KiB. The mean if they differ, or if an entry merges jobs that differ."""
    stated = {block_kib_of(part.options) for part in parts}
    stated_kib = stated.pop() if len(stated) == 1 else None
    if stated_kib is not None and mean_kib is not None and any(part.merged is not False for part in parts):
        return stated_kib if abs(mean_kib / stated_kib - 1) <= _MOST_SNAP else mean_kib
    return stated_kib or mean_kib or DEFAULT_KIB


def _has_chain(parts: Sequence[JobPart], ran_s: float | None) -> bool:
    """A job waited for another of its group, or began when the other was half done."""
    names, starts = {part.name for part in parts}, [start_of(part.options) for part in parts]
    return any(part.options.get("wait_for") in names for part in parts) or (
        ran_s is not None and max(starts) - min(starts) > ran_s / 2
    )


def _holding_options(part: JobPart) -> str | None:
    return holding_options(part.options, writes=any(name != "read" for name in part.sides))


def _rate(part: JobPart, *, iops: bool) -> float | None:
    job_rate = rate_of(part.options, iops=iops, used=part.sides)
    return None if job_rate is None or part.merged else job_rate * (1 if part.options.get("wait_for") else part.jobs)


def _sum_if_all(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known and len(known) == len(numbers) else None


def _shared_set_gib(parts: Sequence[JobPart], sets: Sequence[float | None]) -> float | None:
    """GiB that the jobs of a group could touch. Jobs with the same files touch the same."""
    by_files: dict[object, float] = {}
    for at, (part, gib) in enumerate(zip(parts, sets, strict=True)):
        if gib is None:
            return None
        files = part.options.get("filename") or at
        by_files[files] = max(gib, by_files.get(files, 0.0))
    return sum(by_files.values()) or None


def _mode(parts: Sequence[JobPart]) -> str:
    """The rw that all jobs share. Of jobs that differ both directions, random only if all are."""
    used = [name for part in parts for name in part.sides] or list(DIRECTIONS)
    stated = {part.options.get("rw") or part.options.get("readwrite") for part in parts}
    modes = {mode.partition(":")[0] for mode in stated if mode}
    if len(modes) == 1 and None not in stated:
        return modes.pop().replace("readwrite", "rw")
    if not modes:
        return "read" if all(part.whole for part in parts) else unstated_mode(used)
    return "randrw" if all(mode.startswith("rand") for mode in modes) else "rw"


def _measured_s(figures: PrintedFigures) -> float | None:
    return number_in(figures["runtime_ms"]) / MS_PER_S if "runtime_ms" in figures else None


def _directions(parts: Sequence[JobPart]) -> dict[str, Direction]:
    directions: dict[str, Direction] = {}
    for name in DIRECTIONS:
        mine = [part.sides[name] for part in parts if name in part.sides]
        if mine:
            counts = [part.operations[name] for part in parts if name in part.sides and name in part.operations]
            directions[name] = Direction(
                iops=sum(iops_of(side) for side in mine),
                throughput_mib_s=sum(mib_s_of(side) for side in mine),
                operations=sum(counts) if len(counts) == len(mine) else None,
                latency=latency(
                    PrintedEntry(figures={"parts": {str(at): {name: side} for at, side in enumerate(mine)}})
                ),
            )
    return directions
