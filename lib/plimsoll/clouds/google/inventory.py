"""Inventory: Persistent Disks and Hyperdisks with their attachments, hosts and owners, project by project.

A project is listed once: its disks by region, no further than asked for.
"""

import threading
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from google.cloud import compute_v1

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.common.messages import check_regions
from plimsoll.clouds.google.clients import Clients
from plimsoll.clouds.google.disks import Instance, instance_of, volume_of
from plimsoll.clouds.google.errors import translated
from plimsoll.clouds.google.names import LIST_DISKS, LIST_INSTANCES, LIST_REGIONS, last_of, path_of, region_of
from plimsoll.clouds.google.queries import Place
from plimsoll.clouds.registry import GOOGLE
from plimsoll.domain.errors import ApiDisabled, CloudError
from plimsoll.domain.volume import Volume
from plimsoll.ports import FailedTarget, Target

PAGE: Final = 500
"""The most that a page brings (compute_v1 1.57, `max_results`, read 2026-11-22)."""

_SILENT: Final = "UNREACHABLE"
_PARTIAL: Final = "return_partial_success"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page has, each with its scope (zones/..., regions/...), and the scopes that did not answer."""

    found: tuple[tuple[str, Any], ...]
    unreachable: frozenset[str]


def disk_pages(clients: Clients, project: str, place: str) -> Iterator[Page]:
    """The disks of a project, those of zones and of regions; raises CloudError that names the place."""
    with translated(place, LIST_DISKS):
        asked = _asked(compute_v1.AggregatedListDisksRequest, project)
        for page in clients.disks.aggregated_list(request=asked, **clients.tries).pages:
            yield _page(compute_v1.DiskAggregatedList.pb(page), "disks")


def instance_pages(clients: Clients, project: str, place: str) -> Iterator[Page]:
    """The instances of a project; raises CloudError that names the place."""
    with translated(place, LIST_INSTANCES):
        asked = _asked(compute_v1.AggregatedListInstancesRequest, project)
        for page in clients.instances.aggregated_list(request=asked, **clients.tries).pages:
            yield _page(compute_v1.InstanceAggregatedList.pb(page), "instances")


def _asked(kind: Any, project: str) -> Any:
    """What is asked for. Some versions of the client do not know the wish to have what answers where a zone does not:
    with those such a zone is the whole list's failure, or Google grants it unasked."""
    partial = {_PARTIAL: True} if _PARTIAL in kind.meta.fields else {}
    return kind(project=project, max_results=PAGE, **partial)


def _page(page: Any, kind: str) -> Page:
    # A protobuf map has another order in every process: the same answer must make the same run.
    scopes = sorted(page.items.items(), key=lambda item: item[0])
    silent = {scope for scope, listed in scopes if listed.warning.code == _SILENT}
    return Page(
        found=tuple((scope, one) for scope, listed in scopes for one in getattr(listed, kind)),
        unreachable=frozenset({*page.unreachables, *silent}),
    )


@dataclass(slots=True, kw_only=True)
class Listing:
    """The volumes of a project by region, each region's to be taken once.

    Instances are read whole before the first disk, so that each disk is complete as its page arrives; a page's disks of
    other regions wait until their turn, if those are `wanted` (None: all are). `place` is what errors name.
    """

    clients: Clients
    project: str
    place: str
    wanted: Sequence[str] | None = None
    pooled: set[str] = field(default_factory=set)
    _waiting: dict[str, list[Volume]] = field(default_factory=dict)
    _silent: set[str] = field(default_factory=set)
    _pages: Iterator[None] | None = None
    _whole: bool = False
    _taken: set[str] = field(default_factory=set)

    def take(self, region: str) -> Iterator[Volume]:
        """The volumes of a region, as pages arrive; raises CloudError."""
        self._taken.add(region)
        while True:
            yield from self._waiting.pop(region, ())
            if not self._advance():
                return

    def regions(self) -> set[str]:
        """The regions that have disks, or that did not answer; raises CloudError."""
        while self._advance():
            pass
        return {*self._waiting, *self._taken, *filter(None, map(region_of, self._silent))}

    def silent(self, region: str) -> list[str]:
        """The zones of a region that did not answer, or the region itself."""
        return sorted({last_of(scope) for scope in self._silent if region_of(scope) == region})

    def can_give(self, region: str) -> bool:
        """Whether a region's volumes have not been taken yet."""
        return region not in self._taken

    @property
    def spent(self) -> bool:
        """Whether nothing waits any more."""
        return self._whole and not self._waiting

    def _advance(self) -> bool:
        """Reads a page more; False where there is none."""
        if self._pages is None:
            self._pages = self._read()
        self._whole = next(self._pages, self) is self
        return not self._whole

    def _read(self) -> Iterator[None]:
        instances: dict[str, Instance] = {}
        for page in instance_pages(self.clients, self.project, self.place):
            self._silent |= page.unreachable
            instances |= {path_of(found.self_link): instance_of(found) for _, found in page.found}
        for page in disk_pages(self.clients, self.project, self.place):
            self._keep(page, instances)
            yield None

    def _keep(self, page: Page, instances: Mapping[str, Instance]) -> None:
        self._silent |= page.unreachable
        for scope, found in page.found:
            region = region_of(scope)
            if region is None or (self.wanted is not None and region not in self.wanted):
                continue
            volume = volume_of(found, self.project, region, instances)
            if found.storage_pool:
                self.pooled.add(volume.id)
            self._waiting.setdefault(region, []).append(volume)


@dataclass(slots=True, kw_only=True)
class AttachedPlaces:
    """The places of each project that have a disk, listed when they are first asked for and then kept."""

    clients: Clients
    _known: dict[str, frozenset[Place]] = field(default_factory=dict, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __call__(self, project: str, place: str) -> frozenset[Place]:
        """Those of a project; raises CloudError that names the place."""
        with self._lock:
            if project not in self._known:
                self._known[project] = frozenset(
                    (str(found.id), disk.device_name)
                    for page in instance_pages(self.clients, project, place)
                    for _, found in page.found
                    for disk in found.disks
                )
            return self._known[project]


_LISTED_BY: Final = "gcloud compute regions list"


@dataclass(slots=True, kw_only=True)
class GoogleInventory:
    """Disks of projects. `regions` None: those in which each project has disks.

    A project in which Compute Engine is switched off has no disks: that is a failure only of those that somebody
    `named` (None: all were).
    """

    clients: Clients
    projects: Sequence[str]
    regions: Sequence[str] | None = None
    failed: Sequence[FailedTarget] = ()
    named: Collection[str] | None = None
    _listing: Listing | None = field(default=None, repr=False)
    _told: dict[Target, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def targets(self) -> Sequence[Target | FailedTarget]:
        """Every project in its regions, and what could not be reached; BadInput for a region that does not exist."""
        found: list[Target | FailedTarget] = []
        for project in self.projects:
            try:
                regions = self._regions_of(project)
            except CloudError as error:
                if self.named is None or project in self.named or not isinstance(error, ApiDisabled):
                    found.append(FailedTarget(name=project, error=error))
                continue
            found += [Target(account=project, region=region, provider=GOOGLE) for region in regions]
        return [*found, *self.failed]

    def volumes(self, target: Target) -> Iterator[Volume]:
        """Every volume of a target, a page at a time.

        The project's disks of other regions are kept until those are asked for, or another project is.
        """
        listing = self._listing_of(target)
        unknown, uncapped, pooled = Counter[str](), Counter[tuple[str, str]](), 0
        try:
            for volume in listing.take(target.region):
                unknown.update({host.type for host in volume.hosts if host.caps == ()})
                uncapped.update(_uncapped(volume))
                pooled += volume.id in listing.pooled
                yield volume
        except CloudError:
            self._listing = None
            raise
        self._told[target] = tuple(_texts(unknown, uncapped, pooled, listing.silent(target.region)))
        if listing.spent and self._listing is listing:
            self._listing = None

    def notices(self, target: Target) -> Sequence[str]:
        """What did not answer, which hosts no limits are known of, and what a storage pool pays for.

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
            listing = Listing(clients=self.clients, project=project, place=project)
            regions = sorted(listing.regions())
            self._listing = listing
            return regions
        scopes = set[str]()
        for page in disk_pages(self.clients, project, project):
            scopes.update(page.unreachable, (scope for scope, _ in page.found))
        return sorted({region for scope in scopes if (region := region_of(scope)) is not None})

    def _known_regions(self, project: str) -> list[str]:
        with translated(project, LIST_REGIONS):
            request = compute_v1.ListRegionsRequest(project=project, max_results=PAGE)
            return [one.name for one in self.clients.regions.list(request, **self.clients.tries)]

    def _listing_of(self, target: Target) -> Listing:
        listing = self._listing
        if listing is None or listing.project != target.account or not listing.can_give(target.region):
            listing = Listing(
                clients=self.clients, project=target.account, place=str(target), wanted=self._wanted(target)
            )
            self._listing = listing
        return listing

    def _wanted(self, target: Target) -> Sequence[str] | None:
        return self.regions if self.regions is None or target.region in self.regions else [target.region]


def _uncapped(volume: Volume) -> set[tuple[str, str]]:
    """The volume's type with those of its hosts' that are known, but not what they carry of it."""
    kind = volume.spec.type
    if kind not in volume_types(GOOGLE):
        return set()
    return {(kind, host.type) for host in volume.hosts if host.caps and host.cap(kind) is None}


def _texts(
    unknown: Counter[str], uncapped: Counter[tuple[str, str]], pooled: int, silent: Iterable[str]
) -> Iterator[str]:
    for place in silent:
        yield (
            f"{place} did not answer: its volumes may be missing here, or shown without their hosts. Run again later."
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
