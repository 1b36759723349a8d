"""Joining: which series of Cloud Monitoring are a disk's.

A series names an instance and the device name that the disk was attached under there, never the disk.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.domain.units import MINUTE_S
from plimsoll.domain.volume import Volume


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The series of a device name that are a disk's from a whole minute on (epoch seconds).

    They are those of one instance, or, where `instance_id` is None, of whichever instance of its zones.
    """

    device: str
    instance_id: str | None
    zones: tuple[str, ...]
    from_s: int


Place = tuple[str, str]
"""An instance's id and a device name there."""


def claims_of(volume: Volume) -> tuple[Claim, ...]:
    """What a disk did, wherever it was attached.

    A disk that is attached under its own name is so wherever it goes: gcloud, the console and the Kubernetes driver
    name devices so, and a zone has each name once. Then the series of instances that it has left, or that are gone,
    are its too, since it was made. The same is taken of a disk attached to nothing. Under another device name it is
    known since it was attached there alone: before that, the name may have been another disk's.
    """
    zones = tuple(volume.zone.split("+"))
    by_name = [
        Claim(device=name, instance_id=None, zones=zones, from_s=_whole_minute_s(volume.created.timestamp()))
        for name in (volume.name,)
        if name is not None and _goes_by(volume, name)
    ]
    by_place = [
        Claim(
            device=attachment.device,
            instance_id=attachment.host.id,
            zones=zones,
            from_s=_whole_minute_s(attachment.since.timestamp()),
        )
        for attachment in volume.attachments
        if attachment.host is not None and not (by_name and attachment.device == volume.name)
    ]
    return (*by_name, *by_place)


def places_of(volumes: Iterable[Volume]) -> dict[Place, str]:
    """Which disk each place has now, by volume id."""
    return {
        (attachment.host.id, attachment.device): volume.id
        for volume in volumes
        for attachment in volume.attachments
        if attachment.host is not None
    }


def _goes_by(volume: Volume, name: str) -> bool:
    """Whether a disk's device name is its own, as far as can be seen."""
    return not volume.attachments or any(attachment.device == name for attachment in volume.attachments)


def _whole_minute_s(at_s: float) -> int:
    """The first whole minute from a time on: points are of whole minutes, and the one before may be another disk's."""
    return math.ceil(at_s / MINUTE_S) * MINUTE_S
