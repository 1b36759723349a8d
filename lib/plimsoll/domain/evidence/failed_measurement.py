"""Failed measurements: configurations that delivered less than is published, or answered too late, lately here.

This is the one rule by which a measurement refuses an offer, whoever made it: a validation by its verdict, or anything
else by its envelope (`evidence_against`). A larger offer of the type is believed to carry more in proportion: what was
half of what was promised is believed to be half of what a larger one promises. So an offer carries what is published of
it, and no more than what is believed. One that carries too little for the need is not offered (docs/evidence.md).

More need never brings back an offer that carried too little, since what an offer is believed to carry does not depend
on the need. What answered too late speaks against its class for that volume alone.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from plimsoll.domain.ceiling import Ceiling, Need, Resource, TokenBucket
from plimsoll.domain.evidence.envelope import DELIVERED
from plimsoll.domain.evidence.evidence import OVERSHOOT
from plimsoll.domain.volume import VolumeSpec

CODE: Final = "failed-measurement"
"""What reports and records call it where an offer was refused, or had to be larger."""

SAME_CLASS: Final = 1.1
"""A configuration up to this ratio above one that answered too late is not offered either: measurements are that
sure."""

LEAST_SHARE: Final = 0.001
"""What delivered less of what is published is taken for this share of it: a thousand times is sold nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedMeasurement:
    """A configuration that was measured here and did not deliver.

    `delivered` holds what it carried on each resource where that is less than its published `ceiling` sustains.
    `volume_id` is set where it answered too slowly for that volume. `source` is what measured it, and where that
    can be opened. `newer` are figures on each resource that later measurements of the type showed here: they stand
    instead, for offers that promise as much.
    """

    account: str
    region: str
    spec: VolumeSpec
    ceiling: Ceiling
    measured_on: date
    delivered: Mapping[Resource, float]
    volume_id: str | None
    source: str
    text: str
    newer: Mapping[Resource, Sequence[float]] = field(default_factory=dict)

    def published_rate(self, side: Resource) -> float:
        """The rate that the measured configuration sustains by its published limits."""
        return self.ceiling.sustained_iops if side is Resource.IOPS else self.ceiling.sustained_throughput_mib_s

    def believed_rate(self, side: Resource, promised: float) -> float:
        """The rate that an offer of the type is believed to carry of the rate that it promises.

        Half of the published rate was delivered: half of the promised rate is believed.
        """
        if side not in self.delivered:
            return promised
        carried = self._carried_rate(side)
        seen = [carried, *(figure for figure in self.newer.get(side, ()) if figure <= OVERSHOOT * promised)]
        return min(promised, max(max(seen) / DELIVERED, carried * promised / self.published_rate(side)))

    def promise_for(self, side: Resource, need: float) -> float:
        """The least that an offer of the type has to promise so that it is believed to carry a need."""
        if side not in self.delivered:
            return need
        carried = self._carried_rate(side)
        in_proportion = need if DELIVERED * need <= carried else need * self.published_rate(side) / carried
        seen = [max(need, figure / OVERSHOOT) for figure in self.newer.get(side, ()) if figure >= DELIVERED * need]
        return min([in_proportion, *seen])

    def is_too_slow(self, ceiling: Ceiling, volume_id: str) -> bool:
        """An offer with that ceiling is of the class that answered too late for that volume."""
        return self.volume_id == volume_id and (
            ceiling.iops <= SAME_CLASS * self.ceiling.iops
            and ceiling.throughput_mib_s <= SAME_CLASS * self.ceiling.throughput_mib_s
        )

    def _carried_rate(self, side: Resource) -> float:
        return max(self.delivered[side], LEAST_SHARE * self.published_rate(side))


def believed_ceiling(ceiling: Ceiling, failed: Sequence[FailedMeasurement]) -> Ceiling:
    """The ceiling that an offer is believed to have, by its published ceiling and failed measurements of its type.

    The rates that last without credits are lowered in the same proportion.
    """
    if not any(measurement.delivered for measurement in failed):
        return ceiling
    return replace(
        ceiling,
        iops=_believed_rate(Resource.IOPS, ceiling.iops, failed),
        throughput_mib_s=_believed_rate(Resource.THROUGHPUT, ceiling.throughput_mib_s, failed),
        buckets=tuple(_lower_bucket(bucket, failed) for bucket in ceiling.buckets),
    )


def promised_need(need: Need, failed: Sequence[FailedMeasurement]) -> Need:
    """The least figures of an offer of the type that is believed to carry a need."""
    return Need(
        iops=_promised_rate(Resource.IOPS, need.iops, failed),
        throughput_mib_s=_promised_rate(Resource.THROUGHPUT, need.throughput_mib_s, failed),
        sustained_iops=_promised_rate(Resource.IOPS, need.sustained_iops, failed),
        sustained_throughput_mib_s=_promised_rate(Resource.THROUGHPUT, need.sustained_throughput_mib_s, failed),
    )


def find_limiting(ceiling: Ceiling, need: Need, failed: Sequence[FailedMeasurement]) -> tuple[FailedMeasurement, ...]:
    """The failed measurements because of which an offer is believed to carry less of a need than is published."""
    wanted = {
        Resource.IOPS: (ceiling.iops, max(need.iops, need.sustained_iops)),
        Resource.THROUGHPUT: (
            ceiling.throughput_mib_s,
            max(need.throughput_mib_s, need.sustained_throughput_mib_s),
        ),
    }
    return tuple(
        measurement
        for measurement in failed
        if any(measurement.believed_rate(side, most) < min(most, needed) for side, (most, needed) in wanted.items())
    )


def _promised_rate(side: Resource, need: float, failed: Sequence[FailedMeasurement]) -> float:
    return max((measurement.promise_for(side, need) for measurement in failed), default=need)


def _believed_rate(side: Resource, promised: float, failed: Sequence[FailedMeasurement]) -> float:
    if math.isinf(promised):
        return promised
    return min((measurement.believed_rate(side, promised) for measurement in failed), default=promised)


def _lower_bucket(bucket: TokenBucket, failed: Sequence[FailedMeasurement]) -> TokenBucket:
    lasts = bucket.sustained_rate
    return bucket if lasts <= 0 else bucket.times(_believed_rate(bucket.resource, lasts, failed) / lasts)
