"""Figures as benchmarks print them, into numbers with one unit."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from plimsoll.domain.envelope import Latency
from plimsoll.domain.units import KIB, MB, MIB
from plimsoll.envelopes.campaign_file import Figures, MeasuredEntry

_THROUGHPUT: Final = re.compile(r"([\d.]+)\s*([KMG]?i?B)/s", re.IGNORECASE)
_BYTES: Final = {"b": 1.0, "kib": KIB, "mib": MIB, "gib": MIB * KIB, "kb": 1e3, "mb": float(MB), "gb": 1e9}
_THOUSANDS: Final = {"k": 1e3, "M": 1e6}
_BIN: Final = re.compile(r"(>=)?\s*([\d.]+)\s*(usec|msec|sec)")
_MICROSECONDS: Final = {"usec": 1.0, "msec": 1e3, "sec": 1e6}
_DAY: Final = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(\d\d))?)?(?:-\d+)?")
_PERCENTILES: Final = {"p50_us": 50.0, "p95_us": 95.0, "p99_us": 99.0}
_US_PER_MS: Final = 1000.0


def iops_in(printed: str) -> float:
    """IOPS as fio prints them: 3023, or 19.8k for thousands."""
    return float(printed[:-1]) * _THOUSANDS[printed[-1]] if printed[-1:] in _THOUSANDS else float(printed)


def throughput_mib_s_in(printed: str) -> float:
    """MiB/s of a printed throughput: KiB, MiB and GiB are powers of 1,024, kB, MB and GB of 1,000."""
    found = _THROUGHPUT.fullmatch(printed.strip())
    if found is None:
        raise ValueError(f"{printed!r} is no throughput such as 47.2MiB/s or 82.4MB/s")
    return float(found.group(1)) * _BYTES[found.group(2).lower()] / MIB


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


def rates(one: MeasuredEntry) -> tuple[float | None, float | None]:
    """IOPS and MiB/s of both directions; the mean of fio's samples where its headline is rounded to thousands."""
    sides = [one.figures[side] for side in ("read", "write") if side in one.figures]
    if sides:
        return sum(float(side["iops"]) for side in sides), sum(float(side["mib_s"]) for side in sides)
    precise = one.figures.get("iops_samples", {}).get("avg")
    rounded = one.iops is not None and one.iops[-1:] in _THOUSANDS
    iops = precise if rounded and precise is not None else one.iops
    return (
        None if iops is None else iops_in(str(iops)),
        None if one.throughput is None else throughput_mib_s_in(one.throughput),
    )


def device_iops(figures: Figures) -> float | None:
    """Operations a second that the device itself counted, in the direction of the job, None where not told."""
    if "device_iops" in figures:
        return float(figures["device_iops"])
    if "disk" not in figures or "runtime_ms" not in figures:
        return None
    reads, writes = (float(ios) for ios in str(figures["disk"]["ios"]).split("/"))
    directions = {"read": reads, "write": writes}
    return directions.get(str(figures.get("direction")), reads + writes) * 1000 / float(figures["runtime_ms"])


def latency(one: MeasuredEntry) -> Latency:
    """Whatever the source tells of latency: fio's clat, sysbench's, single percentiles, or the bin of a histogram."""
    figures = one.figures
    if one.latency_bin is not None:
        return Latency(under_us=latency_under_us(one.latency_bin), upper_bound=True)
    if "clat_us" in figures:
        return _of(figures["clat_us"], 1.0, figures.get("clat_percentiles_us", {}))
    if "latency_ms" in figures:
        told = figures["latency_ms"]
        return _of(told, _US_PER_MS, {"95": told["95th percentile"]} if "95th percentile" in told else {})
    known = {str(percent): figures[key] for key, percent in _PERCENTILES.items() if key in figures}
    return _of({"avg": figures["mean_us"]} if "mean_us" in figures else {}, 1.0, known)


def _of(told: Mapping[str, Any], us: float, percentiles: Mapping[str, Any]) -> Latency:
    found = {key: float(told[key]) * us for key in ("avg", "min", "max", "stdev") if key in told}
    return Latency(
        mean_us=found.get("avg"),
        least_us=found.get("min"),
        most_us=found.get("max"),
        stdev_us=found.get("stdev"),
        percentiles_us=tuple((float(percent), float(value) * us) for percent, value in percentiles.items()),
    )
