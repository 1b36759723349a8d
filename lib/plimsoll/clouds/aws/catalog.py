"""The catalog: what AWS sells, and how a change is made there."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.clouds.aws.change import change_text
from plimsoll.clouds.aws.limits import volume_types
from plimsoll.domain.volume import Volume, VolumeSpec
from plimsoll.domain.volume_types import VolumeType


@dataclass(frozen=True, slots=True)
class AwsCatalog:
    """EBS as it is published."""

    provider: str = "aws"

    @property
    def types(self) -> Mapping[str, VolumeType]:
        """Every published EBS volume type."""
        return volume_types()

    def change(self, volume: Volume, target: VolumeSpec) -> str:
        """How the volume's owner makes it so."""
        return change_text(volume, target)
