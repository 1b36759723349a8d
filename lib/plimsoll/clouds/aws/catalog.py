"""The published facts of AWS: its types, the cost of reading, the way to make a change, links to its console."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from plimsoll.clouds.aws.change import change_steps
from plimsoll.clouds.aws.graph_link import volume_link
from plimsoll.clouds.aws.published_hosts import published_host
from plimsoll.clouds.cloud import Published
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.registry import AWS
from plimsoll.model.market import VolumeType
from plimsoll.reading.cost import Closer, QueryCost
from plimsoll.settings import Settings

CLOSER: Final = Closer(datapoints=0.0125, queries=0.75, queries_a_call=35)
"""What the simulated organization of 600 volumes took (benchmarks/speed). Busier fleets take more, idle ones
less."""


@dataclass(frozen=True, slots=True)
class AwsCatalog:
    """EBS as it is published."""

    provider: str = AWS

    @property
    def types(self) -> Mapping[str, VolumeType]:
        """Every published EBS volume type."""
        return volume_types(AWS)

    change = staticmethod(change_steps)


def query_cost(settings: Settings) -> QueryCost:
    """The cost of reading CloudWatch. GetMetricData is billed by the metrics that a call asks for."""
    return QueryCost(
        usd_query=settings.usd_per_1000_metrics / 1000,
        calls_per_s=settings.calls_per_s,
        datapoints_per_s=settings.datapoints_per_s,
        usd_hour_waited=settings.usd_hour_waited,
        closer=CLOSER,
    )


PUBLISHED_FACTS: Final = Published(
    catalog=AwsCatalog(), query_cost=query_cost, console_link=volume_link, host=published_host
)
