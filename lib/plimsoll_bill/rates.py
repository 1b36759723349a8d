"""Effective rates: what a unit of each dimension really cost a month, and the price file that an audit takes them from.

A rate is money after discounts divided by quantity, of the newest month that has any: credits, refunds and taxes are no
part of it. IOPS, MiB/s and the tiers of io2 have rates of their own. What the bill does not show is at list price.
"""

import calendar
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Final, NamedTuple

from plimsoll.clouds.aws.prices import PERFORMANCE
from plimsoll.model.market import DOLLARS, NO_SNAPSHOT_PRICES, PriceBook, TypePrice
from plimsoll_bill.bill import Bill

_FIGURES: Final = {"gib": "gib_month", "mib_s": "throughput_mib_s_month", "io": "million_io"}
_PART_NAMES: Final = {"gib": "GiB", "iops": "IOPS", "mib_s": "MiB/s", "io": "I/O"}


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

    @property
    def part(self) -> str:
        """The same in words."""
        return _PART_NAMES[self.dimension] + (f" of tier {self.tier}" if self.tier > 1 else "")

    @property
    def usable(self) -> float | None:
        """The rate for a price file; None if none was used, or volumes of several list prices are mixed in it."""
        return None if self.is_mixed else self.net


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


def net_books(
    rates: Iterable[NetRate], lists: Mapping[str, Mapping[str, PriceBook]]
) -> tuple[list[PriceBook], list[str]]:
    """The price books of some rates, and what is not in them. `lists` are list prices by cloud and region.

    Regions that were not billed are there at list price. A type is left out if a part of its price is known from
    neither, and so are rates in another currency than dollars.
    """
    by_region: dict[tuple[str, str], list[NetRate]] = {}
    foreign = set[tuple[str, str]]()
    for rate in rates:
        if rate.currency != DOLLARS:
            foreign.add((rate.region, rate.currency))
        elif rate.dimension in PERFORMANCE and rate.region:
            by_region.setdefault((rate.provider, rate.region), []).append(rate)
    notes = [f"{region} is billed in {name}: it has no price in dollars." for region, name in sorted(foreign)]
    for provider in {provider for provider, _ in by_region}:
        for region in lists.get(provider, {}):
            by_region.setdefault((provider, region), [])
    books = []
    for (provider, region), of_region in by_region.items():
        listed = lists.get(provider, {})
        shapes = {name: price for book in listed.values() for name, price in book.types.items()}
        books.append(_net_book(region, of_region, listed.get(region), shapes, notes))
    return books, notes


def _net_book(
    region: str, rates: list[NetRate], book: PriceBook | None, shapes: Mapping[str, TypePrice], notes: list[str]
) -> PriceBook:
    """A region's book: net rates where they are known, else its list; `notes` get what is left out."""
    types, net_parts, filed = dict[str, TypePrice](), list[str](), book.types if book else {}
    for name in sorted({rate.type for rate in rates} | set(filed)):
        billed = {rate.key: rate for rate in rates if rate.type == name}
        price = _make_price(shapes.get(name), filed.get(name), billed)
        if price is None:
            notes.append(f"{name} in {region}: a part of its price is in neither the bill nor a list.")
            continue
        parts = [rate.part for rate in billed.values() if rate.usable is not None]
        net_parts += [f"{name} ({', '.join(parts)})"] if parts else []
        types[name] = price
    mixed = (rate for rate in rates if rate.is_mixed)
    notes += [f"{rate.type} in {region}: {rate.part} has several list prices: its rate is not used." for rate in mixed]
    what, month = f"list price, {book.source}" if book else "", max((rate.month for rate in rates), default=None)
    as_of, snapshots = (book.as_of, book.snapshots) if book else (None, NO_SNAPSHOT_PRICES)
    if month is not None:
        others = f"the others at {what} of {as_of}" if book else "no list for the others"
        what = f"net rates of the bill of {month:%Y-%m}: {', '.join(net_parts) or 'none'}; {others}"
        as_of = month.replace(day=calendar.monthrange(month.year, month.month)[1])
    return PriceBook(region=region, source=what, as_of=as_of, types=types, snapshots=snapshots)


def _make_price(
    shape: TypePrice | None, listed: TypePrice | None, billed: Mapping[tuple[str, int], NetRate]
) -> TypePrice | None:
    """The price of a type: its net rates, and list prices where nothing was used; None if a part has neither.

    `shape` is its price anywhere, which says what it charges for.
    """
    if shape is None:
        return None

    def part(dimension: str, tier: int, of_list: float | None) -> float | None:
        rate = billed.get((dimension, tier))
        known = (None, None) if rate is None else (rate.usable, rate.listed)
        return next((usd for usd in (known[0], of_list, known[1]) if usd is not None), None)

    figures = {
        name: part(dimension, 1, getattr(listed, name) if listed else None)
        for dimension, name in _FIGURES.items()
        if getattr(shape, name)
    }
    listed_tiers = [usd for _, usd in listed.iops_tiers] if listed else [None] * len(shape.iops_tiers)
    tiers = [part("iops", tier, usd) for tier, usd in enumerate(listed_tiers, start=1)]
    known = {name: usd for name, usd in figures.items() if usd is not None}
    known_tiers = [usd for usd in tiers if usd is not None]
    if len(known) < len(figures) or len(known_tiers) < len(tiers):
        return None
    return TypePrice(
        iops_tiers=tuple(zip((end for end, _ in shape.iops_tiers), known_tiers, strict=True)),
        included_iops=shape.included_iops,
        included_throughput_mib_s=shape.included_throughput_mib_s,
        **known,
    )
