"""Recommendations of every action, decided by the domain, and runs of them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from plimsoll.domain.decide import recommend_detached
from plimsoll.domain.recommendation import Recommendation
from plimsoll.domain.units import HOUR_S
from plimsoll.reports.record import FIRST_PROVIDER, DemandProfileRecord, RecommendationRecord
from plimsoll.reports.to_record import record_of
from tests.builders import US_EAST_1, a_basis, a_demand, a_market, a_volume, decision

NO_PRICES = a_market(replace(US_EAST_1, types={}))


@cache
def every_action() -> dict[str, Recommendation]:
    """One recommendation of each action by its name."""
    found = [
        decision(a_volume("gp2", 500), a_demand(200, 10)),
        decision(a_volume("gp3", 500, iops=10_000, throughput_mib_s=500), a_demand(200, 10)),
        decision(a_volume("gp3", 500, iops=3_000), a_demand(3_000, 20)),
        decision(a_volume("gp3", 500), a_demand(200, 10)),
        recommend_detached(a_volume("gp2", on=[]), a_basis()),
        decision(a_volume("gp2", 500), a_demand(200, 10, buckets=60)),
    ]
    return {one.action: one for one in found}


def a_record(action: str = "migrate", change: str = "", **fields: object) -> RecommendationRecord:
    return record_of(every_action()[action], change, provider=FIRST_PROVIDER).model_copy(update=fields)


def a_profile(
    iops: Sequence[float | None] = (100.0, 300.0, 200.0),
    *,
    of: RecommendationRecord | None = None,
    moved: Sequence[float | None] | None = None,
    throttled: Sequence[float] = (),
    host_bound: Sequence[float] = (),
    length_s: int = HOUR_S,
    shortest_s: int = 60,
) -> DemandProfileRecord:
    """Spans whose busiest minute is twice their mean, three fifths of it reads, in operations of 16 KiB."""
    moved = _times(iops, 16 / 1024) if moved is None else moved
    spans = len(iops)
    return DemandProfileRecord(
        account=of.account if of else "111122223333",
        region=of.region if of else "us-east-1",
        volume_id=of.volume_id if of else "vol-1",
        start_s=1_794_009_600,
        length_s=[length_s] * spans,
        shortest_s=[shortest_s] * spans,
        iops=list(iops),
        read_iops=_times(iops, 0.6),
        throughput_mib_s=list(moved),
        read_throughput_mib_s=_times(moved, 0.6),
        peak_iops=_times(iops, 2),
        peak_throughput_mib_s=_times(moved, 2),
        most_ops_iops=_times(iops, 2),
        most_ops_throughput_mib_s=_times(moved, 2),
        most_moved_iops=_times(iops, 2),
        most_moved_throughput_mib_s=_times(moved, 2),
        sized=[True] * spans,
        throttled_minutes=[*throttled, *[0.0] * (spans - len(throttled))],
        host_bound_minutes=[*host_bound, *[0.0] * (spans - len(host_bound))],
    )


def _times(rates: Sequence[float | None], factor: float) -> list[float | None]:
    return [None if rate is None else rate * factor for rate in rates]
