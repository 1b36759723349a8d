"""What reading CloudWatch costs."""

from typing import Final

from plimsoll.domain.query_cost import Closer, QueryCost
from plimsoll.settings import Settings

CLOSER: Final = Closer(datapoints=0.045, queries=0.9, queries_a_call=12)
"""As the simulated organization of 600 volumes took it (docs/performance.md): busier fleets take more, idle ones
less."""


def query_cost(settings: Settings) -> QueryCost:
    """What reading CloudWatch costs: by the metrics that a call of GetMetricData asks for."""
    return QueryCost(
        usd_query=settings.usd_per_1000_metrics / 1000,
        calls_per_s=settings.calls_per_s,
        datapoints_per_s=settings.datapoints_per_s,
        usd_hour_waited=settings.usd_hour_waited,
        closer=CLOSER,
    )
