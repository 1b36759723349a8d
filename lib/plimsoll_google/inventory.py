"""Inventory: Persistent Disks and Hyperdisks with their attachments, hosts and owners, project by project.

A project is listed once: its disks by region, no further than asked for.
"""

import threading
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from google.cloud import compute_v1

from plimsoll.clouds.common.answers import bad_answer
from plimsoll.clouds.common.calls import Pacer
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.common.messages import check_regions
from plimsoll.clouds.registry import GOOGLE
from plimsoll.model.errors import ApiDisabled, BadAnswer, CloudError, Unreachable
from plimsoll.model.volume import Volume
from plimsoll.ports import FailedTarget, Target, UnreadVolume
from plimsoll_google.aggregated import LIST_PAGE_SIZE, disk_pages
from plimsoll_google.audit_log import LOG_KEPT_DAYS, REQUESTS_A_SECOND, ProjectLog, read_log
from plimsoll_google.clients import Clients
from plimsoll_google.disks import AttachedDisk
from plimsoll_google.holders import holders_in
from plimsoll_google.listing import ProjectListing
from plimsoll_google.names import LIST_REGIONS, region_of
from plimsoll_google.pages import PagedList
from plimsoll_google.queries import DevicePlace


@dataclass(slots=True, kw_only=True)
class AttachedPlaces:
    """The places of each project that have a disk, listed when they are first asked for and then kept."""

    clients: Clients
    _known: dict[str, frozenset[DevicePlace]] = field(default_factory=dict, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __call__(self, project: str, place: str) -> frozenset[DevicePlace]:
        """The places of a project. Raises CloudError that names the place."""
        with self._lock:
            if project not in self._known:
                self._known[project] = frozenset(self._places(project, place))
            return self._known[project]

    def _places(self, project: str, place: str) -> Iterator[DevicePlace]:
        for instance in holders_in(self.clients, project, place, self.clients.list_deadline()).instances.values():
            if isinstance(instance, BadAnswer):
                raise instance
            for held in instance.attached.values():
                if not isinstance(held, AttachedDisk):
                    raise held
                yield instance.host.id, held.device


_LISTED_BY: Final = "gcloud compute regions list"


@dataclass(slots=True, kw_only=True)
class GoogleInventory:
    """Disks of projects.

    `regions` None: those in which each project has disks. A project in which Compute Engine is switched off has no
    disks. That is a failure only of projects that somebody `named` (None: all were). `log_days` is how far back each
    project's audit log is read (0: not at all).
    """

    clients: Clients
    projects: Sequence[str]
    regions: Sequence[str] | None = None
    failed: Sequence[FailedTarget] = ()
    named: Collection[str] | None = None
    log_days: float = 0.0
    log_pacer: Pacer = field(default_factory=lambda: Pacer(REQUESTS_A_SECOND))
    _logs: dict[str, ProjectLog] = field(default_factory=dict, repr=False)
    _listings: dict[str, ProjectListing] = field(default_factory=dict, repr=False)
    _found: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _told: dict[Target, tuple[str, ...]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def targets(self) -> Sequence[Target | FailedTarget]:
        """Every project in its regions, and each that could not be reached. Raises BadInput for an unknown region."""
        entries: list[Target | FailedTarget] = []
        for project in self.projects:
            try:
                regions = self._regions_of(project)
            except CloudError as error:
                if self.named is None or project in self.named or not isinstance(error, ApiDisabled):
                    entries.append(FailedTarget(name=project, error=error))
                continue
            entries += [Target(account=project, region=region, provider=GOOGLE) for region in regions]
        return [*entries, *self.failed]

    def volumes(self, target: Target) -> Iterator[Volume | UnreadVolume]:
        """Every volume of a target, a page at a time; any number of targets at once.

        The project's disks of other regions are kept until those are asked for.
        """
        log = self._log_of(target)
        listing = self._listing_of(target)
        unknown, uncapped, pooled = Counter[str](), Counter[tuple[str, str]](), 0
        try:
            for volume in listing.take(target.region):
                if isinstance(volume, Volume):
                    unknown.update({host.type for host in volume.hosts if host.caps == ()})
                    uncapped.update(_uncapped_pairs(volume))
                    pooled += volume.id in listing.pooled
                    yield _with_past(volume, listing, log)
                else:
                    yield volume
        except CloudError:
            self._forget(listing)
            raise
        yield from (_silent_place(place) for place in listing.silent(target.region))
        late = listing.regions() - self._found.get(target.account, listing.regions())
        self._told[target] = tuple(_texts(unknown, uncapped, pooled, late))
        if listing.is_spent:
            self._forget(listing)

    def _log_of(self, target: Target) -> ProjectLog:
        """The audit log of a target's project; read once."""
        if not self.log_days:
            return ProjectLog()
        with self._lock:
            if target.account not in self._logs:
                since = datetime.now(UTC) - timedelta(days=min(self.log_days, LOG_KEPT_DAYS))
                self._logs[target.account] = read_log(self.clients, target.account, str(target), since, self.log_pacer)
            return self._logs[target.account]

    def notices(self, target: Target) -> Sequence[str]:
        """The regions that were found late, the hosts without known limits, and the volumes paid for by a storage pool.

        A target that cannot be listed has none: its volumes say why.
        """
        if target not in self._told:
            with suppress(CloudError):
                deque(self.volumes(target), maxlen=0)
        return self._told.get(target, ())

    def _regions_of(self, project: str) -> Sequence[str]:
        if self.regions is not None:
            known = self._known_regions(project)
            check_regions(self.regions, known, cloud="Google Cloud", listed_by=_LISTED_BY)
            return self.regions
        if len(self.projects) == 1:
            listing = ProjectListing(clients=self.clients, project=project, place=project)
            regions = listing.regions()
            with self._lock:
                self._listings[project] = listing
            return sorted(regions)
        scopes = set[str]()
        for page in disk_pages(self.clients, project, project):
            scopes.update(page.unreachable, page.blank, (scope for scope, _ in page.found))
        self._found[project] = frozenset(region for scope in scopes if (region := region_of(scope)) is not None)
        return sorted(self._found[project])

    def _known_regions(self, project: str) -> list[str]:
        """The names of all regions. An answer without one of the regions in scope is asked for once more."""

        def names_on(page: Any) -> list[str]:
            return [region.name for region in page.items]

        def check(page: Any) -> None:
            names = names_on(page)
            if not all(names) or not names:
                wrong = "name is missing" if names else "items is missing"
                raise bad_answer(wrong, names, call=LIST_REGIONS, place=project)

        wanted = frozenset(self.regions or ())
        listed = PagedList(
            clients=self.clients,
            what=f"read {project}",
            place=project,
            permission=LIST_REGIONS,
            deadline=self.clients.list_deadline(),
            check=check,
            size=lambda page: len(wanted.intersection(names_on(page))),
            doubtful=lambda size: size < len(wanted),
        )
        request = compute_v1.ListRegionsRequest(project=project, max_results=LIST_PAGE_SIZE)
        return [name for page in listed.pages(self.clients.regions.list, request) for name in names_on(page)]

    def _listing_of(self, target: Target) -> ProjectListing:
        with self._lock:
            listing = self._listings.get(target.account)
            if listing is None or not listing.claim(target.region):
                listing = ProjectListing(
                    clients=self.clients, project=target.account, place=str(target), wanted=self._wanted_regions(target)
                )
                listing.claim(target.region)
                self._listings[target.account] = listing
            return listing

    def _forget(self, listing: ProjectListing) -> None:
        with self._lock:
            if self._listings.get(listing.project) is listing:
                del self._listings[listing.project]

    def _wanted_regions(self, target: Target) -> Sequence[str] | None:
        return self.regions if self.regions is None or target.region in self.regions else [target.region]


def _with_past(volume: Volume, listing: ProjectListing, log: ProjectLog) -> Volume:
    """The volume with its past from the log."""
    disk, hosts = listing.paths.get(volume.id, ("", ()))
    seen = log.seen_of(disk, hosts[0] if len(hosts) == 1 else None, volume)
    return replace(volume, seen=seen) if seen else volume


def _silent_place(place: str) -> UnreadVolume:
    """A zone, or a region, that did not answer."""
    reason = f"{place} did not answer: its volumes may be missing here. Run again later."
    return UnreadVolume(id=None, error=Unreachable(reason), what=f"the disks of {place}")


def _uncapped_pairs(volume: Volume) -> set[tuple[str, str]]:
    """The volume's type, with the type of each known host whose cap for it is unknown."""
    kind = volume.spec.type
    if kind not in volume_types(GOOGLE):
        return set()
    return {(kind, host.type) for host in volume.hosts if host.caps and host.cap(kind) is None}


def _texts(
    unknown: Counter[str],
    uncapped: Counter[tuple[str, str]],
    pooled: int,
    late: Iterable[str],
) -> Iterator[str]:
    for region in sorted(late):
        yield (
            f"{region} has disks too, which the project's first list lacked: none of them is in this run. Run again, "
            f"or name the region with --region {region}."
        )
    if unknown:
        types = ", ".join(f"{kind} ({_volumes(count)})" for kind, count in sorted(unknown.items()))
        yield (
            f"this version of Plimsoll does not know what these machine types can carry or attach: {types}. Nothing "
            "else is offered for their volumes; update Plimsoll."
        )
    if uncapped:
        pairs = ", ".join(f"{kind} on {host} ({_volumes(count)})" for (kind, host), count in sorted(uncapped.items()))
        yield (
            f"this version of Plimsoll does not know what a machine carries of these disk types: {pairs}. Such volumes "
            "are judged by their own limits, although the machine's may be lower; update Plimsoll."
        )
    if pooled:
        yield (
            f"{_volumes(pooled)} in Hyperdisk Storage Pools: capacity and performance there are paid for by the pool, "
            "so that a smaller volume saves only where the pool is made smaller too."
        )


def _volumes(count: int) -> str:
    return "1 volume" if count == 1 else f"{count:,} volumes"
