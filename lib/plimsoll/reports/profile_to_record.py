"""From a demand profile to its record."""

from typing import Final

import numpy as np

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.demand.demand_profile import DemandProfile
from plimsoll.domain.volume import Volume
from plimsoll.reports.record import DemandProfileRecord, SpanRates

_RATES: Final = [name for name, field in DemandProfileRecord.model_fields.items() if field.annotation == SpanRates]


def profile_record(volume: Volume, profile: DemandProfile) -> DemandProfileRecord:
    """The record of a volume's profile."""
    return DemandProfileRecord(
        account=volume.account,
        region=volume.region,
        volume_id=volume.id,
        start_s=int(profile.starts_s[0]),
        length_s=profile.lengths_s.tolist(),
        shortest_s=profile.shortest_s.tolist(),
        **{name: _rates(getattr(profile, name)) for name in _RATES},
        sized=profile.sized.tolist(),
        throttled_minutes=np.round(profile.throttled_minutes, 1).tolist(),
        host_bound_minutes=np.round(profile.host_bound_minutes, 1).tolist(),
    )


def _rates(rates: FloatArray) -> SpanRates:
    """Rounded to four digits by exact powers of ten, so that no noise is printed."""
    digits = 3 - np.floor(np.log10(rates, out=np.zeros_like(rates), where=rates > 0))
    finer, coarser = 10.0 ** np.maximum(digits, 0), 10.0 ** np.maximum(-digits, 0)
    rounded = (np.rint(rates * finer / coarser) / finer * coarser).astype(object)
    rounded[np.isnan(rates)] = None
    return list(rounded.tolist())
