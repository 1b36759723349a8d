"""Attachments: a disk joined with the instances that use it."""

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.clouds.google.hosts import Instance
from plimsoll.clouds.google.moments import moment
from plimsoll.clouds.google.scopes import path_of
from plimsoll.domain.volume import Attachment


def attachments_of(disk: Any, instances: Mapping[str, Instance]) -> Iterator[Attachment]:
    """One attachment for each user of a compute_v1.Disk, since its latest attachment.

    The host is None where it is of another project or gone by now, or holds the disk no longer.
    """
    since = moment(disk.last_attach_timestamp or disk.creation_timestamp)
    path = path_of(disk.self_link)
    for user in disk.users:
        instance = instances.get(path_of(user))
        seat = instance.seats.get(path) if instance else None
        yield Attachment(
            host=instance.host if instance and seat else None,
            device=seat.device if seat else "",
            since=since,
            boot=seat is not None and seat.boot,
        )


def marks_of(disk: Any, instances: Mapping[str, Instance]) -> dict[str, str]:
    """What the instances that use a disk say of who made them."""
    users = [instances[path_of(user)] for user in disk.users if path_of(user) in instances]
    return {key: value for instance in users for key, value in instance.marks.items()}
