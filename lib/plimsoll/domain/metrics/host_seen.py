"""What a cloud measured of a host's own storage limits, in the buckets of a demand.

A check says that in some moment more was asked of the host than its maximum, a balance how much was left of the credits
of a host that bursts. Absent is unknown: neither that the host was the limit nor that it was not.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSeen:
    """One resource of a host: the minutes of each bucket in which more was asked than its maximum, and the least
    balance in percent; NaN where there is no point. What is unread could be read more finely."""

    exceeded: FloatArray
    balance_pct: FloatArray
    check_unread: BoolArray
    balance_unread: BoolArray

    @property
    def raised(self) -> BoolArray:
        """The buckets in which the check is known to be raised, as finely as it is kept."""
        return (self.exceeded > 0) & ~self.check_unread

    @property
    def only_raised(self) -> "SideSeen":
        """The same with nothing but what is raised."""
        nowhere = np.zeros_like(self.check_unread)
        return SideSeen(
            exceeded=np.where(self.raised, self.exceeded, np.nan),
            balance_pct=np.full(len(self.balance_pct), np.nan),
            check_unread=nowhere,
            balance_unread=nowhere,
        )


HostSeen = Mapping[Resource, SideSeen]
