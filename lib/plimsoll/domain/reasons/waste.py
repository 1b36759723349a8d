"""Waste: what is paid for and cannot be used."""

from plimsoll.domain.prices import PriceBook
from plimsoll.domain.volume import VolumeSpec


def unusable(spec: VolumeSpec, unit: str, usable: float, book: PriceBook) -> float:
    """How much of a provisioned figure is paid for beyond what is usable: nothing of what is included, or has no price
    of its own."""
    price, bought = book.types.get(spec.type), spec.iops if unit == "IOPS" else spec.throughput_mib_s
    if price is None or bought is None:
        return 0.0
    is_charged = bool(price.iops_tiers) if unit == "IOPS" else price.throughput_mib_s_month > 0
    included = price.included_iops if unit == "IOPS" else price.included_throughput_mib_s
    return max(0.0, bought - max(usable, included)) if is_charged else 0.0
