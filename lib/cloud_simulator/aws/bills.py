"""Bills: hourly lines of a fleet's volumes for a month, in the columns that AWS documents for CUR 2.0 and FOCUS 1.2.

DuckDB makes the lines, so that a year of a large fleet is written as fast as it is read.
"""

import calendar
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from cloud_simulator.aws.fleet import SimulatedVolume
from cloud_simulator.aws.price_list import billing_code
from cloud_simulator.published import VolumeSpec, aws_prices
from cloud_simulator.units import KIB_PER_MIB

PAYER: Final = "999999999999"

_TYPE: Final[Mapping[str, str]] = {
    "account": "varchar", "region": "varchar", "resource": "varchar", "usage_type": "varchar", "unit": "varchar",
    "monthly": "double", "price": "double", "discount_pct": "double", "from_hour": "integer", "to_hour": "integer",
}  # fmt: skip

_LINES: Final = """
create or replace view lines as
select *, round(monthly / {hours}, 10) as amount, round(amount * price, 10) as listed,
    round(amount * price * discount_pct / 100, 10) as discount,
    timestamp '{first}' + to_hours(hour) as began, began + interval 1 hour as ended
from charged, range(from_hour, to_hour) as hours(hour)
"""

_CUR: Final = """
select '{payer}' as bill_payer_account_id, timestamp '{first}' as bill_billing_period_start_date,
    account as line_item_usage_account_id, '{kind}' as line_item_line_item_type,
    began as line_item_usage_start_date, ended as line_item_usage_end_date, 'AmazonEC2' as line_item_product_code,
    usage_type as line_item_usage_type, resource as line_item_resource_id, amount as line_item_usage_amount,
    '{currency}' as line_item_currency_code, {cost} as line_item_unblended_cost, {more}
    price as pricing_public_on_demand_rate, listed as pricing_public_on_demand_cost, unit as pricing_unit,
    region as product_region_code, price || ' per ' || unit as line_item_line_item_description
from lines
"""

_FOCUS: Final = """
select null as AvailabilityZone, listed - discount as BilledCost, '{payer}' as BillingAccountId,
    '{currency}' as BillingCurrency, timestamp '{first}' as BillingPeriodStart, 'Usage' as ChargeCategory,
    null as ChargeClass, price || ' per ' || unit as ChargeDescription, began as ChargePeriodStart,
    ended as ChargePeriodEnd, listed - discount as ContractedCost, listed - discount as EffectiveCost,
    'Amazon Web Services, Inc.' as InvoiceIssuerName, listed as ListCost, price as ListUnitPrice,
    amount as PricingQuantity, unit as PricingUnit, 'AWS' as ProviderName, region as RegionId, resource as ResourceId,
    'Compute' as ServiceCategory, 'Amazon Elastic Compute Cloud' as ServiceName, usage_type as SkuMeter,
    account as SubAccountId
from lines
"""

_DISCOUNTED: Final[Mapping[str, tuple[str, str]]] = {
    "map": ("Usage", "map {'total_discount': -discount} as discount,"),
    "net": ("Usage", "listed - discount as line_item_net_unblended_cost,"),
    "lines": ("Usage", ""),
}
"""The ways in which a CUR tells discounts: a map, a net cost, or lines of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a resource is charged for through a part of a month: the quantity that a whole month would have."""

    account: str
    region: str
    resource: str
    usage_type: str
    unit: str
    monthly: float
    price: float
    discount_pct: float = 0.0
    from_hour: int = 0
    to_hour: int = 744


def hours_of(month: date) -> int:
    """The hours of a month."""
    return 24 * calendar.monthrange(month.year, month.month)[1]


def charges_of(
    volumes: Iterable[SimulatedVolume], month: date, discounts_pct: Mapping[str, float] | None = None
) -> Iterator[Charge]:
    """The charges of volumes whose region has a price, each from the hour when it was made.

    `discounts_pct` are by patterns of usage types.
    """
    start, hours = datetime(month.year, month.month, 1, tzinfo=UTC), hours_of(month)
    for volume in volumes:
        from_hour = max(0, int((volume.created - start).total_seconds() // 3600))
        for usage_type, unit, monthly, price in _metered(volume.region, volume.spec):
            discount_pct = next(
                (pct for pattern, pct in (discounts_pct or {}).items() if re.search(pattern, usage_type)), 0.0
            )
            yield Charge(
                account=volume.account,
                region=volume.region,
                resource=volume.id,
                usage_type=usage_type,
                unit=unit,
                monthly=monthly,
                price=price,
                discount_pct=discount_pct,
                from_hour=from_hour,
                to_hour=hours,
            )


def write_bill(
    charges: Iterable[Charge],
    month: date,
    out: Path,
    *,
    layout: str = "cur",
    discounts: str = "map",
    currency: str = "USD",
) -> None:
    """Writes a month's hourly lines as Parquet or CSV, by the name of the file: as CUR 2.0 (`cur`) or FOCUS 1.2."""
    import duckdb  # noqa: PLC0415  # most simulations write no bill

    names = list(_TYPE)
    facts = {"first": f"{month:%Y-%m-01}", "hours": hours_of(month), "payer": PAYER, "currency": currency}
    with duckdb.connect() as database:
        database.execute(f"create table charged ({', '.join(f'{name} {kind}' for name, kind in _TYPE.items())})")
        listed = list(charges)
        columns = [[getattr(charge, name) for charge in listed] for name in names]
        database.execute(f"insert into charged select {', '.join(['unnest(?)'] * len(names))}", columns)
        database.execute(_LINES.format(**facts))
        if layout == "focus":
            select = _FOCUS.format(**facts)
        else:
            kind, more = _DISCOUNTED[discounts]
            select = _CUR.format(kind=kind, cost="listed", more=more, **facts)
            if discounts == "lines":
                given = _CUR.format(kind="EdpDiscount", cost="-discount", more="", **facts)
                select = f"{select} union all by name {given} where discount <> 0"
        kind = "parquet" if out.suffix == ".parquet" else "csv, header"
        database.execute(f"copy ({select}) to '{out}' (format {kind})")


def _metered(region: str, spec: VolumeSpec) -> Iterator[tuple[str, str, float, float]]:
    """Usage type, unit, monthly quantity and list price of all that a volume is charged for; none without a price."""
    book = aws_prices().book(region)
    price = None if book is None else book.types.get(spec.type)
    if price is None:
        return
    prefix, suffix = billing_code(region, spec.type)
    yield f"{prefix}EBS:VolumeUsage{suffix}", "GB-Mo", float(spec.size_gib), price.gib_month
    start = float(price.included_iops)
    for tier, (end, usd) in enumerate(price.iops_tiers, start=1):
        upper = min(float(spec.iops or 0), float("inf") if end is None else end)
        usage_type = f"{prefix}EBS:VolumeP-IOPS{suffix}{f'.tier{tier}' if tier > 1 else ''}"
        if tier == 1 or upper > start:
            yield usage_type, "IOPS-Mo", max(0.0, upper - start), usd
        start = max(start, upper)
    if price.throughput_mib_s_month:
        beyond = max(0, (spec.throughput_mib_s or 0) - price.included_throughput_mib_s)
        usd = price.throughput_mib_s_month * KIB_PER_MIB
        yield f"{prefix}EBS:VolumeP-Throughput{suffix}", "GiBps-mo", beyond / KIB_PER_MIB, usd
