"""Prices: from the AWS Price List API where it answers in full, else from a dated price file."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

from pydantic import Field

from plimsoll.clouds.aws.consoles import partition_of
from plimsoll.clouds.aws.errors import AUDITING, translate_errors
from plimsoll.clouds.aws.lists import ASKED, LIST_DEADLINE_S, Asker, Page
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.common.answers import CloudAnswer, Deadline, ask_again, bad_answer, read_answer
from plimsoll.clouds.common.dated_data import ListedPrices, PriceUsd
from plimsoll.model.errors import CloudError
from plimsoll.model.market import DOLLARS, Meter, PriceBook, SnapshotPrices, TypePrice
from plimsoll.model.units import KIB_PER_MIB
from plimsoll.ports import Target

ENDPOINT_REGIONS: Final = {"aws": "us-east-1", "aws-cn": "cn-northwest-1"}
"""A region that the Price List API of each partition answers from for all its regions. China's prices are in CNY."""

_USAGE: Final = re.compile(
    r"(?:^|[^\w:-])(?P<place>(?:[A-Z0-9]+-)*)EBS:(?P<code>Volume(?:Usage|P-IOPS|P-Throughput|IOUsage)|Snapshot\w+"
    r"|FastSnapshotRestore|directAPI\.snapshot)(?P<parts>(?:\.\w+)*)(?![\w.])"
)
"""A usage type, alone or in a text (Amazon EBS User Guide, codes in billing and usage reports, read 2026-11-26)."""

_TYPES: Final = {"": "standard", "piops": "io1", **{name: name for name in ("gp2", "gp3", "io1", "io2", "st1", "sc1")}}
_CODES: Final[Mapping[str, str]] = {
    "VolumeUsage": "gib",
    "VolumeP-IOPS": "iops",
    "VolumeP-Throughput": "mib_s",
    "VolumeIOUsage": "io",
    "SnapshotUsage": "snapshot",
    "SnapshotArchiveStorage": "archive",
    "SnapshotArchiveEarlyDelete": "archive_early",
    "SnapshotArchiveRetrieval": "archive_read",
    "FastSnapshotRestore": "fast_restore",
    "directAPI.snapshot": "requests",
}
PERFORMANCE: Final = ("gib", "iops", "mib_s", "io")
"""The dimensions of volumes, whose prices are those of a type."""

_TIER_ENDS: Final[Mapping[int, float | None]] = {1: 32_000.0, 2: 64_000.0, 3: None}
"""io2's IOPS are priced in three usage types: to 32,000, to 64,000 and above."""

_INCLUDED: Final[Mapping[str, Mapping[str, Any]]] = {"gp3": {"included_iops": 3000, "included_throughput_mib_s": 125}}
_COMPLETE: Final[Mapping[str, frozenset[str]]] = {
    "gp2": frozenset(),
    "gp3": frozenset({"iops", "throughput"}),
    "io1": frozenset({"iops"}),
    "io2": frozenset({"iops"}),
}
"""What a list must have of the types that most volumes are of before it is believed."""

GET_PRODUCTS: Final = "pricing:GetProducts"
PRICE_CALL: Final = replace(
    AUDITING,
    goes_on="The prices that ship with Plimsoll are used, at their date",
    allow="allow the action, or give a price file with --prices",
)
_LOOKS: Final = 2
"""The times that an incomplete list is read. If it stays so, the price file has what it lacks: all, where the
region's prices are not listed yet, or the types that it lacks, by name."""

_FILED: Final = "those prices come from the price file of {as_of}. Run again later, or give a price file with --prices."
_FAMILIES: Final = ("Storage", "System Operation", "Provisioned Throughput")
SNAPSHOT_FAMILIES: Final = ("Storage Snapshot", "Fast Snapshot Restore")


class ProductAttributes(CloudAnswer):
    """The attributes of the product that a row prices."""

    usage_type: str = Field(alias="usagetype")
    location_type: str = Field(alias="locationType")


class ListedProduct(CloudAnswer):
    """A row's product."""

    attributes: ProductAttributes


class Dimension(CloudAnswer):
    """A price: USD as text, a unit."""

    unit: str
    usd: Annotated[dict[str, PriceUsd], Field(alias="pricePerUnit")]


class Term(CloudAnswer):
    """The prices under one offer."""

    dimensions: dict[str, Dimension] = Field(alias="priceDimensions")


class Terms(CloudAnswer):
    """The offers of a row; only those on demand are read."""

    on_demand: dict[str, Term] = Field(default_factory=dict, alias="OnDemand")


class PriceRow(CloudAnswer):
    """A row of the price list."""

    product: ListedProduct
    terms: Terms = Field(default_factory=Terms)


class RowsPage(Page):
    """A page of GetProducts: each row is JSON in itself."""

    price_list: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class AwsPrices(ListedPrices):
    """Price books by region, at list prices. `sessions` None: no API is asked.

    Where it could not be read, the shipped book says so (`PriceBook.unlisted`).
    """

    source: str = "AWS Price List API"
    sessions: Sessions | None = None
    list_deadline_s: float = LIST_DEADLINE_S
    _books: dict[str, PriceBook | None] = field(default_factory=dict, repr=False)
    _unlisted: dict[Target, CloudError] = field(default_factory=dict, repr=False)

    def book(self, target: Target) -> PriceBook | None:
        """The region's book; None where neither the API nor the file has one.

        CloudError where the API could not be read and the file has none.
        """
        with self._lock:
            if target.region not in self._books and target not in self._unlisted:
                self._look_up(target)
            if target.region in self._books:
                return self._books[target.region]
            error = self._unlisted[target]
        filed = self.shipped.book(target.region)
        if filed is None:
            raise error
        return replace(filed, unlisted=str(error))

    def _look_up(self, target: Target) -> None:
        try:
            self._books[target.region] = self._read_list(target) or self.shipped.book(target.region)
        except CloudError as error:
            self._unlisted[target] = error

    def _read_list(self, target: Target) -> PriceBook | None:
        """The region's list. None where nothing is asked, or where the list lacks what most volumes are of.

        Each partition has an API of its own, for which its accounts have credentials; GovCloud has none.
        """
        endpoint_region = ENDPOINT_REGIONS.get(partition_of(target.region))
        if self.sessions is None or endpoint_region is None:
            return None
        with translate_errors(f"read the price list of {target.region} as {target.account}", GET_PRODUCTS, PRICE_CALL):
            client = self.sessions.client("pricing", target.account, endpoint_region)
            asker = Asker(place=f"the price list of {target.region}", deadline=Deadline(seconds=self.list_deadline_s))
            for _ in range(_LOOKS):
                rows = price_rows(client, target.region, asker)
                types = prices_in(rows)
                lacking = self._lacking(target.region, types)
                if not lacking:
                    return self.listed_book(target.region, types)
        if _COMPLETE.keys().isdisjoint(lacking):
            filed = self.shipped.book(target.region)
            if filed is None:
                return None
            reason = f"the price list of {target.region} lacks {', '.join(lacking)}: {_FILED.format(as_of=filed.as_of)}"
            return replace(self.listed_book(target.region, types, lacking), unlisted=reason)
        currency = None if types else other_currency(rows)
        return None if currency is None else replace(self.listed_book(target.region, {}), currency=currency)

    def _lacking(self, region: str, types: Mapping[str, TypePrice]) -> list[str]:
        """The types whose price is not whole in a list, by what most volumes need and by the price file."""
        shipped = self.shipped.book(region)
        filed = {} if shipped is None else {name: _parts(price) for name, price in shipped.types.items()}
        needed = {**filed, **{name: _COMPLETE[name] | filed.get(name, frozenset()) for name in _COMPLETE}}
        return sorted(name for name, parts in needed.items() if name not in types or not parts <= _parts(types[name]))


def prices_in(rows: Iterable[PriceRow], currency: str = DOLLARS) -> dict[str, TypePrice]:
    """The prices in entries of GetProducts: on demand, in a region proper, one price for each usage type.

    gp3's throughput is listed per GiB/s and divided here. io1 is called piops. io2's IOPS come in tiers of their own.
    """
    figures: dict[str, dict[str, Any]] = {}
    for meter, usd, unit in _regional_prices(rows, currency):
        if meter.dimension not in PERFORMANCE:
            continue
        figure = figures.setdefault(meter.type, {"tiers": {}})
        if meter.dimension == "gib":
            figure["gib_month"] = usd
        elif meter.dimension == "iops":
            figure["tiers"][meter.tier] = usd
        elif meter.dimension == "mib_s":
            figure["throughput_mib_s_month"] = usd / KIB_PER_MIB if unit.lower().startswith("gib") else usd
        else:
            figure["million_io"] = usd * 1e6
    return {name: _price(name, figure) for name, figure in figures.items() if "gib_month" in figure}


def snapshot_prices_in(rows: Iterable[PriceRow], currency: str = DOLLARS) -> SnapshotPrices:
    """The prices of snapshots in rows of GetProducts; None for what no row has."""
    prices = {meter.dimension: usd for meter, usd, _ in _regional_prices(rows, currency)}
    return SnapshotPrices(
        gib_month=prices.get("snapshot"),
        archive_gib_month=prices.get("archive"),
        retrieval_gib=prices.get("archive_read"),
        fast_restore_hour=prices.get("fast_restore"),
    )


def _regional_prices(rows: Iterable[PriceRow], currency: str) -> Iterator[tuple[Meter, float, str]]:
    """The meter, price and unit of each row that is charged on demand in a region proper."""
    for row in rows:
        attributes = row.product.attributes
        meter, price = find_usage(attributes.usage_type), _on_demand(row, currency)
        if meter is not None and price is not None and not meter.apart and attributes.location_type == "AWS Region":
            yield meter, *price


def find_usage(text: str) -> Meter | None:
    """The meter of the usage type that stands in a text, in units as billed; None if nothing here knows it."""
    usage = _USAGE.search(text)
    dimension = None if usage is None else _CODES.get(usage["code"])
    if usage is None or dimension is None:
        return None
    parts = usage["parts"].split(".")[1:]
    apart = "an Outpost" if "outposts" in parts else "a Local Zone" if usage["place"].count("-") > 1 else ""
    parts = [part for part in parts if part != "outposts"]
    tier = int(parts.pop()[-1]) if parts and re.fullmatch(r"tier\d", parts[-1]) else 1
    if dimension not in PERFORMANCE:
        return Meter(dimension, apart=apart)
    kind = _TYPES.get(parts[0] if parts else "")
    return None if kind is None or len(parts) > 1 else Meter(dimension, kind, tier, apart=apart)


def other_currency(rows: Iterable[PriceRow]) -> str | None:
    """The currency of a list that has prices in no dollars; None if nothing in it has a price."""
    charged = {
        currency
        for row in rows
        for term in row.terms.on_demand.values()
        for dimension in term.dimensions.values()
        for currency, amount in dimension.usd.items()
        if amount > 0 and find_usage(row.product.attributes.usage_type)
    }
    return min(charged, default=None) if DOLLARS not in charged else None


def _price(name: str, figures: dict[str, Any]) -> TypePrice:
    """The type's price; without IOPS prices where a tier is missing, so that the list counts as incomplete."""
    tiers = figures.pop("tiers")
    ends = _TIER_ENDS if name == "io2" else {1: None}
    if set(tiers) == set(ends):
        figures["iops_tiers"] = tuple((ends[tier], tiers[tier]) for tier in sorted(tiers))
    return TypePrice(**figures, **_INCLUDED.get(name, {}))


def _on_demand(row: PriceRow, currency: str) -> tuple[float, str] | None:
    """The amount and unit of the row's first on-demand price that charges anything; None where none does."""
    for term in row.terms.on_demand.values():
        for dimension in term.dimensions.values():
            amount = dimension.usd.get(currency, 0.0)
            if amount > 0:
                return amount, dimension.unit
    return None


def _parts(price: TypePrice) -> frozenset[str]:
    """The parts of a type's price beside its size."""
    charged = {"iops": price.iops_tiers, "throughput": price.throughput_mib_s_month, "operations": price.million_io}
    return frozenset(name for name, price_of in charged.items() if price_of)


def price_rows(client: Any, region: str, asker: Asker, families: Sequence[str] = _FAMILIES) -> list[PriceRow]:
    """Every row of a region's volumes; a list with one that cannot be read is asked for again as a whole."""
    return ask_again(lambda: [row_in(text, asker.place) for text in _texts(client, region, asker, families)], ASKED)


def row_in(text: str, place: str) -> PriceRow:
    """The row in a text. BadAnswer where it is none."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise bad_answer(f"a row is not JSON: {error}", text, call=GET_PRODUCTS, place=place) from error
    return read_answer(PriceRow, raw, call=GET_PRODUCTS, place=place)


def _texts(client: Any, region: str, asker: Asker, families: Sequence[str]) -> Iterable[str]:
    for family in families:
        filters = [
            {"Type": "TERM_MATCH", "Field": "regionCode", "Value": region},
            {"Type": "TERM_MATCH", "Field": "productFamily", "Value": family},
        ]
        for page in asker.pages(RowsPage, client.get_products, GET_PRODUCTS, ServiceCode="AmazonEC2", Filters=filters):
            yield from page.price_list
