"""The plan: what reading the metrics of some volumes is expected to take, before reading begins."""

import math
from collections.abc import Iterable, Sequence

from plimsoll.domain.metrics.knowledge import plan_first_looks
from plimsoll.domain.metrics.reading_cost import Closer, Plan, Reading
from plimsoll.domain.metrics.series import BYTES, HOST_CHECKS, NAMES, OPERATIONS, PAST_RATES, WORK
from plimsoll.domain.metrics.sums import Segment, Window
from plimsoll.domain.metrics.track import Look
from plimsoll.domain.refine.past import look_at_latest
from plimsoll.domain.units import DAY_S


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
