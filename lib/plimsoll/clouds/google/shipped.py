"""The dated data of Google's disks: published limits (data/disks.yaml) and list prices (data/prices.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from plimsoll.clouds.common.data_file import read_data
from plimsoll.clouds.common.price_file import PriceFile
from plimsoll.clouds.common.types_file import TypesFile
from plimsoll.clouds.google.names import PACKAGE
from plimsoll.domain.volume_types import VolumeType


@cache
def volume_types() -> Mapping[str, VolumeType]:
    """Every published type of Persistent Disk and Hyperdisk by name, those kept in two zones included."""
    return _limits().named


def verified_on() -> date:
    """When the limits were last held against their sources."""
    return _limits().verified_on


@cache
def shipped_prices() -> PriceFile:
    """List prices by region."""
    return PriceFile.model_validate(read_data(PACKAGE, "prices.yaml"))


@cache
def _limits() -> TypesFile:
    return TypesFile.model_validate(read_data(PACKAGE, "disks.yaml"))
