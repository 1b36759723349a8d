"""Prices: from the Cloud Billing catalog if it answers in full, else from a dated price file."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from plimsoll.clouds.common.dated_data import ListedPrices
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.model.errors import CloudError
from plimsoll.model.market import PriceBook, TypePrice
from plimsoll.model.units import HOUR_S, MONTH_S
from plimsoll.ports import Target
from plimsoll_google.clients import Clients
from plimsoll_google.names import LIST_SKUS
from plimsoll_google.pages import PagedList

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
"""The descriptions of SKUs: those of 2024 to 2026 in public exporters of billing data. Those of Balanced High
Availability are formed like the others; none was seen."""

_PLACE: Final = re.compile(r" in (?P<place>[^()]+)$")
_OTHERWISE: Final = re.compile(r"confidential|pool|commitment|replication", re.IGNORECASE)
"""Words of SKUs that are sold in another way under a description that begins alike; Confidential mode has prices of its
own."""

_INCLUDED: Final[Mapping[str, Mapping[str, int]]] = {
    name: {"included_iops": 3000, "included_throughput_mib_s": 140} for name in _BOTH
}
_COMPLETE: Final = ("pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced")
"""The types that a list must have of a region before it is believed."""

_TIMES: Final = 20
"""A list price that is so many times what it was, or that part of it, is a mistake and not a price."""

_PRICING: Final = CallPurpose(
    goes_on="The audit goes on with the prices that Plimsoll ships",
    allow="enable cloudbilling.googleapis.com in the project that calls count for",
    again="run again later",
)

_Figures = dict[str, dict[str, dict[str, float]]]


@dataclass(slots=True, kw_only=True)
class GooglePrices(ListedPrices):
    """Price books by region, at list prices. `clients` None: no catalog is asked. One listing serves all regions."""

    source: str = "Cloud Billing Catalog API"
    clients: Clients | None = None
    _listed: Mapping[str, Mapping[str, TypePrice]] | None = field(default=None, repr=False)
    _refused: str = field(default="", repr=False)

    def book(self, target: Target) -> PriceBook | None:
        """The region's book. None if neither the catalog nor the file has one.

        Its notice says which prices of the file stand in for the catalog's.
        """
        shipped = self.shipped.book(target.region)
        if self.clients is None:
            return shipped
        with self._lock:
            if self._listed is None:
                self._listed, self._refused = self._list(self.clients)
        types = self._listed.get(target.region, {})
        lacking = [name for name in _COMPLETE if name not in types]
        if self._refused or lacking:
            why = self._refused or f"the price catalog lacks {', '.join(lacking)} in {target.region}."
            return shipped and replace(shipped, notice=f"{why} Prices are those of {shipped.as_of}.")
        known = shipped.types if shipped else {}
        instead = [name for name, price in known.items() if not _is_credible(types.get(name), price)]
        notice = _instead(instead, shipped) if instead and shipped else ""
        return replace(self.listed_book(target.region, types, instead), notice=notice)

    def _list(self, clients: Clients) -> tuple[Mapping[str, Mapping[str, TypePrice]], str]:
        """The catalog's prices; none if it cannot be read, and why: prices are no reason to fail."""
        from google.cloud.billing_v1 import ListSkusRequest  # noqa: PLC0415  # most audits need no newer prices

        request = ListSkusRequest(parent=SERVICE, currency_code="USD", page_size=_PAGE)
        listed = PagedList(
            clients=clients,
            what="read the price catalog",
            place="Cloud Billing",
            permission=LIST_SKUS,
            purpose=_PRICING,
            deadline=clients.list_deadline(),
            size=lambda page: len(page.skus),
            doubtful=lambda size: not size or size >= _PAGE,
        )
        try:
            pages = listed.pages(clients.catalog.list_skus, request)
            return sku_prices(sku for page in pages for sku in page.skus), ""
        except CloudError as error:
            return {}, str(error)


def _is_credible(listed: TypePrice | None, shipped: TypePrice) -> bool:
    """True if a price of the catalog can be one: not missing, and not many times the shipped one."""
    if listed is None:
        return False
    pairs = [
        (listed.gib_month, shipped.gib_month),
        (listed.throughput_mib_s_month, shipped.throughput_mib_s_month),
        *((tier[1], other[1]) for tier, other in zip(listed.iops_tiers, shipped.iops_tiers, strict=False)),
    ]
    return all(was / _TIMES <= now <= was * _TIMES for now, was in pairs)


def _instead(types: Iterable[str], shipped: PriceBook) -> str:
    return (
        f"the price catalog has no price of {', '.join(sorted(types))} in {shipped.region} that can be "
        f"right: they have the prices of {shipped.as_of}."
    )


def sku_prices(skus: Iterable["Sku"]) -> dict[str, dict[str, TypePrice]]:
    """The prices in a catalog's SKUs, by region and disk type: on demand, at the first rate that charges anything.

    A type is left out of a region if a part of its price is missing.
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
        region: {name: _price(name, parts) for name, parts in types.items() if _is_whole(name, parts)}
        for region, types in figures.items()
    }


def _part(description: str) -> tuple[str, str] | None:
    """The part and the type of a SKU's price. None for anything else. The place is told by its regions."""
    if _OTHERWISE.search(description):
        return None
    what = _PLACE.sub("", description)
    return next(((part, named[what]) for part, named in _PARTS.items() if what in named), None)


def _usd_month(sku: "Sku") -> float | None:
    """USD a month of one unit. None if nothing is charged, or by a unit that is not of time."""
    if not sku.pricing_info:
        return None
    terms: Any = sku.pricing_info[-1].pricing_expression
    if any(rate.unit_price.currency_code not in {"", "USD"} for rate in terms.tiered_rates):
        return None
    rates = (rate.unit_price.units + rate.unit_price.nanos * _NANO for rate in terms.tiered_rates)
    usd = next((rate for rate in rates if rate > 0), None)
    months = {"mo": 1.0, "h": MONTH_S / HOUR_S}.get(terms.usage_unit.rpartition(".")[2])
    return None if usd is None or months is None else round(usd * months, 9)


def _is_whole(name: str, parts: Mapping[str, float]) -> bool:
    return all(part in parts for part, named in _PARTS.items() if name in named.values())


def _price(name: str, parts: Mapping[str, float]) -> TypePrice:
    return TypePrice(
        gib_month=parts["gib"],
        iops_tiers=((None, parts["iops"]),) if "iops" in parts else (),
        throughput_mib_s_month=parts.get("throughput", 0.0),
        **_INCLUDED.get(name, {}),
    )
