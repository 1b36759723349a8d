"""Lives: when, over months and years, a workload is busy. Days are counted since the epoch, in UTC."""

from typing import Final

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

SUNDAY: Final = 3
"""What the number of a Sunday leaves when it is divided by seven."""

A_YEAR_DAYS: Final = 365


def ends_a_month(days: Numbers) -> Flags:
    """Whether each day is the last of its month."""
    last: Flags = _month(days + 1) != _month(days)
    return last


def ends_a_quarter(days: Numbers) -> Flags:
    """Whether each day is the last of March, June, September or December."""
    last: Flags = _month(days + 1) // 3 != _month(days) // 3
    return last


def is_a_sunday(days: Numbers) -> Flags:
    """Whether each day is a Sunday."""
    sundays: Flags = days % 7 == SUNDAY
    return sundays


def grown(days: Numbers, since_day: int) -> npt.NDArray[np.float64]:
    """How far something has grown that begins on a day and is full-grown a year later: from 0 to 1."""
    return np.clip((days - since_day) / A_YEAR_DAYS, 0.0, 1.0)


def _month(days: Numbers) -> Numbers:
    """The number of the month of each day, from January 1970 on."""
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
