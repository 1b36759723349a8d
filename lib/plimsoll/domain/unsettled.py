"""What is unsettled: the unread buckets that could still change a decision, and how finely to look at them.

The invariant. Let a decision be made on what is known, coarse buckets spread evenly. When `unsettled` names nothing,
the decision is the one that any arrangement of the unread work inside its buckets would give: the same offer with the
same provisioned figures, the same `censored`, the same throttled and host-bound minutes, the same verdict of each
replay.

The argument. Work in a bucket of the cloud's sums is never negative, so no bucket of the resolution inside it holds
more than all of it: with S operations (or bytes) no minute is above S / 60 a second, for each sum on its own. A
volume's own ceiling is no such bound, since minutes a little above it are measured. An unread bucket is then harmless
when that rate

- stays under the share of the present ceiling at which a bucket counts as throttled, with no check raised and no
  balance spent in it: it adds nothing to the throttled buckets, which are so all read;
- together with the most that every other volume on the host can have done stays under what the host always carries: it
  is not host-bound, and takes no credits;
- with headroom, is no more than the need already is, or than both the chosen offer's ceiling and what its evidence
  showed: an offer is the smallest that answers its need, so that a need between the one known and the offer's own
  ceiling is answered by the same figures, and other offers only become dearer or stay refused. One that is refused
  for what was measured of it alone (a failed measurement), or bought as large as needed and refused for its replay
  alone (a quantile leaves out what the replay meets), may give way to a larger one of its type, so that its own
  ceiling is such a line as well;
- leaves nothing waiting in any replay that the decision rests on. For a limit r with credits K let U be the most that
  can be waiting (or spent) when a bucket begins, over every arrangement: U' = max(0, U + S - r * length, S - r * 60),
  the middle term for work that came at once, the last for all of it in the last minute. If U and S - r * 60 never
  exceed K together, nothing is ever throttled. Otherwise every unread bucket in which anything can wait has to be
  read, and between those that are read nothing waits, however the work was arranged.

Rates over busy time are bounded likewise by S over the one second that a bucket is busy at least. Where a quantile
other than the maximum counts as the peak, nothing changes: the mean of an unread bucket is at most half its bound, so
that it is not among those that make the quantile unless the least that is sold carries it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.domain.busiest import busiest_seconds
from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import Resource
from plimsoll.domain.demand import Demand
from plimsoll.domain.knowledge import (
    BALANCE,
    BYTES,
    IDLE,
    IOPS_CHECK,
    OPERATIONS,
    PEAKS,
    SERIES,
    THROUGHPUT_CHECK,
    Knowledge,
    Look,
)
from plimsoll.domain.lines import Line, Reach, against, limits_of, lines_of, seconds_against, throttled_line
from plimsoll.domain.looks import looks_at, looks_for_presence
from plimsoll.domain.period import LEAST_BUSY_S, FloatArray
from plimsoll.domain.policy import SizeOn
from plimsoll.domain.query_cost import QueryCost
from plimsoll.domain.recommendation import Change, Keep, Recommendation
from plimsoll.domain.saturation import HostLoad
from plimsoll.domain.units import HOUR_S
from plimsoll.domain.waiting import against_replays


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """How far each bucket of a demand reaches to what it carries together with others: the traffic of its host (from
    `against_host`), and that of its pools, whose busiest seconds reach as far as `seconds` say (None: of no pool)."""

    work: Reach
    seconds: FloatArray | None = None

    def furthest(self, more: "Others") -> "Others":
        """The further of both in each bucket."""
        seconds = [one.seconds for one in (self, more) if one.seconds is not None]
        return Others(work=np.maximum(self.work, more.work), seconds=np.maximum.reduce(seconds) if seconds else None)


def unsettled(
    case: Case, answer: Recommendation, others: Others, knowledge: Knowledge, query_cost: QueryCost
) -> list[Look]:
    """What to read next of a volume because it could change the answer; nothing when nothing can."""
    present = throttled_line(case.present, case.policy)
    reach = np.maximum(others.work, against(case.demand, present))
    together = case.policy.size_on is SizeOn.BUSY_TIME
    scale = case.demand.resolution_s / LEAST_BUSY_S if together else 1.0
    replays, lines = None, list[Line]()
    if isinstance(answer, Change | Keep):
        lines = list(lines_of(case, answer))
        for line in lines:
            reach = np.maximum(reach, against(case.demand, line) * scale)
        replays = against_replays(knowledge, case.demand.resolution_s, limits_of(case, answer))
    looks = looks_at_work(knowledge, case.demand, reach, query_cost, replays=replays, together=together)
    sizing = () if case.policy.size_on is SizeOn.AVERAGE else lines
    seconds = _seconds_of(knowledge, present, sizing) if knowledge.unread(PEAKS).any() else 0.0
    busiest = _looks_at_seconds(knowledge, case.demand, others, seconds, query_cost)
    return [*looks, *busiest, *_raised(case, knowledge, query_cost)] or looks_for_presence(knowledge)


def unsettled_traffic(demand: Demand, others: Others, knowledge: Knowledge, query_cost: QueryCost) -> list[Look]:
    """What to read next of a volume that is not decided on, because it could change the answers of others."""
    looks = looks_at_work(knowledge, demand, others.work, query_cost)
    if others.seconds is None:
        return looks
    looks += _looks_at_seconds(knowledge, demand, others, 0.0, query_cost)
    return looks or looks_for_presence(knowledge)


def against_host(demand: Demand, load: HostLoad | None, saturation_pct: float) -> Reach:
    """How far the traffic of a host can reach to what the host always carries, where the volume is part of it."""
    reach = np.zeros((2, len(demand.iops)))
    if load is None:
        return reach
    ceiling = load.host.ceiling
    for row, resource, own, most, line in (
        (0, Resource.IOPS, demand.most_iops, load.most_iops, ceiling.iops),
        (1, Resource.THROUGHPUT, demand.most_throughput_mib_s, load.most_throughput_mib_s, ceiling.throughput_mib_s),
    ):
        always = saturation_pct / 100 * line
        for bucket in ceiling.buckets:
            if bucket.resource is resource:
                always = min(bucket.free_rate, saturation_pct / 100 * bucket.sustained_rate)
        reach[row] = np.where(own > 0, most / always, 0.0)
    return reach


def looks_at_work(
    knowledge: Knowledge,
    demand: Demand,
    reach: Reach,
    query_cost: QueryCost,
    *,
    replays: tuple[FloatArray, FloatArray] | None = None,
    together: bool = False,
) -> list[Look]:
    """Looks at operations and bytes where they reach 1 or more; `together`: at both, and idle time, where either does.

    `replays` is the same for each bucket of either track.
    """
    if demand.spread is None:
        return []
    looks: list[Look] = []
    for row, group in enumerate((OPERATIONS, BYTES)):
        found = _within(knowledge, group, demand, reach.max(axis=0) if together else reach[row])
        if replays is not None:
            found = np.maximum(found, np.maximum(*replays) if together else replays[row])
        groups = (OPERATIONS, BYTES, IDLE) if together else (group,)
        looks += [
            look for look in _without_coarse_idle(looks_at(groups, knowledge, found, query_cost)) if look not in looks
        ]
    return looks


def _without_coarse_idle(looks: Sequence[Look]) -> Iterator[Look]:
    """The looks, but those at less than the hours that idle time is known by from the start leave it out."""
    for look in looks:
        coarse = look.period_s > HOUR_S
        yield replace(look, groups=tuple(group for group in look.groups if group != IDLE)) if coarse else look


def _seconds_of(knowledge: Knowledge, present: Line, sizing: Iterable[Line]) -> FloatArray:
    """How far the busiest second of each bucket reaches to the present ceiling, or to a line of what sizes an offer.

    Which bucket of the resolution had it is not known before it is read; that some had it is.
    """
    track = knowledge.tracks[PEAKS]
    seconds = busiest_seconds([track.series[name] for name in SERIES[PEAKS]], exact=~track.unread)
    return seconds_against(seconds, [present], sizing)


def _looks_at_seconds(
    knowledge: Knowledge, demand: Demand, others: Others, own: FloatArray | float, query_cost: QueryCost
) -> list[Look]:
    """Looks at the unread buckets whose busiest second reaches far enough by itself (`own`) or with those of others."""
    if not knowledge.unread(PEAKS).any():
        return []
    together = 0.0 if others.seconds is None else _within(knowledge, PEAKS, demand, others.seconds)
    reach = np.maximum(own, together) + np.zeros(len(knowledge.tracks[PEAKS].starts_s))
    return looks_at((PEAKS,), knowledge, reach, query_cost)


def _within(knowledge: Knowledge, group: str, demand: Demand, reach: FloatArray) -> FloatArray:
    """The furthest that any bucket of a demand reaches within each bucket of a track."""
    return np.maximum.reduceat(reach, np.searchsorted(demand.starts_s, knowledge.tracks[group].starts_s))


def _raised(case: Case, knowledge: Knowledge, query_cost: QueryCost) -> list[Look]:
    """Looks at the unread buckets in which a check was raised or the balance was spent."""
    looks = []
    for group, name in ((IOPS_CHECK, "iops_exceeded"), (THROUGHPUT_CHECK, "throughput_exceeded")):
        raised = knowledge.tracks[group].series[name] > 0
        looks += looks_at((group,), knowledge, np.where(raised, np.inf, 0.0), query_cost)
    if case.present.buckets:
        empty = knowledge.tracks[BALANCE].series["burst_balance_pct"] < case.policy.empty_balance_pct
        looks += looks_at((BALANCE,), knowledge, np.where(empty, np.inf, 0.0), query_cost)
    return looks
