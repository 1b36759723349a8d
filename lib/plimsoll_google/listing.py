"""Listing: the volumes of one project, from its instances and its disks, each compared with the other.

If the two lists disagree, both are read once more. A disk that is in dispute then is unread, by name. So are the other
disks of its instances, because only a part of their traffic is known.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from plimsoll.clouds.common.answers import bad_answer
from plimsoll.clouds.common.calls import in_chunks
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.model.errors import BadAnswer, CloudError, Unreachable, VolumeGone
from plimsoll.model.volume import Volume
from plimsoll.ports import Target, UnreadVolume
from plimsoll_google.aggregated import AggregatedPage, disk_pages
from plimsoll_google.clients import Clients
from plimsoll_google.disks import disk_volume
from plimsoll_google.holders import Holders, holders_in, unlisted_error
from plimsoll_google.names import LIST_DISKS, last_of, path_of, region_of, within_project
from plimsoll_google.resources import read_disk


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDisk:
    """A disk in one reading of the lists: the volume, or why there is none.

    `hosts` are the paths of those instances that either list names with it. Without a number, the `id` is its path
    within the project.
    """

    path: str
    region: str
    id: str
    found: Volume | CloudError
    hosts: frozenset[str]
    pooled: bool = False


@dataclass(slots=True)
class ListsReading:
    """One reading of the disks of a project, held against its instances."""

    holders: Holders
    seen: set[str] = field(default_factory=set)
    scopes: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    blank: set[str] = field(default_factory=set)

    def entries(self, page: AggregatedPage) -> Iterator[ListedDisk]:
        """The disks of a page."""
        self.scopes |= page.scopes
        self.silent |= page.unreachable | page.blank
        self.blank |= page.blank
        for scope, message in page.found:
            region = region_of(scope)
            if region is not None:
                yield self._entry(message, scope, region)

    def unlisted_entries(self) -> dict[str, ListedDisk]:
        """The disks that instances hold and that were not listed, by path."""
        missing = self.holders.by_disk.keys() - self.seen
        return {
            path: ListedDisk(
                path=path,
                region=region,
                id=within_project(path),
                found=unlisted_error(path, self.holders.by_disk[path], self._in(region)),
                hosts=frozenset(self.holders.by_disk[path]),
            )
            for path in missing
            if (region := region_of(within_project(path).rpartition("/disks/")[0])) is not None
            and path.startswith(f"projects/{self.holders.project}/")
        }

    def gaps(self) -> set[str]:
        """The zones that one list lacks although the other, or nobody, reported them silent."""
        zones = {scope for scope in self.scopes if scope.startswith("zones/")}
        others = {scope for scope in self.holders.scopes if scope.startswith("zones/")}
        either = (zones ^ others) - self.silent - self.holders.silent
        return either | self.blank | self.holders.blank

    def _in(self, region: str) -> str:
        """The place for errors of a disk."""
        return f"{self.holders.project}/{region}"

    def _entry(self, message: Any, scope: str, region: str) -> ListedDisk:
        path = path_of(message.self_link or f"projects/{self.holders.project}/{scope}/disks/{message.name}")
        self.seen.add(path)
        volume: Volume | CloudError
        try:
            disk = read_disk(message, scope=scope, place=self._in(region))
            users = self.holders.holders_of(disk, self._in(region))
            volume = disk_volume(disk, self.holders.project, region, users)
        except CloudError as error:
            volume = error
        return ListedDisk(
            path=path,
            region=region,
            id=str(message.id) if message.id else within_project(path),
            found=volume,
            hosts=frozenset({*map(path_of, message.users), *self.holders.by_disk.get(path, ())}),
            pooled=bool(message.storage_pool),
        )


_NAMES_A_FILTER: Final = 40
"""The disks or instances that one filter names: it is a part of a URL."""


def read_named(
    clients: Clients, target: Target, ids: Sequence[str], purpose: CallPurpose
) -> Iterator[ListedDisk | UnreadVolume]:
    """The disks of a target with these ids and the instances that they name, and VolumeGone for ids without one.

    A zone that does not answer leaves open whether a disk is gone. Raises CloudError.
    """
    deadline, where = clients.list_deadline(), (clients, target.account, str(target))
    for part in in_chunks(dict.fromkeys(ids), _NAMES_A_FILTER):
        wanted = " OR ".join(f"(id = {name})" for name in part)
        pages = list(disk_pages(*where, deadline, wanted=wanted, purpose=purpose))
        users = {last_of(user) for page in pages for _, message in page.found for user in message.users}
        holders = Holders(project=target.account, scopes={scope for page in pages for scope in page.scopes})
        for names in in_chunks(sorted(users), _NAMES_A_FILTER):
            wanted = " OR ".join(f'(name = "{name}")' for name in names)
            holders.join(holders_in(*where, deadline, wanted=wanted, purpose=purpose))
        reading = ListsReading(holders)
        disks = [entry for page in pages for entry in reading.entries(page) if entry.region == target.region]
        yield from disks
        silent = sorted(scope for scope in reading.silent if region_of(scope) == target.region)
        for name in sorted(set(part).difference(entry.id for entry in disks)):
            text = f"{', '.join(silent)} did not answer, so that nobody can tell whether {name} is there."
            gone = VolumeGone(f"{name} in {target} does not exist any more.")
            yield UnreadVolume(id=name, error=Unreachable(text) if silent else gone)


@dataclass(slots=True, kw_only=True)
class ProjectListing:
    """The volumes of a project by region, each region's to be taken once, by any number of threads.

    Instances are read whole before the first disk, so that each disk is complete as its page arrives; a page's disks of
    other regions wait until their turn, if those are `wanted` (None: all are). `place` is what errors name. What comes
    later of a volume takes the place of what came before. `paths` are those of each volume and of its instances within
    the project, by the volume's id.
    """

    clients: Clients
    project: str
    place: str
    wanted: Sequence[str] | None = None
    pooled: set[str] = field(default_factory=set)
    paths: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    _waiting: dict[str, list[Volume | UnreadVolume]] = field(default_factory=dict)
    _kept: dict[str, ListedDisk] = field(default_factory=dict)
    _silent: set[str] = field(default_factory=set)
    _steps: Iterator[None] | None = None
    _whole: bool = False
    _error: CloudError | None = None
    _taken: set[str] = field(default_factory=set)
    _regions: set[str] = field(default_factory=set)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def claim(self, region: str) -> bool:
        """True if a region's volumes were not taken before; then they are the caller's to take."""
        with self._lock:
            if region in self._taken or self._error is not None:
                return False
            self._taken.add(region)
            return True

    def take(self, region: str) -> Iterator[Volume | UnreadVolume]:
        """The volumes of a claimed region, as pages arrive. Raises CloudError."""
        while True:
            with self._lock:
                ready = self._waiting.pop(region, ())
                has_next = bool(ready) or self._advance()
            yield from ready
            if not has_next:
                return

    def regions(self) -> set[str]:
        """The regions that have disks, or that did not answer. Raises CloudError."""
        with self._lock:
            while self._advance():
                pass
            return {*self._regions, *filter(None, map(region_of, self._silent))}

    def silent(self, region: str) -> list[str]:
        """The zones of a region that did not answer, or the region itself."""
        return sorted({last_of(scope) for scope in self._silent if region_of(scope) == region})

    @property
    def is_spent(self) -> bool:
        """True if no volume waits any more."""
        with self._lock:
            return self._whole and not self._waiting

    def _advance(self) -> bool:
        """Reads a page more; False if there is none. An error for one caller fails all."""
        if self._error is not None:
            raise self._error
        if self._steps is None:
            self._steps = self._read()
        try:
            self._whole = next(self._steps, self) is self
        except CloudError as error:
            self._error = error
            raise
        return not self._whole

    def _read(self) -> Iterator[None]:
        disputed: dict[str, ListedDisk] = {}
        deadline = self.clients.list_deadline()
        reading = ListsReading(holders_in(self.clients, self.project, self.place, deadline))
        for page in disk_pages(self.clients, self.project, self.place, deadline):
            disputed |= {entry.path: entry for entry in reading.entries(page) if not self._keep(entry)}
            yield None
        disputed |= {
            path: entry for path, entry in reading.unlisted_entries().items() if self._takes_region(entry.region)
        }
        if disputed or reading.gaps():
            reading = self._ask_again(reading, disputed)
            yield None
        self._silent |= reading.silent | reading.holders.silent | reading.gaps()

    def _keep(self, entry: ListedDisk) -> bool:
        """Takes an entry in; False if it is in dispute."""
        self._regions.add(entry.region)
        if not self._takes_region(entry.region):
            return True
        if isinstance(entry.found, Volume):
            if self._kept.setdefault(entry.found.id, entry).path != entry.path:
                return False
            if entry.pooled:
                self.pooled.add(entry.found.id)
            hosts = tuple(map(within_project, sorted(entry.hosts)))
            self.paths[entry.found.id] = (within_project(entry.path), hosts)
            self._put(entry.region, entry.found)
        return isinstance(entry.found, Volume)

    def _put(self, region: str, volume: Volume | UnreadVolume) -> None:
        self._waiting.setdefault(region, []).append(volume)

    def _takes_region(self, region: str) -> bool:
        return self.wanted is None or region in self.wanted

    def _ask_again(self, first: ListsReading, disputed: dict[str, ListedDisk]) -> ListsReading:
        """Reads both lists anew; disks still in dispute are unread, with those that share an instance with them."""
        deadline = self.clients.list_deadline()
        try:
            second = ListsReading(holders_in(self.clients, self.project, self.place, deadline))
            pages = disk_pages(self.clients, self.project, self.place, deadline)
            entries = {
                entry.path: entry for page in pages for entry in second.entries(page)
            } | second.unlisted_entries()
        except CloudError:
            second, entries = first, {}
        wanted = [path for path in entries if path in disputed or path not in first.seen]
        unread = {path: entry for path, entry in disputed.items() if path not in entries}
        unread |= {path: entries[path] for path in wanted if not self._keep(entries[path])}
        self._refuse(unread.values())
        return second

    def _refuse(self, unread: Iterable[ListedDisk]) -> None:
        """Marks each entry as unread with its reason, and all others on its instances for its sake."""
        hosts: dict[str, ListedDisk] = {}
        for entry in unread:
            self._regions.add(entry.region)
            self._put(entry.region, UnreadVolume(id=entry.id, error=self._why(entry)))
            hosts |= dict.fromkeys(entry.hosts, entry)
        beside = [entry for entry in self._kept.values() if entry.hosts]
        while reached := [entry for entry in beside if not hosts.keys().isdisjoint(entry.hosts)]:
            beside = [entry for entry in beside if entry not in reached]
            for entry in reached:
                host = min(entry.hosts & hosts.keys())
                self._put(
                    entry.region, UnreadVolume(id=entry.id, error=self._shared_host_error(entry, host, hosts[host]))
                )
                hosts |= dict.fromkeys(entry.hosts - hosts.keys(), entry)

    def _why(self, entry: ListedDisk) -> CloudError:
        if not isinstance(entry.found, Volume):
            return entry.found
        other = self._kept[entry.found.id]
        wrong = f"the id {entry.id} is that of {last_of(entry.path)} and of {last_of(other.path)}"
        where = f"disk {last_of(entry.path)} in {self.project}/{entry.region}"
        return bad_answer(wrong, wrong, call=LIST_DISKS, place=where)

    def _shared_host_error(self, entry: ListedDisk, host: str, other: ListedDisk) -> CloudError:
        return BadAnswer(
            f"cannot decide on disk {last_of(entry.path)} in {self.project}/{entry.region}: it shares instance "
            f"{last_of(host)} with {last_of(other.path)}, which could not be read, so that the instance's traffic is "
            "known in part alone. Run again later."
        )
