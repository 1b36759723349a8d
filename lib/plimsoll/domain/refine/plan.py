"""The plan: what reading the metrics of some volumes is expected to take, before reading begins."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from plimsoll.domain.metrics.knowledge import plan_first_looks
from plimsoll.domain.metrics.series import BYTES, HOST_CHECKS, NAMES, OPERATIONS, PAST_RATES, WORK
from plimsoll.domain.metrics.sums import Segment, Window
from plimsoll.domain.metrics.track import Look
from plimsoll.domain.refine.query_cost import Closer, QueryCost
from plimsoll.domain.refine.unread_past import look_at_latest
from plimsoll.domain.units import DAY_S

DECIDING_S: Final = 0.008
"""Seconds of one core that deciding on a volume took on the simulated organization of 600 (docs/performance.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An amount of reading: queries (one series in one call), calls and datapoints."""

    queries: int = 0
    calls: int = 0
    datapoints: int = 0

    def __add__(self, other: "Reading") -> "Reading":
        return Reading(
            queries=self.queries + other.queries,
            calls=self.calls + other.calls,
            datapoints=self.datapoints + other.datapoints,
        )

    def usd(self, query_cost: QueryCost) -> float:
        """What the queries cost."""
        return self.queries * query_cost.usd_query

    def seconds(self, query_cost: QueryCost) -> float:
        """How long it takes within the quotas."""
        return max(self.datapoints / query_cost.datapoints_per_s, self.calls / query_cost.calls_per_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The expected reading for a number of volumes. `least` reads each once and coarsely, `most` reads every bucket."""

    volumes: int = 0
    least: Reading = Reading()
    expected: Reading = Reading()
    most: Reading = Reading()

    def __add__(self, other: "Plan") -> "Plan":
        return Plan(
            volumes=self.volumes + other.volumes,
            least=self.least + other.least,
            expected=self.expected + other.expected,
            most=self.most + other.most,
        )

    def seconds(self, query_cost: QueryCost) -> float:
        """How long the expected reading and the deciding take: the longer of both, since they overlap."""
        return max(self.expected.seconds(query_cost), self.volumes * DECIDING_S)


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
    """The plan for volumes with so many series each; those of `whole` are read at every minute in any case.

    `closer` is what looking closer takes, `page` how many datapoints and `most_queries` how many queries one call can
    bring.
    """
    if whole:
        rest = plan_of(series, segments, every_minute=every_minute, closer=closer, page=page, most_queries=most_queries)
        return rest + plan_of(whole, segments, every_minute=True, closer=closer, page=page, most_queries=most_queries)
    first, most = (
        _reading(plan_first_looks(segments, every_minute=minutes), series, page=page, most_queries=most_queries)
        for minutes in (False, True)
    )
    more = Reading(
        queries=round(first.queries * closer.queries),
        calls=math.ceil(first.queries * closer.queries / closer.queries_a_call),
        datapoints=round(most.datapoints * closer.datapoints),
    )
    least, expected = (most, most) if every_minute else (first, first + more)
    return Plan(volumes=len(series), least=least, expected=expected, most=most)


def memory_plan(
    pasts: Iterable[Sequence[Segment]], window: Window, *, every_minute: bool, page: int, most_queries: int
) -> Plan:
    """What it takes to ask what was before the window, of volumes with those segments of it.

    Its days are expected to be enough, and `least` is that nobody asks.
    """
    days, whole, work = [], [], len(NAMES[OPERATIONS]) + len(NAMES[BYTES])
    for segments in (segments for segments in pasts if segments):
        days.append((len(NAMES[PAST_RATES]) + work, (segments[-1].window.end_s - segments[0].window.start_s) // DAY_S))
        days += [(len(look.series), look.window.buckets(DAY_S)) for look in look_at_latest(window)]
        whole += [(work, one.window.buckets(one.period_s)) for one in segments]
    expected, most = (_asked(asked, page, most_queries) for asked in (days, days + whole))
    return Plan(least=most, expected=most, most=most) if every_minute else Plan(expected=expected, most=most)


def hosts_plan(
    hosts: Sequence[int], segments: Sequence[Segment], *, every_minute: bool, page: int, most_queries: int
) -> Plan:
    """What it takes to ask hosts that may be the limit what they measured, of which each has so many series.

    Their days are expected to be enough.
    """
    first, whole = (
        _asked(
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


def _asked(asked: Sequence[tuple[int, int]], page: int, most_queries: int) -> Reading:
    """What it takes to ask numbers of queries with so many buckets each, those of many volumes in one call."""
    return Reading(
        queries=sum(queries for queries, _ in asked),
        calls=math.ceil(sum(queries / max(1, min(most_queries, page // buckets)) for queries, buckets in asked)),
        datapoints=sum(queries * buckets for queries, buckets in asked),
    )


def _reading(looks: Sequence[Look], series: Sequence[int], *, page: int, most_queries: int) -> Reading:
    """What some looks at every volume take. Work is the first series of each, others are what a look has besides."""
    total, of_work = Reading(), sum(len(NAMES[group]) for group in WORK)
    work = sum(min(count, of_work) for count in series)
    for look in looks:
        queries = work if look.groups == WORK else sum(series) - (0 if set(WORK) <= set(look.groups) else work)
        buckets = look.window.buckets(look.period_s)
        calls = math.ceil(queries / max(1, min(most_queries, page // buckets)))
        total += Reading(queries=queries, calls=calls, datapoints=queries * buckets)
    return total
