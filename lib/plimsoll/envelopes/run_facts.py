"""Facts of a run besides its rates: errors, devices, counts, times."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from plimsoll.envelopes.printed import (
    DIRECTIONS,
    MIXED,
    MS_PER_S,
    PrintedEntry,
    PrintedFigures,
    PrintedSide,
    latency_of,
    mean_us,
    number_in,
    scaled_iops,
    side_mib_s,
    sides,
    size_kib_in,
    slack_of,
)
from plimsoll.model.envelope import RunFacts, SideFacts
from plimsoll.model.units import KIB_PER_MIB

_COUNT: Final = re.compile(r"\d+")
_US_PER_MS: Final = 1_000.0
_REACHED_PCT: Final = 5.0
"""A depth with a smaller share of the operations was not kept."""


def run_facts(entry: PrintedEntry) -> RunFacts:
    """The facts of the run that a result is from."""
    figures = entry.figures
    disks = [figures["disk"]] if "disk" in figures else list(figures.get("disks", {}).values())
    shared = figures.get("shared_disks", {})
    named = {"disk": str(figures["disk"].get("name", ""))} if "disk" in figures else figures.get("disks", {})
    devices = (*(named.values() if "disk" in figures else named), *([figures["dev"]] if "dev" in figures else []))
    behind = [str(disk["members"]).split() for disk in (*disks, *shared.values()) if "members" in disk]
    did = {name for name, side in sides(entry) if name in DIRECTIONS and scaled_iops(side) > 0}
    return RunFacts(
        error=int(figures.get("error", 0)),
        lost_share=_lost_share(figures),
        devices=tuple(str(name) for name in (*devices, *shared)),
        members=max(map(len, behind), default=None),
        behind=tuple(name for names in behind for name in names),
        read_too=did >= {"read", "write"},
        failed=any(_all(figures, "total_err")),
        shared=bool(shared),
        sides=tuple(_side_facts(name, side, job) for name, side, job in _jobs_sides(entry)),
        elapsed_s=_number(figures, "elapsed_s"),
        accounted_s=_number(figures, "accounted_s"),
        merged_share=_merged_share(figures, disks, did),
        device_share=_number(figures, "device_share"),
        hosts=int(figures["hosts"]) if "hosts" in figures else None,
        reached_depth=_reached_depth(figures),
    )


def _number(figures: Mapping[str, Any], name: str) -> float | None:
    return number_in(str(figures[name])) if name in figures else None


def _jobs_sides(entry: PrintedEntry) -> Iterator[tuple[str, PrintedFigures, PrintedFigures]]:
    """Each direction of each job that has a rate, and the job's figures beside it."""
    jobs = list(entry.figures["parts"].values()) if "parts" in entry.figures else [entry.figures]
    nested = [(name, job[name], job) for job in jobs for name in (*DIRECTIONS, MIXED) if name in job]
    alone: list[PrintedSide] = [] if nested else sides(entry)
    yield from nested
    for name, side in alone:
        if "iops" in side and ("throughput" in side or "mib_s" in side):
            yield name, side, entry.figures


def _side_facts(name: str, side: PrintedFigures, job: PrintedFigures) -> SideFacts:
    moved = str(side.get("io", ""))
    kib = size_kib_in(moved)
    throughput = str(side.get("throughput", side.get("mib_s")))
    return SideFacts(
        direction=name,
        iops=scaled_iops(side),
        throughput_mib_s=side_mib_s(side),
        iops_slack=0.0 if "iops_samples" in side and str(side["iops"])[-1:].isalpha() else slack_of(str(side["iops"])),
        throughput_slack=slack_of(throughput),
        operations=_operations(name, side, job),
        moved_mib=None if kib is None else kib / KIB_PER_MIB,
        moved_slack=slack_of(moved),
        run_s=_run_s(side, job) if {"runtime_ms", "total_time_s"} & {*side, *job} else None,
        latency=latency_of(side),
        total_us=mean_us(side) or _mean_latency_us(job),
        took_no_time=any(str(side.get(kind, {}).get("min")) == "0" for kind in ("clat_ns", "lat_ns")),
    )


def _run_s(side: PrintedFigures, job: PrintedFigures) -> float:
    if "runtime_ms" in side:
        return number_in(str(side["runtime_ms"])) / MS_PER_S
    return number_in(str(job.get("total_time_s", 0)))


def _events_share(job: PrintedFigures) -> float:
    """The share of the requests by rate that sysbench counted. Versions count with or without syncs."""
    counted, seconds = number_in(str(job["events"])), number_in(str(job["total_time_s"]))
    iops = [number_in(str(job.get(name, {}).get("iops", 0))) for name in (*DIRECTIONS, "fsync")]
    shares = [counted / (rate * seconds) for rate in (sum(iops[:2]), sum(iops)) if rate * seconds]
    return min(shares, key=lambda share: abs(share - 1), default=1.0)


def _mean_latency_us(job: PrintedFigures) -> float | None:
    """The mean of all requests together, which is all that sysbench prints."""
    mean_ms = job.get("latency_ms", {}).get("avg")
    return None if mean_ms is None else number_in(str(mean_ms)) * _US_PER_MS or None


def _operations(name: str, side: PrintedFigures, job: PrintedFigures) -> float | None:
    """The operations of a direction: of the side itself, or of the counts that fio issued by direction."""
    if "total_ios" in side:
        return number_in(str(side["total_ios"]))
    if "events" in job:
        return scaled_iops(side) * _run_s(side, job) * _events_share(job) if "total_time_s" in job else None
    counts = _COUNT.findall(str(job.get("issued_rwts", {}).get("total", "")))
    at = {"read": 0, "write": 1}.get(name)
    return None if at is None or at >= len(counts) else number_in(counts[at])


def _merged_share(figures: Mapping[str, Any], disks: list[PrintedFigures], did: set[str]) -> float | None:
    """The share of a run's operations that the kernel merged into others, in the directions that it used."""
    direction = figures.get("direction")
    used = [at for at, name in enumerate(DIRECTIONS) if name in did or name == direction]
    merged, counted = 0.0, 0.0
    for disk in disks:
        merges, ios = str(disk.get("merge", "")).split("/"), str(disk.get("ios", "")).split("/")
        if len(merges) == len(ios) == len(DIRECTIONS) and all(each.isdecimal() for each in (*merges, *ios)):
            merged += sum(number_in(merges[at]) for at in used)
            counted += sum(number_in(ios[at]) for at in used)
    return merged / (merged + counted) if merged + counted else None


def _reached_depth(figures: Mapping[str, Any]) -> int | None:
    """The deepest queue that a job kept, by the histogram of depths. None if that is open or not printed."""
    jobs = figures["parts"].values() if "parts" in figures else [figures]
    deepest = [_deepest(job.get("io_depths_pct", {})) for job in jobs]
    known = [depth for depth in deepest if depth is not None]
    return max(known) if known and len(known) == len(deepest) else None


def _deepest(shares: Mapping[str, str]) -> int | None:
    levels = [level for level, share in shares.items() if number_in(str(share)) >= _REACHED_PCT]
    if not levels or any(not level.isdecimal() for level in levels):
        return None
    highest = max(int(level) for level in levels)
    return highest if highest <= 1 else 2 * highest - 1


def _lost_share(figures: Mapping[str, Any]) -> float | None:
    """The share of the operations that were short, dropped or failed. None if nothing counts them."""
    issued = list(_issued_counts(figures, "total")) or [number_in(str(count)) for count in _all(figures, "total_ios")]
    failed = [number_in(str(count)) for count in _all(figures, "total_err")]
    lost = [*_issued_counts(figures, "short"), *_issued_counts(figures, "dropped"), *failed]
    if not issued or not lost:
        return None
    total = sum(issued)
    return sum(lost) / total if total else None


def _all(figures: Mapping[str, Any], key: str) -> Iterator[Any]:
    for name, value in figures.items():
        if name == key:
            yield value
        elif isinstance(value, Mapping):
            yield from _all(value, key)


def _issued_counts(figures: Mapping[str, Any], name: str) -> Iterator[float]:
    """The counts of that name that a result issued, of all its jobs and directions."""
    for key, value in figures.items():
        if key == "issued_rwts":
            yield from (number_in(count) for count in _COUNT.findall(str(value.get(name, ""))))
        elif isinstance(value, Mapping):
            yield from _issued_counts(value, name)
