"""Inventory: Persistent Disks and Hyperdisks with their attachments, hosts and owners, project by project."""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from google.cloud import compute_v1

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.common.messages import check_regions
from plimsoll.clouds.google.clients import CALL_S, Clients
from plimsoll.clouds.google.errors import translated
from plimsoll.clouds.google.listing import PAGE, Listing, disk_pages
from plimsoll.clouds.google.names import LIST_REGIONS
from plimsoll.clouds.google.resource_fields import region_of
from plimsoll.clouds.registry import GOOGLE
from plimsoll.domain.errors import ApiDisabled, CloudError
from plimsoll.domain.volume import Volume
from plimsoll.ports import FailedTarget, Target

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
            return [one.name for one in self.clients.regions.list(request, retry=self.clients.retry, timeout=CALL_S)]

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
