"""What a cloud publishes of its types: what records of earlier versions did not say is found by that."""

from collections.abc import Mapping

from plimsoll.clouds.registry import CLOUDS
from plimsoll.domain.volume_types import VolumeType


def published_types(provider: str) -> Mapping[str, VolumeType]:
    """The published types of a cloud; none of one that this version does not know."""
    return CLOUDS[provider].published.catalog.types if provider in CLOUDS else {}
