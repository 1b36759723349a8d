"""Demand profiles: a demand over time in few spans, to be kept and drawn."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.domain.demand import Demand
from plimsoll.domain.knowledge import BoolArray, IntArray
from plimsoll.domain.period import FloatArray
from plimsoll.domain.units import DAY_S, HOUR_S, MINUTE_S

MOST_SPANS: Final = 180
"""Spans of a profile: a fortnight, and the day that is under way, by two hours."""

_STEPS_H: Final = (1, 2, 3, 4, 6, 8, 12, 24)
"""Lengths of a span in hours: those that divide a day, as buckets that were read coarsely are whole days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandProfile:
    """What a volume was asked for in consecutive spans from `starts_s` (epoch seconds), each `lengths_s` long.

    Arrays have one element a span; rates are NaN where nothing was observed. `iops`, `read_iops`, `throughput_mib_s`
    and `read_throughput_mib_s` are means over what was observed of the span. `peak_iops` is the highest rate of any
    bucket in it, with the MiB/s of that very bucket, and `peak_throughput_mib_s` likewise with its IOPS: both are
    points of the workload on a roofline's plane. `shortest_s` is the length of the shortest bucket in the span: where
    that is the whole span, the peaks are its means, since no minute of it could change the answer.
    """

    starts_s: IntArray
    lengths_s: IntArray
    shortest_s: IntArray
    iops: FloatArray
    read_iops: FloatArray
    throughput_mib_s: FloatArray
    read_throughput_mib_s: FloatArray
    peak_iops: FloatArray
    throughput_mib_s_at_peak_iops: FloatArray
    peak_throughput_mib_s: FloatArray
    iops_at_peak_throughput: FloatArray
    throttled_minutes: FloatArray
    host_bound_minutes: FloatArray


def profile_of(
    demand: Demand, *, throttled: BoolArray, host_bound: BoolArray, most_spans: int = MOST_SPANS
) -> DemandProfile:
    """The profile of a demand in spans of whole hours that divide a day; a bucket read more coarsely is its own span.

    `throttled` and `host_bound` are the buckets at the volume's ceiling and at its host's.
    """
    starts_s = demand.starts_s
    lengths_s = np.broadcast_to(np.asarray(demand.lengths_s, dtype=np.int64), starts_s.shape)
    step_s = _step_s(int(lengths_s.sum()), most_spans)
    first = np.flatnonzero(np.diff(starts_s // step_s, prepend=-1))
    observed_s = lengths_s * demand.observed

    def seconds(where: BoolArray) -> FloatArray:
        return np.add.reduceat((lengths_s * where).astype(np.float64), first)

    seen_s = seconds(demand.observed)

    def mean(rate: FloatArray) -> FloatArray:
        return _where_seen(np.add.reduceat(rate * observed_s, first), seen_s)

    by_iops, by_throughput = _highest(demand.iops, first), _highest(demand.throughput_mib_s, first)
    unseen = seen_s == 0

    def at(places: IntArray, rate: FloatArray) -> FloatArray:
        return np.where(unseen, np.nan, rate[places])

    return DemandProfile(
        starts_s=starts_s[first],
        lengths_s=np.add.reduceat(lengths_s, first),
        shortest_s=np.minimum.reduceat(lengths_s, first),
        iops=mean(demand.iops),
        read_iops=mean(demand.read_iops),
        throughput_mib_s=mean(demand.throughput_mib_s),
        read_throughput_mib_s=mean(demand.read_throughput_mib_s),
        peak_iops=at(by_iops, demand.iops),
        throughput_mib_s_at_peak_iops=at(by_iops, demand.throughput_mib_s),
        peak_throughput_mib_s=at(by_throughput, demand.throughput_mib_s),
        iops_at_peak_throughput=at(by_throughput, demand.iops),
        throttled_minutes=seconds(throttled) / MINUTE_S,
        host_bound_minutes=seconds(host_bound) / MINUTE_S,
    )


def _step_s(window_s: int, most_spans: int) -> int:
    """The shortest step that needs no more than so many spans; whole days where even a day is too short."""
    days = -(-window_s // (most_spans * DAY_S))
    return next((hours * HOUR_S for hours in _STEPS_H if window_s <= hours * HOUR_S * most_spans), days * DAY_S)


def _where_seen(total: FloatArray, seen_s: FloatArray) -> FloatArray:
    found = np.full(total.shape, np.nan)
    np.divide(total, seen_s, out=found, where=seen_s > 0)
    return found


def _highest(rate: FloatArray, first: IntArray) -> IntArray:
    """The place of the highest rate of each run of buckets that begins at `first`."""
    highest = np.repeat(np.maximum.reduceat(rate, first), np.diff(first, append=len(rate)))
    places = np.flatnonzero(rate == highest)
    return places[np.searchsorted(places, first)]
