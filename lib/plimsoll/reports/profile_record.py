"""The record of a demand profile: one line of demand.jsonl, the demand of one volume over time."""

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from plimsoll.domain.demand_profile import DemandProfile
from plimsoll.domain.period import FloatArray
from plimsoll.domain.volume import Volume

Rates = list[float | None]
"""A rate in each span, to four significant digits; null where nothing was observed."""


class DemandProfileRecord(BaseModel):
    """A volume's demand in consecutive spans from `start_s` (epoch seconds) on; lists have one element a span."""

    model_config = ConfigDict(extra="forbid", defer_build=True, frozen=True)

    account: str
    region: str
    volume_id: str
    start_s: int
    length_s: list[int]
    shortest_s: list[int] = Field(description="the shortest bucket that was read in each span")
    iops: Rates = Field(description="means of the spans")
    read_iops: Rates
    throughput_mib_s: Rates
    read_throughput_mib_s: Rates
    peak_iops: Rates = Field(description="of the busiest bucket of each span, with the MiB/s of that bucket")
    throughput_mib_s_at_peak_iops: Rates
    peak_throughput_mib_s: Rates = Field(description="of the bucket that moved most, with the IOPS of that bucket")
    iops_at_peak_throughput: Rates
    throttled_minutes: list[float]
    host_bound_minutes: list[float]


def profile_record(volume: Volume, profile: DemandProfile) -> DemandProfileRecord:
    """The record of a volume's profile."""
    return DemandProfileRecord(
        account=volume.account,
        region=volume.region,
        volume_id=volume.id,
        start_s=int(profile.starts_s[0]),
        length_s=profile.lengths_s.tolist(),
        shortest_s=profile.shortest_s.tolist(),
        iops=_rates(profile.iops),
        read_iops=_rates(profile.read_iops),
        throughput_mib_s=_rates(profile.throughput_mib_s),
        read_throughput_mib_s=_rates(profile.read_throughput_mib_s),
        peak_iops=_rates(profile.peak_iops),
        throughput_mib_s_at_peak_iops=_rates(profile.throughput_mib_s_at_peak_iops),
        peak_throughput_mib_s=_rates(profile.peak_throughput_mib_s),
        iops_at_peak_throughput=_rates(profile.iops_at_peak_throughput),
        throttled_minutes=np.round(profile.throttled_minutes, 1).tolist(),
        host_bound_minutes=np.round(profile.host_bound_minutes, 1).tolist(),
    )


def _rates(rates: FloatArray) -> Rates:
    """Rounded to four digits by exact powers of ten, so that no noise is printed."""
    digits = 3 - np.floor(np.log10(rates, out=np.zeros_like(rates), where=rates > 0))
    finer, coarser = 10.0 ** np.maximum(digits, 0), 10.0 ** np.maximum(-digits, 0)
    rounded = (np.rint(rates * finer / coarser) / finer * coarser).astype(object)
    rounded[np.isnan(rates)] = None
    return list(rounded.tolist())
