"""Recommendations of every action, decided by the domain, and runs of them."""

from dataclasses import replace
from functools import cache

from plimsoll.domain.decide import recommend_detached
from plimsoll.domain.recommendation import Recommendation
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
