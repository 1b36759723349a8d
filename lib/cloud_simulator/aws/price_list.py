"""Pricing: GetProducts with rows of the real shapes, decoys among them, from the shipped price file's figures."""

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cloud_simulator.faults import Refused
from cloud_simulator.paging import page_of
from cloud_simulator.published import TypePrice, aws_prices
from cloud_simulator.units import KIB_PER_MIB

_PREFIX: Final = {"us-east-1": "", "eu-west-1": "EU-", "ap-northeast-1": "APN1-"}
_BILLED_AS: Final = {"io1": "piops", "standard": ""}
_EXACT: Final = {"TERM_MATCH", "EQUALS"}
_PAGE: Final = 100

Row = dict[str, Any]


def get_products(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to GetProducts, a page of it. Only exact filters are known."""
    filters = request.get("Filters") or ()
    if any(part["Type"] not in _EXACT for part in filters):
        raise Refused("InvalidParameterException", f"The simulated price list filters by {', '.join(sorted(_EXACT))}.")
    wanted = {part["Field"]: part["Value"] for part in filters}
    rows = [row for row in _every_row(wanted.get("regionCode")) if _has_attributes(row, wanted)]
    asked_for = request.get("NextToken"), request.get("MaxResults")
    page, token = page_of(rows, *asked_for, most=_PAGE, refusal="InvalidNextTokenException")
    answer = {"FormatVersion": "aws_v1", "PriceList": [json.dumps(row) for row in page]}
    return {**answer, **({"NextToken": token} if token else {})}


def _has_attributes(row: Row, wanted: Mapping[str, str]) -> bool:
    attributes = {**row["product"]["attributes"], "productFamily": row["product"]["productFamily"]}
    return all(attributes.get(name, "").lower() == value.lower() for name, value in wanted.items())


def _every_row(region: str | None) -> Iterator[Row]:
    for name in [region] if region else list(_PREFIX):
        book = aws_prices().book(name)
        if book is None:
            continue
        for kind, price in book.types.items():
            yield from _rows(name, kind, price)
        for family, code, unit, usd in (
            ("Storage Snapshot", "EBS:SnapshotUsage", "GB-Mo", book.snapshots.gib_month),
            ("Storage Snapshot", "EBS:SnapshotArchiveStorage", "GB-Mo", book.snapshots.archive_gib_month),
            ("Storage Snapshot", "EBS:SnapshotArchiveRetrieval", "GB", book.snapshots.retrieval_gib),
            ("Fast Snapshot Restore", "EBS:FastSnapshotRestore", "hours", book.snapshots.fast_restore_hour),
        ):
            if usd is not None:
                yield _row((name, "snapshots"), family, f"{_PREFIX.get(name, '')}{code}", unit, usd)
        yield from _decoys(name, book.types)


def billing_code(region: str, volume_type: str) -> tuple[str, str]:
    """What usage types begin with in a region, and what they end with for a volume type."""
    billed_as = _BILLED_AS.get(volume_type, volume_type)
    return _PREFIX.get(region, ""), f".{billed_as}" if billed_as else ""


def _rows(region: str, name: str, price: TypePrice) -> Iterator[Row]:
    prefix, suffix = billing_code(region, name)
    unit = "GB-month" if name == "io2" else "GB-Mo"
    place = (region, name)
    yield _row(place, "Storage", f"{prefix}EBS:VolumeUsage{suffix}", unit, price.gib_month)
    for number, (_, usd) in enumerate(price.iops_tiers, start=1):
        tier = f".tier{number}" if number > 1 else ""
        usage = f"{prefix}EBS:VolumeP-IOPS{suffix}{tier}"
        yield _row(place, "System Operation", usage, "IOPS-Mo", usd, begin=str(price.included_iops))
    if price.throughput_mib_s_month:
        usd = price.throughput_mib_s_month * KIB_PER_MIB
        yield _row(place, "Provisioned Throughput", f"{prefix}EBS:VolumeP-Throughput{suffix}", "GiBps-mo", usd)
    if price.million_io:
        yield _row(place, "System Operation", f"{prefix}EBS:VolumeIOUsage", "IOs", price.million_io / 1e6)


def _decoys(region: str, types: Mapping[str, TypePrice]) -> Iterator[Row]:
    """Rows that share a region with the right ones and are not their price: a Local Zone's, and a reserved one."""
    if region == "us-east-1":
        yield _row((region, "gp3"), "Storage", "USE1-BOS1-EBS:VolumeUsage.gp3", "GB-Mo", 0.096, zone="AWS Local Zone")
    if "gp3" in types:
        usage = f"{_PREFIX.get(region, '')}EBS:VolumeUsage.gp3"
        reserved = _row((region, "gp3"), "Storage", usage, "GB-Mo", types["gp3"].gib_month / 2)
        reserved["terms"] = {"Reserved": reserved["terms"]["OnDemand"]}
        yield reserved


def _row(
    place: tuple[str, str],
    family: str,
    usagetype: str,
    unit: str,
    usd: float,
    *,
    begin: str = "0",
    zone: str = "AWS Region",
) -> Row:
    region, volume_type = place
    sku = f"SIM{zlib.crc32(f'{region} {usagetype}'.encode()):010d}"
    dimension = {"unit": unit, "beginRange": begin, "endRange": "Inf", "pricePerUnit": {"USD": f"{usd:.10f}"}}
    attributes = {
        "servicecode": "AmazonEC2",
        "regionCode": region,
        "locationType": zone,
        "usagetype": usagetype,
        "volumeApiName": volume_type,
    }
    return {
        "product": {"sku": sku, "productFamily": family, "attributes": attributes},
        "serviceCode": "AmazonEC2",
        "terms": {"OnDemand": {f"{sku}.JRTCKXETXF": {"priceDimensions": {f"{sku}.JRTCKXETXF.6YS6EN2CT7": dimension}}}},
    }
