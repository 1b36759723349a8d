"""A demand profile in little room: what pictures are drawn of is most of the page, and needs no more than three digits.

Each rate becomes a whole number of steps, half a percent each, above the least one: 0 is no rate at all, and None one
that is not known. What is close to another series is written as the difference to it, and the first as the difference
to the span before. Such numbers are small and repeat, so that gzip makes a third of what it makes of the rates.
"""

from typing import Any, Final

import numpy as np

from plimsoll.domain.arrays import FloatArray
from plimsoll.reports.record import DemandProfileRecord, SpanRates

_STEP: Final = 1.005
_LEAST: Final = 1e-4
"""Operations or MiB in a second below which a rate is the least one."""

_BESIDE: Final = {
    "iops": None,
    "peak_iops": "iops",
    "read_iops": "iops",
    "throughput_mib_s": "iops",
    "read_throughput_mib_s": "read_iops",
    "peak_throughput_mib_s": "peak_iops",
    "most_ops_iops": "peak_iops",
    "most_ops_throughput_mib_s": "peak_throughput_mib_s",
    "most_moved_iops": "peak_iops",
    "most_moved_throughput_mib_s": "peak_throughput_mib_s",
}
"""Each series of rates, and the one before it that it is written beside."""

_NOT_HERE: Final = {"account", "region", "volume_id"}

HOW: Final = {"step": _STEP, "least": _LEAST, "beside": _BESIDE}
"""What the page needs to read them again."""


def shrink_profile(profile: DemandProfileRecord) -> dict[str, Any]:
    """A profile without its volume, its rates as steps."""
    steps = {name: _steps(getattr(profile, name)) for name in _BESIDE}
    fields = profile.model_dump(exclude={*_NOT_HERE, *_BESIDE})
    for name, other in _BESIDE.items():
        present = steps[name]
        beside = _previous_steps(present) if other is None else np.nan_to_num(steps[other])
        fields[name] = _round_steps(present - beside)
    return fields


def _round_steps(steps: FloatArray) -> list[int | None]:
    """The steps as whole numbers, None where one is not known."""
    unknown = np.isnan(steps)
    whole: list[int | None] = np.where(unknown, 0.0, steps).astype(np.int64).tolist()
    for place in np.flatnonzero(unknown).tolist():
        whole[place] = None
    return whole


def _steps(rates: SpanRates) -> FloatArray:
    figures = np.asarray(rates, dtype=float)
    above = np.rint(np.log(np.maximum(figures, _LEAST) / _LEAST) / np.log(_STEP)) + 1
    return np.asarray(np.where(figures <= 0, 0.0, above), dtype=float)


def _previous_steps(steps: FloatArray) -> FloatArray:
    """The last known step before each span; 0 before the first."""
    known = np.nan_to_num(np.concatenate(([0.0], steps[:-1])))
    places = np.where(np.concatenate(([True], ~np.isnan(steps[:-1]))), np.arange(len(steps)), 0)
    return np.asarray(known[np.maximum.accumulate(places)], dtype=float)
