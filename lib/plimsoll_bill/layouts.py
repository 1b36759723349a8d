"""Layouts: the kinds of bill that are read, each a row with the columns that tell it and what is taken from them.

Columns are those of AWS Data Exports (CUR 2.0), of FOCUS 1.0 to 1.2, and of Google's detailed export.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

_NAMED: Final = re.compile(r"\{(\??)(\w+)\}")
"""A column in an expression; one with a question mark may be missing, and is null then."""

MAPPED: Final = "_mapped"
"""What follows the name of a column that is a map or a struct, and no text, for expressions that look into it."""

_CODED: Final = "contains({column}, 'EBS:')"


def _first(kind: str, *columns: str) -> str:
    """The first of several columns that is not null, as that type; what cannot be read as it is unknown."""
    return f"coalesce({', '.join(f'try_cast({{?{column}}} as {kind})' for column in columns)})"


_text, _number, _time = (partial(_first, kind) for kind in ("varchar", "double", "timestamp"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A kind of bill. A column of ours has one expression, or several: the first that the file can make counts.

    `marks` are columns that no other kind has.
    """

    name: str
    marks: tuple[str, ...]
    columns: Mapping[str, str | tuple[str, ...]]

    def select(self, present: Mapping[str, str]) -> str:
        """The select list that makes our columns of a file with these columns, each with its type."""
        by_name = {column.lower(): f'"{column}"' for column in present}
        by_name |= {f"{column.lower()}{MAPPED}": f'"{column}"' for column, kind in present.items() if "(" in kind}
        return ", ".join(f"{self._expression(name, by_name)} as {name}" for name in COLUMNS)

    def _expression(self, name: str, present: Mapping[str, str]) -> str:
        written = self.columns.get(name, "null")
        for template in [written] if isinstance(written, str) else written:
            if all(mark or column.lower() in present for mark, column in _NAMED.findall(template)):
                return _NAMED.sub(lambda match: present.get(match[2].lower(), "null"), template)
        return f"null::{COLUMNS[name]}"


COLUMNS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("provider", "kind", "currency", "account", "region"), "varchar"),
    **dict.fromkeys(("period", "began", "ended"), "timestamp"),
    **dict.fromkeys(("resource", "usage_type", "description", "unit"), "varchar"),
    **dict.fromkeys(("quantity", "list_price", "list_cost", "billed", "net", "credit"), "double"),
    **dict.fromkeys(("is_storage", "is_unspread"), "boolean"),
}
"""Our columns with their types. `billed` is before discounts where a bill knows both, and `net` after them. A row is
unspread if it was billed, and has no effective cost."""

_LINE_TYPE: Final = "{line_item_line_item_type}"
_IS_DISCOUNT: Final = f"{_LINE_TYPE} like '%Discount'"
_NET: Final = "try_cast({line_item_net_unblended_cost} as double)"
_COST: Final = _number("line_item_unblended_cost")
_IN_MAP: Final = r"""regexp_extract({?discount}::varchar, 'total_discount"?''?\s*[:=]\s*''?"?(-?[0-9.eE+-]+)', 1)"""

_CUR: Final = Layout(
    name="Cost and Usage Report",
    marks=("line_item_usage_type", "line_item_unblended_cost"),
    columns={
        "provider": "'aws'",
        "kind": f"case when {_LINE_TYPE} in ('Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage') then 'usage' "
        f"when {_IS_DISCOUNT} then 'discount' else lower({_LINE_TYPE}) end",
        "currency": _text("line_item_currency_code"),
        "account": _text("line_item_usage_account_id", "bill_payer_account_id"),
        "region": f"coalesce({_text('product_region_code', 'product_region')}, "
        "regexp_extract({?line_item_availability_zone}, '^[a-z]+(-[a-z]+)+-[0-9]+'))",
        "period": _time("bill_billing_period_start_date", "line_item_usage_start_date"),
        "began": _time("line_item_usage_start_date"),
        "ended": _time("line_item_usage_end_date"),
        "resource": _text("line_item_resource_id"),
        "usage_type": _text("line_item_usage_type"),
        "unit": _text("pricing_unit"),
        "quantity": _number("line_item_usage_amount"),
        "list_price": _number("pricing_public_on_demand_rate"),
        "list_cost": _number("pricing_public_on_demand_cost"),
        "billed": _COST,
        # Net columns spread lines of discounts over what they are on: such a line without one counts for nothing there.
        "net": (
            f"coalesce({_NET}, case when {_IS_DISCOUNT} then 0 else {_COST} end)",
            f"{_COST} - abs(coalesce({{discount{MAPPED}}}['total_discount'], 0))",
            f"{_COST} - abs(coalesce({_number('discount_total_discount')}, try_cast({_IN_MAP} as double), 0))",
        ),
        "is_storage": f"coalesce({_CODED.format(column='{line_item_usage_type}')}, false)",
    },
)

_PROVIDER: Final = _text("ProviderName", "ServiceProviderName", "PublisherName", "InvoiceIssuerName")
_SERVICE: Final = f"coalesce({_text('ServiceName')}, '')"
_DESCRIBED: Final = f"coalesce({_text('ChargeDescription')}, '')"
_METER: Final = f"coalesce({_text('SkuMeter', 'x_UsageType')}, '')"

_FOCUS: Final = Layout(
    name="FOCUS",
    marks=("BilledCost", "ChargeCategory"),
    columns={
        "provider": f"case when {_PROVIDER} in ('AWS', 'Amazon Web Services', 'Amazon') then 'aws' "
        f"when {_PROVIDER} in ('Google', 'Google Cloud', 'GCP') then 'google' else lower({_PROVIDER}) end",
        "kind": f"case when {_text('ChargeClass')} = 'Correction' then 'refund' else lower({{ChargeCategory}}) end",
        "currency": _text("BillingCurrency"),
        "account": _text("SubAccountId", "BillingAccountId"),
        "region": _text("RegionId", "Region"),
        "period": _time("BillingPeriodStart", "ChargePeriodStart"),
        "began": _time("ChargePeriodStart"),
        "ended": _time("ChargePeriodEnd"),
        "resource": _text("ResourceId"),
        "usage_type": _text("SkuMeter", "x_UsageType"),
        "description": _text("ChargeDescription"),
        "unit": _text("PricingUnit", "ConsumedUnit"),
        "quantity": _number("PricingQuantity", "ConsumedQuantity"),
        "list_price": _number("ListUnitPrice"),
        "list_cost": _number("ListCost"),
        "billed": _number("BilledCost"),
        "net": f"coalesce(nullif({_number('EffectiveCost')}, 0), {_number('BilledCost')})",
        "is_unspread": f"{_number('EffectiveCost')} = 0 and {_number('BilledCost')} <> 0",
        "is_storage": f"{_CODED.format(column=_METER)} or {_CODED.format(column=_DESCRIBED)} "
        f"or ({_SERVICE} in ('Amazon Elastic Compute Cloud', 'Amazon Elastic Block Store', 'AmazonEC2') "
        f"and coalesce({_text('ServiceCategory')}, '') = 'Storage') "
        f"or ({_SERVICE} = 'Compute Engine' and regexp_matches({_DESCRIBED}, '(^| )(PD|Hyperdisk)\\b|[Ss]napshot')) "
        f"or regexp_matches({_SERVICE} || ' ' || {_DESCRIBED}, '(?i)block[ _](volume|storage)|managed disks?')",
    },
)

_ON_PRICE: Final = "('DISCOUNT', 'RESELLER_MARGIN', 'SUSTAINED_USAGE_DISCOUNT', 'COMMITTED_USAGE_DISCOUNT')"

_GOOGLE: Final = Layout(
    name="Google Cloud's detailed export",
    marks=("sku", "usage", "cost_type"),
    columns={
        "provider": "'google'",
        "kind": "case when {cost_type} = 'regular' then 'usage' else lower({cost_type}) end",
        "currency": "{currency}",
        "account": "{project}.id",
        "region": "{location}.region",
        "period": "strptime({invoice}.month, '%Y%m')",
        "began": _time("usage_start_time"),
        "ended": _time("usage_end_time"),
        "resource": "coalesce({resource}.global_name::varchar, {resource}.name::varchar)",
        "description": "{sku}.description",
        "unit": "{usage}.pricing_unit",
        "quantity": "try_cast({usage}.amount_in_pricing_units as double)",
        "list_cost": _number("cost_at_list", "cost"),
        "billed": _number("cost"),
        "net": f"cost + coalesce(list_sum([x.amount for x in {{credits}} if x.type in {_ON_PRICE}]), 0)",
        "credit": f"coalesce(list_sum([x.amount for x in {{credits}} if x.type not in {_ON_PRICE}]), 0)",
        "is_storage": "{service}.description = 'Compute Engine' "
        "and regexp_matches({sku}.description, '(^| )(PD|Hyperdisk)\\b|[Ss]napshot')",
    },
)

LAYOUTS: Final = (_CUR, _FOCUS, _GOOGLE)


def layout_of(present: Iterable[str]) -> Layout | None:
    """The layout of a file with these columns; None if it is none of ours."""
    names = {column.lower() for column in present}
    return next((layout for layout in LAYOUTS if names.issuperset(map(str.lower, layout.marks))), None)
