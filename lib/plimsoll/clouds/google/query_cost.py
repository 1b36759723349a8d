"""What reading Cloud Monitoring costs. Nothing of Google's is imported here: who only reckons need not load it."""

from typing import Final

from plimsoll.domain.query_cost import Closer, QueryCost
from plimsoll.settings import Settings

POINTS_PER_S: Final = 300_000.0
"""How many points a second one process takes in (measured on 2 cores, 2026-11-22); no quota of points is published."""

CLOSER: Final = Closer(datapoints=0.1, queries=0.6, queries_a_call=4)
"""As the simulated projects of 600 disks took it (docs/performance.md); busier fleets take more, idle ones less."""


def query_cost(settings: Settings) -> QueryCost:
    """What reading Cloud Monitoring costs: by the series that a call returns, of each page again."""
    return QueryCost(
        usd_query=settings.google_usd_per_1000_series / 1000,
        calls_per_s=settings.google_calls_per_s,
        datapoints_per_s=POINTS_PER_S,
        usd_hour_waited=settings.usd_hour_waited,
        closer=CLOSER,
        calls_scarce=True,
    )
