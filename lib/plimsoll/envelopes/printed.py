"""Figures as benchmarks print them: numbers in one unit each, and a result's rates, latency and device counts.

A result has one or more sides. A side is the direction of a job. A mixed job has two, reads and writes, and a result of
several jobs has those of each job. ValueError says what cannot be read.
"""

import math
import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.model.envelope import Latency
from plimsoll.model.units import KIB, MIB

PrintedFigures = dict[str, Any]
"""The source's figures, nested as it groups them. Names carry units."""

DIRECTIONS: Final = ("read", "write")

MIXED: Final = "mixed"
"""The direction of reads and writes in one figure (fio's unified_rw_reporting)."""

PrintedSide = tuple[str, PrintedFigures]
"""A direction (empty if the source leaves it out) and its figures."""

MS_PER_S: Final = 1000.0
_UNITS: Final = {"ns": 1e-3, "us": 1.0, "ms": 1e3}
_POINTS: Final = {"p50_us": 50.0, "p95_us": 95.0, "p99_us": 99.0}
_NTH: Final = re.compile(r"([\d.]+)th percentile")

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_THROUGHPUT: Final = re.compile(r"([\d.]+)\s*([KMGT]?i?)(B|bit)/s", re.IGNORECASE)
_BYTES: Final = {"b": 1.0} | {
    f"{letter}{ending}": base**power
    for ending, base in (("ib", 1024.0), ("b", 1000.0))
    for power, letter in enumerate("kmgt", start=1)
}
_THOUSANDS: Final = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGTP]?)(?:i?B?)", re.IGNORECASE)
_SIZES: Final = {letter: 1024.0**power for power, letter in enumerate(["", *"kmgtp"])}
_LEADING: Final = re.compile(r"[\d.]+(?:[eE][+-]?\d+)?")
_BIN: Final = re.compile(r"(>=)?\s*([\d.]+)\s*(usec|msec|sec)")
_MICROSECONDS: Final = {"usec": 1.0, "msec": 1e3, "sec": 1e6}
_DAY: Final = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(\d\d))?)?(?:-\d+)?")
_MOST: Final = 1e20
"""No benchmark counts further (fio's 64 bits end before), so a higher number is no figure."""


def number_in(printed: str) -> float:
    """A plain number that a benchmark can have printed: finite, not negative."""
    number = float(printed) if _NUMBER.fullmatch(printed) else math.nan
    if not number < _MOST:
        raise ValueError(f"{printed[:40]!r} is no figure")
    return number


def present(figures: Mapping[str, Any]) -> PrintedFigures:
    """The figures that are not None."""
    return {name: figure for name, figure in figures.items() if figure is not None}


def parse_scaled(printed: str) -> float:
    """A figure as fio prints it: 3023, or 19.8k for thousands."""
    if printed[-1:] in _THOUSANDS:
        return number_in(printed[:-1]) * _THOUSANDS[printed[-1]]
    return number_in(printed)


def throughput_mib_s_in(printed: str) -> float:
    """MiB/s of a printed throughput: KiB, MiB and GiB are powers of 1,024, kB, MB and GB of 1,000."""
    match = _THROUGHPUT.fullmatch(printed.strip())
    if match is None:
        raise ValueError(f"{printed!r} is no throughput such as 47.2MiB/s or 82.4MB/s")
    bits = 8.0 if match.group(3).lower() == "bit" else 1.0
    return float(match.group(1)) * _BYTES[f"{match.group(2).lower()}b"] / bits / MIB


def size_kib_in(printed: str) -> float | None:
    """KiB of a size as fio and sysbench print it (16k, 4096, 16.0KiB, 1G). None for anything else."""
    match = _SIZE.fullmatch(printed.strip())
    return None if match is None else number_in(match.group(1)) * _SIZES[match.group(2).lower()] / float(KIB)


def latency_under_us(printed: str) -> float | None:
    """The upper edge of a printed histogram bin, us. None for the open last bin (>= 2000 msec)."""
    match = _BIN.fullmatch(printed.strip())
    if match is None:
        raise ValueError(f"{printed!r} is no latency such as 4 msec")
    return None if match.group(1) else float(match.group(2)) * _MICROSECONDS[match.group(3)]


def earliest_day(printed: str) -> date:
    """The first day that a source's date can mean: of the month in 2020-12, of the year in 2021 or 2019-20."""
    match = _DAY.fullmatch(printed.strip())
    if match is None:
        raise ValueError(f"{printed!r} is no date such as 2021-05-07, 2020-12 or 2019")
    year, month, day = match.groups(default="1")
    return date(int(year), int(month), int(day))


def days_of(printed: str) -> tuple[date, date]:
    """The first and the last day that a source's date can mean."""
    first, match = earliest_day(printed), _DAY.fullmatch(printed.strip())
    _, month, day = ("", None, None) if match is None else match.groups()
    if day is not None:
        return first, first
    last = first.month if month is not None else 12
    return first, first.replace(month=last, day=monthrange(first.year, last)[1])


def flat(figures: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested figures as (dotted name, text)."""
    for key, value in figures.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{name}.")
        else:
            yield name, str(value)


class StrictEntry(BaseModel):
    """An entry of a campaign file: a key that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class PrintedEntry(StrictEntry):
    """The headline figures of one result, and everything else that was printed with them.

    `figures` are those of a single direction; or hold each direction's under `read` and `write`; or, where several jobs
    make one result, each job's directions under `parts` and the job's name.
    """

    iops: str | None = None
    throughput: str | None = None
    latency_bin: str | None = None
    figures: PrintedFigures = Field(default_factory=dict)


def sides(entry: PrintedEntry) -> list[PrintedSide]:
    """The sides of a result."""
    nested = _direction_sides(entry)
    if nested:
        return nested
    headline = present({"iops": entry.iops, "throughput": entry.throughput})
    return [(str(entry.figures.get("direction", "")), {**entry.figures, **headline})]


def rates(entry: PrintedEntry) -> tuple[float | None, float | None]:
    """IOPS and MiB/s of all sides together. None if the source leaves them out."""
    nested = _direction_sides(entry)
    if nested:
        return sum(scaled_iops(side) for _, side in nested), sum(side_mib_s(side) for _, side in nested)
    ((_, alone),) = sides(entry)
    return (
        None if entry.iops is None else scaled_iops(alone),
        None if entry.throughput is None else side_mib_s(alone),
    )


def scaled_iops(side: PrintedFigures) -> float:
    """IOPS of a side: the mean of fio's samples if the headline is rounded to thousands and agrees with it."""
    printed, samples = str(side["iops"]), side.get("iops_samples", {}).get("avg")
    rounded, unit = parse_scaled(printed), _THOUSANDS.get(printed[-1:])
    if samples is None or unit is None:
        return rounded
    precise, decimals = parse_scaled(str(samples)), len(printed[:-1].partition(".")[2])
    return precise if abs(precise - rounded) <= 0.5 * unit / 10.0**decimals else rounded


def side_mib_s(side: PrintedFigures) -> float:
    """MiB/s of a side: as fio prints it with its unit, or sysbench's."""
    return throughput_mib_s_in(side["throughput"]) if "throughput" in side else number_in(str(side["mib_s"]))


def device_iops(figures: PrintedFigures) -> float | None:
    """Operations a second that the device itself counted, in the direction of the job. None if not printed."""
    if "device_iops" in figures:
        return float(figures["device_iops"])
    disks = [figures["disk"]] if "disk" in figures else list(figures.get("disks", {}).values())
    runtime_s = number_in(str(figures.get("runtime_ms", 0))) / MS_PER_S
    if not disks or not runtime_s:
        return None
    counts = [[number_in(ios) for ios in str(disk["ios"]).split("/")] for disk in disks]
    directions = dict(zip(DIRECTIONS, map(sum, zip(*counts, strict=True)), strict=True))
    return directions.get(str(figures.get("direction")), sum(directions.values())) / runtime_s


def latency(entry: PrintedEntry) -> Latency:
    """The latency that the source prints: fio's clat, sysbench's, single percentiles, or the bin of a histogram.

    With several sides each percentile is the worst side's. That is an upper bound for all I/O together.
    """
    if entry.latency_bin is not None:
        return Latency(under_us=latency_under_us(entry.latency_bin), upper_bound=True)
    whole = latency_of(entry.figures)
    nested = [] if whole != Latency() else [(latency_of(side), side) for _, side in _direction_sides(entry)]
    if not nested:
        return whole
    return nested[0][0] if len(nested) == 1 else _combine_latencies(nested)


def slack_of(printed: str) -> float:
    """The share by which rounding can have moved a printed figure: one of its last digit."""
    match = _LEADING.match(printed.strip())
    if match is None or "e" in match[0].lower() or not float(match[0]):
        return 0.0
    return float(10.0 ** -len(match[0].partition(".")[2])) / float(match[0])


def mean_us(side: PrintedFigures) -> float | None:
    """The mean time of a whole operation: the total latency, or the sum of its parts. None if not printed."""
    means = {
        kind: parse_scaled(str(side[f"{kind}_{unit}"]["avg"])) * us
        for kind in ("slat", "clat", "lat")
        for unit, us in _UNITS.items()
        if "avg" in side.get(f"{kind}_{unit}", {})
    }
    if "lat" in means or "clat" not in means:
        return means.get("lat")
    return means["clat"] + means.get("slat", 0.0)


def latency_of(side: PrintedFigures) -> Latency:
    """The latency in the figures of one side."""
    percentiles = _percentiles(side, "clat") or _percentiles(side, "lat")
    for kind in ("clat", "lat"):
        for unit, us in _UNITS.items():
            if f"{kind}_{unit}" in side:
                return _latency_from(side[f"{kind}_{unit}"], us, percentiles)
    if "latency_ms" in side:
        summary = side["latency_ms"]
        nth_texts = ((float(nth.group(1)), text) for key, text in summary.items() if (nth := _NTH.fullmatch(key)))
        return _latency_from(
            summary, _UNITS["ms"], tuple((nth, parse_scaled(str(text)) * _UNITS["ms"]) for nth, text in nth_texts)
        )
    points = tuple((percent, parse_scaled(str(side[key]))) for key, percent in _POINTS.items() if key in side)
    return _latency_from({"avg": side["mean_us"]} if "mean_us" in side else {}, 1.0, percentiles or points)


def _direction_sides(entry: PrintedEntry) -> list[PrintedSide]:
    jobs = entry.figures["parts"].values() if "parts" in entry.figures else [entry.figures]
    return [(name, job[name]) for job in jobs for name in (*DIRECTIONS, MIXED) if name in job]


def _percentiles(side: PrintedFigures, kind: str) -> tuple[tuple[float, float], ...]:
    """The percentiles of a kind of latency, each with its figure in us; none if none are printed."""
    for unit, us in _UNITS.items():
        printed: Mapping[str, Any] = side.get(f"{kind}_percentiles_{unit}", {})
        if printed:
            return tuple((float(percent), parse_scaled(str(text)) * us) for percent, text in printed.items())
    return ()


def _latency_from(summary: Mapping[str, Any], us: float, percentiles: tuple[tuple[float, float], ...]) -> Latency:
    figures_us = {key: parse_scaled(str(summary[key])) * us for key in ("avg", "min", "max", "stdev") if key in summary}
    return Latency(
        mean_us=figures_us.get("avg"),
        least_us=figures_us.get("min"),
        most_us=figures_us.get("max"),
        stdev_us=figures_us.get("stdev"),
        percentiles_us=percentiles,
    )


def _combine_latencies(by_side: Sequence[tuple[Latency, PrintedFigures]]) -> Latency:
    """The mean by operations, the extremes, and the worst of each percentile that all sides have."""
    latencies = [latency for latency, _ in by_side]
    shared = [
        percent
        for percent, _ in latencies[0].percentiles_us
        if all(latency.percentile_us(percent) is not None for latency in latencies)
    ]
    worst = tuple((percent, max(latency.percentile_us(percent) or 0.0 for latency in latencies)) for percent in shared)
    means = [(latency.mean_us, scaled_iops(side)) for latency, side in by_side if latency.mean_us is not None]
    operations = sum(iops for _, iops in means)
    least = [latency.least_us for latency in latencies if latency.least_us is not None]
    most = [latency.most_us for latency in latencies if latency.most_us is not None]
    return Latency(
        mean_us=sum(mean * iops for mean, iops in means) / operations
        if len(means) == len(by_side) and operations
        else None,
        least_us=min(least, default=None),
        most_us=max(most, default=None),
        percentiles_us=worst,
        upper_bound=bool(worst),
    )
