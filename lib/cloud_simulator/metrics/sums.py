"""Sums: a volume's series as they are served, before any cloud in between."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cloud_simulator.published import SERIES, WORK_SERIES
from cloud_simulator.units import FloatArray


class Sums:
    """The series of one volume, by name and as attributes: None where it has none of that name.

    They are over consecutive buckets of `period_s` seconds from `start_s` (epoch seconds), NaN where there is no point.
    """

    __slots__ = ("period_s", "series", "start_s")

    def __init__(self, *, start_s: int, period_s: int, **series: FloatArray | None) -> None:
        unknown = [name for name in series if name not in SERIES]
        if unknown:
            raise TypeError(f"no series: {', '.join(unknown)}")
        self.start_s, self.period_s = start_s, period_s
        self.series: Final[Mapping[str, FloatArray]] = {
            name: values for name, values in series.items() if values is not None
        }

    def __getattr__(self, name: str) -> Any:
        if name not in SERIES:
            raise AttributeError(name)
        return self.series.get(name)

    def with_series(self, **series: FloatArray | None) -> "Sums":
        """The same with other series in the place of those, or without them (None)."""
        return Sums(start_s=self.start_s, period_s=self.period_s, **{**self.series, **series})

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        return len(next(iter(self.series.values())))

    @property
    def counters(self) -> tuple[FloatArray, ...]:
        """The four sums that demand is made of."""
        return tuple(self.series[name] for name in WORK_SERIES)

    @property
    def observed(self) -> npt.NDArray[np.bool_]:
        """The buckets for which the cloud has any of the four sums."""
        return np.asarray(np.logical_or.reduce([~np.isnan(counter) for counter in self.counters]))
