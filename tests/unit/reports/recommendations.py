"""Recommendations of every action, decided by the domain, and runs of them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from plimsoll.domain.decide import recommend_detached
from plimsoll.domain.recommendation import Recommendation
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.recorded import record_of
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
    return record_of(every_action()[action], change).model_copy(update=fields)


def a_profile(volume_id: str, iops: Sequence[float | None] = (10.0, None)) -> DemandProfileRecord:
    """A profile of spans of two hours in which as many MiB as operations were read; None where nothing was observed."""
    return DemandProfileRecord(
        account="111122223333",
        region="us-east-1",
        volume_id=volume_id,
        start_s=0,
        length_s=[7200] * len(iops),
        shortest_s=[60] * len(iops),
        iops=list(iops),
        read_iops=list(iops),
        throughput_mib_s=list(iops),
        read_throughput_mib_s=list(iops),
        peak_iops=list(iops),
        throughput_mib_s_at_peak_iops=list(iops),
        peak_throughput_mib_s=list(iops),
        iops_at_peak_throughput=list(iops),
        throttled_minutes=[0.0] * len(iops),
        host_bound_minutes=[0.0] * len(iops),
    )
