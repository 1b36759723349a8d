"""Units, once: MiB is 2^20 bytes, MB is 10^6 bytes, GiB is 2^30, TiB is 2^40."""

from typing import Final

KIB: Final = 1 << 10

MIB: Final = 1 << 20

MB: Final = 10**6

MIB_PER_GIB: Final = 1024

KIB_PER_MIB: Final = 1024

US_PER_S: Final = 1e6

MINUTE_S: Final = 60

HOUR_S: Final = 3600

DAY_S: Final = 86400

MONTH_S: Final = 730 * HOUR_S
"""A billing month as the price lists count it: 730 hours."""


def mib_s_from_mb_s(throughput_mb_s: float) -> float:
    """MiB/s of a throughput in MB/s (hosts are published in MB/s, volumes in MiB/s)."""
    return throughput_mb_s * MB / MIB


def mb_s_from_mib_s(throughput_mib_s: float) -> float:
    """MB/s of a throughput in MiB/s."""
    return throughput_mib_s * MIB / MB
