"""Step 1, inventory: the volumes of a target, its notices, and the stripe sets that still exist there."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from plimsoll.auditing.ports import AuditPorts
from plimsoll.auditing.side_by_side import side_by_side
from plimsoll.domain.errors import CloudError, DeniedByPolicy, VolumeGone
from plimsoll.domain.groups.stripes import split_by_change
from plimsoll.domain.volume import Volume
from plimsoll.outcomes import ANSWERED_BEFORE, DELETED, FailedVolume, Notice, Outcome, Skipped
from plimsoll.ports import FailedTarget, Target, UnreadVolume


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The volumes of a target, those that could not be read with why, and the error if listing failed."""

    target: Target
    volumes: list[Volume]
    unread: list[UnreadVolume]
    error: CloudError | None

    @property
    def count(self) -> int:
        """The number of volumes by name, also of those that could not be read."""
        return len(self.volumes) + sum(volume.id is not None for volume in self.unread)


def list_targets(ports: AuditPorts) -> Sequence[Target | FailedTarget]:
    """Every target in scope, and those that cannot be reached with why."""
    with ports.stages.stage("inventory"):
        return ports.inventory.targets()


def listings(
    ports: AuditPorts, targets: Sequence[Target | FailedTarget] | None = None
) -> Iterator[Listing | FailedTarget]:
    """Some targets with their volumes, several listed at once; by default every target in scope."""

    def list_target(target: Target | FailedTarget) -> Listing | FailedTarget:
        return target if isinstance(target, FailedTarget) else list_volumes(target, ports)

    yield from side_by_side(list_target, list_targets(ports) if targets is None else targets)


def list_volumes(target: Target, ports: AuditPorts) -> Listing:
    """The target's volumes and, if listing failed, the error with the volumes listed before it.

    A host's traffic needs all of its volumes, so a part of them is no inventory.
    """
    named: dict[str, Volume | UnreadVolume] = {}
    nameless: list[UnreadVolume] = []
    failure: CloudError | None = None
    try:
        with ports.stages.stage("inventory"):
            for volume in ports.inventory.volumes(target):
                if volume.id is None:
                    nameless.append(volume)
                else:
                    named[volume.id] = volume  # a volume that moves between pages can be listed twice
    except CloudError as error:
        failure = error
    return Listing(
        target=target,
        volumes=[volume for volume in named.values() if isinstance(volume, Volume)],
        unread=[*(volume for volume in named.values() if isinstance(volume, UnreadVolume)), *nameless],
        error=failure,
    )


DENIED_AS_EXPECTED: Final = "an organization's policy denies to read this place, as expected: nothing of it is known."


def is_expected(listing: Listing, ports: AuditPorts) -> bool:
    """True if nothing could be listed because an organization's policy denies it, and that is meant to be so."""
    is_denied = isinstance(listing.error, DeniedByPolicy) and not listing.count and not listing.unread
    return is_denied and ports.denied_places_expected


def unread_outcomes(listing: Listing, done: frozenset[str]) -> Iterator[Outcome]:
    """The outcomes of volumes that could not be read. One without even an id leaves its target incomplete."""
    nameless = Counter[str]()
    for volume in listing.unread:
        if volume.id is None:
            nameless[volume.what] += 1
            number = f" ({nameless[volume.what]})" if nameless[volume.what] > 1 else ""
            yield FailedTarget(name=f"{volume.what} of {listing.target}{number}", error=volume.error)
        elif isinstance(volume.error, VolumeGone):
            yield Skipped(target=listing.target, volume_id=volume.id, reason=str(volume.error), kind=DELETED)
        elif volume.id in done:
            yield Skipped(target=listing.target, volume_id=volume.id, reason=ANSWERED_BEFORE)
        else:
            yield FailedVolume.from_error(listing.target, volume.id, volume.error)


def notices_of(target: Target, ports: AuditPorts) -> Sequence[str]:
    """The target's notices. If they cannot be read, the reason is the notice."""
    try:
        return ports.inventory.notices(target)
    except CloudError as error:
        return (str(error),)


def with_stripes_of(listing: Listing, ports: AuditPorts) -> tuple[AuditPorts, list[Notice]]:
    """The ports with only the target's stripe sets that are unchanged, and a notice for each that changed.

    A set with a volume that could not be read is neither: its other volumes are on the same host, so they are unread.
    """
    target, unread = listing.target, {volume.id for volume in listing.unread}
    known = [stripes for stripes in ports.stripes if unread.isdisjoint(stripes.members)]
    stripes, void = split_by_change(known, listing.volumes, account=target.account, region=target.region)
    return replace(ports, stripes=stripes), [Notice(target=target, text=text) for text in void]
