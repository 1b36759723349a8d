"""Demand: what a workload asked for over time, from the sums that a cloud keeps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plimsoll.domain import period
from plimsoll.domain.period import FloatArray
from plimsoll.domain.sums import Sums
from plimsoll.domain.units import HOUR_S, KIB_PER_MIB

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """IOPS and MiB/s over consecutive buckets of `resolution_s` seconds from `start_s` (epoch seconds).

    Arrays have one element a bucket. Rates are zero where nothing was `observed`. `busy_share` is the share of the
    bucket in which the volume had work, `burst_balance_pct` the least credit balance in it, `iops_exceeded` and
    `throughput_exceeded` whether some second asked for more than is provisioned; None where the cloud publishes no
    such metric for the volume. `coarsest_s` is the coarsest period that had to be read, where finer ones had expired.
    """

    start_s: int
    resolution_s: int
    coarsest_s: int
    iops: FloatArray
    throughput_mib_s: FloatArray
    observed: BoolArray
    read_iops: FloatArray
    busy_share: FloatArray | None = None
    burst_balance_pct: FloatArray | None = None
    iops_exceeded: BoolArray | None = None
    throughput_exceeded: BoolArray | None = None

    @property
    def hours_observed(self) -> float:
        """Hours for which the cloud had points."""
        return float(self.observed.sum()) * self.resolution_s / HOUR_S

    @property
    def gap_hours(self) -> float:
        """Hours without points after the first one: attached, yet nothing reported."""
        first = int(np.argmax(self.observed)) if self.observed.any() else len(self.observed)
        return float((~self.observed[first:]).sum()) * self.resolution_s / HOUR_S

    def accounted_iops(self, io_kib: float | None) -> FloatArray:
        """IOPS as a type counts them whose largest I/O is `io_kib`: a larger I/O is several operations."""
        if io_kib is None:
            return self.iops
        return np.maximum(self.iops, self.throughput_mib_s * (KIB_PER_MIB / io_kib))

    def busy(self, rate: FloatArray) -> FloatArray:
        """A rate over the busy share of each bucket: an upper bound where the plain rate is a lower one."""
        return rate if self.busy_share is None else rate / self.busy_share

    def peak(self, rate: FloatArray, quantile: float = 1.0) -> float:
        """The rate's quantile over observed buckets, without interpolation (1.0: the maximum); 0 when none is."""
        seen = rate[self.observed]
        if not len(seen):
            return 0.0
        return float(seen.max() if quantile >= 1 else np.quantile(seen, quantile, method="higher"))

    def mean(self, rate: FloatArray) -> float:
        """The rate's mean over observed buckets; 0 when none is."""
        seen = rate[self.observed]
        return float(seen.mean()) if len(seen) else 0.0


def demand_of(segments: Sequence[Sums], *, resolution_s: int) -> Demand:
    """The demand behind consecutive segments of sums, oldest first, on one grid of `resolution_s` seconds.

    A coarser segment (finer data had expired) is spread evenly over the grid; its period must be a multiple of it.
    """
    rates = [_rates(segment) for segment in segments]
    repeats = [segment.period_s // resolution_s for segment in segments]

    def joined(name: str) -> npt.NDArray[np.generic] | None:
        parts = [rate[name] for rate in rates]
        if all(part is None for part in parts):
            return None
        filled = [
            _absent(name, segment.buckets) if part is None else part
            for part, segment in zip(parts, segments, strict=True)
        ]
        return np.concatenate([np.repeat(part, times) for part, times in zip(filled, repeats, strict=True)])

    return Demand(
        start_s=segments[0].start_s,
        resolution_s=resolution_s,
        coarsest_s=max(segment.period_s for segment in segments),
        **{name: joined(name) for name in rates[0]},  # type: ignore[arg-type]  # each name keeps its own dtype
    )


def _rates(sums: Sums) -> dict[str, npt.NDArray[np.generic] | None]:
    read_ops, write_ops, read_bytes, write_bytes = (np.nan_to_num(counter) for counter in sums.counters)
    return {
        "iops": period.iops(read_ops, write_ops, sums.period_s),
        "throughput_mib_s": period.throughput_mib_s(read_bytes, write_bytes, sums.period_s),
        "observed": sums.observed,
        "read_iops": read_ops / sums.period_s,
        "busy_share": None if sums.idle_s is None else _busy_share(sums.idle_s, sums.period_s),
        "burst_balance_pct": sums.burst_balance_pct,
        "iops_exceeded": _raised(sums.iops_exceeded),
        "throughput_exceeded": _raised(sums.throughput_exceeded),
    }


def _busy_share(idle_s: FloatArray, period_s: int) -> FloatArray:
    return period.busy_share(np.nan_to_num(idle_s, nan=0.0), period_s)


def _raised(check: FloatArray | None) -> BoolArray | None:
    return None if check is None else np.nan_to_num(check) > 0


def _absent(name: str, buckets: int) -> npt.NDArray[np.generic]:
    if name.endswith("_exceeded"):
        return np.zeros(buckets, dtype=np.bool_)
    return np.full(buckets, 1.0 if name == "busy_share" else np.nan)
