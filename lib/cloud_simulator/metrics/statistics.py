"""Folds: one figure for each bucket of minutes, by CloudWatch's statistics."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from cloud_simulator.faults import Refused
from cloud_simulator.units import FloatArray

Fold = Callable[[FloatArray], FloatArray]


def fold(buckets: FloatArray, stat: str) -> FloatArray:
    """The statistic of each row of minutes (NaN: no point), NaN for a row without any.

    Refused for an unknown statistic.
    """
    found = _FOLDS.get(stat)
    if found is None:
        raise Refused(
            "ValidationError",
            f"The simulated CloudWatch has no statistic {stat}: it has Sum, Average, Maximum, Minimum and SampleCount.",
        )
    return found(buckets)


def _present_only(plain: Any, missing_as: float) -> Fold:
    """Folds whole rows as they are, and the others with `missing_as` for what is missing.

    `plain` gives NaN for a row that is not whole; most rows are.
    """

    def folded(buckets: FloatArray) -> FloatArray:
        if buckets.shape[1] == 1:
            return buckets[:, 0]
        values: FloatArray = plain(buckets, axis=1)
        holed = np.isnan(values)
        if holed.any():
            rows = buckets[holed]
            missing = np.isnan(rows)
            values[holed] = plain(np.where(missing, missing_as, rows), axis=1)
            values[np.flatnonzero(holed)[missing.all(axis=1)]] = np.nan
        return values

    return folded


def _count(buckets: FloatArray) -> FloatArray:
    counts = (~np.isnan(buckets)).sum(axis=1)
    return np.where(counts > 0, counts, np.nan)


_sum: Final = _present_only(np.sum, 0.0)

_FOLDS: Final[dict[str, Fold]] = {
    "Sum": _sum,
    "Maximum": _present_only(np.max, -np.inf),
    "Minimum": _present_only(np.min, np.inf),
    "Average": lambda buckets: _sum(buckets) / _count(buckets),
    "SampleCount": _count,
}
