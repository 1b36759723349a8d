"""A listing: all disks of one project, read once for all its regions and no further than they are asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.clouds.google.aggregated import Page, disk_pages, instance_pages
from plimsoll.clouds.google.clients import Clients
from plimsoll.clouds.google.disks import volume_of
from plimsoll.clouds.google.hosts import Instance, instance_of
from plimsoll.clouds.google.scopes import last_of, path_of, region_of
from plimsoll.domain.volume import Volume


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
