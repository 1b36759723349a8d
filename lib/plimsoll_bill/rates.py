"""Effective rates: what a unit of each dimension really cost a month, and the price file that an audit takes them from.

A rate is money after discounts divided by quantity, of the newest month that has any: credits, refunds and taxes are no
part of it. IOPS, MiB/s and the tiers of io2 have rates of their own. What the bill does not show is at list price.
"""

import calendar
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple

import yaml

from plimsoll.model.market import DOLLARS, PriceBook, TypePrice
from plimsoll_bill.bill import Bill
from plimsoll_bill.meters import PERFORMANCE

_DIGITS: Final = 9


class NetRate(NamedTuple):
    """The cost of a unit in a month. `net` is None if none was used, `listed` if it has no single list price."""

    provider: str
    region: str
    type: str
    dimension: str
    tier: int
    currency: str
    month: date
    quantity: float
    net: float | None
    listed: float | None
    is_mixed: bool

    @property
    def key(self) -> tuple[str, int]:
        """The part of a type's price that it is."""
        return self.dimension, self.tier


def rates_of(bill: Bill) -> list[NetRate]:
    """The rates of a bill: of each dimension those of the newest month that used any, else of the newest."""
    answer = bill.rows("""
        with rates as (
            select provider, region, type, dimension, tier, currency, month, coalesce(sum(quantity), 0) as used,
                sum(net) / nullif(sum(quantity), 0) as net,
                count(distinct round(unit_price, 9)) as prices, max(unit_price) as listed
            from charges where apart = '' and kind in ('usage', 'discount') group by all
        )
        select * exclude (prices, listed), case when prices = 1 then listed end, prices > 1 from rates
        qualify row_number() over (
            partition by provider, region, type, dimension, tier, currency order by used > 0 desc, month desc
        ) = 1
        order by provider, region, type, dimension, tier, currency
    """)
    return [NetRate(*row) for row in answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetPrices:
    """Price books of a bill's rates, as the content of a price file; `notes` say what is not in it, and why."""

    content: Mapping[str, Any]
    notes: list[str]


def net_prices(rates: Iterable[NetRate], lists: Mapping[str, Mapping[str, PriceBook]], where: str) -> NetPrices:
    """The price file of some rates. `lists` are the list prices by cloud and region, for what was not billed.

    Regions that were not billed are there at list price. A type is left out if a part of its price is known from
    neither, and so are rates in another currency than dollars.
    """
    notes, regions, sources = list[str](), dict[str, Any](), dict[str, Any]()
    by_region: dict[tuple[str, str], list[NetRate]] = {}
    foreign = set[tuple[str, str]]()
    for rate in rates:
        if rate.dimension in PERFORMANCE and rate.currency == DOLLARS and rate.region:
            by_region.setdefault((rate.provider, rate.region), []).append(rate)
        elif rate.currency != DOLLARS:
            foreign.add((rate.region, rate.currency))
    for provider in {provider for provider, _ in by_region}:
        for region in lists.get(provider, {}):
            by_region.setdefault((provider, region), [])
    notes += [f"{region} is billed in {currency}: it has no price in dollars." for region, currency in sorted(foreign)]
    for (provider, region), here in by_region.items():
        book = lists.get(provider, {}).get(region)
        shapes = price_shapes(lists.get(provider, {}).values())
        entry, net_parts = dict[str, Any](), list[str]()
        for name in sorted({rate.type for rate in here} | set(book.types if book else ())):
            billed = {rate.key: rate for rate in here if rate.type == name}
            price = _make_price(shapes.get(name), book.types.get(name) if book else None, billed)
            if price is None:
                notes.append(f"{name} in {region}: a part of its price is in neither the bill nor a list.")
                continue
            parts = [_part_name(*key) for key, rate in billed.items() if _is_net(rate)]
            net_parts += [f"{name} ({', '.join(parts)})"] if parts else []
            entry[name] = price
        notes += [
            f"{rate.type} in {region}: {_part_name(*rate.key)} has several list prices: its rate is not used."
            for rate in here
            if rate.is_mixed
        ]
        listed = f"list price, {book.source}" if book else ""
        month = max((rate.month for rate in here), default=None)
        if month is not None:
            listed = f"; the others at {listed} of {book.as_of}" if book else "; no list for the others"
            listed = f"net rates of the bill of {month:%Y-%m}: {', '.join(net_parts) or 'none'}{listed}"
        as_of = book.as_of if month is None and book else _last_day(month or date.max)
        sources[region] = {"what": listed, "where": where, "as_of": as_of}
        regions[region] = {"source": region, **entry}
    verified_on = max((source["as_of"] for source in sources.values()), default=None)
    content = {"verified_on": verified_on, "currency": DOLLARS, "sources": sources, "regions": regions}
    return NetPrices(content=content, notes=notes)


def price_shapes(books: Iterable[PriceBook]) -> dict[str, TypePrice]:
    """A price of each type anywhere, which says what it charges for."""
    return {name: price for book in books for name, price in book.types.items()}


def price_text(content: Mapping[str, Any]) -> str:
    """A price file's text."""
    return yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True, width=120)


def written_price(price: TypePrice) -> dict[str, Any]:
    """A price with the keys of a price file, without what it does not charge."""
    tiers = [[None if end is None else float(end), round(usd, _DIGITS)] for end, usd in price.iops_tiers]
    figures = {
        "gib_month": round(price.gib_month, _DIGITS),
        "iops_tiers": tiers,
        "included_iops": price.included_iops,
        "throughput_mib_s_month": round(price.throughput_mib_s_month, _DIGITS),
        "included_throughput_mib_s": price.included_throughput_mib_s,
        "million_io": round(price.million_io, _DIGITS),
    }
    return {name: figure for name, figure in figures.items() if figure}


def _make_price(
    shape: TypePrice | None, listed: TypePrice | None, billed: Mapping[tuple[str, int], NetRate]
) -> dict[str, Any] | None:
    """The price of a type: its net rates, and list prices where nothing was used; None if a part has neither.

    `shape` is its price anywhere, which says what it charges for.
    """
    if shape is None:
        return None

    def part(dimension: str, tier: int, of_list: float | None) -> float | None:
        rate = billed.get((dimension, tier))
        if rate is not None and _is_net(rate):
            return rate.net
        return of_list if of_list is not None else None if rate is None else rate.listed

    parts: dict[str, float | None] = {"gib_month": part("gib", 1, listed.gib_month if listed else None)}
    ends = [end for end, _ in shape.iops_tiers]
    listed_tiers = [usd for _, usd in listed.iops_tiers] if listed else [None] * len(ends)
    tiers = [part("iops", tier, usd) for tier, usd in enumerate(listed_tiers, start=1)]
    if shape.throughput_mib_s_month:
        parts["throughput_mib_s_month"] = part("mib_s", 1, listed.throughput_mib_s_month if listed else None)
    if shape.million_io:
        parts["million_io"] = part("io", 1, listed.million_io if listed else None)
    if None in parts.values() or None in tiers:
        return None
    return written_price(
        TypePrice(
            iops_tiers=tuple(zip(ends, (float(usd or 0.0) for usd in tiers), strict=True)),
            included_iops=shape.included_iops,
            included_throughput_mib_s=shape.included_throughput_mib_s,
            **{name: float(usd or 0.0) for name, usd in parts.items()},
        )
    )


def _is_net(rate: NetRate) -> bool:
    return rate.net is not None and not rate.is_mixed


def _part_name(dimension: str, tier: int) -> str:
    name = {"gib": "GiB", "iops": "IOPS", "mib_s": "MiB/s", "io": "I/O"}[dimension]
    return name if tier == 1 else f"{name} of tier {tier}"


def _last_day(month: date) -> date:
    return month.replace(day=calendar.monthrange(month.year, month.month)[1])
