"""Demand profiles and summaries: a demand over time in few spans, to be kept and drawn, and in numbers."""

from dataclasses import dataclass
from typing import Final, TypedDict

import numpy as np

from plimsoll.demand.demand import ALL, IOPS, MIB_S, READS, CountedRates, Demand
from plimsoll.demand.host_room import HostRoom
from plimsoll.demand.load import Lifted
from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.ceiling import PLAIN
from plimsoll.model.policy import Policy, SizeOn
from plimsoll.model.units import DAY_S, HOUR_S, KIB, MIB, MINUTE_S
from plimsoll.reading.window import Coverage

MOST_SPANS: Final = 180
"""Spans of a profile: a fortnight, and the day that is under way, by two hours."""

_STEPS_H: Final = (1, 2, 3, 4, 6, 8, 12, 24)
"""Lengths of a span in hours: those that divide a day, as buckets that were read coarsely are whole days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandSummary:
    """A demand in numbers.

    Peaks are the highest averages of any bucket; the busy ones are rates over the busy share of a bucket, None where
    idle time is not published or was not read. It is `censored` where it was held back at all. Of the
    `throttled_minutes`, `flagged_minutes` are known by the cloud's checks alone.

    Where minutes were not read, because they could not change the answer or had expired, the true peak lies between
    `least_peak_iops` and `peak_iops`, and likewise for throughput. No second was above `peak_second_iops` and
    `peak_second_throughput_mib_s`; None where the cloud does not publish what the busiest second had. `coverage` is how
    much was received of what all this rests on.
    """

    peak_iops: float
    peak_throughput_mib_s: float
    least_peak_iops: float
    least_peak_throughput_mib_s: float
    peak_busy_iops: float | None
    peak_busy_throughput_mib_s: float | None
    peak_second_iops: float | None
    peak_second_throughput_mib_s: float | None
    mean_iops: float
    mean_throughput_mib_s: float
    mean_io_size_kib: float | None
    read_share: float | None
    resolution_s: int
    hours_observed: float
    gap_hours: float
    censored: bool
    throttled_minutes: float
    flagged_minutes: float
    host_bound_minutes: float
    host_bound_measured_minutes: float
    host_cleared_minutes: float
    coverage: Coverage


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandProfile:
    """A demand over time, in consecutive spans from `starts_s` (epoch seconds), each `lengths_s` long.

    Arrays have one element a span; rates are NaN where nothing was observed. `iops`, `read_iops`, `throughput_mib_s`
    and `read_throughput_mib_s` are means over what was observed of the span, `peak_iops` and `peak_throughput_mib_s`
    the highest rates of any bucket in it. `shortest_s` is the length of the shortest bucket, or of the whole span where
    its buckets all tell the same: nothing was asked for more finely there, or nothing varied.

    Points of the workload on a roofline's plane need operations and bytes of the same time, and one may have been read
    more finely than the other. Of the finest spans in which both are known, `most_ops_iops` and
    `most_ops_throughput_mib_s` are those of the one with the most operations a second, `most_moved_iops` and
    `most_moved_throughput_mib_s` of the one that moved the most; `sized` are the spans whose means are such a point.
    """

    starts_s: IntArray
    lengths_s: IntArray
    shortest_s: IntArray
    iops: FloatArray
    read_iops: FloatArray
    throughput_mib_s: FloatArray
    read_throughput_mib_s: FloatArray
    peak_iops: FloatArray
    peak_throughput_mib_s: FloatArray
    most_ops_iops: FloatArray
    most_ops_throughput_mib_s: FloatArray
    most_moved_iops: FloatArray
    most_moved_throughput_mib_s: FloatArray
    sized: BoolArray
    throttled_minutes: FloatArray
    host_bound_minutes: FloatArray


def profile_of(
    demand: Demand, *, throttled: BoolArray, host_bound: BoolArray, most_spans: int = MOST_SPANS
) -> DemandProfile:
    """The profile of a demand in spans of whole hours that divide a day; those of a day that tell the same are one.

    A bucket that was read more coarsely, such as a day, is one span. `throttled` and `host_bound` are the buckets at
    the volume's ceiling and at its host's.
    """
    starts_s = demand.starts_s
    lengths_s = np.broadcast_to(np.asarray(demand.lengths_s, dtype=np.int64), starts_s.shape)
    step_s = _step_s(int(lengths_s.sum()), most_spans)
    turns = _turns(demand, throttled, host_bound)
    first = _spans(np.flatnonzero(np.diff(starts_s // step_s, prepend=-1)), turns, starts_s)
    spans_s = np.add.reduceat(lengths_s, first)

    def minutes(where: BoolArray) -> FloatArray:
        return np.add.reduceat((lengths_s * where).astype(np.float64), first) / MINUTE_S

    return DemandProfile(
        starts_s=starts_s[first],
        lengths_s=spans_s,
        shortest_s=np.where(_mark_varied(first, turns), np.minimum.reduceat(lengths_s, first), spans_s),
        **_rates(demand, (lengths_s * demand.observed).astype(np.float64), first),
        throttled_minutes=minutes(throttled),
        host_bound_minutes=minutes(host_bound),
    )


class _Rates(TypedDict):
    """The fields of a profile that are made of rates."""

    iops: FloatArray
    read_iops: FloatArray
    throughput_mib_s: FloatArray
    read_throughput_mib_s: FloatArray
    peak_iops: FloatArray
    peak_throughput_mib_s: FloatArray
    most_ops_iops: FloatArray
    most_ops_throughput_mib_s: FloatArray
    most_moved_iops: FloatArray
    most_moved_throughput_mib_s: FloatArray
    sized: BoolArray


def _rates(demand: Demand, observed_s: FloatArray, first: IntArray) -> _Rates:
    """The rates of the spans that begin at `first`, of buckets that were observed for so long."""
    unseen = np.add.reduceat(observed_s, first) == 0
    joint, iops, throughput_mib_s = _joint(demand, observed_s)
    most_ops, most_moved = _highest(iops, first), _highest(throughput_mib_s, first)

    def mean(rate: FloatArray) -> FloatArray:
        return _mean_rates(rate, observed_s, first)

    def blank_unseen(rate: FloatArray) -> FloatArray:
        return np.where(unseen, np.nan, rate)

    return {
        "iops": mean(demand.rates[IOPS, ALL]),
        "read_iops": mean(demand.rates[IOPS, READS]),
        "throughput_mib_s": mean(demand.rates[MIB_S, ALL]),
        "read_throughput_mib_s": mean(demand.rates[MIB_S, READS]),
        "peak_iops": blank_unseen(np.maximum.reduceat(demand.iops, first)),
        "peak_throughput_mib_s": blank_unseen(np.maximum.reduceat(demand.throughput_mib_s, first)),
        "most_ops_iops": blank_unseen(iops[most_ops]),
        "most_ops_throughput_mib_s": blank_unseen(throughput_mib_s[most_ops]),
        "most_moved_iops": blank_unseen(iops[most_moved]),
        "most_moved_throughput_mib_s": blank_unseen(throughput_mib_s[most_moved]),
        "sized": joint[first] & np.append(joint[first[1:]], True),
    }


def _turns(demand: Demand, throttled: BoolArray, host_bound: BoolArray) -> BoolArray:
    """The buckets that tell something else than the one before."""
    turns = np.zeros(len(demand.observed), dtype=np.bool_)
    for figures in (*demand.rates.reshape(4, -1), demand.observed, throttled, host_bound):
        turns[1:] |= figures[1:] != figures[:-1]
    return turns


def _spans(first: IntArray, turns: BoolArray, starts_s: IntArray) -> IntArray:
    """The buckets with which the spans of a profile begin, of those in `first`.

    A span that goes on as the one before is no new one, but a day begins one in any case.
    """
    varied = _mark_varied(first, turns)
    begins = turns[first] | varied | (np.diff(starts_s[first] // DAY_S, prepend=-1) > 0)
    begins[1:] |= varied[:-1]
    return first[begins]


def _mark_varied(first: IntArray, turns: BoolArray) -> BoolArray:
    """The spans whose buckets do not all tell the same."""
    return np.add.reduceat(turns.astype(np.int64), first) > turns[first]


def _joint(demand: Demand, observed_s: FloatArray) -> tuple[BoolArray, FloatArray, FloatArray]:
    """The buckets with which joint spans begin, and the mean IOPS and MiB/s of its span in each bucket.

    Over a joint span operations and bytes are both known. Every bucket is one where all were read.
    """
    if demand.spread is None:
        return np.ones(len(demand.observed), dtype=np.bool_), demand.iops, demand.throughput_mib_s
    first = np.flatnonzero(demand.spread.joint)
    counts = np.diff(first, append=len(demand.observed))
    iops, throughput_mib_s = (
        np.repeat(np.nan_to_num(_mean_rates(rate, observed_s, first)), counts)
        for rate in (demand.iops, demand.throughput_mib_s)
    )
    return demand.spread.joint, iops, throughput_mib_s


def _mean_rates(rate: FloatArray, observed_s: FloatArray, first: IntArray) -> FloatArray:
    """The mean of a rate over what was observed of each run of buckets from `first` on; NaN where nothing was."""
    seen_s = np.add.reduceat(observed_s, first)
    means = np.full(seen_s.shape, np.nan)
    np.divide(np.add.reduceat(rate * observed_s, first), seen_s, out=means, where=seen_s > 0)
    return means


def _step_s(window_s: int, most_spans: int) -> int:
    """The shortest step, in seconds, that cuts the window into at most `most_spans`.

    Whole days if a day is too short.
    """
    days = -(-window_s // (most_spans * DAY_S))
    return next((hours * HOUR_S for hours in _STEPS_H if window_s <= hours * HOUR_S * most_spans), days * DAY_S)


def _highest(rate: FloatArray, first: IntArray) -> IntArray:
    """The index of the highest rate in each run of buckets that begins at `first`; of equal ones the first."""
    highest = np.repeat(np.maximum.reduceat(rate, first), np.diff(first, append=len(rate)))
    places = np.flatnonzero(rate == highest)
    return places[np.searchsorted(places, first)]


def summary_of(demand: Demand, lifted: Lifted, room: HostRoom, policy: Policy) -> DemandSummary:
    """A demand in numbers, and where it was held back."""
    is_busy_known = demand.busy_share is not None and (demand.whole or policy.size_on is SizeOn.BUSY_TIME)
    busy = _peaks_of(demand.busy(demand.rates[:, ALL])) if is_busy_known else (None, None)
    busiest = (None, None) if demand.busiest is None else _peaks_of(demand.busiest.count(PLAIN))
    operations, moved_mib, observed_s = (
        demand.total(demand.iops),
        demand.total(demand.throughput_mib_s),
        demand.seconds(demand.observed),
    )
    least, most = _peaks_of(demand.rates[:, ALL]), _peaks_of(demand.most[:, ALL])
    return DemandSummary(
        peak_iops=most[0],
        peak_throughput_mib_s=most[1],
        least_peak_iops=least[0],
        least_peak_throughput_mib_s=least[1],
        peak_busy_iops=busy[0],
        peak_busy_throughput_mib_s=busy[1],
        peak_second_iops=busiest[0],
        peak_second_throughput_mib_s=busiest[1],
        mean_iops=operations / observed_s if observed_s else 0.0,
        mean_throughput_mib_s=moved_mib / observed_s if observed_s else 0.0,
        mean_io_size_kib=float(io_size_kib(np.array(moved_mib * MIB), np.array(operations))) if operations else None,
        read_share=demand.total(demand.rates[IOPS, READS]) / operations if operations else None,
        resolution_s=demand.coarsest_s,
        hours_observed=demand.hours_observed,
        gap_hours=demand.gap_hours,
        censored=bool((lifted.any | room.bound).any()),
        throttled_minutes=demand.minutes(lifted.any),
        flagged_minutes=demand.minutes(lifted.flagged),
        host_bound_minutes=demand.minutes(room.bound),
        host_bound_measured_minutes=demand.minutes(room.bound & room.measured),
        host_cleared_minutes=demand.minutes(room.cleared),
        coverage=demand.coverage
        or Coverage(hours_expected=demand.hours_observed, hours_observed=demand.hours_observed),
    )


def _peaks_of(rates: CountedRates) -> tuple[float, float]:
    """The highest IOPS and MiB/s."""
    return float(rates[IOPS].max(initial=0.0)), float(rates[MIB_S].max(initial=0.0))


def io_size_kib(total_bytes: FloatArray, total_ops: FloatArray) -> FloatArray:
    """The mean KiB of an operation; NaN if there was no operation."""
    size = np.full(np.shape(total_ops), np.nan)
    np.divide(total_bytes / KIB, total_ops, out=size, where=np.asarray(total_ops) > 0)
    return size
