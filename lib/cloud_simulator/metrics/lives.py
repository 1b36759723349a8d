"""Lives: when, over months and years, a workload is busy. Days are counted since the epoch, in UTC."""

from typing import Final

import numpy as np
import numpy.typing as npt

DayFlags = npt.NDArray[np.bool_]
DayNumbers = npt.NDArray[np.int64]

SUNDAY: Final = 3
"""A Sunday's number modulo seven."""

A_YEAR_DAYS: Final = 365


def ends_a_month(days: DayNumbers) -> DayFlags:
    """True for each day that is the last of its month."""
    last: DayFlags = _month(days + 1) != _month(days)
    return last


def ends_a_quarter(days: DayNumbers) -> DayFlags:
    """True for each day that is the last of March, June, September or December."""
    last: DayFlags = _month(days + 1) // 3 != _month(days) // 3
    return last


def is_a_sunday(days: DayNumbers) -> DayFlags:
    """True for each day that is a Sunday."""
    sundays: DayFlags = days % 7 == SUNDAY
    return sundays


def growth_share(days: DayNumbers, since_day: int) -> npt.NDArray[np.float64]:
    """The share of a year's growth that a day has reached, from 0 to 1, begun on `since_day`."""
    return np.clip((days - since_day) / A_YEAR_DAYS, 0.0, 1.0)


def _month(days: DayNumbers) -> DayNumbers:
    """The number of the month of each day, from January 1970 on."""
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
