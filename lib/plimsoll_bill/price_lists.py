"""Price lists: a price file made anew from AWS's Price List API, region by region.

The API of the commercial partition has GovCloud's rows too. China's own has prices in CNY: they are shown as
themselves, and are in no file of dollars. A type whose price is not whole is left out, and named.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from plimsoll.clouds.aws.consoles import partition_of
from plimsoll.clouds.aws.errors import translate_errors
from plimsoll.clouds.aws.lists import LIST_DEADLINE_S, Asker
from plimsoll.clouds.aws.prices import ENDPOINT_REGIONS, GET_PRODUCTS, PRICE_CALL, other_currency, price_rows, prices_in
from plimsoll.clouds.common.answers import Deadline
from plimsoll.model.errors import CloudError
from plimsoll.model.market import DOLLARS, TypePrice
from plimsoll_bill.rates import written_price

_LIST = "list"


@dataclass(slots=True, kw_only=True)
class PriceLists:
    """The prices of regions, in dollars or in another currency; `notes` name what is not whole or could not be read."""

    types: dict[str, Mapping[str, TypePrice]] = field(default_factory=dict)
    foreign: dict[str, tuple[str, Mapping[str, TypePrice]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    is_whole: bool = True


def read_lists(client_of: Callable[[str], Any], regions: Iterable[str], shapes: Mapping[str, TypePrice]) -> PriceLists:
    """The price lists of regions by clients of the Price List API, made by the region that it answers from.

    `shapes` are prices of each type anywhere, which say what it charges for.
    """
    lists = PriceLists()
    for region in regions:
        try:
            _read_list(
                lists, client_of(ENDPOINT_REGIONS.get(partition_of(region), ENDPOINT_REGIONS["aws"])), region, shapes
            )
        except CloudError as error:
            lists.notes.append(f"{region}: {error}")
            lists.is_whole = False
    return lists


def list_file(lists: PriceLists, today: date) -> dict[str, Any]:
    """The content of a price file of what was read in dollars."""
    source = {"what": "AWS Price List API, on demand", "where": "GetProducts of AmazonEC2", "as_of": today}
    regions = {
        region: {"source": _LIST, **{name: written_price(price) for name, price in sorted(types.items())}}
        for region, types in lists.types.items()
    }
    return {"verified_on": today, "currency": DOLLARS, "sources": {_LIST: source}, "regions": regions}


def _read_list(lists: PriceLists, client: Any, region: str, shapes: Mapping[str, TypePrice]) -> None:
    asker = Asker(place=f"the price list of {region}", deadline=Deadline(seconds=LIST_DEADLINE_S))
    with translate_errors(f"read the price list of {region}", GET_PRODUCTS, PRICE_CALL):
        rows = price_rows(client, region, asker)
    currency = other_currency(rows) or DOLLARS
    types = prices_in(rows, currency)
    parts = [name for name, price in types.items() if name not in shapes or not _is_whole(price, shapes[name])]
    whole = {name: price for name, price in types.items() if name not in parts}
    lists.notes += [f"{region}: the price of {name} is not whole, and is left out." for name in parts]
    if not whole:
        lists.notes.append(f"{region}: its list has no price of a volume.")
        lists.is_whole = False
    elif currency == DOLLARS:
        lists.types[region] = whole
    else:
        lists.foreign[region] = currency, whole


def _is_whole(price: TypePrice, shape: TypePrice) -> bool:
    """True if a price has each part that its type charges for elsewhere."""
    return (
        len(price.iops_tiers) == len(shape.iops_tiers)
        and bool(price.throughput_mib_s_month) >= bool(shape.throughput_mib_s_month)
        and bool(price.million_io) >= bool(shape.million_io)
    )
