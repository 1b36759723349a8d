"""Prices: from the Cloud Billing catalog where it answers in full, else from a dated price file."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from plimsoll.clouds.common.dated_data import PriceFile
from plimsoll.clouds.google.clients import Clients
from plimsoll.clouds.google.errors import FAILURES
from plimsoll.domain.errors import CloudError
from plimsoll.domain.prices import PriceBook, TypePrice
from plimsoll.domain.units import HOUR_S, MONTH_S
from plimsoll.ports import Target

if TYPE_CHECKING:
    from google.cloud.billing_v1 import Sku

SERVICE: Final = "services/6F81-5844-456A"
"""Compute Engine in the catalog; Cloud SQL sells disks whose descriptions look alike."""

_PAGE: Final = 5000
_NANO: Final = 1e-9

_NAMES: Final = {
    "Storage PD": "pd-standard",
    "Balanced PD": "pd-balanced",
    "SSD backed PD": "pd-ssd",
    "Extreme PD": "pd-extreme",
    "Regional Storage PD": "regional-pd-standard",
    "Regional Balanced PD": "regional-pd-balanced",
    "Regional SSD backed PD": "regional-pd-ssd",
    "Hyperdisk Balanced": "hyperdisk-balanced",
    "Hyperdisk Balanced High Availability": "hyperdisk-balanced-high-availability",
    "Hyperdisk Extreme": "hyperdisk-extreme",
    "Hyperdisk Throughput": "hyperdisk-throughput",
    "Hyperdisk ML": "hyperdisk-ml",
}
_BOTH: Final = {"hyperdisk-balanced", "hyperdisk-balanced-high-availability"}
_WITH_IOPS: Final = {*_BOTH, "pd-extreme", "hyperdisk-extreme"}
_WITH_THROUGHPUT: Final = {*_BOTH, "hyperdisk-throughput", "hyperdisk-ml"}
_PARTS: Final[Mapping[str, Mapping[str, str]]] = {
    "gib": {f"{name} Capacity": kind for name, kind in _NAMES.items()},
    "iops": {f"{name} IOPS": kind for name, kind in _NAMES.items() if kind in _WITH_IOPS},
    "throughput": {
        **{f"{name} Throughput": kind for name, kind in _NAMES.items() if kind in _WITH_THROUGHPUT},
        "Hyperdisk Throughput Throughput Capacity": "hyperdisk-throughput",
    },
}
"""How SKUs are described: those of 2024 to 2026 in public exporters of billing data. Those of Balanced High
Availability are formed like the others; none was seen."""

_PLACE: Final = re.compile(r" in (?P<place>[^()]+)$")
_OTHERWISE: Final = re.compile(r"confidential|pool|commitment|replication", re.IGNORECASE)
"""What is sold in another way under a description that begins alike; Confidential mode has prices of its own."""

_INCLUDED: Final[Mapping[str, Mapping[str, int]]] = {
    name: {"included_iops": 3000, "included_throughput_mib_s": 140} for name in _BOTH
}
_COMPLETE: Final = ("pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced")
"""What a list must have of a region before it is believed."""

_Figures = dict[str, dict[str, dict[str, float]]]


@dataclass(slots=True, kw_only=True)
class GooglePrices:
    """Price books by region, at list prices. `clients` None: no catalog is asked. One listing serves all regions."""

    shipped: PriceFile
    clients: Clients | None = None
    today: date
    _listed: Mapping[str, Mapping[str, TypePrice]] | None = field(default=None, repr=False)

    def book(self, target: Target) -> PriceBook | None:
        """The region's book; None where neither the catalog nor the file has one."""
        if self._listed is None:
            self._listed = self._list() if self.clients else {}
        types = self._listed.get(target.region, {})
        if not all(name in types for name in _COMPLETE):
            return self.shipped.book(target.region)
        return PriceBook(region=target.region, source="Cloud Billing Catalog API", as_of=self.today, types=types)

    def _list(self) -> Mapping[str, Mapping[str, TypePrice]]:
        """What the catalog has; nothing where it cannot be read, because prices are no reason to fail."""
        if self.clients is None:
            return {}
        request = {"parent": SERVICE, "currency_code": "USD", "page_size": _PAGE}
        try:
            return prices_in(self.clients.catalog.list_skus(request, **self.clients.tries))
        except (*FAILURES, CloudError):
            return {}


def prices_in(skus: Iterable["Sku"]) -> dict[str, dict[str, TypePrice]]:
    """The prices in a catalog's SKUs, by region and disk type: on demand, at the first rate that charges anything.

    A type is left out of a region where a part of its price is missing.
    """
    figures: _Figures = {}
    for sku in skus:
        part = _part(sku.description)
        usd = _usd_month(sku)
        if part is None or usd is None or sku.category.usage_type != "OnDemand":
            continue
        kind, name = part
        for region in sku.service_regions:
            figures.setdefault(region, {}).setdefault(name, {})[kind] = usd
    return {
        region: {name: _price(name, found) for name, found in types.items() if _is_whole(name, found)}
        for region, types in figures.items()
    }


def _part(description: str) -> tuple[str, str] | None:
    """Which part of which type's price a SKU is; None for anything else. The place is told by its regions."""
    if _OTHERWISE.search(description):
        return None
    what = _PLACE.sub("", description)
    return next(((part, named[what]) for part, named in _PARTS.items() if what in named), None)


def _usd_month(sku: "Sku") -> float | None:
    """USD a month of one unit; None where nothing is charged, or by a unit that is not of time."""
    if not sku.pricing_info:
        return None
    terms: Any = sku.pricing_info[-1].pricing_expression
    rates = (rate.unit_price.units + rate.unit_price.nanos * _NANO for rate in terms.tiered_rates)
    usd = next((rate for rate in rates if rate > 0), None)
    months = {"mo": 1.0, "h": MONTH_S / HOUR_S}.get(terms.usage_unit.rpartition(".")[2])
    return None if usd is None or months is None else round(usd * months, 9)


def _is_whole(name: str, found: Mapping[str, float]) -> bool:
    return all(part in found for part, named in _PARTS.items() if name in named.values())


def _price(name: str, found: Mapping[str, float]) -> TypePrice:
    return TypePrice(
        gib_month=found["gib"],
        iops_tiers=((None, found["iops"]),) if "iops" in found else (),
        throughput_mib_s_month=found.get("throughput", 0.0),
        **_INCLUDED.get(name, {}),
    )
