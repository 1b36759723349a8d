"""Printed numbers of benchmarks, read into one unit each. ValueError says what cannot be read."""

import math
import re
from datetime import date
from typing import Final

from plimsoll.domain.units import KIB, MB, MIB

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_THROUGHPUT: Final = re.compile(r"([\d.]+)\s*([KMGT]?i?B)/s", re.IGNORECASE)
_BYTES: Final = {
    "b": 1.0,
    "kib": KIB,
    "mib": MIB,
    "gib": MIB * KIB,
    "tib": MIB * MIB,
    "kb": 1e3,
    "mb": float(MB),
    "gb": 1e9,
    "tb": 1e12,
}
_THOUSANDS: Final = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGTP]?)(?:i?B?)", re.IGNORECASE)
_SIZES: Final = {"": 1.0, "k": KIB, "m": MIB, "g": MIB * KIB, "t": float(MIB * MIB), "p": float(MIB * MIB * KIB)}
_BIN: Final = re.compile(r"(>=)?\s*([\d.]+)\s*(usec|msec|sec)")
_MICROSECONDS: Final = {"usec": 1.0, "msec": 1e3, "sec": 1e6}
_DAY: Final = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(\d\d))?)?(?:-\d+)?")
_FINISHED: Final = re.compile(r"[A-Z][a-z]{2}\s+([A-Z][a-z]{2})\s+(\d{1,2})\s+[\d:]{8}\s+(\d{4})")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MOST: Final = 1e20
"""No benchmark counts further (fio's 64 bits end before): what is above is no figure."""


def number_in(printed: str) -> float:
    """A plain number that a benchmark can have printed: finite, not negative."""
    found = float(printed) if _NUMBER.fullmatch(printed) else math.nan
    if not found < _MOST:
        raise ValueError(f"{printed[:40]!r} is no figure")
    return found


def scaled_in(printed: str) -> float:
    """A figure as fio prints it: 3023, or 19.8k for thousands."""
    if printed[-1:] in _THOUSANDS:
        return number_in(printed[:-1]) * _THOUSANDS[printed[-1]]
    return number_in(printed)


def rounding_of(printed: str) -> float:
    """Half a unit of the last digit of printed IOPS: 50 in 19.8k."""
    digits = printed.rstrip("".join(_THOUSANDS))
    decimals = len(digits.partition(".")[2])
    return 0.5 * _THOUSANDS.get(printed[-1:], 1.0) / 10.0**decimals


def is_rounded(printed: str) -> bool:
    """Whether printed IOPS are in thousands or more."""
    return printed[-1:] in _THOUSANDS


def throughput_mib_s_in(printed: str) -> float:
    """MiB/s of a printed throughput: KiB, MiB and GiB are powers of 1,024, kB, MB and GB of 1,000."""
    found = _THROUGHPUT.fullmatch(printed.strip())
    if found is None:
        raise ValueError(f"{printed!r} is no throughput such as 47.2MiB/s or 82.4MB/s")
    return float(found.group(1)) * _BYTES[found.group(2).lower()] / MIB


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


def day_finished(printed: str) -> date | None:
    """The day of fio's `Fri May  7 04:25:07 2021`; None where it is no such date."""
    found = _FINISHED.fullmatch(printed.strip())
    if found is None or found.group(1) not in _MONTHS:
        return None
    try:
        return date(int(found.group(3)), _MONTHS.index(found.group(1)) + 1, int(found.group(2)))
    except ValueError:
        return None
