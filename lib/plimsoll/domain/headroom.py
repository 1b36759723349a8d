"""Headroom: the share above what was seen that a configuration must carry.

It is made here alone, from the policy, from what was learned, and from growth. No policy is changed for it.
"""

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from plimsoll.domain.policy import BOUNDS, Policy

MOST_HEADROOM_PCT: Final = BOUNDS["headroom_pct"][1]
"""The most that is learned, or made of growth: what would need more is not promised."""

MOST_FACTOR: Final = 1 + MOST_HEADROOM_PCT / 100
"""The same as a factor."""

LESS_RISK: Final = "a lower risk_pct or more headroom_pct"
"""The keys of a policy that make promises safer, in words."""


class OfferPurpose(StrEnum):
    """What another configuration is for: to cost less, to throttle less, or to cost less and throttle no more."""

    REDUCE = "reduce"
    RELIEVE = "relieve"
    HOLD = "hold"


class HeadroomSource(StrEnum):
    """The origin of a headroom before growth: the owner's figure, or a factor that was learned to keep a risk."""

    POLICY = "policy"
    LEARNED = "learned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The growth of a volume's operations and bytes, in percent a day, over the `weeks` that count.

    0 where one of them does not grow. `times` is what that comes to in the `days` that there is room for.
    """

    iops_pct_a_day: float
    throughput_pct_a_day: float
    weeks: int
    days: float
    times: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """A share above what was seen, in percent: 20 is a factor of 1.2. `usual_pct` has no room for growth."""

    pct: float
    usual_pct: float
    source: HeadroomSource = field(default=HeadroomSource.POLICY, compare=False)

    @classmethod
    def of_policy(cls, policy: Policy) -> "Headroom":
        """The headroom that the owner asks for."""
        return cls(pct=policy.headroom_pct, usual_pct=policy.headroom_pct)

    @property
    def factor(self) -> float:
        """The factor on what was seen."""
        return 1 + self.pct / 100

    @property
    def usual(self) -> "Headroom":
        """The headroom without room for growth."""
        return self if self.pct == self.usual_pct else replace(self, pct=self.usual_pct)

    def raised_to(self, learned_factor: float) -> "Headroom":
        """The headroom, and no less than a learned factor.

        That is rounded up to a tenth of a percent: rounded down it would not keep its promise.
        """
        pct = math.ceil(1000 * max(0.0, learned_factor - 1) - 1e-6) / 10
        return self if pct <= self.pct else Headroom(pct=pct, usual_pct=pct, source=HeadroomSource.LEARNED)

    def with_room_for(self, growth: Growth) -> "Headroom":
        """The headroom with room for a growth, no more than any policy may ask for.

        It is rounded up to a tenth of a percent, so that rounding by machines never shows.
        """
        grown_pct = 100 * (self.usual.factor * growth.times - 1)
        pct = min(MOST_HEADROOM_PCT, max(self.usual_pct, math.ceil(10 * grown_pct - 1e-6) / 10))
        return replace(self, pct=pct)


@dataclass(frozen=True, slots=True, kw_only=True)
class Headrooms:
    """The headroom of relief, and of reductions: these alone ask for what was learned.

    Both have room for `growth` (None: for none).
    """

    relief: Headroom
    reducing: Headroom
    growth: Growth | None = None

    @classmethod
    def of_policy(cls, policy: Policy, learned_factor: float | None = None) -> "Headrooms":
        """The headrooms that the owner asks for; reductions have no less than a learned factor (None: none is)."""
        asked = Headroom.of_policy(policy)
        return cls(relief=asked, reducing=asked if learned_factor is None else asked.raised_to(learned_factor))

    def of(self, purpose: OfferPurpose) -> Headroom:
        """The headroom of what is chosen for a purpose."""
        return self.relief if purpose is OfferPurpose.RELIEVE else self.reducing

    def with_room_for(self, growth: Growth) -> "Headrooms":
        """The headrooms with room for a growth."""
        relief, reducing = self.relief.with_room_for(growth), self.reducing.with_room_for(growth)
        return Headrooms(relief=relief, reducing=reducing, growth=growth)


MOST_GROWTH_TIMES: Final = 3.0
"""No more growth than to that many times is kept room for."""
