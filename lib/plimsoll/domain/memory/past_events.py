"""Past events: what of a memory an offer would not have carried, by its date."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.memory.memory import TOLERANCE, Past, Rates
from plimsoll.domain.metrics.knowledge import counted
from plimsoll.domain.units import DAY_S, MINUTE_S

_SIDES: Final = ("IOPS", "MiB/s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Consecutive buckets of one day (UTC) that an offer would not have carried: the highest mean on one `side` ("IOPS"
    or "MiB/s"), from when (epoch seconds) and for how long. `days` are the first seconds of all days that had such."""

    side: str
    rate: float
    start_s: int
    minutes: float
    days: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """A minute inside a longer bucket that an offer would have throttled. `likely`: it is estimated."""

    side: str
    rate: float
    day_s: int
    likely: bool


def event_of(past: Past, limits: Sequence[float]) -> Event | None:
    """The highest that is above the limits (IOPS and MiB/s), beside its limit; None where nothing is for sure."""
    over = past.least / np.maximum(column(limits), TOLERANCE)
    if over.max(initial=0.0) <= 1:
        return None
    row, at = (int(place) for place in np.unravel_index(int(over.argmax()), over.shape))
    day, ends_s = past.starts_s // DAY_S, past.starts_s + past.lengths_s
    above = (over[row] > 1) & (day == day[at])
    apart = np.append(True, ~above[:-1] | (ends_s[:-1] != past.starts_s[1:]))
    first = int(np.flatnonzero(apart[: at + 1])[-1])
    breaks = np.flatnonzero(apart[at + 1 :] | ~above[at + 1 :])
    last = at + int(breaks[0]) if len(breaks) else len(above) - 1
    days = np.unique(day[(over > 1).any(axis=0)]) * DAY_S
    return Event(
        side=_SIDES[row],
        rate=float(past.least[row, at]),
        start_s=int(past.starts_s[first]),
        minutes=float(ends_s[last] - past.starts_s[first]) / MINUTE_S,
        days=tuple(days.tolist()),
    )


def busiest_minute(past: Past, limits: Sequence[float]) -> Event | None:
    """The highest minute that is known, beside its limit; None where none is above the limits (IOPS and MiB/s)."""
    over = counted(past.highest) / np.maximum(column(limits), TOLERANCE)
    if over.max(initial=0.0) <= 1:
        return None
    row, at = (int(place) for place in np.unravel_index(int(over.argmax()), over.shape))
    days_s = past.days_s[(over > 1).any(axis=0)]
    return Event(
        side=_SIDES[row],
        rate=float(past.highest[row, at]),
        start_s=int(past.days_s[at]),
        minutes=1.0,
        days=tuple(days_s.tolist()),
    )


def peak_of(past: Past, ceiling: Ceiling, present: Ceiling, ratios: Sequence[float]) -> Peak | None:
    """The highest minute that a ceiling would have throttled, beside that ceiling; None where there is none.

    It is known of days of which the cloud has the highest minute. Of others it is likely: `ratios` times the mean of a
    bucket, no more than all that was done in it in one minute, or than the `present` ceiling.
    """
    limits = np.array([[ceiling.iops], [ceiling.throughput_mib_s]])
    most = np.array([[present.iops], [present.throughput_mib_s]])
    bound = np.minimum(past.least * past.lengths_s / MINUTE_S, most)
    likely = np.minimum(past.least * column(ratios), bound)
    likely[~np.isnan(past.highest[:, (past.starts_s - past.window.start_s) // DAY_S])] = 0.0
    for rates, starts_s, estimated in ((counted(past.highest), past.days_s, False), (likely, past.starts_s, True)):
        over = rates / limits
        if over.max(initial=0.0) > 1 + TOLERANCE:
            row, at = (int(place) for place in np.unravel_index(int(over.argmax()), over.shape))
            day_s = int(starts_s[at]) // DAY_S * DAY_S
            return Peak(side=_SIDES[row], rate=float(rates[row, at]), day_s=day_s, likely=estimated)
    return None


def column(figures: Sequence[float]) -> Rates:
    """A figure for each of the two rows of rates."""
    return np.asarray(figures, dtype=np.float64)[:, np.newaxis]
