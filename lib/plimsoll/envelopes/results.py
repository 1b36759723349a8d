"""Results: what one output of fio or sysbench says, before the volume is known.

The jobs that fio ran together and reports as one are one result.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from plimsoll.domain.evidence.envelope import JobShape, Latency
from plimsoll.domain.evidence.time_series import TimeSeries
from plimsoll.domain.units import KIB, KIB_PER_MIB
from plimsoll.envelopes.fio_options import (
    block_kib_of,
    direct_of,
    duration_s,
    held_by,
    is_partly_sequential,
    places_of,
    rate_of,
    set_gib_of,
    skew_of,
    start_of,
    synced_of,
    targets_of,
    verified_of,
)
from plimsoll.envelopes.printed import (
    DIRECTIONS,
    MIXED,
    MS_PER_S,
    Figures,
    PrintedEntry,
    device_iops,
    flat,
    latency,
    number_in,
    rates,
    size_kib_in,
)
from plimsoll.envelopes.printed import scaled_iops as iops_of
from plimsoll.envelopes.printed import throughput_mib_s as mib_s_of

DEFAULT_KIB: Final = 4.0
"""fio's block size where the job names none."""

_LEAST_SNAP: Final = 0.01
_MOST_SNAP: Final = 0.1
"""How far rounded figures may be from a power of two: whole IOPS are the coarsest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """Reads or writes of a result. `operations` is the number completed, None where not printed."""

    iops: float
    throughput_mib_s: float
    operations: int | None
    latency: Latency


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One job group of a benchmark's output: jobs that ran together and are reported as one.

    `iops` and `throughput_mib_s` are both directions together, None where nothing was done. `latency` of several
    directions or jobs is, per percentile, the worst of them: an upper bound. `directions` holds those that did I/O.
    `device_iops` is what the device itself counted, None where it cannot be told from other groups'. `measured_on` is
    the date as printed, `options` the job's options as printed, `error` the errno that the job ended with (0: none).
    `series` is what it did over time, None where that is not told.
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
    def rate_capped(self) -> bool:
        """Whether the job was held to a rate. It then proves that rate, and no maximum."""
        return any(self.options.get(option) for option in ("rate", "rate_iops"))

    @property
    def fault(self) -> str | None:
        """Why this is no measurement, None where it is one."""
        if self.error:
            return f"the job {self.name} ended with error {self.error} ({os.strerror(self.error)})"
        return None if self.iops or self.throughput_mib_s else f"the job {self.name} did no reads and no writes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A result that says something of the host alone: sysbench's cpu, memory, mutex or threads.

    `kind` is the test (`events` where the output does not tell it), `job` the command as printed, `figures` the rest.
    """

    kind: str
    job: str | None
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Everything that one output says: results of storage, profiles of its host, and tests of a database.

    Of a database nothing is kept but that it was tested.
    """

    results: tuple[Result, ...] = ()
    profiles: tuple[Profile, ...] = ()
    databases: int = 0

    def __add__(self, other: "Output") -> "Output":
        return Output(
            results=self.results + other.results,
            profiles=self.profiles + other.profiles,
            databases=self.databases + other.databases,
        )


def without_repeats(results: Sequence[Result]) -> tuple[Result, ...]:
    """The results, each once: of one that is printed again, in full or abridged, the one with the most figures."""
    kept: list[Result] = []
    for result in results:
        at = next((at for at, one in enumerate(kept) if _is_repeat(one, result) or _is_repeat(result, one)), None)
        if at is None:
            kept.append(result)
        elif not _is_repeat(kept[at], result):
            kept[at] = result
    return tuple(kept)


def _is_repeat(one: Result, other: Result) -> bool:
    """Whether all that the other prints is in the one: the same rates, times, process and date."""
    if (one.name, one.group, one.tool, one.iops) != (other.name, other.group, other.tool, other.iops):
        return False
    return _leaves(other.printed) <= _leaves(one.printed)


def _leaves(printed: PrintedEntry) -> set[tuple[str, str]]:
    found = {("iops", str(printed.iops)), ("throughput", str(printed.throughput))}
    beside = {name: figure for name, figure in printed.figures.items() if name not in _OF_THE_RUN}
    return found | set(flat(beside))


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
class Part:
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
    sides: Mapping[str, Figures]
    beside: Figures = field(default_factory=dict)
    operations: Mapping[str, int] = field(default_factory=dict)
    whole: bool = False
    merged: bool | None = False
    host: str | None = None
    outstanding: float | None = None


def result_of(parts: Sequence[Part], *, version: str | None, measured_on: str | None, disk: Figures) -> Result:
    """The result of a group. `disk` has the device's own counts, and is empty where other groups share them."""
    first = parts[0]
    printed = _printed(parts, disk)
    iops, throughput_mib_s = rates(printed) if any(part.sides for part in parts) else (None, None)
    names = dict.fromkeys(part.name for part in parts)
    error = next((part.error for part in parts if part.error), 0)
    return Result(
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


def disk_figures(disks: Mapping[str, Figures]) -> Figures:
    """The devices' own counts, by the device's name, as a result's figures."""
    if len(disks) == 1:
        ((name, figures),) = disks.items()
        return {"disk": {"name": name, **figures}}
    return {"disks": dict(disks)} if disks else {}


def shared_disks(disk: Figures, groups: Sequence[Sequence[Part]]) -> Figures:
    """The devices of a run of several groups: their names, and what share of all groups' operations they counted."""
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
    told = all(part.operations for parts in groups for part in parts if part.sides) and sum(operations) > 0
    names = {name: {key: figures[key] for key in ("members",) if key in figures} for name, figures in disks.items()}
    return {"shared_disks": names, **({"device_share": f"{counted / sum(operations):.4g}"} if told else {})}


def hosts_of(parts: Sequence[Part]) -> Figures:
    """How many machines made a result: 0 where fio only tells the sum of all its clients."""
    hosts = {part.host for part in parts if part.host is not None}
    if any(part.name.partition("@")[0] == ALL_CLIENTS for part in parts):
        return {"hosts": "0"}
    return {"hosts": str(len(hosts))} if hosts else {}


ALL_CLIENTS: Final = "All clients"
"""What fio calls the sum of all the machines that it ran on."""


def mean_block_kib(iops: float | None, throughput_mib_s: float | None) -> float | None:
    """The mean I/O size: a power of two where rounded figures come that close to it; None where nothing was done."""
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
    """GiB of a size option; None for a share such as 50% or none at all."""
    kib = None if size is None else size_kib_in(size)
    return None if kib is None else kib / KIB**2


def _printed(parts: Sequence[Part], disk: Figures) -> PrintedEntry:
    runtimes = [side["runtime_ms"] for part in parts for side in part.sides.values() if "runtime_ms" in side]
    longest: Figures = {"runtime_ms": max(runtimes, key=number_in)} if runtimes else {}
    if len(parts) > 1:
        each = {f"{at}-{part.name}": {**part.sides, **part.beside} for at, part in enumerate(parts)}
        return PrintedEntry(figures={"parts": each, **longest, **disk})
    (part,) = parts
    if len(part.sides) != 1:
        return PrintedEntry(figures={**part.sides, **longest, **part.beside, **disk})
    ((direction, side),) = part.sides.items()
    rest = {key: figure for key, figure in side.items() if key not in {"iops", "throughput"}}
    return PrintedEntry(
        iops=side["iops"],
        throughput=side["throughput"],
        figures={"direction": direction, **rest, **part.beside, **disk},
    )


def _shape(
    parts: Sequence[Part], printed: PrintedEntry, iops: float | None, throughput_mib_s: float | None
) -> JobShape:
    options = parts[0].options
    runtimes = [duration_s(options.get("runtime")), _measured_s(printed.figures)]
    iodepth = options.get("iodepth", "")
    sets = [set_gib_of(part.options, part.jobs) for part in parts]
    targets = dict.fromkeys(name for part in parts for name in targets_of(part.options))
    places = dict.fromkeys(place for part in parts for place in places_of(part.options))
    return JobShape(
        mode=_mode(parts),
        block_kib=_block_kib(parts, mean_block_kib(iops, throughput_mib_s)),
        iodepth=int(iodepth) if iodepth.isdecimal() and len(iodepth) < 10 else None,
        jobs=sum(part.jobs for part in parts),
        engine=options.get("ioengine"),
        runtime_s=min((seconds for seconds in runtimes if seconds), default=None),
        direct=direct_of(options, whole=parts[0].whole),
        file_size_gib=gib_of(options.get("size")),
        synced=synced_of(options, whole=parts[0].whole),
        verify=verified_of(options, whole=parts[0].whole),
        target=":".join(targets) or None,
        places=len(places) or None,
        outstanding=_sum_if_all([part.outstanding for part in parts]),
        held_by=next((held for part in parts if (held := _held_by(part))), None),
        rate_iops=_sum_if_all([_rate(part, iops=True) for part in parts]),
        rate_mib_s=_sum_if_all([_rate(part, iops=False) for part in parts]),
        set_gib=_shared_set_gib(parts, sets),
        skew=next((skew for part in parts if (skew := skew_of(part.options))), None),
        partly_sequential=any(is_partly_sequential(part.options) for part in parts) or None,
        chained=_are_chained(parts, _measured_s(printed.figures)) or None,
    )


def _block_kib(parts: Sequence[Part], mean_kib: float | None) -> float:
    """The block size that all jobs state. The mean, where they differ, or where one entry is of jobs that differ."""
    stated = {block_kib_of(part.options) for part in parts}
    one = stated.pop() if len(stated) == 1 else None
    if one is not None and mean_kib is not None and any(part.merged is not False for part in parts):
        return one if abs(mean_kib / one - 1) <= _MOST_SNAP else mean_kib
    return one or mean_kib or DEFAULT_KIB


def _are_chained(parts: Sequence[Part], ran_s: float | None) -> bool:
    """Whether a job waited for another of its group, or began when it was half done."""
    names, starts = {part.name for part in parts}, [start_of(part.options) for part in parts]
    return any(part.options.get("wait_for") in names for part in parts) or (
        ran_s is not None and max(starts) - min(starts) > ran_s / 2
    )


def _held_by(part: Part) -> str | None:
    return held_by(part.options, writes=any(name != "read" for name in part.sides))


def _rate(part: Part, *, iops: bool) -> float | None:
    one = rate_of(part.options, iops=iops, used=part.sides)
    return None if one is None or part.merged else one * (1 if part.options.get("wait_for") else part.jobs)


def _sum_if_all(numbers: Sequence[float | None]) -> float | None:
    told = [number for number in numbers if number is not None]
    return sum(told) if told and len(told) == len(numbers) else None


def _shared_set_gib(parts: Sequence[Part], sets: Sequence[float | None]) -> float | None:
    """All that the jobs of a group could touch: jobs of the same files touch the same."""
    by_files: dict[object, float] = {}
    for at, (part, gib) in enumerate(zip(parts, sets, strict=True)):
        if gib is None:
            return None
        files = part.options.get("filename") or at
        by_files[files] = max(gib, by_files.get(files, 0.0))
    return sum(by_files.values()) or None


def _mode(parts: Sequence[Part]) -> str:
    """The rw that all jobs share; of jobs that differ, both directions, random only where all are."""
    used = [name for part in parts for name in part.sides] or list(DIRECTIONS)
    stated = {part.options.get("rw") or part.options.get("readwrite") for part in parts}
    modes = {mode.partition(":")[0] for mode in stated if mode}
    if len(modes) == 1 and None not in stated:
        return modes.pop().replace("readwrite", "rw")
    if not modes:
        return "read" if all(part.whole for part in parts) else unstated_mode(used)
    return "randrw" if all(mode.startswith("rand") for mode in modes) else "rw"


def _measured_s(figures: Figures) -> float | None:
    return number_in(figures["runtime_ms"]) / MS_PER_S if "runtime_ms" in figures else None


def _directions(parts: Sequence[Part]) -> dict[str, Direction]:
    found: dict[str, Direction] = {}
    for name in DIRECTIONS:
        mine = [part.sides[name] for part in parts if name in part.sides]
        if mine:
            counts = [part.operations[name] for part in parts if name in part.sides and name in part.operations]
            found[name] = Direction(
                iops=sum(iops_of(side) for side in mine),
                throughput_mib_s=sum(mib_s_of(side) for side in mine),
                operations=sum(counts) if len(counts) == len(mine) else None,
                latency=latency(
                    PrintedEntry(figures={"parts": {str(at): {name: side} for at, side in enumerate(mine)}})
                ),
            )
    return found
