"""What benchmarks print: numbers in one unit each, and the rates, latency and device counts in one result's figures.

A result has one or more sides. A side is the direction of a job. A mixed job has two, reads and writes, and a result of
several jobs has those of each job. ValueError says what cannot be read.
"""

import math
import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.domain.evidence.envelope import Latency
from plimsoll.domain.units import KIB, MIB

Figures = dict[str, Any]
"""What the source printed, nested as it groups it; names carry units."""

DIRECTIONS: Final = ("read", "write")

MIXED: Final = "mixed"
"""Reads and writes in one figure, where fio was asked not to tell them apart (unified_rw_reporting)."""

Side = tuple[str, Figures]
"""A direction (empty where the source does not name it) and its figures."""

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
"""No benchmark counts further (fio's 64 bits end before): what is above is no figure."""


def number_in(printed: str) -> float:
    """A plain number that a benchmark can have printed: finite, not negative."""
    found = float(printed) if _NUMBER.fullmatch(printed) else math.nan
    if not found < _MOST:
        raise ValueError(f"{printed[:40]!r} is no figure")
    return found


def present(figures: Mapping[str, Any]) -> Figures:
    """The figures that there are."""
    return {name: figure for name, figure in figures.items() if figure is not None}


def scaled_in(printed: str) -> float:
    """A figure as fio prints it: 3023, or 19.8k for thousands."""
    if printed[-1:] in _THOUSANDS:
        return number_in(printed[:-1]) * _THOUSANDS[printed[-1]]
    return number_in(printed)


def throughput_mib_s_in(printed: str) -> float:
    """MiB/s of a printed throughput: KiB, MiB and GiB are powers of 1,024, kB, MB and GB of 1,000."""
    found = _THROUGHPUT.fullmatch(printed.strip())
    if found is None:
        raise ValueError(f"{printed!r} is no throughput such as 47.2MiB/s or 82.4MB/s")
    bits = 8.0 if found.group(3).lower() == "bit" else 1.0
    return float(found.group(1)) * _BYTES[f"{found.group(2).lower()}b"] / bits / MIB


def size_kib_in(printed: str) -> float | None:
    """KiB of a size as fio and sysbench take and print it (16k, 4096, 16.0KiB, 1G); None for anything else."""
    found = _SIZE.fullmatch(printed.strip())
    return None if found is None else number_in(found.group(1)) * _SIZES[found.group(2).lower()] / float(KIB)


def latency_under_us(printed: str) -> float | None:
    """The upper edge of a printed histogram bin in microseconds; None for the open last bin (>= 2000 msec)."""
    found = _BIN.fullmatch(printed.strip())
    if found is None:
        raise ValueError(f"{printed!r} is no latency such as 4 msec")
    return None if found.group(1) else float(found.group(2)) * _MICROSECONDS[found.group(3)]


def earliest_day(printed: str) -> date:
    """The first day that a source's date can mean: of the month in 2020-12, of the year in 2021 or 2019-20."""
    found = _DAY.fullmatch(printed.strip())
    if found is None:
        raise ValueError(f"{printed!r} is no date such as 2021-05-07, 2020-12 or 2019")
    year, month, day = found.groups(default="1")
    return date(int(year), int(month), int(day))


def days_of(printed: str) -> tuple[date, date]:
    """The first and the last day that a source's date can mean."""
    first, found = earliest_day(printed), _DAY.fullmatch(printed.strip())
    _, month, day = ("", None, None) if found is None else found.groups()
    if day is not None:
        return first, first
    last = first.month if month is not None else 12
    return first, first.replace(month=last, day=monthrange(first.year, last)[1])


def day_finished(printed: str) -> date | None:
    """The day of fio's `Fri May  7 04:25:07 2021`; None where it is no such date."""
    try:
        return datetime.strptime(printed.strip(), "%a %b %d %H:%M:%S %Y").date()  # noqa: DTZ007  # a day alone
    except ValueError:
        return None


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
    figures: Figures = Field(default_factory=dict)


def sides(one: PrintedEntry) -> list[Side]:
    """The sides of a result."""
    found = _nested(one)
    if found:
        return found
    headline = present({"iops": one.iops, "throughput": one.throughput})
    return [(str(one.figures.get("direction", "")), {**one.figures, **headline})]


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
    told, unit = scaled_in(printed), _THOUSANDS.get(printed[-1:])
    if samples is None or unit is None:
        return told
    precise, decimals = scaled_in(str(samples)), len(printed[:-1].partition(".")[2])
    return precise if abs(precise - told) <= 0.5 * unit / 10.0**decimals else told


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


def slack_of(printed: str) -> float:
    """How far rounding can have moved a printed figure, as a share of it: one of its last digit."""
    found = _LEADING.match(printed.strip())
    if found is None or "e" in found[0].lower() or not float(found[0]):
        return 0.0
    return float(10.0 ** -len(found[0].partition(".")[2])) / float(found[0])


def mean_us(side: Figures) -> float | None:
    """The mean time of a whole operation: of the total latency, or of its two parts; None where it is not printed."""
    means = {
        kind: scaled_in(str(side[f"{kind}_{unit}"]["avg"])) * us
        for kind in ("slat", "clat", "lat")
        for unit, us in _UNITS.items()
        if "avg" in side.get(f"{kind}_{unit}", {})
    }
    if "lat" in means or "clat" not in means:
        return means.get("lat")
    return means["clat"] + means.get("slat", 0.0)


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
    return [(name, job[name]) for job in jobs for name in (*DIRECTIONS, MIXED) if name in job]


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
