"""The Price List API: the shipped price book in the shapes of the real one, with the rows that mislead."""

import json
from collections.abc import Iterator
from typing import Any, Final

from plimsoll.clouds.aws.price_file import shipped_prices
from plimsoll.domain.prices import TypePrice
from plimsoll.domain.units import KIB_PER_MIB

_PREFIX: Final = {"us-east-1": "", "eu-west-1": "EU-", "ap-northeast-1": "APN1-"}
_BILLED_AS: Final = {"io1": "piops", "standard": ""}


def get_products(filters: dict[str, str]) -> dict[str, Any]:
    """The answer to GetProducts for a region and product family."""
    region, family = filters.get("regionCode", ""), filters.get("productFamily", "")
    book = shipped_prices().book(region, {})
    rows = [] if book is None else [row for name, price in book.types.items() for row in _rows(region, name, price)]
    if region == "us-east-1":
        rows.append(_row("Storage", "USE1-BOS1-EBS:VolumeUsage.gp3", "GB-Mo", 0.096, location="AWS Local Zone"))
    return {"FormatVersion": "aws_v1", "PriceList": [json.dumps(row) for kind, row in rows if kind == family]}


def _rows(region: str, name: str, price: TypePrice) -> Iterator[tuple[str, dict[str, Any]]]:
    prefix = _PREFIX.get(region, "")
    billed_as = _BILLED_AS.get(name, name)
    suffix = f".{billed_as}" if billed_as else ""
    unit = "GB-month" if name == "io2" else "GB-Mo"
    yield _row("Storage", f"{prefix}EBS:VolumeUsage{suffix}", unit, price.gib_month)
    for number, (_, usd) in enumerate(price.iops_tiers, start=1):
        tier = f".tier{number}" if number > 1 else ""
        yield _row("System Operation", f"{prefix}EBS:VolumeP-IOPS{suffix}{tier}", "IOPS-Mo", usd)
    if price.throughput_mib_s_month:
        usd = price.throughput_mib_s_month * KIB_PER_MIB
        yield _row("Provisioned Throughput", f"{prefix}EBS:VolumeP-Throughput{suffix}", "GiBps-mo", usd)
    if price.million_io:
        yield _row("System Operation", f"{prefix}EBS:VolumeIOUsage", "IOs", price.million_io / 1e6)


def _row(
    family: str, usagetype: str, unit: str, usd: float, *, location: str = "AWS Region"
) -> tuple[str, dict[str, Any]]:
    sku = f"SIM{abs(hash((usagetype, location))) % 10**10}"
    dimension = {"unit": unit, "beginRange": "0", "endRange": "Inf", "pricePerUnit": {"USD": f"{usd:.10f}"}}
    attributes = {"usagetype": usagetype, "locationType": location}
    terms: dict[str, Any] = {"OnDemand": {f"{sku}.T": {"priceDimensions": {f"{sku}.T.R": dimension}}}}
    return family, {"product": {"sku": sku, "productFamily": family, "attributes": attributes}, "terms": terms}
