"""Waiting: the most that work can be left waiting behind a limit when it is not known when inside a bucket it came.

Operations and bytes may be known in different buckets; what is said here is said of the spans between times at which
buckets of both begin.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.knowledge import BYTES, OPERATIONS, SERIES, BoolArray, IntArray, Knowledge, counted
from plimsoll.domain.period import FloatArray
from plimsoll.domain.replay import TOLERANCE
from plimsoll.domain.units import KIB_PER_MIB, MIB


@dataclass(frozen=True, slots=True)
class Limit:
    """A rate a second with credits behind it. Operations and MiB are charged as given, a written one `write_operation`
    or `write_mib` times as much as a read one; the higher of both counts."""

    rate: float
    credits: float
    per_operation: float
    per_mib: float
    write_operation: float = 1.0
    write_mib: float = 1.0


def limits(ceiling: Ceiling, *, scale: float = 1.0, whole_ios: bool = False) -> Iterator[Limit]:
    """The limits of a ceiling for a demand times `scale`; see `replay` for `whole_ios`."""
    per_mib = KIB_PER_MIB / ceiling.io_kib if ceiling.io_kib else 0.0
    costs = (ceiling.write_iops_cost, ceiling.write_iops_cost)
    moved_costs = (1.0, ceiling.write_throughput_cost)
    yield Limit(ceiling.iops, 0.0, scale, scale * per_mib, *costs)
    yield Limit(ceiling.throughput_mib_s, 0.0, 0.0, scale, *moved_costs)
    for bucket in ceiling.buckets:
        least_mib = bucket.least_charge_mib if whole_ios else 0.0
        on_iops = bucket.resource is Resource.IOPS
        charged = (1.0, per_mib) if on_iops else (least_mib, 1.0)
        yield Limit(
            bucket.sustained_rate,
            bucket.capacity,
            scale * charged[0],
            scale * charged[1],
            *(costs if on_iops else moved_costs),
        )


def against_replays(knowledge: Knowledge, resolution_s: int, behind: Iterable[Limit]) -> tuple[FloatArray, FloatArray]:
    """How far each unread bucket of operations, and of bytes, can reach to leaving work waiting behind some limits."""
    tracks = [knowledge.tracks[group] for group in (OPERATIONS, BYTES)]
    found = np.zeros(len(tracks[0].starts_s)), np.zeros(len(tracks[1].starts_s))
    if not any(track.unread.any() for track in tracks):
        return found
    for costs, limits_alike in _by_costs(behind).items():
        parts = _parts(knowledge, costs, resolution_s)
        possible = [limit for limit in limits_alike if not _never_waits(*parts, limit, resolution_s)]
        if not possible:
            continue
        spans = _Spans.of(*parts, knowledge.window.end_s)
        for limit in possible:
            for reach, more in zip(found, _reach(spans, limit, resolution_s), strict=True):
                np.maximum(reach, more, out=reach)
    return found


def _by_costs(behind: Iterable[Limit]) -> dict[tuple[float, float], list[Limit]]:
    """Limits by what they charge for writes."""
    alike: dict[tuple[float, float], list[Limit]] = {}
    for limit in behind:
        alike.setdefault((limit.write_operation, limit.write_mib), []).append(limit)
    return alike


def _parts(knowledge: Knowledge, costs: tuple[float, float], resolution_s: int) -> tuple["_Part", "_Part"]:
    """Operations and MiB, writes counted for so many reads."""
    return (
        _Part.of(knowledge, OPERATIONS, resolution_s, costs[0]),
        _Part.of(knowledge, BYTES, resolution_s, costs[1]),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """Operations, or MiB: the total of each bucket, and the most of it in one bucket of the resolution.

    `all` is the sum of the totals, `highest` the highest of the most.
    """

    starts_s: IntArray
    unread: BoolArray
    total: FloatArray
    most: FloatArray
    all: float
    highest: float

    @classmethod
    def of(cls, knowledge: Knowledge, group: str, resolution_s: int, write_cost: float) -> "_Part":
        track = knowledge.tracks[group]
        reads, writes = (counted(track.series[name]) for name in SERIES[group])
        total = reads + write_cost * writes
        if group == BYTES:
            total = total / MIB
        unread = track.unread
        most = np.where(unread, total, total * resolution_s / track.lengths_s)
        return cls(track.starts_s, unread, total, most, float(total.sum()), float(most.max()))


@dataclass(frozen=True, slots=True)
class _Spans:
    """The spans between times at which a bucket of both parts begins, by the place of their first bucket in each part.

    A span is `exact` when it is one bucket of each part, read as finely as it is kept.
    """

    parts: tuple[_Part, _Part]
    first: tuple[IntArray, IntArray]
    lengths_s: IntArray
    unread: BoolArray
    exact: BoolArray

    @classmethod
    def of(cls, operations: _Part, moved: _Part, end_s: int) -> "_Spans":
        parts = (operations, moved)
        place = np.minimum(np.searchsorted(moved.starts_s, operations.starts_s), len(moved.starts_s) - 1)
        both = moved.starts_s[place] == operations.starts_s
        starts_s, first = operations.starts_s[both], (np.flatnonzero(both), place[both])
        unread = np.logical_or.reduceat(operations.unread, first[0]) | np.logical_or.reduceat(moved.unread, first[1])
        single = [np.append(at[1:], len(part.starts_s)) - at == 1 for part, at in zip(parts, first, strict=True)]
        lengths_s = np.append(starts_s[1:], end_s) - starts_s
        return cls(parts, first, lengths_s, unread, single[0] & single[1] & ~unread)


def _reach(spans: _Spans, limit: Limit, resolution_s: int) -> tuple[FloatArray, FloatArray]:
    """The same for one limit: first of buckets that can exceed it by themselves, then of those that work waits in."""
    charges = (limit.per_operation, limit.per_mib)
    totals = [
        np.add.reduceat(part.total, at) * charge
        for part, at, charge in zip(spans.parts, spans.first, charges, strict=True)
    ]
    at_once = np.maximum(
        *(
            np.maximum.reduceat(part.most, at) * charge
            for part, at, charge in zip(spans.parts, spans.first, charges, strict=True)
        )
    )
    carried = limit.rate * resolution_s
    total = np.where(spans.exact, np.maximum(*totals), totals[0] + totals[1])
    change = total - limit.rate * spans.lengths_s
    grows = np.where(spans.exact, change, np.where(at_once > carried, total - carried, 0.0))
    jump = np.maximum(0.0, grows)
    before = _before(jump, change)
    worst, least = float((before + jump).max()), TOLERANCE * carried
    none = np.zeros(len(spans.parts[0].total)), np.zeros(len(spans.parts[1].total))
    if worst <= limit.credits + least:
        return none
    short = worst / limit.credits if limit.credits else np.inf
    alone = [
        np.where(part.unread, np.minimum(part.most * (charge / carried), short), 0.0)
        for part, charge in zip(spans.parts, charges, strict=True)
    ]
    if any((reach >= 1).any() for reach in alone):
        return alone[0], alone[1]
    waits = np.where(spans.unread & ((before > least) | (jump > 0)), np.inf, 0.0)
    found = [
        np.where(part.unread, waits[np.searchsorted(at, np.arange(len(part.total)), side="right") - 1], 0.0)
        for part, at in zip(spans.parts, spans.first, strict=True)
    ]
    return found[0], found[1]


def _never_waits(operations: _Part, moved: _Part, limit: Limit, resolution_s: int) -> bool:
    """Whether no bucket of the resolution can exceed the rate, or all the work together does not use up the credits."""
    highest = max(operations.highest * limit.per_operation, moved.highest * limit.per_mib)
    everything = operations.all * limit.per_operation + moved.all * limit.per_mib
    return highest <= limit.rate * resolution_s or everything <= limit.credits


def _before(jump: FloatArray, change: FloatArray) -> FloatArray:
    """The most that can be waiting when each span begins: U' = max(jump, U + change), U >= 0, from U = 0.

    In closed form: with D the running sum of changes, U' = D + max(0, running max of jump - D).
    """
    total = np.cumsum(change)
    after = total + np.maximum(np.maximum.accumulate(jump - total), 0.0)
    return np.concatenate([[0.0], np.maximum(after[:-1], 0.0)])
