"""The metrics of a volume as they were received: doubts about points that are missing or disagree.

What did not come is unknown, never zero. An answer can lack points that the cloud has, and then looks as if the volume
had done less. Three things tell:

- Sibling series are published together. Reads and writes have a count in every bucket in which the volume was attached,
  idle time (where it is published) has its seconds. Bytes may be absent where that direction had no operation.
- An absent count is zero only where a sibling proves it: idle time fills the bucket, or that direction moved no byte.
- What is read finely later adds up to what was read coarsely before. Nothing is lost in between.

What disagrees is asked once more, and is disputed where it still does (`refine.judge`). Where all series are absent
together nothing is in dispute: the volume was not attached, or its host did not run. That is asked once more as well.

A series of the host that is there on other days has to be there on each day on which the volume was, and is disputed
where it is not. Within a day points may be absent: they are asked once more, and where they stay absent they are
unknown, so that the published limit tells.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.series import (
    BALANCE,
    BYTES,
    CHECKS,
    EVERY_MINUTE,
    HIGHEST,
    HOST,
    HOST_CHECKS,
    IDLE,
    NAMES,
    OPERATIONS,
    PRESENCE,
    SERIES,
    WORK,
    Longer,
)
from plimsoll.model.units import DAY_S, HOUR_S
from plimsoll.reading.known import (
    EXACT,
    FEW_IOPS,
    Knowledge,
    Look,
    Track,
    buckets_without_series,
    find_spans,
    zero_if_absent,
)
from plimsoll.reading.window import Coverage, Doubt, Window

LATE_POINTS_S: Final = 3 * HOUR_S
"""Points at the end of the window may still come in while it is read, so that a bucket there can grow."""

(_IDLE_TIME,), (_BALANCE_LEFT,) = NAMES[IDLE], NAMES[BALANCE]


def _walk_series(groups: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Walks over the series of some groups, each after its group."""
    return ((group, name) for group in groups for name in NAMES[group])


_GROUP_OF: Final = {name: group for group, name in _walk_series((*EVERY_MINUTE, *HOST))}


def find_doubts(knowledge: Knowledge) -> tuple[Doubt, ...]:
    """Finds the spans in which the known series of a volume disagree or lack points."""
    siblings = knowledge.work_out_once("siblings", _siblings)
    return (*siblings, *_lone_counts(knowledge), *_lone_hours(knowledge), *_sums(knowledge))


def plan_second_looks(
    knowledge: Knowledge, looks: Sequence[Look], doubts: Sequence[Doubt], gaps_from_s: float
) -> Iterator[Look]:
    """Yields the looks to ask once more: at spans in doubt, with all that was asked beside them, and at gaps.

    A gap is a bucket that was read for the first time, after `gaps_from_s`, and has no point of any series; or one in
    which a series of the host lacks what it has in others.
    """
    spans = [(doubt.start_s, doubt.end_s) for doubt in doubts]
    spans += [(gap.start_s, gap.end_s) for gap in _gaps(knowledge, looks, gaps_from_s)]
    asked: set[str] = set()
    for look in looks:
        within = [(start, end) for start, end in spans if start < look.window.end_s and look.window.start_s < end]
        if not within:
            yield from _gaps_of_host(knowledge, look)
        else:
            yield Look(window=_covering_window(within, look), period_s=look.period_s, groups=look.groups)
            asked.update(look.groups)
    for doubt in doubts:
        group = _GROUP_OF[doubt.series]
        if group not in asked:
            yield from _looks_at(knowledge.tracks[group], group, doubt)


def measure_coverage(knowledge: Knowledge, hours: BoolArray, hours_observed: float) -> Coverage:
    """Measures the coverage of what is known; `hours` are the clock hours of the window that count as observed."""
    missing = 0
    if not hours.all() and knowledge.running_from_s is not None:
        first = max(0, int(-(-knowledge.running_from_s // HOUR_S)) - knowledge.window.start_s // HOUR_S)
        missing = int(np.count_nonzero(~hours[first:]))
    return Coverage(
        hours_expected=hours_observed + missing,
        hours_observed=hours_observed,
        series_pct=knowledge.work_out_once("series_pct", _series_pct),
        disputes=knowledge.disputes,
    )


@dataclass(frozen=True, slots=True)
class _Idle:
    """The idle time of each bucket of operations: it has a point there, and it fills the bucket."""

    any: BoolArray
    fills: BoolArray

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge, starts_s: IntArray, lengths_s: IntArray) -> "_Idle | None":
        """The idle time in the buckets of operations that begin at `starts_s`; None if the cloud publishes none."""
        if _IDLE_TIME not in knowledge.published:
            return None
        track = knowledge.first[IDLE]
        idle_s = track.series[_IDLE_TIME]
        present = ~np.isnan(idle_s)
        if len(idle_s) == len(starts_s):
            return cls(present, zero_if_absent(idle_s) >= lengths_s * (1 - EXACT))
        at = np.searchsorted(track.starts_s, starts_s)
        fills = np.add.reduceat(zero_if_absent(idle_s), at) >= lengths_s * (1 - EXACT)
        return cls(np.logical_or.reduceat(present, at), fills)


def _siblings(knowledge: Knowledge) -> tuple[Doubt, ...]:
    """Finds doubts in the buckets that were read first: operations and bytes in the same ones."""
    operations, moved = knowledge.first[OPERATIONS], knowledge.first[BYTES]
    counts = [operations.series[name] for name in NAMES[OPERATIONS]]
    volumes = [moved.series[name] for name in NAMES[BYTES]]
    idle = _Idle.from_knowledge(knowledge, operations.starts_s, operations.lengths_s)
    doubts = [*_impossible(knowledge, operations, counts, volumes), *_lone_checks(knowledge, operations)]
    doubts += _lone_days(knowledge)
    if np.isnan(counts[0] + counts[1] + volumes[0] + volumes[1]).any() or (idle is not None and not idle.any.all()):
        doubts += _absent(operations, counts, volumes, idle)
    return tuple(doubts)


def _absent(
    operations: Track, counts: Sequence[FloatArray], volumes: Sequence[FloatArray], idle: _Idle | None
) -> Iterator[Doubt]:
    """Yields the buckets in which a series is absent though others are there."""
    present = [~np.isnan(values) for values in (*counts, *volumes)]
    any_present = np.logical_or.reduce(present) if idle is None else np.logical_or.reduce([*present, idle.any])
    none_pending = False if idle is None else idle.fills
    for place, (name, bytes_name) in enumerate(zip(NAMES[OPERATIONS], NAMES[BYTES], strict=True)):
        proven = none_pending | (volumes[place] == 0)
        yield from find_spans(name, operations, any_present & ~present[place] & ~proven)
        yield from find_spans(bytes_name, operations, (counts[place] > 0) & ~present[place + 2])
    if idle is not None:
        yield from find_spans(_IDLE_TIME, operations, (present[0] | present[1]) & ~idle.any)


def _impossible(
    knowledge: Knowledge, operations: Track, counts: Sequence[FloatArray], volumes: Sequence[FloatArray]
) -> Iterator[Doubt]:
    """Yields the days whose figures contradict each other.

    Operations moved nothing, nothing moved bytes, work was done while nothing was pending, or without a balance. By
    days, so that it does not matter how finely they were read.
    """
    days = operations.starts_s // DAY_S
    at = np.flatnonzero(np.diff(days, prepend=-1))
    lengths_s = np.add.reduceat(operations.lengths_s, at)
    by_day = buckets_without_series(operations.starts_s[at], lengths_s)
    total = np.zeros(len(at))
    for count, moved, name, bytes_name in zip(counts, volumes, NAMES[OPERATIONS], NAMES[BYTES], strict=True):
        ops, size = np.add.reduceat(zero_if_absent(count), at), np.add.reduceat(zero_if_absent(moved), at)
        total += ops
        yield from find_spans(name, by_day, (size > 0) & (ops == 0))
        yield from find_spans(bytes_name, by_day, (size == 0) & (ops > FEW_IOPS * lengths_s))
    busy = total > FEW_IOPS * lengths_s
    if not busy.any():
        return
    if (idle := _Idle.from_knowledge(knowledge, by_day.starts_s, lengths_s)) is not None:
        yield from find_spans(_IDLE_TIME, by_day, busy & idle.fills)
    if _BALANCE_LEFT in knowledge.published:
        track = knowledge.first[BALANCE]
        balance = _any_within(~np.isnan(track.series[_BALANCE_LEFT]), track, by_day)
        credited = knowledge.is_credited(by_day.starts_s, lengths_s)
        yield from find_spans(_BALANCE_LEFT, by_day, busy & credited & ~balance)


def _lone_checks(knowledge: Knowledge, operations: Track) -> Iterator[Doubt]:
    """Yields the buckets with operations in which an exceeded check is absent, though it was 0 before.

    One that is never there, or only where it is raised, is not known to be published otherwise.
    """
    for group, name in _walk_series(CHECKS.values()):
        if name not in knowledge.published:
            continue
        track = knowledge.first[group]
        check = track.series[name]
        absent = np.isnan(check)
        if absent.any() and (check == 0).any():
            absent[: int(np.argmin(absent))] = False
            yield from find_spans(name, track, absent & _any_within(operations.present, operations, track))


def _lone_days(knowledge: Knowledge) -> Iterator[Doubt]:
    """Yields the days with operations on which a series of the host has no point, though it had one before.

    A check counts only if it was 0 once: one that is there where it is raised, and nowhere else, is not known to be
    published otherwise.
    """
    operations = knowledge.first[OPERATIONS]
    days, busy = _mark_days(operations.starts_s, operations.present)
    for group, name in _walk_series(HOST):
        if group not in knowledge.first or name not in knowledge.published:
            continue
        track = knowledge.first[group]
        values = track.series[name]
        if group in HOST_CHECKS.values() and not (values == 0).any():
            continue
        same, present = _mark_days(track.starts_s, ~np.isnan(values))
        absent = busy & ~present[np.searchsorted(same, days)]
        if present.any():
            absent &= days > same[np.argmax(present)]
            yield from _day_spans(name, days[absent], knowledge)


def _gaps_of_host(knowledge: Knowledge, look: Look) -> Iterator[Look]:
    """Yields another look at the host if one of its series has points in some buckets and in others none."""
    groups = tuple(group for group in look.groups if group in HOST and _has_gaps(knowledge, group, look))
    if groups:
        yield Look(window=look.window, period_s=look.period_s, groups=groups)


def _has_gaps(knowledge: Knowledge, group: str, look: Look) -> bool:
    """True if a look at a host's group lacks points that it has elsewhere, or was read before."""
    track = knowledge.tracks[group]
    absent = np.isnan(track.series[NAMES[group][0]][track.slice_in(look.window)])
    is_expected = knowledge.tracks[group] is not knowledge.first[group] or not absent.all()
    return bool(is_expected and absent.any())


def _mark_days(starts_s: IntArray, marked: BoolArray) -> tuple[IntArray, BoolArray]:
    """The days (UTC) of some buckets, by number, and those on which any bucket is marked."""
    days = starts_s // DAY_S
    at = np.flatnonzero(np.diff(days, prepend=-1))
    return days[at], np.logical_or.reduceat(marked, at)


def _day_spans(name: str, days: IntArray, knowledge: Knowledge) -> Iterator[Doubt]:
    """Yields each of some days, as far as the window has it."""
    for day in days.tolist():
        start_s, end_s = max(day * DAY_S, knowledge.window.start_s), min((day + 1) * DAY_S, knowledge.window.end_s)
        yield Doubt(name, start_s, end_s)


def _any_within(marked: BoolArray, track: Track, wider: Track) -> BoolArray:
    """Marks each bucket of a track with longer buckets in which any shorter bucket is marked."""
    if len(marked) == len(wider.starts_s):
        return marked
    return np.asarray(np.logical_or.reduceat(marked, np.searchsorted(track.starts_s, wider.starts_s)))


def _lone_counts(knowledge: Knowledge) -> Iterator[Doubt]:
    """Yields the buckets read more finely in which reads were counted and writes were not, or the other way round."""
    track, first = knowledge.tracks[OPERATIONS], knowledge.first[OPERATIONS]
    if track is first:
        return
    reads, writes = (np.isnan(track.series[name]) for name in NAMES[OPERATIONS])
    lone = reads != writes
    if lone.any():
        lone &= track.lengths_s < first.lengths_s[np.searchsorted(first.starts_s, track.starts_s, side="right") - 1]
        yield from find_spans(NAMES[OPERATIONS][0], track, lone & reads)
        yield from find_spans(NAMES[OPERATIONS][1], track, lone & writes)


def _lone_hours(knowledge: Knowledge) -> Iterator[Doubt]:
    """Yields the hours in which other series have points and idle time has none."""
    if _IDLE_TIME not in knowledge.published or not np.isnan(knowledge.tracks[IDLE].series[_IDLE_TIME]).any():
        return
    hours, _ = knowledge.hours()
    seen, others = np.zeros(len(hours), dtype=np.bool_), np.zeros(len(hours), dtype=np.bool_)
    for group in (*WORK, PRESENCE):
        if group in knowledge.tracks:
            track = knowledge.tracks[group]
            at = knowledge.hour(track.starts_s[track.present & (track.lengths_s <= HOUR_S)])
            (seen if group == IDLE else others)[at] = True
    starts_s = (knowledge.window.start_s // HOUR_S + np.arange(len(hours))) * HOUR_S
    yield from find_spans(_IDLE_TIME, buckets_without_series(starts_s, np.full(len(hours), HOUR_S)), others & ~seen)


def _sums(knowledge: Knowledge) -> Iterator[Doubt]:
    """Yields the first buckets whose figures do not come out of the finer ones that were read since."""
    for group, first in knowledge.first.items():
        track = knowledge.tracks[group]
        if track is first or group in (PRESENCE, *HIGHEST.values()):
            continue
        at = np.searchsorted(track.starts_s, first.starts_s)
        settled = first.starts_s + first.lengths_s <= knowledge.window.end_s - LATE_POINTS_S
        for name, values in first.series.items():
            if name in knowledge.published:
                yield from find_spans(name, first, _find_changed(name, values, track.series[name], at, settled))


def _find_changed(name: str, before: FloatArray, finer: FloatArray, at: IntArray, settled: BoolArray) -> BoolArray:
    """The buckets whose sum, highest or least is not that of the finer ones that begin at `at`.

    A sum may grow if it is not `settled`.
    """
    longer = SERIES[name].longer
    if longer is Longer.LEAST:
        return np.asarray(~np.isnan(before) & ~(np.fmin.reduceat(finer, at) <= before + EXACT))
    was = zero_if_absent(before)
    tolerance = EXACT * was + EXACT
    if longer is Longer.HIGHEST:
        return np.asarray(zero_if_absent(np.fmax.reduceat(finer, at)) < was - tolerance)
    now = np.add.reduceat(zero_if_absent(finer), at)
    return np.asarray((now < was - tolerance) | (settled & (now > was + tolerance)))


def _gaps(knowledge: Knowledge, looks: Sequence[Look], from_s: float) -> Iterator[Doubt]:
    """Yields the buckets without any point that these looks read for the first time, after `from_s`."""
    first = knowledge.first[OPERATIONS]
    if not any(OPERATIONS in look.groups for look in looks) or knowledge.tracks[OPERATIONS] is not first:
        return
    absent = ~(first.present | knowledge.first[BYTES].present) & (first.starts_s + first.lengths_s > from_s)
    if absent.any():
        idle = _Idle.from_knowledge(knowledge, first.starts_s, first.lengths_s)
        yield from find_spans(NAMES[OPERATIONS][0], first, absent if idle is None else absent & ~idle.any)


def _series_pct(knowledge: Knowledge) -> tuple[tuple[str, float], ...]:
    """The share of the time in which a published series has the points that it should have, by name.

    Bytes and balances need be there only where something was done.
    """
    operations = knowledge.first[OPERATIONS]
    reads, writes = (zero_if_absent(operations.series[name]) for name in NAMES[OPERATIONS])
    idle = _Idle.from_knowledge(knowledge, operations.starts_s, operations.lengths_s)
    any_present = operations.present | knowledge.first[BYTES].present
    if idle is not None:
        any_present = any_present | idle.any
    credited = knowledge.is_credited(operations.starts_s, operations.lengths_s)
    beside = dict(zip(NAMES[BYTES], (reads > 0, writes > 0), strict=True))
    beside |= dict.fromkeys(NAMES[BALANCE], credited & (reads + writes > 0))
    shares = []
    for name in (name for group in EVERY_MINUTE for name in NAMES[group] if name in knowledge.published):
        wanted, track = any_present & beside.get(name, any_present), operations
        if name == _IDLE_TIME and idle:
            present = idle.any
        else:
            track = knowledge.first[_GROUP_OF[name]]
            present, wanted = ~np.isnan(track.series[name]), _any_within(wanted, operations, track)
        shares.append((name, _share_pct(wanted, present, track.lengths_s)))
    return tuple(shares)


def _share_pct(wanted: BoolArray, present: BoolArray, lengths_s: IntArray) -> float:
    """The share of wanted time that has points, 100 if none is wanted."""
    if present.all():
        return 100.0
    seconds = int(lengths_s[wanted].sum())
    return 100.0 * int(lengths_s[wanted & present].sum()) / seconds if seconds else 100.0


def _covering_window(spans: Sequence[tuple[int, int]], look: Look) -> Window:
    """The buckets of a look from the first span to the last."""
    start_s, period_s = look.window.start_s, look.period_s
    first = max(0, (min(start for start, _ in spans) - start_s) // period_s)
    last = min(look.window.buckets(period_s), -(-(max(end for _, end in spans) - start_s) // period_s))
    return Window(start_s=start_s + first * period_s, end_s=start_s + last * period_s)


def _looks_at(track: Track, group: str, doubt: Doubt) -> Iterator[Look]:
    """Yields looks at the buckets of a track in a span, as they were read."""
    at = track.slice_in(Window(start_s=doubt.start_s, end_s=doubt.end_s))
    starts_s, lengths_s = track.starts_s[at], track.lengths_s[at]
    turns = np.flatnonzero(np.diff(lengths_s, prepend=-1))
    for first, after in zip(turns.tolist(), [*turns[1:].tolist(), len(starts_s)], strict=True):
        end_s = int(starts_s[after - 1] + lengths_s[after - 1])
        window = Window(start_s=int(starts_s[first]), end_s=end_s)
        yield Look(window=window, period_s=int(lengths_s[first]), groups=(group,))
