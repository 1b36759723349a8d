"""Series: what is simulated of each minute of a workload, a row each, and the metric of CloudWatch that shows it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from cloud_simulator.units import FloatArray

IOPS: Final = "iops"
THROUGHPUT: Final = "throughput"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Minutes of a workload as they were served: operations, the size of each in bytes, and what each minute was like.

    `above` are the minutes in which some second asked for more than is provisioned, by side.
    """

    reads: FloatArray
    writes: FloatArray
    size: int
    busy_share: FloatArray
    balance_pct: FloatArray | float
    above: Mapping[str, npt.NDArray[np.bool_] | bool]

    @property
    def active(self) -> npt.NDArray[np.bool_]:
        """The minutes with any operation."""
        return (self.reads + self.writes) > 0

    def is_above(self, side: str) -> FloatArray:
        """1 where a side was asked for more than is provisioned, 0 elsewhere."""
        flags = np.empty_like(self.reads)
        flags[...] = self.above.get(side, False)
        return flags


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedSeries:
    """A series of each minute, how it is `made`, and its metric with the statistic that is usually asked of it."""

    name: str
    metric: str
    unit: str
    usual_stat: str
    made: Callable[[Served], FloatArray]
    attached: bool = False
    """Published under a volume and its instance together, for instances on Nitro alone."""
    check: bool = False
    """Raised while operations wait."""


def _counter(name: str, metric: str, unit: str, made: Callable[[Served], FloatArray]) -> SimulatedSeries:
    return SimulatedSeries(name=name, metric=metric, unit=unit, usual_stat="Sum", made=made)


def _check(name: str, metric: str, side: str) -> SimulatedSeries:
    return SimulatedSeries(
        name=name,
        metric=metric,
        unit="None",
        usual_stat="Maximum",
        made=lambda served: served.is_above(side),
        attached=True,
        check=True,
    )


def _idle_s(served: Served) -> FloatArray:
    return np.round(60 * (1 - np.where(served.active, served.busy_share, 0.0)), 3)


def _balance_pct(served: Served) -> FloatArray:
    return np.where(served.active, served.balance_pct, np.nan)


ROWS: Final = (
    _counter("read_ops", "VolumeReadOps", "Count", lambda served: served.reads),
    _counter("write_ops", "VolumeWriteOps", "Count", lambda served: served.writes),
    _counter("read_bytes", "VolumeReadBytes", "Bytes", lambda served: served.reads * served.size),
    _counter("write_bytes", "VolumeWriteBytes", "Bytes", lambda served: served.writes * served.size),
    _counter("idle_s", "VolumeIdleTime", "Seconds", _idle_s),
    SimulatedSeries(
        name="burst_balance_pct",
        metric="BurstBalance",
        unit="Percent",
        usual_stat="Minimum",
        made=_balance_pct,
    ),
    _check("iops_exceeded", "VolumeIOPSExceededCheck", IOPS),
    _check("throughput_exceeded", "VolumeThroughputExceededCheck", THROUGHPUT),
)

SERIES: Final = tuple(row.name for row in ROWS)
CHECKS: Final = tuple(row.name for row in ROWS if row.check)
CHECK_OF: Final = dict(zip((IOPS, THROUGHPUT), CHECKS, strict=True))
"""The check of each side."""

ATTACHED: Final = frozenset(row.name for row in ROWS if row.attached)
