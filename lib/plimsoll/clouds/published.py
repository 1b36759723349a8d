"""What every cloud publishes: the volume types that policies and measurements may name, whichever cloud is asked."""

from collections.abc import Mapping

from plimsoll.clouds.aws.limits import volume_types as aws_types
from plimsoll.clouds.google.limits import volume_types as google_types
from plimsoll.domain.volume_types import VolumeType


def published_types() -> Mapping[str, VolumeType]:
    """The volume types of all clouds by name; no two clouds have one of the same name."""
    return {**aws_types(), **google_types()}
