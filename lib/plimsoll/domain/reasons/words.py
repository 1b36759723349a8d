"""Words: days and spans of time as people write them."""

from datetime import UTC, datetime
from typing import Final

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
