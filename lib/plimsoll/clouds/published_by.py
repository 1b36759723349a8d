"""What each cloud publishes: volume types by the cloud that has them, and what its hosts carry of a type."""

from collections.abc import Mapping

from plimsoll.clouds.aws.limits import volume_types as aws_types
from plimsoll.clouds.google.limits import volume_types as google_types
from plimsoll.clouds.google.machines import machine
from plimsoll.clouds.google.names import PROVIDER as GOOGLE
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.volume_types import VolumeType


def types_by_cloud() -> Mapping[str, Mapping[str, VolumeType]]:
    """The volume types of each cloud by name, by the cloud's name in data and evidence."""
    return {"aws": aws_types(), GOOGLE: google_types()}


def cloud_of(type_name: str) -> str | None:
    """The cloud that publishes a volume type; None where none does."""
    return next((cloud for cloud, types in types_by_cloud().items() if type_name in types), None)


def host_cap(host_type: str, type_name: str) -> Ceiling | None:
    """What all volumes of a type carry together at most on a host of a type; None where that is not published, as by
    AWS."""
    found = machine(host_type)
    return dict(found.caps).get(type_name) if found else None
