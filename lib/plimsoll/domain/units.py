"""Units, once: MiB is 2^20 bytes, MB is 10^6 bytes, GiB is 2^30, TiB is 2^40."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
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

WHOLE_USD: Final = 100
"""From this amount on people read money in whole dollars."""


@dataclass(frozen=True, slots=True)
class Digits:
    """The decimals of a figure where it is written; all of them if `count` is None. `floor`: it is rounded down."""

    count: int | None
    floor: bool = False

    def round(self, figure: float) -> float:
        """The figure with these decimals."""
        if self.count is None:
            return figure
        return math.floor(10**self.count * figure) / 10**self.count if self.floor else round(figure, self.count)


def dollars(amount_usd: float) -> str:
    """Money as people read it: its sign before the currency's, cents below `WHOLE_USD` alone."""
    digits = 0 if abs(amount_usd) >= WHOLE_USD else 2
    return f"{'-' if amount_usd <= -0.005 else ''}${abs(amount_usd):,.{digits}f}"


def mib_s_from_mb_s(throughput_mb_s: float) -> float:
    """MiB/s of a throughput in MB/s (hosts are published in MB/s, volumes in MiB/s)."""
    return throughput_mb_s * MB / MIB


def mb_s_from_mib_s(throughput_mib_s: float) -> float:
    """MB/s of a throughput in MiB/s."""
    return throughput_mib_s * MIB / MB


_SPANS: Final = (
    (60.0, 1.0, "minute"),
    (2 * 1440.0, 60.0, "hour"),
    (60 * 1440.0, 1440.0, "day"),
    (float("inf"), 30.44 * 1440.0, "month"),
)
"""Up to how many minutes a span is told in which unit, and how many minutes that has."""


def day_of(time_s: float) -> str:
    """The date (UTC) of a time in epoch seconds: 3 May 2026."""
    day = datetime.fromtimestamp(time_s, UTC)
    return f"{day.day} {day:%B %Y}"


def lasting(minutes: float) -> str:
    """A span of time: 5 minutes, 1.5 hours, 12 days, 13 months."""
    _, unit, name = next(span for span in _SPANS if minutes < span[0])
    count = f"{minutes / unit:.0f}" if unit != 60.0 else f"{minutes / unit:.3g}"
    return f"{count} {name}{'' if count == '1' else 's'}"
