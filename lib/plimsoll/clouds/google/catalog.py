"""The catalog: what Google Cloud sells, and how a change is made there."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.clouds.google.change import change_text
from plimsoll.clouds.google.limits import volume_types
from plimsoll.clouds.google.names import PROVIDER
from plimsoll.domain.volume import Volume, VolumeSpec
from plimsoll.domain.volume_types import VolumeType


@dataclass(frozen=True, slots=True)
class GoogleCatalog:
    """Persistent Disk and Hyperdisk as they are published."""

    provider: str = PROVIDER

    @property
    def types(self) -> Mapping[str, VolumeType]:
        """Every published type of either."""
        return volume_types()

    def change(self, volume: Volume, target: VolumeSpec) -> str:
        """How the disk's owner makes it so."""
        return change_text(volume, target, self.types)
