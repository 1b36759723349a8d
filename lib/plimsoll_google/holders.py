"""Holders: the instances that hold each disk, if the list of disks and that of instances agree.

Either list names what the other should: a disk its users, an instance its disks. If one lacks what the other has,
nobody can tell which of them is right, so that the disk is in dispute.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from plimsoll.clouds.common.answers import Deadline, bad_answer
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.model.errors import BadAnswer, CloudError, Unreachable
from plimsoll_google.aggregated import instance_pages
from plimsoll_google.clients import Clients
from plimsoll_google.disks import AttachedDisk, HostInstance, host_instance
from plimsoll_google.errors import GOOGLE_AUDITING
from plimsoll_google.names import LIST_DISKS, LIST_INSTANCES, last_of, path_of
from plimsoll_google.resources import DiskAnswer

_BOTH: Final = f"{LIST_DISKS} and {LIST_INSTANCES}"


@dataclass(slots=True, kw_only=True)
class Holders:
    """The instances of a project by their path, or the error of each, and the holders of each disk.

    `scopes` are all that the list has. `silent` are those of them that did not answer.
    """

    project: str
    instances: dict[str, HostInstance | BadAnswer] = field(default_factory=dict)
    scopes: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    blank: set[str] = field(default_factory=set)
    by_disk: dict[str, set[str]] = field(default_factory=dict)
    _ids: dict[str, str] = field(default_factory=dict, repr=False)

    def keep(self, path: str, instance: HostInstance | BadAnswer) -> None:
        """Takes an instance in; two with one id are both unreadable, because nobody can tell their metrics apart."""
        self.instances[path] = instance
        if isinstance(instance, BadAnswer):
            return
        other = self._ids.setdefault(instance.host.id, path)
        if other != path:
            wrong = f"the id {instance.host.id} is that of {last_of(other)} and of {last_of(path)}"
            error = bad_answer(wrong, wrong, call=LIST_INSTANCES, place=f"instance {last_of(path)} in {self.project}")
            self.instances[path] = self.instances[other] = error
        for disk in instance.attached:
            self.by_disk.setdefault(disk, set()).add(path)

    def join(self, other: "Holders") -> None:
        """Takes in the instances of another list of the same project."""
        self.scopes |= other.scopes
        self.silent |= other.silent
        self.blank |= other.blank
        for path, instance in other.instances.items():
            self.keep(path, instance)

    def holders_of(self, disk: DiskAnswer, place: str) -> Iterator[tuple[HostInstance, AttachedDisk] | None]:
        """The users of a disk with how each holds it, in its own order, None for one of another project.

        Raises CloudError, which names the disk, if they are not sure.
        """
        where = f"disk {disk.name} in {place}"
        for zone in disk.zones:
            if f"zones/{zone}" in self.silent or f"zones/{zone}" not in self.scopes:
                raise Unreachable(
                    f"cannot read {where}: {zone} did not answer which instances it has, so that nobody can tell "
                    "whether one of them uses the disk. Run again later."
                )
        users = [path_of(user) for user in disk.users]
        missing = self.by_disk.get(disk.path, set()).difference(users)
        if missing:
            names = ", ".join(sorted(map(last_of, missing)))
            raise _dispute_error(f"instance {names} holds the disk, which has no such user", where)
        for user in users:
            yield self._user(user, disk, where)

    def _user(self, user: str, disk: DiskAnswer, where: str) -> tuple[HostInstance, AttachedDisk] | None:
        if not user.startswith(f"projects/{self.project}/"):
            return None
        instance = self.instances.get(user)
        if instance is None:
            raise _dispute_error(f"the disk's user {last_of(user)} is not in the list of instances", where)
        if isinstance(instance, BadAnswer):
            raise instance
        held = instance.attached.get(disk.path)
        if held is None:
            raise _dispute_error(f"the disk's user {last_of(user)} does not hold it", where)
        if isinstance(held, BadAnswer):
            raise held
        return instance, held


def _dispute_error(what: str, where: str) -> BadAnswer:
    return bad_answer(what, what, call=_BOTH, place=where)


def unlisted_error(path: str, holders: Iterable[str], place: str) -> CloudError:
    """The error of a disk that instances hold and that no list has."""
    names = ", ".join(sorted(map(last_of, holders))) or "an instance"
    return _dispute_error(
        f"{names} holds the disk, which is not in the list of disks", f"disk {last_of(path)} in {place}"
    )


def holders_in(
    clients: Clients,
    project: str,
    place: str,
    deadline: Deadline,
    *,
    wanted: str = "",
    purpose: CallPurpose = GOOGLE_AUDITING,
) -> Holders:
    """The instances of a project, or those that a filter names. Raises CloudError.

    An entry that cannot be read costs its own disks.
    """
    holders = Holders(project=project)
    for page in instance_pages(clients, project, place, deadline, wanted=wanted, purpose=purpose):
        holders.scopes |= page.scopes
        holders.silent |= page.unreachable | page.blank
        holders.blank |= page.blank
        for scope, message in page.found:
            path = f"projects/{project}/{scope}/instances/{message.name}"
            try:
                instance = host_instance(message, scope=scope, place=place)
            except BadAnswer as error:
                holders.keep(path, error)
            else:
                holders.keep(instance.path, instance)
    return holders
