"""Dated data: the published limits and list prices that ship with each cloud, and price files that users give."""

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from plimsoll.clouds.registry import CLOUDS
from plimsoll.files import read_text
from plimsoll.model.ceiling import LatencyClass, Resource
from plimsoll.model.errors import BadInput
from plimsoll.model.market import (
    NO_SNAPSHOT_PRICES,
    Based,
    Burst,
    ChangeLimit,
    Delivery,
    FromIops,
    FromThroughput,
    PriceBook,
    Provisioned,
    Sized,
    SnapshotPrices,
    Stepped,
    TypePrice,
    VolumeType,
)
from plimsoll.model.volume import VolumeSpec
from plimsoll.yaml_text import parse_yaml

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's where it is installed: without it, reading the prices takes half a second."""


def read_data(cloud: str, name: str) -> Any:
    """The content of a YAML file in the data/ of a cloud's package, as plain values."""
    folder = find_data(cloud)
    if folder is None:
        raise ModuleNotFoundError(f"No module named {CLOUDS[cloud].package!r}", name=CLOUDS[cloud].package)
    written = (folder / name).read_text(encoding="utf-8")
    return yaml.load(written, _LOADER)  # noqa: S506  # a safe loader, and a file of our own


def find_data(cloud: str) -> Path | None:
    """The folder data/ of a cloud's package, which is not imported. None if the package is not installed."""
    spec = find_spec(CLOUDS[cloud].package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "data"


MOST_USD: Final = 1000.0
"""No list price of a unit is more."""


@cache
def volume_types(cloud: str) -> Mapping[str, VolumeType]:
    """Every volume type that a cloud publishes, by name."""
    return {name: published.volume_type(name) for name, published in published_limits(cloud).types.items()}


@cache
def published_limits(cloud: str) -> "TypesFile":
    """The limits of a cloud's volume types, from data/types.yaml."""
    return TypesFile.model_validate(read_data(cloud, "types.yaml"))


def sold_figures(spec: VolumeSpec, cloud: str) -> VolumeSpec:
    """The spec without IOPS and MiB/s that its type does not sell by themselves; unchanged if the type is unknown."""
    kind = volume_types(cloud).get(spec.type)
    if kind is None:
        return spec
    return replace(
        spec,
        iops=spec.iops if isinstance(kind.iops, Provisioned) else None,
        throughput_mib_s=spec.throughput_mib_s if isinstance(kind.throughput, Provisioned) else None,
    )


@cache
def shipped_prices(cloud: str) -> "PriceFile":
    """A cloud's list prices by region, from data/prices.yaml."""
    return PriceFile.model_validate(read_data(cloud, "prices.yaml"))


def _rule(written: Any) -> Any:
    """The formula that a mapping's keys belong to."""
    if not isinstance(written, Mapping):
        return written
    if "steps" in written:
        return Stepped(steps=tuple((up_to, figure) for up_to, figure in written["steps"]))
    if "bands" in written:
        return FromIops(bands=tuple((up_to, per_iops, cap) for up_to, per_iops, cap in written["bands"]))
    if "per_mib_s" in written:
        return _adapter(FromThroughput).validate_python(written)
    kind = Provisioned if "least" in written else Based if "base" in written else Sized
    return _adapter(kind).validate_python(written)


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _latency(written: Any) -> Any:
    return LatencyClass[written.upper().replace("-", "_")] if isinstance(written, str) else written


class _Burst(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    resource: Resource
    rate: Annotated[Sized, BeforeValidator(_rule)]
    credits: float = 0.0
    credits_per_gib: float = 0.0
    least_charge_mib: float = 0.0


class _Type(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True, arbitrary_types_allowed=True)
    source: str
    size_gib: tuple[int, int]
    io_kib: float | None
    iops: Annotated[Sized | Based | Provisioned | FromThroughput, BeforeValidator(_rule)]
    throughput_mib_s: Annotated[Sized | Based | Stepped | Provisioned | FromIops, BeforeValidator(_rule)]
    burst: _Burst | None = None
    older_host_iops: float = float("inf")
    latency: Annotated[LatencyClass, BeforeValidator(_latency)]
    durability_pct: float
    boots: bool
    multi_attach: bool
    sold: bool = True
    billed_per_io: bool = False
    write_iops_cost: float = 1.0
    write_throughput_cost: float = 1.0
    pooled: bool = False
    zones: int = 1
    target: bool = False
    in_place: bool = True
    changes: ChangeLimit | None = None
    shared_changes: bool = True
    delivers: Delivery | None = None

    def volume_type(self, name: str) -> VolumeType:
        """The domain's volume type of this name."""
        return VolumeType(
            name=name,
            least_size_gib=self.size_gib[0],
            most_size_gib=self.size_gib[1],
            iops=self.iops,
            throughput=self.throughput_mib_s,
            burst=Burst(**dict(self.burst)) if self.burst else None,
            changes=self.changes,
            delivers=self.delivers,
            **self.model_dump(exclude=_OF_THEIR_OWN),
        )


_OF_THEIR_OWN: Final = {"source", "size_gib", "iops", "throughput_mib_s", "burst", "changes", "delivers"}


class TypesFile(BaseModel):
    """The types by name, and the day when the figures were last held against their sources."""

    model_config = ConfigDict(extra="forbid", defer_build=True)
    verified_on: date
    types: dict[str, _Type] = Field(min_length=1)


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("it is no number")  # noqa: TRY004  # pydantic reports a ValueError by its field
    return value


def _a_day(value: Any) -> Any:
    """Of numbers, pydantic makes days since 1970."""
    if not isinstance(value, date | str):
        raise ValueError("it is no day, such as 2026-11-20")  # noqa: TRY004  # as above
    return value


PriceUsd = Annotated[float, BeforeValidator(_no_truth_value), Field(ge=0, le=MOST_USD, allow_inf_nan=False)]
Included = Annotated[int, BeforeValidator(_no_truth_value), Field(ge=0)]
Day = Annotated[date, BeforeValidator(_a_day)]


class _Source(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    what: str
    where: str
    as_of: Day


class _Price(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    source: str | None = None
    gib_month: PriceUsd
    iops_month: PriceUsd | None = None
    iops_tiers: tuple[tuple[float | None, PriceUsd], ...] = ()
    included_iops: Included = 0
    throughput_mib_s_month: PriceUsd = 0.0
    included_throughput_mib_s: Included = 0
    million_io: PriceUsd = 0.0

    @model_validator(mode="after")
    def _check_order(self) -> "_Price":
        ends = [math.inf if end is None else end for end, _ in self.iops_tiers]
        if ends and (ends != sorted(set(ends)) or ends[0] <= 0 or ends[-1] != math.inf):
            raise ValueError("iops_tiers must rise from tier to tier, and the last one has no end (null)")
        return self

    def type_price(self) -> TypePrice:
        """The domain's price."""
        tiers = ((None, self.iops_month),) if self.iops_month is not None else self.iops_tiers
        return TypePrice(iops_tiers=tiers, **self.model_dump(exclude={"source", "iops_month", "iops_tiers"}))


class _Snapshots(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    source: str | None = None
    gib_month: PriceUsd | None = None
    archive_gib_month: PriceUsd | None = None
    retrieval_gib: PriceUsd | None = None
    fast_restore_hour: PriceUsd | None = None


class _Region(BaseModel):
    model_config = ConfigDict(extra="allow", defer_build=True)
    source: str
    snapshots: _Snapshots | None = None
    __pydantic_extra__: dict[str, _Price] = Field(init=False)


class PriceFile(BaseModel):
    """A price file: its sources, the day when it was held against them, and prices by region and type."""

    model_config = ConfigDict(extra="forbid", defer_build=True)
    verified_on: Day
    currency: Literal["USD"] = "USD"
    sources: dict[str, _Source]
    regions: dict[str, _Region]

    @model_validator(mode="after")
    def _check_sources(self) -> "PriceFile":
        for region, entry in self.regions.items():
            prices = (entry.__pydantic_extra__ or {}).values()
            sources = [entry.source, *(price.source for price in prices if price.source)]
            sources += [entry.snapshots.source] if entry.snapshots and entry.snapshots.source else []
            for source in sources:
                if source not in self.sources:
                    raise ValueError(f"{region} names the source {source}, which is not under sources")
        return self

    def book(self, region: str) -> PriceBook | None:
        """A region's book. None if the file has none."""
        entry = self.regions.get(region)
        if entry is None:
            return None
        source = self.sources[entry.source]
        return PriceBook(
            region=region,
            source=f"{source.what} ({source.where})",
            as_of=source.as_of,
            types={name: price.type_price() for name, price in (entry.__pydantic_extra__ or {}).items()},
            snapshots=NO_SNAPSHOT_PRICES
            if entry.snapshots is None
            else SnapshotPrices(**entry.snapshots.model_dump(exclude={"source"})),
        )

    def snapshots(self, region: str) -> SnapshotPrices:
        """A region's prices of snapshots; unknown ones if the file has none."""
        book = self.book(region)
        return NO_SNAPSHOT_PRICES if book is None else book.snapshots

    def books(self) -> list[PriceBook]:
        """The books of all regions."""
        return [book for region in self.regions if (book := self.book(region)) is not None]


def written_price(price: TypePrice | SnapshotPrices) -> dict[str, Any]:
    """A price with the keys of a price file, without what it does not charge or is not known."""
    figures = asdict(price)
    if "iops_tiers" in figures:
        figures["iops_tiers"] = [
            [None if end is None else float(end), round(usd, _DIGITS)] for end, usd in figures["iops_tiers"]
        ]
    return {
        name: round(figure, _DIGITS) if isinstance(figure, float) else figure
        for name, figure in figures.items()
        if figure
    }


def price_content(books: Iterable[PriceBook], where: str, verified_on: date) -> dict[str, Any]:
    """The content of a price file of some regions' books, each with a source of its own."""
    listed = list(books)
    sources = {book.region: {"what": book.source, "where": where, "as_of": book.as_of} for book in listed}
    regions = {
        book.region: {
            "source": book.region,
            **({"snapshots": snapshots} if (snapshots := written_price(book.snapshots)) else {}),
            **{name: written_price(price) for name, price in sorted(book.types.items())},
        }
        for book in listed
    }
    return {"verified_on": verified_on, "currency": "USD", "sources": sources, "regions": regions}


_DIGITS: Final = 9


@dataclass(slots=True, kw_only=True)
class ListedPrices:
    """The price books of a cloud's own list as it is today. What it lacks is of a dated file, and said."""

    shipped: PriceFile
    today: date
    source: str  # the name of the list
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def listed_book(self, region: str, types: Mapping[str, TypePrice], lacking: Iterable[str] = ()) -> PriceBook:
        """A region's book of the list, with the file's prices of the types that it lacks."""
        filed = {} if (book := self.shipped.book(region)) is None else book.types
        types = {**types, **{name: filed[name] for name in lacking}}
        return PriceBook(region=region, source=self.source, as_of=self.today, types=types)


def given_prices(path: str | None, cloud: str) -> PriceFile:
    """The price file of a user, or what ships with the cloud if there is none. Raises BadInput."""
    return load_prices(Path(path)) if path else shipped_prices(cloud)


def load_prices(path: Path) -> PriceFile:
    """A price file of a user. Raises BadInput, which names the fault and its place."""
    try:
        written = parse_yaml(read_text(path))
    except OSError as error:
        raise BadInput(f"the price file {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise BadInput(f"the price file {path} is not YAML: {' '.join(str(error).split())}.") from error
    try:
        return PriceFile.model_validate(written)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise BadInput(
            f"the price file {path} is wrong at {where}: {first['msg'].lower()}. CONTRIBUTING.md shows the format."
        ) from error
