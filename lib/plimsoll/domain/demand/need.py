"""The need: the figures that a ceiling must reach."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from plimsoll.domain.ceiling import Ceiling, Resource


class OfferPurpose(StrEnum):
    """What another configuration is for: to cost less, to throttle less, or to cost less and throttle no more."""

    REDUCE = "reduce"
    RELIEVE = "relieve"
    HOLD = "hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What an offer must reach: at its highest, and without end."""

    iops: float = 0.0
    throughput_mib_s: float = 0.0
    sustained_iops: float = 0.0
    sustained_throughput_mib_s: float = 0.0

    @classmethod
    def of_ceiling(cls, ceiling: Ceiling) -> "Need":
        """All that a ceiling ever carries."""
        return cls(
            iops=ceiling.iops,
            throughput_mib_s=ceiling.throughput_mib_s,
            sustained_iops=ceiling.sustained_iops,
            sustained_throughput_mib_s=ceiling.sustained_throughput_mib_s,
        )

    def without(self, resource: Resource | None) -> "Need":
        """The same where nothing of a resource is needed (None: as it is)."""
        match resource:
            case None:
                return self
            case Resource.IOPS:
                return replace(self, iops=0.0, sustained_iops=0.0)
            case Resource.THROUGHPUT:
                return replace(self, throughput_mib_s=0.0, sustained_throughput_mib_s=0.0)

    def times(self, factor: float) -> "Need":
        """So many times all of it."""
        return Need(
            iops=factor * self.iops,
            throughput_mib_s=factor * self.throughput_mib_s,
            sustained_iops=factor * self.sustained_iops,
            sustained_throughput_mib_s=factor * self.sustained_throughput_mib_s,
        )

    def no_less_than(self, other: "Need") -> "Need":
        """The greater of both on each side."""
        if other is NOTHING:
            return self
        return Need(
            iops=max(self.iops, other.iops),
            throughput_mib_s=max(self.throughput_mib_s, other.throughput_mib_s),
            sustained_iops=max(self.sustained_iops, other.sustained_iops),
            sustained_throughput_mib_s=max(self.sustained_throughput_mib_s, other.sustained_throughput_mib_s),
        )

    def no_more_than(self, other: "Need") -> "Need":
        """The less of both on each side."""
        return Need(
            iops=min(self.iops, other.iops),
            throughput_mib_s=min(self.throughput_mib_s, other.throughput_mib_s),
            sustained_iops=min(self.sustained_iops, other.sustained_iops),
            sustained_throughput_mib_s=min(self.sustained_throughput_mib_s, other.sustained_throughput_mib_s),
        )


NOTHING: Final = Need()
"""What anything carries."""

EVERYTHING: Final = Need(iops=math.inf, throughput_mib_s=math.inf)
"""More than anything carries."""
