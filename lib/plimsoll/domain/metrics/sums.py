"""Windows: spans of time, the period that data of each age is kept in, and the coverage of what was received."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from plimsoll.domain.units import DAY_S, HOUR_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A span of time in epoch seconds: `start_s` inclusive, `end_s` exclusive."""

    start_s: int
    end_s: int

    def buckets(self, period_s: int) -> int:
        """The number of whole buckets of that period in the window."""
        return (self.end_s - self.start_s) // period_s

    @property
    def hours(self) -> float:
        return (self.end_s - self.start_s) / HOUR_S

    @classmethod
    def before(cls, now: datetime, *, days: float, visible_after_s: int = 0) -> "Window":
        """The window of the last `days`, from a midnight (UTC) to the last full hour that is visible.

        An hour is visible once it was over `visible_after_s` before `now`. Beginning at midnight lets days be read as
        one bucket each; that can add up to 23 hours or leave out one, so that the oldest minutes are not about to
        expire.
        """
        end_s = (int(now.timestamp()) - visible_after_s) // HOUR_S * HOUR_S
        return cls(start_s=(end_s + HOUR_S - int(days * DAY_S)) // DAY_S * DAY_S, end_s=end_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a window and the finest period in which its data still lives."""

    window: Window
    period_s: int


def cut_by_age(window: Window, resolution_s: int, retention_days: Mapping[int, float], now_s: float) -> list[Segment]:
    """Cuts a window by age, oldest part first, each with the finest period from `resolution_s` up that is kept.

    `retention_days` has the days for which data of each period (in seconds) lives.
    """
    kept = sorted(retention_days)
    periods = [period for period in kept if period >= resolution_s] or kept[-1:]
    parts: list[Segment] = []
    end_s = window.end_s
    for period_s, coarser_s in zip(periods, [*periods[1:], periods[-1]], strict=True):
        whole_s = max(coarser_s, HOUR_S)
        oldest_s = math.ceil((now_s - retention_days[period_s] * DAY_S) / whole_s) * whole_s
        start_s = max(math.ceil(window.start_s / period_s) * period_s, min(oldest_s, end_s))
        if start_s < end_s:
            parts.append(Segment(window=Window(start_s=start_s, end_s=end_s), period_s=period_s))
            end_s = start_s
    return parts[::-1]


FIVE_MINUTES_S: Final = 300
"""How often hosts publish that do not each minute."""


@dataclass(frozen=True, slots=True, order=True)
class Doubt:
    """A span of time (epoch seconds) in which a series disagrees with others of the same time."""

    series: str
    start_s: int
    end_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The coverage of a volume's metrics: received against expected.

    `hours_expected` are the hours observed and those in which the volume was attached to a host that ran. `series_pct`
    is the share of each series that is published for the volume, by name. `disputes` are what disagreed, asked twice.
    """

    hours_expected: float
    hours_observed: float
    series_pct: tuple[tuple[str, float], ...] = ()
    disputes: tuple[Doubt, ...] = ()

    @property
    def hours_pct(self) -> float:
        """The share of the expected hours that was observed."""
        return 100.0 * self.hours_observed / self.hours_expected if self.hours_expected else 100.0

    @property
    def disputed_hours(self) -> float:
        """The hours in which anything is disputed, at most: spans of several series count once."""
        return _total_seconds(self.disputes) / HOUR_S


def _total_seconds(doubts: Sequence[Doubt]) -> int:
    """The length of all spans together, each time once."""
    seconds, until_s = 0, 0
    for start_s, end_s in sorted((doubt.start_s, doubt.end_s) for doubt in doubts):
        seconds += max(0, end_s - max(start_s, until_s))
        until_s = max(until_s, end_s)
    return seconds
