"""Published limits of Google's disk types, from data/disks.yaml."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from plimsoll.clouds.google.names import PACKAGE
from plimsoll.clouds.shipped import shipped
from plimsoll.clouds.types_file import TypesFile
from plimsoll.domain.volume_types import VolumeType


@cache
def _limits() -> TypesFile:
    return TypesFile.model_validate(shipped(PACKAGE, "disks.yaml"))


@cache
def volume_types() -> Mapping[str, VolumeType]:
    """Every published type of Persistent Disk and Hyperdisk by name, those kept in two zones included."""
    return _limits().named


def verified_on() -> date:
    """When the figures were last held against their sources."""
    return _limits().verified_on
