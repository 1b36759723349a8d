"""Bounds: the least and the most that a ceiling would have held back of a demand that is partly read.

The argument, in one place. It is what lets an audit leave minutes unread and still give the answer of every minute.

What is known. A bucket that was not read finely has so much work S in a time L, and no minute in it was above a rate
m: the highest minute that the cloud publishes, or all of S in one minute. When inside the bucket the work came is not
known. An *arrangement* is any way in which it may have come. Behind a limit r a trial counts the minutes at whose end
work waits, and the longest wait.

The least, over all arrangements. Work that is spread evenly leaves no more waiting at the end of its bucket than any
other: max(0, U + S - rL), where U waits at its beginning, and that much any arrangement leaves. So a trial of the
demand with its unread buckets spread evenly (`trial`) shows a wait that is no longer than the true one. It counts
every minute that was read and is throttled, and one for all unread buckets together if any of them is: some minute in
it was at least at its mean. What was published as the highest minute is held against the ceiling as such a minute,
too. Where operations and bytes were read in different buckets and a limit counts both, only operations queue there:
any arrangement asks for at least those.

The most. Nothing waits at the end of an unread bucket that is above max(U + S - rL, H (1 - r/m)), 0 at the least: the
first is work that begins to wait at once, the second work that all came last, as fast as it can. H is the work that
can be above r: no more than S, and none where m is at most r. Within the bucket waits U + H (1 - r/m) at the most,
and at no more than (U + S) / r seconds the limit is fully used, which it is in every throttled minute. A token bucket
of capacity K that refills at r lets wait what waits behind r alone beyond K.

Why that decides. Let a choice be made on the least. Every cheaper configuration fails there, so it fails in truth. If
the chosen one passes on the most as well, it passes in truth: it is the answer of every minute. So much for offers.
What else an answer says has to be the same in both views:

- The minutes that a volume was saturated in. They are when no unread bucket can have reached the share of its epoch's
  ceiling that counts, no check was raised in one and no balance spent. Of a saturated minute both operations and
  bytes are read, because it is lifted along its size of I/O. Epochs cut buckets: either side is held against its own
  ceiling.
- What the host let through, and where it was the limit. Its traffic is known where the most that all its volumes can
  have done, with headroom, stays under what it always carries. There it cuts nothing and spends no credits.
- The trial of the present configuration, and whether relief halves it: where the least and the most are one.
- The need, to the grid, as far as evidence is told by it: the least and the most are of one grade.

`refine` names the buckets for which any of this is open. Every round reads one of them more finely, so that it ends,
at the latest when all was read. What is left open when no bucket is named (an arrangement that no single bucket
decides) is read whole: that is rare, and costs less than a finer argument. So are volumes that are sized by busy
time, because a bucket may have been busy for one second, and the members of stripe sets. Steps of the frontier with a
larger budget than the policy's are told by the most, and say so.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.counting import weighted
from plimsoll.domain.demand import Demand, Spread
from plimsoll.domain.knowledge import BoolArray, IntArray
from plimsoll.domain.period import FloatArray
from plimsoll.domain.replay import TOLERANCE
from plimsoll.domain.trial import Required, Trial, trial
from plimsoll.domain.units import KIB_PER_MIB, MINUTE_S


def at_most(required: Required, ceiling: Ceiling) -> Trial:
    """The most that a ceiling would have held back of what is required, however the unread work came."""
    demand, spread = required.work, required.work.spread
    if spread is None:
        return trial(required, ceiling)
    minutes, longest_s = np.zeros((len(Resource), len(demand.iops))), 0.0
    for row, resource in enumerate(Resource):
        short = _rate(required.short, ceiling, resource) > _limit(ceiling, resource) * (1 + TOLERANCE)
        minutes[row] = np.where(short & ~spread.unread, spread.lengths_s / MINUTE_S, 0.0)
        for behind in _limits(ceiling, resource):
            found = _held(demand, spread, behind)
            if found is not None:
                np.maximum(minutes[row], found.minutes, out=minutes[row])
                longest_s = max(longest_s, found.longest_wait_s)
    exact, together = minutes.max(axis=0), minutes.sum(axis=0)
    total = float(np.where(spread.unread, together, exact).sum())
    return Trial(throttled_minutes=min(total, demand.minutes(np.ones_like(spread.unread))), longest_wait_s=longest_s)


@dataclass(frozen=True, slots=True)
class _Limit:
    """A rate a second, and the credits behind it: `there` are left at the beginning. Each operation and each MiB is
    charged so much, the higher of both counts; a written one `write_operation`, or `write_mib`, times a read one."""

    rate: float
    capacity: float
    at_start: float
    per_operation: float
    per_mib: float
    write_operation: float
    write_mib: float


def _limits(ceiling: Ceiling, resource: Resource) -> Iterator[_Limit]:
    """The limits of a resource, without the free work of hosts: offers have none."""
    per_mib = KIB_PER_MIB / ceiling.io_kib if ceiling.io_kib else 0.0
    on_iops = resource is Resource.IOPS
    costs = (ceiling.write_iops_cost,) * 2 if on_iops else (1.0, ceiling.write_throughput_cost)
    charges = (1.0, per_mib) if on_iops else (0.0, 1.0)
    yield _Limit(_limit(ceiling, resource), 0.0, 0.0, *charges, *costs)
    for bucket in ceiling.buckets:
        if bucket.resource is resource:
            charged = charges if on_iops else (bucket.least_charge_mib, 1.0)
            yield _Limit(bucket.sustained_rate, bucket.capacity, bucket.spent_at_start, *charged, *costs)


@dataclass(frozen=True, slots=True)
class _Held:
    """The minutes throttled in each bucket of a demand, at the most, and the longest wait."""

    minutes: FloatArray
    longest_wait_s: float


def _held(demand: Demand, spread: Spread, behind: _Limit) -> _Held | None:
    """The most that waits behind a limit; None where nothing can."""
    iops = weighted(demand.iops, demand.read_iops, behind.write_operation) * behind.per_operation
    moved = weighted(demand.throughput_mib_s, demand.read_throughput_mib_s, behind.write_mib) * behind.per_mib
    most = np.maximum(
        weighted(spread.most_iops, spread.most_read_iops, behind.write_operation) * behind.per_operation,
        weighted(spread.most_throughput_mib_s, spread.most_read_throughput_mib_s, behind.write_mib) * behind.per_mib,
    )
    most = np.where(spread.unread, most, np.maximum(iops, moved))
    if most.max(initial=0.0) <= behind.rate:
        return None
    return _behind(_Spans.of(spread, iops, moved, most, behind), behind, demand.resolution_s, len(iops))


@dataclass(frozen=True, slots=True)
class _Spans:
    """The spans between times at which buckets of all that is charged begin, by their first bucket of the demand.

    `work` is all of each, `hot` what of it can come faster than the limit, `most` the highest rate in it. A span is
    `exact` where it is one bucket that was read finely.
    """

    first: IntArray
    lengths_s: IntArray
    work: FloatArray
    hot: FloatArray
    most: FloatArray
    exact: BoolArray

    @classmethod
    def of(cls, spread: Spread, iops: FloatArray, moved: FloatArray, most: FloatArray, behind: _Limit) -> "_Spans":
        begins = np.ones_like(spread.unread)
        unread = np.zeros_like(spread.unread)
        if behind.per_operation:
            begins, unread = begins & spread.begins_iops, unread | spread.unread_iops
        if behind.per_mib:
            begins, unread = begins & spread.begins_throughput, unread | spread.unread_throughput
        first = np.flatnonzero(begins)
        exact = ~np.logical_or.reduceat(unread, first)
        lengths_s = spread.lengths_s
        both = np.add.reduceat(np.maximum(iops, moved) * lengths_s, first)
        apart = np.add.reduceat(iops * lengths_s, first) + np.add.reduceat(moved * lengths_s, first)
        work = np.where(exact, both, apart)
        hot = np.add.reduceat(np.where(most > behind.rate, most, 0.0) * lengths_s, first)
        return cls(
            first=first,
            lengths_s=np.add.reduceat(lengths_s, first),
            work=work,
            hot=np.where(exact, work, np.minimum(work, hot)),
            most=np.maximum.reduceat(most, first),
            exact=exact,
        )


def _behind(spans: _Spans, behind: _Limit, resolution_s: int, buckets: int) -> _Held:
    change = spans.work - behind.rate * spans.lengths_s
    last = spans.hot * (1 - behind.rate / np.maximum(spans.most, behind.rate))
    jump = np.maximum(0.0, np.where(spans.exact, change, last))
    after = _waiting(jump, change, behind.at_start)
    before = np.concatenate([[behind.at_start], after[:-1]])
    peak = np.where(spans.exact, np.maximum(after, 0.0), np.maximum(before + jump, after)) - behind.capacity
    waits = peak > TOLERANCE * behind.rate * resolution_s
    seconds = np.where(spans.exact, spans.lengths_s, (before + spans.work) / behind.rate)
    minutes = np.zeros(buckets)
    minutes[spans.first] = np.where(waits, np.minimum(spans.lengths_s, seconds), 0.0) / MINUTE_S
    return _Held(minutes=minutes, longest_wait_s=float(np.maximum(peak, 0.0).max(initial=0.0)) / behind.rate)


def _waiting(jump: FloatArray, change: FloatArray, at_start: float) -> FloatArray:
    """The most that can be waiting at the end of each span: U' = max(jump, U + change), U >= 0, from `at_start` on.

    In closed form: with D the running sum of changes, U' = D + max(U0, 0, running max of jump - D).
    """
    total = np.cumsum(change)
    return np.maximum(0.0, total + np.maximum(np.maximum.accumulate(jump - total), at_start))


def _limit(ceiling: Ceiling, resource: Resource) -> float:
    return ceiling.iops if resource is Resource.IOPS else ceiling.throughput_mib_s


def _rate(demand: Demand, ceiling: Ceiling, resource: Resource) -> FloatArray:
    if resource is Resource.IOPS:
        return demand.counted_iops(ceiling.accounting)
    return demand.counted_throughput_mib_s(ceiling.accounting)
