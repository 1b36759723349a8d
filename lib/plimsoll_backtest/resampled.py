"""Resampled fleets: what else a backtest would have found, had the fleet had other machines of its kind.

The bootstrap (B. Efron, Bootstrap methods: another look at the jackknife, Annals of Statistics 7, 1979): as many
volumes as the fleet has are drawn from it, with replacement, again and again. All cuts of a volume stay together, and
sizes are those that were learned from the fleet as it is.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from plimsoll.model.arrays import FloatArray
from plimsoll_backtest.judging import Tally

FLEETS: Final = 400
"""How many fleets are drawn."""

_BAND: Final = (0.05, 0.95)


class FleetSpread(NamedTuple):
    """The range of all but a tenth of the resampled fleets: a twentieth showed less, and a twentieth more."""

    low: float
    high: float


class RuleSums(NamedTuple):
    """The results of a rule in each of some fleets: its saving in percent, throttled minutes, and volumes over
    budget."""

    saving_pct: FloatArray
    minutes: FloatArray
    over_budget: FloatArray


def resample_fleets(volumes: int) -> FloatArray:
    """The number of times that each volume is in each resampled fleet: (fleets, volumes). Always the same."""
    drawn = np.random.default_rng(0).multinomial(volumes, np.full(volumes, 1 / max(1, volumes)), FLEETS)
    return drawn.astype(np.float64)


def spread_of(figures: FloatArray) -> FleetSpread:
    """The spread of a figure over fleets, of those that have one (not NaN)."""
    low, high = np.quantile(figures[~np.isnan(figures)], _BAND)
    return FleetSpread(float(low), float(high))


def sums_of(tally: Tally, fleets: FloatArray) -> RuleSums:
    """The results of a rule in each fleet."""
    now, then = fleets @ tally.usd_month_now, fleets @ tally.usd_month_then
    saved = 100 * (1 - np.divide(then, now, out=np.ones_like(now), where=now > 0))
    return RuleSums(saving_pct=saved, minutes=fleets @ tally.minutes, over_budget=fleets @ tally.over_budget)


def observed_pct(tally: Tally, fleets: FloatArray) -> FloatArray:
    """The share of volumes that outgrew a promise in each fleet, in percent; NaN where none was made."""
    is_counted = tally.counted > 0
    missed = np.divide(tally.missed, tally.counted, out=np.zeros_like(tally.missed), where=is_counted)
    volumes = fleets @ is_counted.astype(np.float64)
    share: FloatArray = np.divide(fleets @ missed, volumes, out=np.full(len(fleets), np.nan), where=volumes > 0)
    return 100 * share


def interpolate_saving(levels: Sequence[RuleSums], saving_pct: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The minutes and the volumes over budget at a given saving of each fleet, between a rule's two nearest levels.

    NaN where no level saves as much, or none as little.
    """
    savings, *figures = (np.stack([getattr(level, name) for level in levels], axis=1) for name in RuleSums._fields)
    order = np.argsort(savings, axis=1)
    savings = np.take_along_axis(savings, order, axis=1)
    minutes, over = (
        np.array([np.interp(*row, left=np.nan, right=np.nan) for row in zip(saving_pct, savings, level, strict=True)])
        for level in (np.take_along_axis(part, order, axis=1) for part in figures)
    )
    return minutes, over
