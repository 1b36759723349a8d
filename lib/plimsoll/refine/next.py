"""Next: what to read next of a volume, in few queries and few datapoints.

Buckets are read from days to hours to minutes. `certificate` says what is open. Where a cloud publishes each minute's
rate, the hours are found by their highest minute before anything is read minute by minute.

Also how often the points of a volume come (`Steps`). Hosts of an older hypervisor may publish one sum each five
minutes. By the minute a cloud gives that sum once and four empty minutes, as of a job that runs every five minutes. Two
hours of each span decide it, of series that are published without activity (idle time, queue length):

- idle time of more than a minute in a point: five minutes;
- points of any series closer together than that: one minute;
- some points, and none closer: five minutes;
- anything else: unknown. Then points count as minutes, which refuses reductions, but demand is at a ceiling only where
  that of five minutes is, so that nothing is relieved for it (`Demand.even_demand`).

The plan: what reading the metrics of some volumes is expected to take, before reading begins.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from plimsoll.decide.case import Case
from plimsoll.decide.case_maker import of_type
from plimsoll.demand.demand import Demand
from plimsoll.demand.epochs import edges_of, epochs_of
from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.series import (
    BALANCE,
    BYTES,
    CHECKS,
    HIGHEST,
    HOST_CHECKS,
    IDLE,
    NAMES,
    OPERATIONS,
    PAST_RATES,
    PEAKS,
    PRESENCE,
    SERIES,
    STEP,
    WORK,
    WORK_OF,
    Role,
    names_with,
)
from plimsoll.model.units import DAY_S, HOUR_S, MINUTE_S
from plimsoll.model.volume import Volume
from plimsoll.reading.agreement import find_doubts
from plimsoll.reading.cost import Closer, Plan, QueryCost, Reading
from plimsoll.reading.known import Knowledge, Look, Track, plan_first_looks, zero_if_absent
from plimsoll.reading.window import FIVE_MINUTES_S, Segment, Window
from plimsoll.refine.certificate import Open, is_open
from plimsoll.refine.past import look_at_latest


def plan_of(
    series: Sequence[int],
    segments: Sequence[Segment],
    *,
    whole: Sequence[int] = (),
    every_minute: bool,
    closer: Closer,
    page: int,
    most_queries: int,
) -> Plan:
    """The plan for volumes by the number of their series; those of `whole` are read at every minute.

    `closer` is what looking closer takes, `page` how many datapoints and `most_queries` how many queries one call can
    bring.
    """
    if whole:
        sparing = plan_of(
            series, segments, every_minute=every_minute, closer=closer, page=page, most_queries=most_queries
        )
        return sparing + plan_of(
            whole, segments, every_minute=True, closer=closer, page=page, most_queries=most_queries
        )
    first, most = (
        _reading(plan_first_looks(segments, every_minute=minutes), series, page=page, most_queries=most_queries)
        for minutes in (False, True)
    )
    finer = Reading(
        queries=round(first.queries * closer.queries),
        calls=math.ceil(first.queries * closer.queries / closer.queries_a_call),
        datapoints=round(most.datapoints * closer.datapoints),
    )
    least, expected = (most, most) if every_minute else (first, first + finer)
    return Plan(volumes=len(series), least=least, expected=expected, most=most)


def memory_plan(
    pasts: Iterable[Sequence[Segment]], window: Window, *, every_minute: bool, page: int, most_queries: int
) -> Plan:
    """The plan for the past of volumes, by their segments of it.

    Its days are expected to be enough, and `least` is that nobody asks.
    """
    days, whole, work = [], [], len(NAMES[OPERATIONS]) + len(NAMES[BYTES])
    for segments in (segments for segments in pasts if segments):
        days.append((len(NAMES[PAST_RATES]) + work, (segments[-1].window.end_s - segments[0].window.start_s) // DAY_S))
        days += [(len(look.series), look.window.buckets(DAY_S)) for look in look_at_latest(window)]
        whole += [(work, segment.window.buckets(segment.period_s)) for segment in segments]
    expected, most = (_read_series(asked, page, most_queries) for asked in (days, days + whole))
    return Plan(least=most, expected=most, most=most) if every_minute else Plan(expected=expected, most=most)


def hosts_plan(
    hosts: Sequence[int], segments: Sequence[Segment], *, every_minute: bool, page: int, most_queries: int
) -> Plan:
    """The plan for the metrics of hosts that may be the limit, by the number of series of each.

    Their days are expected to be enough.
    """
    first, whole = (
        _read_series(
            [
                (series, look.window.buckets(look.period_s))
                for look in plan_first_looks(segments, every_minute=minutes, host=True)
                if set(look.groups) & set(HOST_CHECKS.values())
                for series in hosts
                if series
            ],
            page,
            most_queries,
        )
        for minutes in (False, True)
    )
    return (
        Plan(least=whole, expected=whole, most=whole) if every_minute else Plan(least=first, expected=first, most=whole)
    )


def _read_series(asked: Sequence[tuple[int, int]], page: int, most_queries: int) -> Reading:
    """The reading of (queries, buckets each), many volumes in one call."""
    return Reading(
        queries=sum(queries for queries, _ in asked),
        calls=math.ceil(sum(queries / max(1, min(most_queries, page // buckets)) for queries, buckets in asked)),
        datapoints=sum(queries * buckets for queries, buckets in asked),
    )


def _reading(looks: Sequence[Look], series: Sequence[int], *, page: int, most_queries: int) -> Reading:
    """The reading of looks at every volume. Work is the first series of each, others are what a look has besides."""
    total, of_work = Reading(), sum(len(NAMES[group]) for group in WORK)
    work = sum(min(count, of_work) for count in series)
    for look in looks:
        queries = work if look.groups == WORK else sum(series) - (0 if set(WORK) <= set(look.groups) else work)
        buckets = look.window.buckets(look.period_s)
        calls = math.ceil(queries / max(1, min(most_queries, page // buckets)))
        total += Reading(queries=queries, calls=calls, datapoints=queries * buckets)
    return total


MARGIN: Final = 1.5
"""How much finer than an even load would need a bucket is read, because loads are not even."""

FULL_PCT: Final = 100.0


def find_looks(
    case: Case | None, demand: Demand, reached: Open, knowledge: Knowledge, query_cost: QueryCost
) -> list[Look]:
    """The looks to read next at a volume; none if nothing is open. Without a case only its work counts."""
    looks = _look_at_host(demand, reached, knowledge, query_cost)
    flags = [] if case is None else _flags(case, knowledge, query_cost)
    if flags:
        # What is lifted follows from the minutes of a check, so that work is looked at after those are known.
        return looks + flags
    edges_s = () if case is None else edges_of(case.volume, knowledge.window, case.policy)
    looks += _look_at_work(demand, reached.work, knowledge, query_cost, edges_s)
    if reached.hours:
        looks += _look_at_hours(knowledge, query_cost)
    if reached.seconds.max(initial=0.0) >= 1 and knowledge.unread(PEAKS).any():
        looks += looks_at((PEAKS,), knowledge, _within(knowledge, PEAKS, demand, reached.seconds), query_cost)
    if not looks and (reached.rest or is_open(demand, reached.work)):
        for group in (OPERATIONS, BYTES):
            everything = np.full(len(knowledge.tracks[group].starts_s), np.inf)
            looks += looks_at((group,), knowledge, everything, query_cost)
    return looks or looks_for_presence(knowledge)


def _look_at_host(demand: Demand, reached: Open, knowledge: Knowledge, query_cost: QueryCost) -> list[Look]:
    """Looks at what was measured of the host, by the hour and then as finely as it is published."""
    looks = []
    for group, wanted in reached.host.items():
        reach = _by_hours(knowledge.tracks[group], _within(knowledge, group, demand, wanted.astype(np.float64)))
        looks += looks_at((group,), knowledge, reach, query_cost)
    return looks


def _look_at_hours(knowledge: Knowledge, query_cost: QueryCost) -> list[Look]:
    """Looks at all work by the hour."""
    looks: list[Look] = []
    for group in (OPERATIONS, BYTES):
        track = knowledge.tracks[group]
        work = np.logical_or.reduce([zero_if_absent(values) > 0 for values in track.series.values()])
        looks += looks_at((group,), knowledge, _by_hours(track, work & (track.lengths_s > HOUR_S)), query_cost)
    return looks


def _look_at_work(
    demand: Demand, reach: FloatArray, knowledge: Knowledge, query_cost: QueryCost, edges_s: Sequence[int] | IntArray
) -> list[Look]:
    """Looks at operations and bytes where they reach 1 or more: at the highest minute of each hour first, where a cloud
    publishes that, and then at the hours that still do. Also at those that an edge cuts: which part of their work was
    before it has to be known."""
    looks: list[Look] = []
    if demand.spread is None or (reach.max(initial=0.0) < 1 and not len(edges_s)):
        return looks
    for row, (group, rates) in enumerate(zip(WORK_OF.values(), HIGHEST.values(), strict=True)):
        reached = _within(knowledge, group, demand, reach[row])
        by_rates = _by_rates(demand, reach[row], rates, knowledge)
        if by_rates is not None:
            looks += looks_at((rates,), knowledge, by_rates, query_cost)
            settled = _within(knowledge, group, demand, _over(knowledge.tracks[rates], demand, by_rates))
            reached = np.where(settled >= 1, 0.0, _by_hours(knowledge.tracks[group], reached))
        reached = np.maximum(reached, _cut(knowledge.tracks[group], edges_s))
        looks += looks_at((group,), knowledge, reached, query_cost)
    return looks


def _cut(track: Track, edges_s: Sequence[int] | IntArray) -> FloatArray:
    """The reach of buckets with work that a time cuts."""
    cut = np.zeros(len(track.starts_s), dtype=np.bool_)
    for edge_s in edges_s:
        cut |= (track.starts_s < edge_s) & (edge_s < track.starts_s + track.lengths_s)
    work = np.logical_or.reduce([zero_if_absent(values) > 0 for values in track.series.values()])
    return _by_hours(track, cut & work)


def _by_rates(demand: Demand, reach: FloatArray, rates: str, knowledge: Knowledge) -> FloatArray | None:
    """The reach of each bucket longer than an hour of a series of rates; None without that series."""
    if rates not in knowledge.tracks:
        return None
    track = knowledge.tracks[rates]
    known = ~np.isnan(track.series[NAMES[rates][0]])
    if not known.any():
        return None
    reached = _by_hours(track, np.where(known, _within(knowledge, rates, demand, reach), 0.0))
    return np.where(track.lengths_s > HOUR_S, reached, 0.0)


def _by_hours(track: Track, reach: FloatArray | BoolArray) -> FloatArray:
    """The reach with its open buckets raised: buckets longer than an hour are read by the hour, others by the
    minute."""
    longer = track.lengths_s > HOUR_S
    return np.where(reach >= 1, np.where(longer, track.lengths_s / (MARGIN * HOUR_S), np.inf), 0.0)


def _over(track: Track, demand: Demand, values: FloatArray) -> FloatArray:
    """A figure of each bucket of a track, at each bucket of a demand."""
    return values[np.searchsorted(track.starts_s, demand.starts_s, side="right") - 1]


def _within(knowledge: Knowledge, group: str, demand: Demand, reach: FloatArray) -> FloatArray:
    """The furthest that any bucket of a demand reaches within each bucket of a track."""
    return np.maximum.reduceat(reach, np.searchsorted(demand.starts_s, knowledge.tracks[group].starts_s))


def _flags(case: Case, knowledge: Knowledge, query_cost: QueryCost) -> list[Look]:
    """Looks at the unread buckets in which a check was raised or the balance spent, and at the first balance: by the
    hour, and then by the minute."""
    looks = []
    for group in CHECKS.values():
        raised = np.logical_or.reduce([values > 0 for values in knowledge.tracks[group].series.values()])
        looks += looks_at((group,), knowledge, _by_hours(knowledge.tracks[group], raised), query_cost)
    if case.present.buckets or any(epoch.ceiling and epoch.ceiling.buckets for epoch in case.epochs):
        track = knowledge.tracks[BALANCE]
        (balance,) = track.series.values()
        wanted = balance < case.policy.empty_balance_pct
        of_its_type = of_type(case.epochs, case.volume.spec.type, case.demand)
        lies_in = np.logical_or.reduceat(of_its_type, np.searchsorted(case.demand.starts_s, track.starts_s))
        known = np.flatnonzero(~np.isnan(balance) & lies_in)
        if len(known) and balance[known[0]] < FULL_PCT:
            wanted[known[0]] = True
        looks += looks_at((BALANCE,), knowledge, _by_hours(track, wanted), query_cost)
    return looks


def looks_at(groups: tuple[str, ...], knowledge: Knowledge, reach: FloatArray, query_cost: QueryCost) -> list[Look]:
    """The fewest and coarsest looks at the unread buckets of groups with a reach of 1 or more.

    The groups are read together and have been so before: `reach` has one figure for each bucket of the first. Each
    bucket is read in the longest period that would settle it were its load even. Neighbors, and what lies between
    them, are read in one, and a run as finely as can be, where that brings no more datapoints than a query is worth.
    """
    track, spare = knowledge.tracks[groups[0]], query_cost.datapoints_a_query
    runs: list[_Run] = []
    for run in _even_runs(track, np.flatnonzero(knowledge.unread(groups[0]) & (reach >= 1)), reach):
        joined = _join(track, runs[-1], run, spare) if runs else None
        if joined is None:
            runs.append(run)
        else:
            runs[-1] = joined
    return [_look(groups, track, run, spare) for run in runs]


def _even_runs(track: Track, at: IntArray, reach: FloatArray) -> Iterator["_Run"]:
    """Neighboring buckets that are of one length and wanted in one period."""
    if not len(at):
        return
    lengths_s, finest_s = track.lengths_s[at], track.finest_s[at]
    wanted_s = np.empty(len(at), dtype=np.int64)
    for length_s, finest in set(zip(lengths_s.tolist(), finest_s.tolist(), strict=True)):
        alike = (lengths_s == length_s) & (finest_s == finest)
        periods_s = np.asarray(_periods(length_s, finest))
        place = np.searchsorted(periods_s, length_s / (MARGIN * reach[at[alike]]), side="right") - 1
        wanted_s[alike] = periods_s[np.maximum(place, 0)]
    breaks = (np.diff(at) > 1) | (np.diff(lengths_s) != 0) | (np.diff(wanted_s) != 0)
    firsts = np.concatenate([[0], np.flatnonzero(breaks) + 1])
    lasts = np.append(firsts[1:] - 1, len(at) - 1)
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        yield _Run(int(at[first]), int(at[last]), int(wanted_s[first]))


@dataclass(frozen=True, slots=True)
class _Run:
    """The buckets of a track from the first to the last, to be read in a period."""

    first: int
    last: int
    period_s: int

    def seconds(self, track: Track) -> int:
        return int(track.starts_s[self.last] + track.lengths_s[self.last] - track.starts_s[self.first])


def _join(track: Track, run: _Run, other: _Run, spare: float) -> _Run | None:
    """Both runs as one; None if that costs more than a query, or is coarser than what is known between them."""
    both = _Run(run.first, other.last, min(run.period_s, other.period_s))
    apart = run.seconds(track) / run.period_s + other.seconds(track) / other.period_s
    if both.seconds(track) / both.period_s > apart + spare:
        return None
    lengths_s = track.lengths_s[both.first : both.last + 1]
    return None if (lengths_s % both.period_s).any() else both


def _look(groups: tuple[str, ...], track: Track, run: _Run, spare: float) -> Look:
    """The look at a run of buckets; at the finest period at once if that costs no more than `spare` points."""
    seconds, start_s = run.seconds(track), int(track.starts_s[run.first])
    oldest_s, finest_s = int(track.finest_s[run.first]), int(track.finest_s[run.last])
    whole = oldest_s == finest_s and seconds / finest_s <= seconds / run.period_s + spare
    return Look(
        window=Window(start_s=start_s, end_s=start_s + seconds),
        period_s=finest_s if whole else run.period_s,
        groups=groups,
    )


def looks_for_presence(knowledge: Knowledge) -> list[Look]:
    """Looks at coarse buckets whose hours with points are not known.

    One series by the hour first; where that has gaps, all of them, since any makes an hour observed.
    """
    _, known = knowledge.hours()
    if known.all():
        return []
    asked = knowledge.tracks.get(PRESENCE)
    looks: list[Look] = []
    for group in WORK:
        for window in _unknown(knowledge, knowledge.tracks[group], known):
            again = asked is not None and asked.has_read(window)
            look = Look(window=window, period_s=HOUR_S, groups=(group,) if again else (PRESENCE,))
            if look not in looks:
                looks.append(look)
    return looks


def _unknown(knowledge: Knowledge, track: Track, known: BoolArray) -> Iterator[Window]:
    """The spans of coarse buckets with hours that are not known, neighbors as one."""
    held: Window | None = None
    for at in np.flatnonzero(track.lengths_s > HOUR_S):
        start_s, end_s = int(track.starts_s[at]), int(track.starts_s[at] + track.lengths_s[at])
        if known[knowledge.hour(start_s) : knowledge.hour(end_s)].all():
            continue
        if held is not None and held.end_s == start_s:
            held = Window(start_s=held.start_s, end_s=end_s)
            continue
        if held is not None:
            yield held
        held = Window(start_s=start_s, end_s=end_s)
    if held is not None:
        yield held


@lru_cache(maxsize=256)
def _periods(length_s: int, finest_s: int) -> tuple[int, ...]:
    """The periods that a bucket can be read in: they divide it, its finest one divides them, and none cuts an hour."""
    count = length_s // finest_s
    periods = (finest_s * factor for factor in range(1, count) if count % factor == 0)
    return tuple(period_s for period_s in periods if HOUR_S % period_s == 0 or period_s % HOUR_S == 0)


ROUNDING_S: Final = 0.5
"""Idle time of a minute may be that much more than one, by the clock of who counts it."""

APART_S: Final = 240
"""Points of five minutes are never closer than this."""

TELLING_POINTS: Final = 3
"""Points in an hour that tell how far they are apart."""

_WITHOUT_ACTIVITY: Final = frozenset(names_with(Role.IDLE, Role.QUEUE))
"""The series that have a point in each step, whatever a volume does."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Whole hours with one step; `doubtful`: their host is known to be one that may publish each five minutes."""

    window: Window
    doubtful: bool


class Steps:
    """The steps of one volume, and the looks that decide them."""

    __slots__ = ("_knowledge", "_open")

    def __init__(self, volume: Volume, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._open = list(_spans(volume, knowledge))

    def looks(self) -> list[Look]:
        """The looks that decide the steps; none once they are decided, which the knowledge keeps.

        Metrics that disagreed with a sum of five minutes taken for one minute are compared again.
        """
        unread: list[Look] = []
        for span in tuple(self._open):
            looks = self._looks(span)
            if not looks:
                self._open.remove(span)
            unread += looks
        return unread

    def _looks(self, span: _Span) -> list[Look]:
        known = self._knowledge
        for groups, hours in ((IDLE,), _idle_hours(known, span)), ((STEP,), _outer_hours(span)):
            looks = [look for hour in hours if (look := _unread(known, groups, hour)) is not None]
            if looks:
                return looks
            step_s = _step_of(known, groups, hours)
            if step_s is not None:
                if step_s > MINUTE_S:
                    known.publishes(span.window, step_s)
                    known.disputes = find_doubts(known) if known.disputes else ()
                return []
            if not span.doubtful:
                return []
        known.publishes(span.window, None)
        return []


def _spans(volume: Volume, knowledge: Knowledge) -> Iterator[_Span]:
    """The spans of a window in which the step is not known to be a minute."""
    for segment in knowledge.segments:
        if segment.period_s >= FIVE_MINUTES_S:
            continue
        for epoch in epochs_of(volume, segment.window):
            start_s, end_s = -(-epoch.window.start_s // HOUR_S) * HOUR_S, epoch.window.end_s // HOUR_S * HOUR_S
            older = epoch.hosts is not None and any(not host.nitro for host in epoch.hosts)
            if start_s < end_s and (older or epoch.hosts is None):
                yield _Span(Window(start_s=start_s, end_s=end_s), doubtful=older)


def _idle_hours(knowledge: Knowledge, span: _Span) -> list[int]:
    """The first and the last hour of a span with idle time."""
    if knowledge.published.isdisjoint(NAMES[IDLE]):
        return []
    track = knowledge.tracks[IDLE]
    at = track.slice_in(span.window)
    return _outer(track.starts_s[at][track.present[at]] // HOUR_S * HOUR_S)


def _outer_hours(span: _Span) -> list[int]:
    return _outer(np.array([span.window.start_s, span.window.end_s - HOUR_S]))


def _outer(starts_s: FloatArray | np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
    return sorted({int(starts_s[0]), int(starts_s[-1])}) if len(starts_s) else []


def _unread(knowledge: Knowledge, groups: Sequence[str], hour_s: int) -> Look | None:
    """A look at the groups of an hour that are not read by the minute; None if all are."""
    window = Window(start_s=hour_s, end_s=hour_s + HOUR_S)
    wanted = tuple(group for group in groups if not knowledge.has_minutes(group, window))
    return Look(window=window, period_s=MINUTE_S, groups=wanted) if wanted else None


def _step_of(knowledge: Knowledge, groups: Sequence[str], hours: Sequence[int]) -> int | None:
    """The step that some hours tell; None where they do not."""
    steady = False
    for group in groups:
        track = knowledge.tracks[group]
        for name in NAMES[group]:
            for hour_s in hours:
                at = track.slice_in(Window(start_s=hour_s, end_s=hour_s + HOUR_S))
                values, starts_s = track.series[name][at], track.starts_s[at]
                points_s = starts_s[~np.isnan(values)].tolist()
                if SERIES[name].role is Role.IDLE and np.nanmax(values, initial=0.0) > MINUTE_S + ROUNDING_S:
                    return FIVE_MINUTES_S
                if any(then - before < APART_S for before, then in pairwise(points_s)):
                    return MINUTE_S
                steady |= name in _WITHOUT_ACTIVITY and len(points_s) >= TELLING_POINTS
    return FIVE_MINUTES_S if steady else None
