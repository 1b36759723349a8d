"""The dated data of EBS: published limits (data/ebs.yaml) and list prices (data/prices.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from plimsoll.clouds.aws.names import PACKAGE
from plimsoll.clouds.common.data_file import read_data
from plimsoll.clouds.common.price_file import PriceFile
from plimsoll.clouds.common.types_file import TypesFile
from plimsoll.domain.volume_types import VolumeType


@cache
def volume_types() -> Mapping[str, VolumeType]:
    """Every published EBS volume type by name."""
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
    return TypesFile.model_validate(read_data(PACKAGE, "ebs.yaml"))
