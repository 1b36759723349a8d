"""Replay: what a configuration would have throttled of a demand, by the test that every recommendation passes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plimsoll.clouds.published import published_types
from plimsoll.decide.offers import fit_spec
from plimsoll.demand.demand import Demand
from plimsoll.demand.trial import plain, trial
from plimsoll.model.arrays import FloatArray
from plimsoll.model.ceiling import Need
from plimsoll.model.errors import BadInput
from plimsoll.model.market import Provisioned, VolumeType, type_of
from plimsoll.model.units import DAY_S, HOUR_S, KIB_PER_MIB, MINUTE_S
from plimsoll.model.volume import VolumeSpec
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord

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


def pack_profile(record: RecommendationRecord, profile: DemandProfileRecord, added_pct: float) -> FloatArray:
    """The IOPS and MiB/s of a profile by minutes, with headroom: each span does its work at its highest rate.

    It does so in one piece: nothing that was seen asks for more of a burst.
    """
    demand, sides = record.demand, (list[float](), list[float]())
    for place, length_s in enumerate(profile.length_s):
        means = profile.iops[place], profile.throughput_mib_s[place]
        peaks = profile.peak_iops[place], profile.peak_throughput_mib_s[place]
        if None in {*means, *peaks}:
            means, peaks = (0.0, 0.0), (0.0, 0.0)
        if profile.shortest_s[place] > MINUTE_S and demand is not None:
            peaks = demand.peak_iops, demand.peak_throughput_mib_s
        for rates, mean, peak in zip(sides, means, peaks, strict=True):
            rates.extend(_pack_span(mean or 0.0, peak or 0.0, max(1, length_s // MINUTE_S)))
    return np.array(sides) * (1 + added_pct / 100)


def fit_slower(kind: VolumeType, size_gib: int, packed: FloatArray) -> VolumeSpec | None:
    """The disk of a slower kind that holds back nothing of a packed profile; None if none does.

    An operation counts as a full one of the kind's size: what is random is charged so.
    """
    iops, mib_s = packed
    if isinstance(kind.iops, Provisioned) or not iops.size:
        return None
    if kind.io_kib is not None:
        mib_s = np.maximum(mib_s, iops * kind.io_kib / KIB_PER_MIB)
    spec = fit_spec(kind, size_gib, Need(iops=float(iops.max()), throughput_mib_s=float(mib_s.max())))
    reads = 1.0 if max(kind.write_iops_cost, kind.write_throughput_cost) <= 1 else 0.0
    return spec if replay(spec, iops, mib_s, read_share=reads).throttled_minutes == 0 else None


def _pack_span(mean: float, peak: float, minutes: int) -> list[float]:
    """The work of a span by minutes: at its highest rate, until it is done."""
    whole = min(minutes, math.ceil(mean * minutes / peak)) if peak > 0 else 0
    return [peak] * whole + [0.0] * (minutes - whole)
