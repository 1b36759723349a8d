"""Prices: from the AWS Price List API where it answers in full, else from a dated price file."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from plimsoll.clouds.aws.errors import FAILURES
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.common.dated_data import PriceFile
from plimsoll.domain.prices import PriceBook, TypePrice
from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.ports import Target

ENDPOINT_REGION: Final = "us-east-1"
"""The Price List API answers for all regions from three; this is one of them."""

_USAGE: Final = re.compile(r"(?:^|-)EBS:Volume(Usage|P-IOPS|P-Throughput|IOUsage)(?:\.(\w+))?(?:\.tier(\d))?$")
_TYPES: Final = {"piops": "io1"}
_TIER_ENDS: Final[Mapping[int, float | None]] = {1: 32_000.0, 2: 64_000.0, 3: None}
"""io2's IOPS are priced in three usage types: to 32,000, to 64,000 and above."""

_INCLUDED: Final[Mapping[str, Mapping[str, Any]]] = {"gp3": {"included_iops": 3000, "included_throughput_mib_s": 125}}
_COMPLETE: Final = {"gp2": (), "gp3": ("iops", "throughput"), "io1": ("iops",), "io2": ("iops",)}
"""What a list must have of the types that most volumes are of before it is believed."""


@dataclass(slots=True, kw_only=True)
class AwsPrices:
    """Price books by region, at list prices. `sessions` None: no API is asked."""

    shipped: PriceFile
    sessions: Sessions | None = None
    today: date
    _books: dict[str, PriceBook | None] = field(default_factory=dict, repr=False)

    def book(self, target: Target) -> PriceBook | None:
        """The region's book; None where neither the API nor the file has one."""
        if target.region not in self._books:
            self._books[target.region] = self._listed(target) or self.shipped.book(target.region)
        return self._books[target.region]

    def _listed(self, target: Target) -> PriceBook | None:
        if self.sessions is None:
            return None
        try:
            client = self.sessions.client("pricing", target.account, ENDPOINT_REGION)
            rows = [json.loads(row) for row in _rows(client, target.region)]
        except (*FAILURES, ValueError):
            return None
        types = prices_in(rows)
        if not all(name in types and _has(types[name], parts) for name, parts in _COMPLETE.items()):
            return None
        return PriceBook(region=target.region, source="AWS Price List API", as_of=self.today, types=types)


def prices_in(rows: Iterable[Mapping[str, Any]]) -> dict[str, TypePrice]:
    """The prices in entries of GetProducts: on demand, in a region proper, one price for each usage type.

    gp3's throughput is listed per GiB/s and divided here; io1 is called piops; io2's IOPS come in tiers of their own.
    """
    figures: dict[str, dict[str, Any]] = {}
    for row in rows:
        attributes = row["product"]["attributes"]
        usage = _USAGE.search(attributes.get("usagetype", ""))
        price = _on_demand(row)
        if usage is None or price is None or attributes.get("locationType") != "AWS Region":
            continue
        kind, suffix, tier = usage.groups()
        name = _TYPES.get(suffix, suffix) or "standard"
        found = figures.setdefault(name, {"tiers": {}})
        usd, unit = price
        if kind == "Usage":
            found["gib_month"] = usd
        elif kind == "P-IOPS":
            found["tiers"][int(tier or 1)] = usd
        elif kind == "P-Throughput":
            found["throughput_mib_s_month"] = usd / KIB_PER_MIB if unit.lower().startswith("gib") else usd
        else:
            found["million_io"] = usd * 1e6
    return {name: _price(name, found) for name, found in figures.items() if "gib_month" in found}


def _price(name: str, found: dict[str, Any]) -> TypePrice:
    """The type's price; without IOPS prices where a tier is missing, so that the list counts as incomplete."""
    tiers = found.pop("tiers")
    ends = _TIER_ENDS if name == "io2" else {1: None}
    if set(tiers) == set(ends):
        found["iops_tiers"] = tuple((ends[tier], tiers[tier]) for tier in sorted(tiers))
    return TypePrice(**found, **_INCLUDED.get(name, {}))


def _on_demand(row: Mapping[str, Any]) -> tuple[float, str] | None:
    """USD and unit of the row's first on-demand price that charges anything; None where none does."""
    for term in row.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            usd = float(dimension["pricePerUnit"].get("USD", 0))
            if usd > 0:
                return usd, str(dimension["unit"])
    return None


def _has(price: TypePrice, parts: Iterable[str]) -> bool:
    present = {"iops": bool(price.iops_tiers), "throughput": price.throughput_mib_s_month > 0}
    return all(present[part] for part in parts)


def _rows(client: Any, region: str) -> Iterable[str]:
    for family in ("Storage", "System Operation", "Provisioned Throughput"):
        pages = client.get_paginator("get_products").paginate(
            ServiceCode="AmazonEC2",
            Filters=[
                {"Type": "TERM_MATCH", "Field": "regionCode", "Value": region},
                {"Type": "TERM_MATCH", "Field": "productFamily", "Value": family},
            ],
        )
        for page in pages:
            yield from page["PriceList"]
