"""What is known of Google Cloud without asking it: the types that it sells, how a change is made, what reading costs.

Nothing here imports Google's libraries.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from plimsoll.clouds.cloud import Published
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.google.change import change_text
from plimsoll.clouds.google.console import volume_link
from plimsoll.clouds.google.machines import host_cap
from plimsoll.clouds.registry import GOOGLE
from plimsoll.domain.query_cost import Closer, QueryCost
from plimsoll.domain.volume import Volume, VolumeSpec
from plimsoll.domain.volume_types import VolumeType
from plimsoll.settings import Settings

POINTS_PER_S: Final = 300_000.0
"""Points a second that one process takes in (measured on 2 cores, 2026-11-22). Google publishes no quota of points."""

CLOSER: Final = Closer(datapoints=0.1, queries=0.6, queries_a_call=4)
"""What the simulated projects of 600 disks took (docs/performance.md). Busier fleets take more, idle ones less."""


@dataclass(frozen=True, slots=True)
class GoogleCatalog:
    """Persistent Disk and Hyperdisk as they are published."""

    provider: str = GOOGLE

    @property
    def types(self) -> Mapping[str, VolumeType]:
        """Every published type of either."""
        return volume_types(GOOGLE)

    def change(self, volume: Volume, target: VolumeSpec) -> str:
        """How the disk's owner makes it so."""
        return change_text(volume, target, self.types)


def query_cost(settings: Settings) -> QueryCost:
    """What reading Cloud Monitoring costs: each page is billed by the series that it returns."""
    return QueryCost(
        usd_query=settings.google_usd_per_1000_series / 1000,
        calls_per_s=settings.google_calls_per_s,
        datapoints_per_s=POINTS_PER_S,
        usd_hour_waited=settings.usd_hour_waited,
        closer=CLOSER,
        calls_scarce=True,
    )


PUBLISHED: Final = Published(
    catalog=GoogleCatalog(), query_cost=query_cost, console_link=volume_link, host_cap=host_cap
)
