"""Prices: what a configuration costs a month, from one region's dated price book."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from plimsoll.domain.units import MONTH_S
from plimsoll.domain.volume import VolumeSpec

DOLLARS: Final = "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypePrice:
    """List prices in USD a month of one volume type in one region.

    `iops_tiers` are (up to these IOPS or None, USD per IOPS a month), lowest first, charged above `included_iops`;
    likewise throughput above `included_throughput_mib_s`. `million_io` is per million operations.
    """

    gib_month: float
    iops_tiers: tuple[tuple[float | None, float], ...] = ()
    included_iops: int = 0
    throughput_mib_s_month: float = 0.0
    included_throughput_mib_s: int = 0
    million_io: float = 0.0

    def usd_month(self, spec: VolumeSpec, *, mean_iops: float = 0.0) -> float:
        """USD a month of that spec; `mean_iops` matters only where operations are billed."""
        return (
            self.gib_month * spec.size_gib
            + self._iops(spec.iops or 0)
            + self.throughput_mib_s_month * max(0, (spec.throughput_mib_s or 0) - self.included_throughput_mib_s)
            + self.million_io * mean_iops * MONTH_S / 1e6
        )

    def _iops(self, iops: float) -> float:
        usd, charged_to = 0.0, float(self.included_iops)
        for up_to, price in self.iops_tiers:
            tier_end = min(iops, math.inf if up_to is None else up_to)
            usd += price * max(0.0, tier_end - charged_to)
            charged_to = max(charged_to, tier_end)
        return usd


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceBook:
    """One region's prices by volume type, with where they come from and of what date (None: there are none).

    `unlisted` says why they are not the cloud's own list of today, where that was asked for and could not be read: a
    failure. `notice` is what else people should know of where they come from. One in another `currency` has no types:
    what is not in dollars is in no sum of them.
    """

    region: str
    source: str
    as_of: date | None
    types: Mapping[str, TypePrice]
    discounts_pct: Mapping[str, float] = field(default_factory=dict)
    unlisted: str = ""
    notice: str = ""
    currency: str = DOLLARS

    def usd_month(self, spec: VolumeSpec, *, mean_iops: float = 0.0) -> float | None:
        """USD a month of that spec after discounts; None where the book has no price for its type."""
        price = self.types.get(spec.type)
        if price is None:
            return None
        discount_pct = self.discounts_pct.get(spec.type, self.discounts_pct.get("*", 0.0))
        return price.usd_month(spec, mean_iops=mean_iops) * (1 - discount_pct / 100)


def unusable(spec: VolumeSpec, unit: str, usable: float, book: PriceBook) -> float:
    """How much of a provisioned figure is paid for beyond what is usable: nothing of what is included, or has no price
    of its own."""
    price, bought = book.types.get(spec.type), spec.iops if unit == "IOPS" else spec.throughput_mib_s
    if price is None or bought is None:
        return 0.0
    is_charged = bool(price.iops_tiers) if unit == "IOPS" else price.throughput_mib_s_month > 0
    included = price.included_iops if unit == "IOPS" else price.included_throughput_mib_s
    return max(0.0, bought - max(usable, included)) if is_charged else 0.0
