"""Published facts of a cloud's types, by which records of earlier versions are completed."""

from collections.abc import Mapping

from plimsoll.clouds.cloud import published_facts
from plimsoll.clouds.registry import CLOUDS
from plimsoll.model.market import VolumeType


def cloud_types(provider: str) -> Mapping[str, VolumeType]:
    """The published types of a cloud; none of one that this version does not know."""
    return published_facts(CLOUDS[provider]).catalog.types if provider in CLOUDS else {}
