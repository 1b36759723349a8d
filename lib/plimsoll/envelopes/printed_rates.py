"""Printed rates: the rates, latency and device counts in the figures of one result.

A result has one or more sides. A side is the direction of a job. A mixed job has two, reads and writes, and a result of
several jobs has those of each job.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from plimsoll.domain.envelope import Latency
from plimsoll.envelopes.campaign_file import Figures, PrintedEntry
from plimsoll.envelopes.printed_numbers import (
    is_rounded,
    latency_under_us,
    number_in,
    rounding_of,
    scaled_in,
    throughput_mib_s_in,
)

DIRECTIONS: Final = ("read", "write")

Side = tuple[str, Figures]
"""A direction (empty where the source does not name it) and its figures."""

MS_PER_S: Final = 1000.0
_UNITS: Final = {"ns": 1e-3, "us": 1.0, "ms": 1e3}
_POINTS: Final = {"p50_us": 50.0, "p95_us": 95.0, "p99_us": 99.0}
_NTH: Final = re.compile(r"([\d.]+)th percentile")


def sides(one: PrintedEntry) -> list[Side]:
    """The sides of a result."""
    found = _nested(one)
    if found:
        return found
    headline = {"iops": one.iops, "throughput": one.throughput}
    told = {key: text for key, text in headline.items() if text is not None}
    return [(str(one.figures.get("direction", "")), {**one.figures, **told})]


def rates(one: PrintedEntry) -> tuple[float | None, float | None]:
    """IOPS and MiB/s of all sides together; None where the source does not print them."""
    found = _nested(one)
    if found:
        return sum(scaled_iops(side) for _, side in found), sum(throughput_mib_s(side) for _, side in found)
    ((_, alone),) = sides(one)
    return (
        None if one.iops is None else scaled_iops(alone),
        None if one.throughput is None else throughput_mib_s(alone),
    )


def scaled_iops(side: Figures) -> float:
    """IOPS of a side; the mean of fio's samples where the headline is rounded to thousands and agrees with it."""
    printed, samples = str(side["iops"]), side.get("iops_samples", {}).get("avg")
    told = scaled_in(printed)
    if samples is None or not is_rounded(printed):
        return told
    precise = scaled_in(str(samples))
    return precise if abs(precise - told) <= rounding_of(printed) else told


def throughput_mib_s(side: Figures) -> float:
    """MiB/s of a side: as fio prints it with its unit, or sysbench's."""
    return throughput_mib_s_in(side["throughput"]) if "throughput" in side else number_in(str(side["mib_s"]))


def device_iops(figures: Figures) -> float | None:
    """Operations a second that the device itself counted, in the direction of the job. None where not printed."""
    if "device_iops" in figures:
        return float(figures["device_iops"])
    disks = [figures["disk"]] if "disk" in figures else list(figures.get("disks", {}).values())
    runtime_s = number_in(str(figures.get("runtime_ms", 0))) / MS_PER_S
    if not disks or not runtime_s:
        return None
    counts = [[number_in(ios) for ios in str(disk["ios"]).split("/")] for disk in disks]
    directions = dict(zip(DIRECTIONS, map(sum, zip(*counts, strict=True)), strict=True))
    return directions.get(str(figures.get("direction")), sum(directions.values())) / runtime_s


def latency(one: PrintedEntry) -> Latency:
    """The latency that the source prints: fio's clat, sysbench's, single percentiles, or the bin of a histogram.

    With several sides each percentile is the worst side's. That is an upper bound for all I/O together.
    """
    if one.latency_bin is not None:
        return Latency(under_us=latency_under_us(one.latency_bin), upper_bound=True)
    whole = latency_of(one.figures)
    told = [] if whole != Latency() else [(latency_of(side), side) for _, side in _nested(one)]
    if not told:
        return whole
    return told[0][0] if len(told) == 1 else _together(told)


def latency_of(side: Figures) -> Latency:
    """The latency in the figures of one side."""
    percentiles = _percentiles(side, "clat") or _percentiles(side, "lat")
    for kind in ("clat", "lat"):
        for unit, us in _UNITS.items():
            if f"{kind}_{unit}" in side:
                return _of(side[f"{kind}_{unit}"], us, percentiles)
    if "latency_ms" in side:
        told = side["latency_ms"]
        found = ((float(nth.group(1)), text) for key, text in told.items() if (nth := _NTH.fullmatch(key)))
        return _of(told, _UNITS["ms"], tuple((nth, scaled_in(str(text)) * _UNITS["ms"]) for nth, text in found))
    points = tuple((percent, scaled_in(str(side[key]))) for key, percent in _POINTS.items() if key in side)
    return _of({"avg": side["mean_us"]} if "mean_us" in side else {}, 1.0, percentiles or points)


def _nested(one: PrintedEntry) -> list[Side]:
    jobs = one.figures["parts"].values() if "parts" in one.figures else [one.figures]
    return [(name, job[name]) for job in jobs for name in DIRECTIONS if name in job]


def _percentiles(side: Figures, kind: str) -> tuple[tuple[float, float], ...]:
    for unit, us in _UNITS.items():
        told: Mapping[str, Any] = side.get(f"{kind}_percentiles_{unit}", {})
        if told:
            return tuple((float(percent), scaled_in(str(text)) * us) for percent, text in told.items())
    return ()


def _of(told: Mapping[str, Any], us: float, percentiles: tuple[tuple[float, float], ...]) -> Latency:
    found = {key: scaled_in(str(told[key])) * us for key in ("avg", "min", "max", "stdev") if key in told}
    return Latency(
        mean_us=found.get("avg"),
        least_us=found.get("min"),
        most_us=found.get("max"),
        stdev_us=found.get("stdev"),
        percentiles_us=percentiles,
    )


def _together(told: Sequence[tuple[Latency, Figures]]) -> Latency:
    """The mean by operations, the extremes, and the worst of each percentile that all sides have."""
    found = [one for one, _ in told]
    shared = [percent for percent, _ in found[0].percentiles_us if all(one.at(percent) is not None for one in found)]
    worst = tuple((percent, max(one.at(percent) or 0.0 for one in found)) for percent in shared)
    means = [(one.mean_us, scaled_iops(side)) for one, side in told if one.mean_us is not None]
    operations = sum(iops for _, iops in means)
    least = [one.least_us for one in found if one.least_us is not None]
    most = [one.most_us for one in found if one.most_us is not None]
    return Latency(
        mean_us=sum(mean * iops for mean, iops in means) / operations
        if len(means) == len(told) and operations
        else None,
        least_us=min(least, default=None),
        most_us=max(most, default=None),
        percentiles_us=worst,
        upper_bound=bool(worst),
    )
