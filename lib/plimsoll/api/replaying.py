"""Replay: what a configuration would have throttled of a demand, by the test that every recommendation passes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plimsoll.clouds.published import published_types
from plimsoll.demand.demand import Demand
from plimsoll.demand.trial import plain, trial
from plimsoll.model.arrays import FloatArray
from plimsoll.model.errors import BadInput
from plimsoll.model.market import type_of
from plimsoll.model.units import DAY_S, HOUR_S
from plimsoll.model.volume import VolumeSpec

RateFigures = Sequence[float] | np.ndarray[Any, Any]
"""One figure a bucket; NaN where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The throttling of a replay: minutes at whose end work was waiting, and the longest wait in seconds.

    `hours_observed` is how much of the demand was known; the rest counts for nothing.
    """

    throttled_minutes: float
    longest_wait_s: float
    hours_observed: float


def replay(
    spec: VolumeSpec,
    iops: RateFigures,
    throughput_mib_s: RateFigures,
    *,
    period_s: int = 60,
    read_share: float = 1.0,
) -> Replayed:
    """Pushes a demand through a configuration, queues and token buckets included (docs/decision.md, section 4).

    The demand is the mean IOPS and MiB/s (2^20 bytes) of consecutive buckets of `period_s` seconds, without headroom.
    `read_share` is the reads' share of both, for types whose reads and writes have different limits. A bucket without a
    figure (NaN) is unknown, and nothing is asked in it.

    Raises UnknownVolumeType for a type without published limits, and BadInput for figures that are no demand.
    """
    ceiling = type_of(spec, published_types()).ceiling(spec)
    rates = _rates("iops", iops), _rates("throughput_mib_s", throughput_mib_s)
    _check(*rates, period_s, read_share)
    observed = ~(np.isnan(rates[0]) | np.isnan(rates[1]))
    known = np.where(observed, np.stack(rates), 0.0)
    demand = Demand(
        start_s=0,
        resolution_s=period_s,
        coarsest_s=period_s,
        rates=np.stack([known, known * read_share], axis=1),
        observed=observed,
    )
    result = trial(plain(demand), ceiling)
    return Replayed(
        throttled_minutes=result.throttled_minutes,
        longest_wait_s=result.longest_wait_s,
        hours_observed=int(observed.sum()) * period_s / HOUR_S,
    )


def _rates(name: str, figures: RateFigures) -> FloatArray:
    try:
        rates = np.asarray(figures, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{name} must be numbers, one a bucket: {error}.") from error
    if rates.ndim != 1 or np.isinf(rates).any() or (rates < 0).any():
        raise BadInput(f"{name} must be one row of numbers from 0 up, with NaN where a bucket is not known.")
    return rates


def _check(iops: FloatArray, throughput_mib_s: FloatArray, period_s: int, read_share: float) -> None:
    if len(iops) != len(throughput_mib_s):
        raise BadInput(
            f"iops has {len(iops)} buckets and throughput_mib_s has {len(throughput_mib_s)}: give one figure of each "
            "for every bucket."
        )
    if not 1 <= period_s <= DAY_S:
        raise BadInput(f"period_s is {period_s}: it must be from 1 to {DAY_S} seconds.")
    if not 0 <= read_share <= 1:
        raise BadInput(f"read_share is {read_share}: it must be from 0 to 1.")
