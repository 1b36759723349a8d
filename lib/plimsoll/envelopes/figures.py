"""Figures as benchmarks print them, into numbers with one unit."""

import re
from typing import Final

from plimsoll.domain.units import KIB, MB, MIB

_THROUGHPUT: Final = re.compile(r"([\d.]+)\s*([KMG]?i?B)/s", re.IGNORECASE)
_BYTES: Final = {"b": 1.0, "kib": KIB, "mib": MIB, "gib": MIB * KIB, "kb": 1e3, "mb": float(MB), "gb": 1e9}
_THOUSANDS: Final = {"k": 1e3, "M": 1e6}
_MILLISECONDS: Final = re.compile(r"(>=)?\s*([\d.]+)\s*(usec|msec|sec)")
_MICROSECONDS: Final = {"usec": 1.0, "msec": 1e3, "sec": 1e6}


def iops_in(printed: str) -> float:
    """IOPS as fio prints them: 3023, or 19.8k for thousands."""
    return float(printed[:-1]) * _THOUSANDS[printed[-1]] if printed[-1] in _THOUSANDS else float(printed)


def throughput_mib_s_in(printed: str) -> float:
    """MiB/s of a printed throughput: KiB, MiB and GiB are powers of 1,024, kB, MB and GB of 1,000."""
    found = _THROUGHPUT.fullmatch(printed.strip())
    if found is None:
        raise ValueError(f"{printed!r} is no throughput such as 47.2MiB/s or 82.4MB/s")
    return float(found.group(1)) * _BYTES[found.group(2).lower()] / MIB


def latency_under_us(printed: str) -> float | None:
    """The upper edge of a printed histogram bin in microseconds; None for the open last bin (>= 2000 msec)."""
    found = _MILLISECONDS.fullmatch(printed.strip())
    if found is None:
        raise ValueError(f"{printed!r} is no latency such as 4 msec")
    return None if found.group(1) else float(found.group(2)) * _MICROSECONDS[found.group(3)]
