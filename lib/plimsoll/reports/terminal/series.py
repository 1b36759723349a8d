"""Demand over time as a terminal draws it: of every minute, or of the spans that a run keeps."""

import math
from dataclasses import dataclass

import numpy as np

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.demand.demand import Demand
from plimsoll.reports.record import DemandProfileRecord, SpanRates


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotSeries:
    """IOPS and MiB/s in steps of `step_s` seconds from `start_s` (epoch seconds) on. What was not observed is 0.

    `whole`: every bucket was read. Otherwise a higher one may stand where only sums were.
    """

    start_s: int
    step_s: int
    iops: FloatArray
    throughput_mib_s: FloatArray
    whole: bool

    @classmethod
    def from_demand(cls, demand: Demand | None) -> "PlotSeries | None":
        """A volume's demand by its own buckets; None where nothing was observed."""
        if demand is None or not demand.observed.any():
            return None
        return cls(
            start_s=demand.start_s,
            step_s=demand.resolution_s,
            iops=demand.iops,
            throughput_mib_s=demand.throughput_mib_s,
            whole=True,
        )

    @classmethod
    def from_profile(cls, profile: DemandProfileRecord | None) -> "PlotSeries | None":
        """The highest bucket of each span that a run keeps; None where it keeps none."""
        if profile is None or not profile.length_s:
            return None
        step_s = math.gcd(*profile.length_s)
        steps = np.asarray(profile.length_s) // step_s
        return cls(
            start_s=profile.start_s,
            step_s=step_s,
            iops=np.repeat(_known_rates(profile.peak_iops), steps),
            throughput_mib_s=np.repeat(_known_rates(profile.peak_throughput_mib_s), steps),
            whole=max(profile.shortest_s) == min(profile.shortest_s),
        )

    @property
    def seconds(self) -> int:
        """The length in seconds."""
        return len(self.iops) * self.step_s


def _known_rates(rates: SpanRates) -> FloatArray:
    return np.asarray([0.0 if rate is None else rate for rate in rates], dtype=float)
