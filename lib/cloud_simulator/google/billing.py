"""Billing: Compute Engine's SKUs of disks as the Cloud Billing catalog lists them, decoys among them.

Prices are the shipped file's, descriptions those that exporters of the catalog rely on (facts 9.1, not from Google).
"""

import math
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cloud_simulator.faults import Refused
from cloud_simulator.google.compute import Resource
from cloud_simulator.google.http_front import Call, Front, Route
from cloud_simulator.paging import page_of
from cloud_simulator.published import TypePrice, google_prices

COMPUTE_ENGINE: Final = "services/6F81-5844-456A"
_MOST: Final = 5000
_PLACES: Final = {"us-central1": "Iowa", "europe-west1": "Belgium"}
_NANOS: Final = 1_000_000_000

_NAMES: Final = {
    "pd-standard": "Storage PD Capacity",
    "pd-balanced": "Balanced PD Capacity",
    "pd-ssd": "SSD backed PD Capacity",
    "pd-extreme": "Extreme PD Capacity",
    "regional-pd-standard": "Regional Storage PD Capacity",
    "regional-pd-balanced": "Regional Balanced PD Capacity",
    "regional-pd-ssd": "Regional SSD backed PD Capacity",
    "hyperdisk-balanced": "Hyperdisk Balanced Capacity",
    "hyperdisk-balanced-high-availability": "Hyperdisk Balanced High Availability Capacity",
    "hyperdisk-extreme": "Hyperdisk Extreme Capacity",
    "hyperdisk-throughput": "Hyperdisk Throughput Capacity",
    "hyperdisk-ml": "Hyperdisk ML Capacity",
}
"""What the capacity of each type is called."""


def add_billing(front: Front) -> None:
    """Adds its routes."""
    front.routes["GET", r"/v1/(?P<parent>services/[^/]+)/skus"] = Route("skus.list", _skus)


def _skus(call: Call) -> Mapping[str, Any]:
    if call.query.get("currencyCode", "USD") != "USD":
        raise Refused("INVALID_ARGUMENT", "The simulated catalog has prices in USD alone.")
    skus = list(_every(call.named["parent"]))
    asked_for = call.query.get("pageToken"), call.query.get("pageSize")
    page, token = page_of(skus, *asked_for, most=_MOST, refusal="INVALID_ARGUMENT")
    return {"skus": page, "nextPageToken": token or ""}


def _every(service: str) -> Iterator[Resource]:
    for region in _PLACES if service == COMPUTE_ENGINE else ():
        book = google_prices().book(region)
        for kind, price in (book.types if book else {}).items():
            yield from _rows(region, kind, price)


def _rows(region: str, kind: str, price: TypePrice) -> Iterator[Resource]:
    name = _NAMES.get(kind)
    if name is None:
        return
    yield _sku(region, name, "GiBy.mo", price.gib_month, free=kind == "pd-standard")
    short = name.removesuffix(" Capacity")
    for _, usd in price.iops_tiers[-1:]:
        yield _sku(region, f"{short} IOPS", "mo", usd)
    if price.throughput_mib_s_month:
        what = "Throughput Capacity" if kind == "hyperdisk-throughput" else "Throughput"
        yield _sku(region, f"{short} {what}", "MiBy.mo", price.throughput_mib_s_month)
    yield _sku(region, f"Commitment v1: {name}", "GiBy.mo", price.gib_month / 2, usage="Commit1Yr")


def _sku(region: str, name: str, unit: str, usd: float, *, free: bool = False, usage: str = "OnDemand") -> Resource:
    description = f"{name} in {_PLACES.get(region, region)}"
    number = f"SIM{zlib.crc32(f'{COMPUTE_ENGINE} {region} {name}'.encode()):010d}"
    charged = {"startUsageAmount": 30 if free else 0, "unitPrice": _money(usd)}
    tiers = [{"startUsageAmount": 0, "unitPrice": _money(0.0)}, charged] if free else [charged]
    return {
        "name": f"{COMPUTE_ENGINE}/skus/{number}",
        "skuId": number,
        "description": description,
        "category": {
            "serviceDisplayName": "Compute Engine",
            "resourceFamily": "Storage",
            "resourceGroup": "SSD" if "SSD" in name else "PDStandard",
            "usageType": usage,
        },
        "serviceRegions": [region],
        "pricingInfo": [{"pricingExpression": {"usageUnit": unit, "displayQuantity": 1, "tieredRates": tiers}}],
        "serviceProviderName": "Google",
        "geoTaxonomy": {"type": "REGIONAL", "regions": [region]},
    }


def _money(usd: float) -> Mapping[str, Any]:
    units = math.floor(usd)
    return {"currencyCode": "USD", "units": str(units), "nanos": round((usd - units) * _NANOS)}
