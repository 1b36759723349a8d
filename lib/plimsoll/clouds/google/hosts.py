"""Hosts: the instances of a project, what their machine types can carry, and the disks they hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.clouds.google.machines import machine
from plimsoll.clouds.google.owners import HOST_METADATA
from plimsoll.clouds.google.resource_fields import last_of, path_of, tags_of
from plimsoll.domain.host import Host


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """How an instance holds a disk: the device name that its metrics go by, and whether it boots from it."""

    device: str
    boot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A host, the disks it holds by their path, and its tags with those items of its metadata that tell who made it."""

    host: Host
    seats: Mapping[str, Seat]
    marks: Mapping[str, str]


def instance_of(found: Any) -> Instance:
    """The instance in one compute_v1.Instance. Local SSDs have no disk of their own, so no seat.

    Nothing is known to be carried or attached by a machine type that the data does not have.
    """
    kind = last_of(found.machine_type)
    known = machine(kind)
    tags = tags_of(found.labels, found.name)
    host = Host(
        id=str(found.id),
        type=kind,
        limits=known.limits if known else None,
        tags=tuple(tags.items()),
        caps=known.caps if known else (),
    )
    seats = {path_of(held.source): Seat(device=held.device_name, boot=held.boot) for held in found.disks if held.source}
    metadata = {item.key: item.value for item in found.metadata.items if item.key in HOST_METADATA}
    return Instance(host=host, seats=seats, marks={**tags, **metadata})
