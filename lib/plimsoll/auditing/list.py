"""Step 1, inventory: the volumes of a target, its notices, and the stripe sets that still exist there."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from plimsoll.auditing.at_once import side_by_side
from plimsoll.auditing.ports import AuditPorts
from plimsoll.decide.groups import split_by_change
from plimsoll.model.errors import BadInput, CloudError, DeniedByPolicy, PlimsollError, RegionDenied, VolumeGone
from plimsoll.model.volume import Volume
from plimsoll.model.volume_names import NamedVolume, NameSearch, nearest_hint, quote_word
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
    def all_volumes(self) -> list[Volume | UnreadVolume]:
        """The volumes, also those that could not be read."""
        return [*self.volumes, *self.unread]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeListing:
    """A volume in the listing of its target, with the ports that listed it."""

    ports: AuditPorts
    listing: Listing
    volume: Volume | UnreadVolume


def find_listed(words: Iterable[str], audits: Sequence[AuditPorts]) -> dict[str, VolumeListing | PlimsollError]:
    """The volume that each word means, or why none is: people may call it as they like (`volume_names`).

    An id is enough where it is found. Any other name has to be looked for in every place: what could not be listed may
    have a volume of that name too.
    """
    searches = {word: NameSearch[VolumeListing](word) for word in words}
    names, unsearched = list[NamedVolume](), list[CloudError]()
    for ports in audits:
        for listing in _listings_of(ports, unsearched):
            target = listing.target
            for volume in listing.all_volumes:
                if volume.id is not None:
                    name = NamedVolume(target.account, target.region, volume.id, getattr(volume, "name", None))
                    names.append(name)
                    for search in searches.values():
                        search.see(name, VolumeListing(ports=ports, listing=listing, volume=volume))
            if all(search.is_exact for search in searches.values()):
                return {word: _chosen(search, [], []) for word, search in searches.items()}
    return {word: _chosen(search, names, unsearched) for word, search in searches.items()}


def _listings_of(ports: AuditPorts, unsearched: list[CloudError]) -> Iterator[Listing]:
    """Yields what can be listed; adds the errors of what cannot."""
    try:
        for listing in listings(ports):
            if listing.error is not None:
                unsearched.append(listing.error)
            if isinstance(listing, Listing):
                yield listing
    except CloudError as error:
        unsearched.append(error)


def _chosen(
    search: NameSearch[VolumeListing], names: Sequence[NamedVolume], unsearched: Sequence[CloudError]
) -> VolumeListing | PlimsollError:
    try:
        listed = search.choose()
    except BadInput as error:
        return error
    if listed is None and unsearched:
        return unsearched[0]
    if listed is None:
        hint = nearest_hint(search.word, names) or "check them, and its id."
        return BadInput(f"there is no volume {quote_word(search.word)} in these accounts and regions: {hint}")
    if unsearched and not search.is_exact:
        return BadInput(
            f"{quote_word(search.word)} may be {listed.volume.id} in {listed.listing.target}, but another place "
            f"could not be searched for that name ({str(unsearched[0]).rstrip('.')}): give the id."
        )
    return listed


DENIED_AS_EXPECTED: Final = "an organization's policy denies reading this place, as expected: it was not audited."


def is_expected(listing: Listing, ports: AuditPorts) -> bool:
    """True if nothing could be listed because an organization's policy denies it, and that is meant to be so.

    It is meant where a setting says so, and where nobody named the region and the account is read elsewhere.
    """
    expected = DeniedByPolicy if ports.denied_places_expected else RegionDenied
    return isinstance(listing.error, expected) and not listing.count and not listing.unread


def unread_outcomes(listing: Listing, done: frozenset[str]) -> Iterator[Outcome]:
    """Yields one outcome for each volume that could not be read: deleted, answered before (in `done`), or failed.

    A volume without even an id is a failed target, numbered from the second on: the target is incomplete.
    """
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
