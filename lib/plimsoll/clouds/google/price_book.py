"""The price book of Google's disks that ships, from data/prices.yaml."""

from functools import cache

from plimsoll.clouds.google.names import PACKAGE
from plimsoll.clouds.price_file import PriceFile
from plimsoll.clouds.shipped import shipped


@cache
def shipped_prices() -> PriceFile:
    """List prices by region."""
    return PriceFile.model_validate(shipped(PACKAGE, "prices.yaml"))
