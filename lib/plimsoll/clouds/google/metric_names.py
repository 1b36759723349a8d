"""The names of Compute Engine's metrics of disks, and which of them fills which series."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

METRIC_PREFIX: Final = "compute.googleapis.com/instance/disk/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric by its name. A count is added up over a bucket; a peak (operations or bytes of the busiest second of a
    minute) is the highest of it."""

    name: str
    peak: bool


METRICS: Final[Mapping[str, Metric]] = {
    **{
        f"{way}_{unit}": Metric(name=f"{METRIC_PREFIX}{way}_{unit}_count", peak=False)
        for unit in ("ops", "bytes")
        for way in ("read", "write")
    },
    **{
        f"peak_{way}_{unit}": Metric(name=f"{METRIC_PREFIX}max_{way}_{unit}_count", peak=True)
        for unit in ("ops", "bytes")
        for way in ("read", "write")
    },
}
"""Which metric fills which series; idle time, balances and exceeded checks are not published."""
