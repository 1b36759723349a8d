"""Room: where its own ceiling or its host held a demand back, and what each of them left."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand.demand import Demand, scaled
from plimsoll.domain.policy import Policy

FREQUENT_MINUTES = 30
"""Saturation of fewer minutes is rare, however short the epoch was."""

Lifts = tuple[FloatArray | float, FloatArray | float]
"""How many times its operations, and how many times its bytes, each bucket has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted:
    """A demand with its saturated buckets lifted, and which these are.

    `demand` is what would have been asked for: so many times the `operations` and the bytes `moved` of each bucket.
    `holding` is that where it is to be held back no more than it is: up to the ceiling alone of what is saturated, and
    `held` how many times its operations and bytes a bucket can want then: of what is saturated no more than that.
    `saturated` are the buckets by resource, `any` those on either, of which the
    cloud's checks alone show the `flagged`, and `frequent` the resources that are saturated
    frequently in an epoch whose limit was not raised since. `deferred` are those of which the workload takes what it
    gets, and `most` is how many times its operations and bytes a bucket can want: there no more than the ceiling.
    """

    demand: Demand
    operations: FloatArray | float
    moved: FloatArray | float
    saturated: Mapping[Resource, BoolArray]
    any: BoolArray
    flagged: BoolArray
    frequent: frozenset[Resource]
    most: Mapping[Resource, FloatArray | float]
    holding: Lifts = (1.0, 1.0)
    held: Lifts = (np.inf, np.inf)
    deferred: frozenset[Resource] = frozenset()

    def of(self, demand: Demand) -> "Lifted":
        """A part of the demand, lifted as all of it."""
        return replace(self, demand=scaled(demand.rates, self.operations, self.moved))


def is_frequent(minutes: float, observed_minutes: float, policy: Policy) -> bool:
    """Whether so many minutes of those observed are frequent."""
    return minutes >= max(FREQUENT_MINUTES, policy.upgrade_throttled_share_pct / 100 * observed_minutes)


Rates = tuple[FloatArray, FloatArray]
"""IOPS and MiB/s in each bucket, as the ceiling of a host counts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRoom:
    """What the hosts could have let through in each bucket, as their ceiling counts, and where that was the limit.

    `room` is what they left to this volume, IOPS and MiB/s: never less than was observed, no more where that was
    measured as the limit, and infinite where it was on others. `ceiling` is the most that they carry, unbounded
    where more was done than is published (`disproved`). Of the `bound` buckets the cloud `measured` some; `cleared`
    are those at the published limit in which it measured that the host was not the limit. `known` is False where it
    is not known what a volume on the host did, so that the host may have been the limit in any minute.

    `relief` is the room that relief has: what the hosts leave if all their volumes do what was held back (None: as
    much as `room`). In the buckets of `taken_back` that is less than this volume would do.
    """

    ceiling: Ceiling
    room: Rates
    bound: BoolArray = field(repr=False, compare=False)
    measured: BoolArray = field(repr=False, compare=False)
    cleared: BoolArray = field(repr=False, compare=False)
    known: bool = True
    disproved: bool = False
    relief: Rates | None = field(default=None, repr=False, compare=False)
    taken_back: BoolArray | None = field(default=None, repr=False, compare=False)

    @property
    def in_relief(self) -> "HostRoom":
        """The same with the room that relief has."""
        return self if self.relief is None else replace(self, room=self.relief, relief=None)

    def only_in(self, where: BoolArray) -> "HostRoom":
        """The same where the volume was on these hosts, and no limit where it was on others."""
        if where.all():
            return self
        return replace(
            self,
            room=(np.where(where, self.room[0], np.inf), np.where(where, self.room[1], np.inf)),
            bound=self.bound & where,
            measured=self.measured & where,
            cleared=self.cleared & where,
        )

    def part_of(self, demand: Demand, whole: Demand) -> "HostRoom":
        """The room of a part of a demand, as the demand is parted."""
        shares = [
            np.divide(own, total, out=np.ones_like(own), where=own > 0)
            for own, total in zip(count_rates(demand, self.ceiling), count_rates(whole, self.ceiling), strict=True)
        ]
        relief = None if self.relief is None else (self.relief[0] * shares[0], self.relief[1] * shares[1])
        return replace(self, room=(self.room[0] * shares[0], self.room[1] * shares[1]), relief=relief)


def count_rates(demand: Demand, ceiling: Ceiling) -> Rates:
    """IOPS and MiB/s as a ceiling counts them."""
    return demand.counted_iops(ceiling.accounting), demand.counted_throughput_mib_s(ceiling.accounting)
