"""Facts of a run: what an output says of how it went, besides its rates."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from plimsoll.domain.evidence.envelope import RunFacts, SideFacts
from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.envelopes.printed import (
    DIRECTIONS,
    MIXED,
    MS_PER_S,
    Figures,
    PrintedEntry,
    Side,
    latency_of,
    mean_us,
    number_in,
    scaled_iops,
    sides,
    size_kib_in,
    slack_of,
    throughput_mib_s,
)

_COUNT: Final = re.compile(r"\d+")
_US_PER_MS: Final = 1_000.0
_REACHED_PCT: Final = 5.0
"""A depth at which fewer operations were issued was not kept."""


def run_facts(one: PrintedEntry) -> RunFacts:
    """The facts of the run that a result is from."""
    figures = one.figures
    disks = [figures["disk"]] if "disk" in figures else list(figures.get("disks", {}).values())
    shared = figures.get("shared_disks", {})
    named = {"disk": str(figures["disk"].get("name", ""))} if "disk" in figures else figures.get("disks", {})
    devices = (*(named.values() if "disk" in figures else named), *([figures["dev"]] if "dev" in figures else []))
    behind = [str(disk["members"]).split() for disk in (*disks, *shared.values()) if "members" in disk]
    did = {name for name, side in sides(one) if name in DIRECTIONS and scaled_iops(side) > 0}
    return RunFacts(
        error=int(figures.get("error", 0)),
        lost_share=_lost_share(figures),
        devices=tuple(str(name) for name in (*devices, *shared)),
        members=max(map(len, behind), default=None),
        behind=tuple(name for names in behind for name in names),
        read_too=did >= {"read", "write"},
        failed=any(_all(figures, "total_err")),
        shared=bool(shared),
        sides=tuple(_side_facts(name, side, job) for name, side, job in _jobs_sides(one)),
        elapsed_s=_number(figures, "elapsed_s"),
        accounted_s=_number(figures, "accounted_s"),
        merged_share=_merged_share(figures, disks, did),
        device_share=_number(figures, "device_share"),
        hosts=int(figures["hosts"]) if "hosts" in figures else None,
        reached_depth=_reached_depth(figures),
    )


def _number(figures: Mapping[str, Any], name: str) -> float | None:
    return number_in(str(figures[name])) if name in figures else None


def _jobs_sides(one: PrintedEntry) -> Iterator[tuple[str, Figures, Figures]]:
    """Each direction of each job that has a rate, and the job's figures beside it."""
    jobs = list(one.figures["parts"].values()) if "parts" in one.figures else [one.figures]
    nested = [(name, job[name], job) for job in jobs for name in (*DIRECTIONS, MIXED) if name in job]
    alone: list[Side] = [] if nested else sides(one)
    yield from nested
    for name, side in alone:
        if "iops" in side and ("throughput" in side or "mib_s" in side):
            yield name, side, one.figures


def _side_facts(name: str, side: Figures, job: Figures) -> SideFacts:
    moved = str(side.get("io", ""))
    kib = size_kib_in(moved)
    throughput = str(side.get("throughput", side.get("mib_s")))
    return SideFacts(
        direction=name,
        iops=scaled_iops(side),
        throughput_mib_s=throughput_mib_s(side),
        iops_slack=0.0 if "iops_samples" in side and str(side["iops"])[-1:].isalpha() else slack_of(str(side["iops"])),
        throughput_slack=slack_of(throughput),
        operations=_operations(name, side, job),
        moved_mib=None if kib is None else kib / KIB_PER_MIB,
        moved_slack=slack_of(moved),
        run_s=_run_s(side, job) if {"runtime_ms", "total_time_s"} & {*side, *job} else None,
        latency=latency_of(side),
        total_us=mean_us(side) or _of_all_us(job),
        took_no_time=any(str(side.get(kind, {}).get("min")) == "0" for kind in ("clat_ns", "lat_ns")),
    )


def _run_s(side: Figures, job: Figures) -> float:
    if "runtime_ms" in side:
        return number_in(str(side["runtime_ms"])) / MS_PER_S
    return number_in(str(job.get("total_time_s", 0)))


def _events_share(job: Figures) -> float:
    """What sysbench counted of the requests that its rates make, with or without syncs as its version counts them."""
    counted, seconds = number_in(str(job["events"])), number_in(str(job["total_time_s"]))
    iops = [number_in(str(job.get(name, {}).get("iops", 0))) for name in (*DIRECTIONS, "fsync")]
    shares = [counted / (rate * seconds) for rate in (sum(iops[:2]), sum(iops)) if rate * seconds]
    return min(shares, key=lambda share: abs(share - 1), default=1.0)


def _of_all_us(job: Figures) -> float | None:
    """The mean of all requests together, which is all that sysbench prints."""
    told = job.get("latency_ms", {}).get("avg")
    return None if told is None else number_in(str(told)) * _US_PER_MS or None


def _operations(name: str, side: Figures, job: Figures) -> float | None:
    """The operations of a direction: of the side itself, or of the counts that fio issued by direction."""
    if "total_ios" in side:
        return number_in(str(side["total_ios"]))
    if "events" in job:
        return scaled_iops(side) * _run_s(side, job) * _events_share(job) if "total_time_s" in job else None
    counts = _COUNT.findall(str(job.get("issued_rwts", {}).get("total", "")))
    at = {"read": 0, "write": 1}.get(name)
    return None if at is None or at >= len(counts) else number_in(counts[at])


def _merged_share(figures: Mapping[str, Any], disks: list[Figures], did: set[str]) -> float | None:
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
    """The deepest that a job kept its queue, by the histogram of depths; None where it is open, or not printed."""
    jobs = figures["parts"].values() if "parts" in figures else [figures]
    deepest = [_deepest(job.get("io_depths_pct", {})) for job in jobs]
    told = [depth for depth in deepest if depth is not None]
    return max(told) if told and len(told) == len(deepest) else None


def _deepest(shares: Mapping[str, str]) -> int | None:
    levels = [level for level, share in shares.items() if number_in(str(share)) >= _REACHED_PCT]
    if not levels or any(not level.isdecimal() for level in levels):
        return None
    highest = max(int(level) for level in levels)
    return highest if highest <= 1 else 2 * highest - 1


def _lost_share(figures: Mapping[str, Any]) -> float | None:
    """The share of the operations that were short, dropped or failed; None where nothing counts them."""
    issued = list(_each(figures, "total")) or [number_in(str(count)) for count in _all(figures, "total_ios")]
    failed = [number_in(str(count)) for count in _all(figures, "total_err")]
    lost = [*_each(figures, "short"), *_each(figures, "dropped"), *failed]
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


def _each(figures: Mapping[str, Any], name: str) -> Iterator[float]:
    """The counts of that name that a result issued, of all its jobs and directions."""
    for key, value in figures.items():
        if key == "issued_rwts":
            yield from (number_in(count) for count in _COUNT.findall(str(value.get(name, ""))))
        elif isinstance(value, Mapping):
            yield from _each(value, name)
