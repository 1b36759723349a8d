"""Price lists: a price file made anew from AWS's Price List API, region by region.

The API of the commercial partition has GovCloud's rows too. China's own has prices in CNY: they are shown as
themselves, and are in no file of dollars. A type whose price is not whole is left out, and named; so are snapshots.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from plimsoll.clouds.aws.consoles import partition_of
from plimsoll.clouds.aws.errors import translate_errors
from plimsoll.clouds.aws.lists import LIST_DEADLINE_S, Asker
from plimsoll.clouds.aws.prices import (
    ENDPOINT_REGIONS,
    GET_PRODUCTS,
    PRICE_CALL,
    SNAPSHOT_FAMILIES,
    other_currency,
    price_rows,
    prices_in,
    snapshot_prices_in,
)
from plimsoll.clouds.common.answers import Deadline
from plimsoll.model.errors import CloudError
from plimsoll.model.market import DOLLARS, PriceBook, TypePrice


@dataclass(slots=True, kw_only=True)
class PriceLists:
    """The books of regions, each in its currency; `notes` name what has no price, is not whole, or was not read."""

    today: date
    books: dict[str, PriceBook] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    is_whole: bool = True

    def dollar_books(self) -> list[PriceBook]:
        """The books in dollars: they are what a price file has."""
        return [book for book in self.books.values() if book.currency == DOLLARS]


def read_lists(
    client_of: Callable[[str], Any], regions: Iterable[str], shapes: Mapping[str, TypePrice], today: date
) -> PriceLists:
    """The price lists of regions by clients of the Price List API, made by the region that it answers from.

    `shapes` are prices of each type anywhere, which say what it charges for.
    """
    lists = PriceLists(today=today)
    for region in regions:
        endpoint = ENDPOINT_REGIONS.get(partition_of(region), ENDPOINT_REGIONS["aws"])
        try:
            _read_list(lists, client_of(endpoint), region, shapes)
        except CloudError as error:
            lists.notes.append(f"{region}: {error}")
            lists.is_whole = False
    return lists


def _read_list(lists: PriceLists, client: Any, region: str, shapes: Mapping[str, TypePrice]) -> None:
    asker = Asker(place=f"the price list of {region}", deadline=Deadline(seconds=LIST_DEADLINE_S))
    with translate_errors(f"read the price list of {region}", GET_PRODUCTS, PRICE_CALL):
        rows = price_rows(client, region, asker)
        of_snapshots = price_rows(client, region, asker, SNAPSHOT_FAMILIES)
    currency = other_currency(rows) or DOLLARS
    types, snapshots = prices_in(rows, currency), snapshot_prices_in(of_snapshots, currency)
    parts = [name for name, price in types.items() if name not in shapes or not _is_whole(price, shapes[name])]
    whole = {name: price for name, price in types.items() if name not in parts}
    lists.notes += [f"{region}: the price of {name} is not whole, and is left out." for name in parts]
    lists.notes += [
        f"{region}: its list has no price of {words}."
        for words, usd in (
            ("snapshots", snapshots.gib_month),
            ("archived snapshots", snapshots.archive_gib_month),
            ("reading snapshots back from the archive", snapshots.retrieval_gib),
            ("fast restores", snapshots.fast_restore_hour),
        )
        if usd is None
    ]
    if whole:
        source = "AWS Price List API, on demand"
        lists.books[region] = PriceBook(
            region=region, source=source, as_of=lists.today, types=whole, currency=currency, snapshots=snapshots
        )
    else:
        lists.notes.append(f"{region}: its list has no price of a volume.")
        lists.is_whole = False


def _is_whole(price: TypePrice, shape: TypePrice) -> bool:
    """True if a price has each part that its type charges for elsewhere."""
    return (
        len(price.iops_tiers) == len(shape.iops_tiers)
        and bool(price.throughput_mib_s_month) >= bool(shape.throughput_mib_s_month)
        and bool(price.million_io) >= bool(shape.million_io)
    )
