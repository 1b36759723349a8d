"""Rules: what each would have made of a volume with what was known at a cut."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.decide.offers import bare_type_offer
from plimsoll.decide.products import Product
from plimsoll.model.arrays import FloatArray
from plimsoll.model.ceiling import Ceiling, Need
from plimsoll.model.market import type_of
from plimsoll.model.units import DAY_S
from plimsoll.model.volume import VolumeSpec
from plimsoll.risk.learn import highest_rates
from plimsoll_backtest.cuts import Known
from plimsoll_backtest.scenario import Scenario, need_of

SHORT_DAYS: Final = 14
"""The memory of rules that others use."""

CHANGE_OF_TYPE: Final = "bare change of type"
DROP_IN: Final = "drop-in"
MAX_AND_20: Final = "max of 14 days + 20 %"
P99_5: Final = "99.5th pct of 14 days"
LEARNED: Final = "learned"
ONE_FACTOR: Final = "one factor"


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedVolumes:
    """The volumes as a rule sizes them: USD a month of each, and its line, (volumes, 2)."""

    usd_month: FloatArray
    lines: FloatArray


@dataclass
class Shop:
    """The offers of a scenario: the cheapest spec of the offered type for a need, by the code that decides for one."""

    scenario: Scenario
    _sold: dict[Need, tuple[float, FloatArray]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scenario = self.scenario
        market = scenario.market
        self._kind = type_of(VolumeSpec(type=scenario.to, size_gib=1), market.types)
        self._product = Product(
            kind=self._kind,
            size_gib=scenario.present.size_gib,
            policy=scenario.policy,
            usd_month=market.book.usd_month,
            ceiling=self._ceiling,
        )
        self.present = self._price(scenario.present)

    def bare(self) -> VolumeSpec:
        """The configuration after a bare change to the offered type."""
        flipped = bare_type_offer(self._kind, self.scenario.present.size_gib, self.scenario.market.book)
        return self.scenario.present if flipped is None else flipped.spec

    def size_needs(self, needs: FloatArray) -> SizedVolumes:
        """The cheapest that carries each need, (volumes, 2); what there is where nothing sold does, or for less."""
        offers = [self._cheapest(need) for need in needs]
        return SizedVolumes(
            usd_month=np.array([usd for usd, _ in offers]), lines=np.array([line for _, line in offers])
        )

    def same(self, spec: VolumeSpec, volumes: int) -> SizedVolumes:
        """One spec for all."""
        usd, line = self._price(spec)
        return SizedVolumes(usd_month=np.full(volumes, usd), lines=np.tile(line, (volumes, 1)))

    def _cheapest(self, need: FloatArray) -> tuple[float, FloatArray]:
        """The cheapest spec for a need: its USD a month and its line; the present one if none is cheaper and carries
        it."""
        policy = self.scenario.policy
        steps = np.array([policy.iops_step, policy.throughput_step_mib_s])
        wanted = need_of(np.ceil(np.minimum(need, 1e9) / steps - 1e-9) * steps)
        if wanted not in self._sold:
            usd, line = self._price(self._product.fit(wanted))
            carries = line[0] >= wanted.iops - 1e-6 and line[1] >= wanted.throughput_mib_s - 1e-6
            self._sold[wanted] = (usd, line) if carries and usd < self.present[0] else self.present
        return self._sold[wanted]

    def _price(self, spec: VolumeSpec) -> tuple[float, FloatArray]:
        usd = self.scenario.market.book.usd_month(spec)
        return np.inf if usd is None else usd, self.scenario.limits_of(spec)

    def _ceiling(self, spec: VolumeSpec) -> Ceiling:
        return self._kind.ceiling(spec)


def sizes(known: Known, shop: Shop, period_s: int) -> Iterator[tuple[str, SizedVolumes]]:
    """The sizes that the rules of others give the volumes at a cut."""
    volumes = len(known.before)
    lately = known.before[:, :, -SHORT_DAYS * DAY_S // period_s :]
    yield CHANGE_OF_TYPE, shop.same(shop.bare(), volumes)
    yield DROP_IN, shop.size_needs(np.tile(shop.scenario.limits, (volumes, 1)))
    yield MAX_AND_20, shop.size_needs(_cap_needs(1.2 * highest_rates(lately), shop))
    yield P99_5, shop.size_needs(_cap_needs(np.quantile(lately, 0.995, axis=2), shop))


def learned_sizes(known: Known, factors: FloatArray, shop: Shop) -> SizedVolumes:
    """The sizes that the learned headroom gives, each volume by its own factor.

    At NaN nothing is promised, so that the volume stays as it is.
    """
    needs = factors[:, None] * known.histories.most
    needs[known.held | np.isnan(factors)] = shop.scenario.limits
    return shop.size_needs(_cap_needs(needs, shop))


def _cap_needs(needs: FloatArray, shop: Shop) -> FloatArray:
    """Needs no higher than what there is: nobody could have asked for more."""
    capped: FloatArray = np.minimum(needs, shop.scenario.limits)
    return capped
