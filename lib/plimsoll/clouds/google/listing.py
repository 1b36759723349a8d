"""Listing a project: its disks by region, read once and no further than asked for, and where disks are attached."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from google.cloud import compute_v1

from plimsoll.clouds.google.clients import CALL_S, Clients
from plimsoll.clouds.google.disks import Instance, instance_of, volume_of
from plimsoll.clouds.google.errors import translated
from plimsoll.clouds.google.joining import Place
from plimsoll.clouds.google.names import LIST_DISKS, LIST_INSTANCES
from plimsoll.clouds.google.resource_fields import last_of, path_of, region_of
from plimsoll.domain.volume import Volume

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
        request = compute_v1.AggregatedListDisksRequest(_asked(compute_v1.AggregatedListDisksRequest, project))
        pages = clients.disks.aggregated_list(request=request, retry=clients.retry, timeout=CALL_S).pages
        for page in pages:
            yield _page(compute_v1.DiskAggregatedList.pb(page), "disks")


def instance_pages(clients: Clients, project: str, place: str) -> Iterator[Page]:
    """The instances of a project; raises CloudError that names the place."""
    with translated(place, LIST_INSTANCES):
        request = compute_v1.AggregatedListInstancesRequest(_asked(compute_v1.AggregatedListInstancesRequest, project))
        pages = clients.instances.aggregated_list(request=request, retry=clients.retry, timeout=CALL_S).pages
        for page in pages:
            yield _page(compute_v1.InstanceAggregatedList.pb(page), "instances")


def _asked(kind: Any, project: str) -> dict[str, Any]:
    """What is asked for. Some versions of the client do not know the wish to have what answers where a zone does not:
    with those such a zone is the whole list's failure, or Google grants it unasked."""
    partial = {_PARTIAL: True} if _PARTIAL in kind.meta.fields else {}
    return {"project": project, "max_results": PAGE, **partial}


def _page(page: Any, kind: str) -> Page:
    silent = {scope for scope, listed in page.items.items() if listed.warning.code == _SILENT}
    return Page(
        found=tuple((scope, one) for scope, listed in page.items.items() for one in getattr(listed, kind)),
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
