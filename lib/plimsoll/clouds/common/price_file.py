"""Price files: dated books of list prices by region, those that ship and those that users give."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from plimsoll.domain.errors import BadInput
from plimsoll.domain.prices import PriceBook, TypePrice

Usd = Annotated[float, Field(ge=0)]


class _Source(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    what: str
    where: str
    as_of: date


class _Price(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    source: str | None = None
    gib_month: Usd
    iops_month: Usd | None = None
    iops_tiers: tuple[tuple[float | None, Usd], ...] = ()
    included_iops: int = Field(0, ge=0)
    throughput_mib_s_month: Usd = 0.0
    included_throughput_mib_s: int = Field(0, ge=0)
    million_io: Usd = 0.0

    def priced(self) -> TypePrice:
        """The domain's price."""
        tiers = ((None, self.iops_month),) if self.iops_month is not None else self.iops_tiers
        return TypePrice(iops_tiers=tiers, **self.model_dump(exclude={"source", "iops_month", "iops_tiers"}))


class _Region(BaseModel):
    model_config = ConfigDict(extra="allow", defer_build=True)
    source: str
    __pydantic_extra__: dict[str, _Price] = Field(init=False)


class PriceFile(BaseModel):
    """A price file: when it was held against its sources, those sources, and prices by region and type."""

    model_config = ConfigDict(extra="forbid", defer_build=True)
    verified_on: date
    currency: Literal["USD"] = "USD"
    sources: dict[str, _Source]
    regions: dict[str, _Region]

    @model_validator(mode="after")
    def _sourced(self) -> "PriceFile":
        for region, found in self.regions.items():
            prices = (found.__pydantic_extra__ or {}).values()
            for source in (found.source, *(price.source for price in prices if price.source)):
                if source not in self.sources:
                    raise ValueError(f"{region} names the source {source}, which is not under sources")
        return self

    def book(self, region: str) -> PriceBook | None:
        """A region's book; None where the file has none."""
        found = self.regions.get(region)
        if found is None:
            return None
        source = self.sources[found.source]
        return PriceBook(
            region=region,
            source=f"{source.what} ({source.where})",
            as_of=source.as_of,
            types={name: price.priced() for name, price in (found.__pydantic_extra__ or {}).items()},
        )


def load_prices(path: Path) -> PriceFile:
    """A price file that a user gives; BadInput says what is wrong with it and where."""
    try:
        written: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        return PriceFile.model_validate(written)
    except OSError as error:
        raise BadInput(f"the price file {path} cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadInput(f"the price file {path} is not YAML: {' '.join(str(error).split())}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise BadInput(
            f"the price file {path} is wrong at {where}: {first['msg'].lower()}. CONTRIBUTING.md shows the format."
        ) from error
