"""Stripe sets: volumes that one host has put together as one device, so they change together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from plimsoll.domain.groups.group import StripeSet
from plimsoll.domain.volume import Volume, sole_host

LINEAR: Final = "linear"


def find_change(stripes: StripeSet, volumes: Mapping[str, Volume]) -> str | None:
    """The reason why a set no longer is what it was when found, e.g. "vol-1 is detached"; None if it is unchanged.

    `volumes` are those of its region by id.
    """
    for volume_id in stripes.members:
        volume = volumes.get(volume_id)
        if volume is None:
            return f"{volume_id} is no longer there"
        if not volume.attachments:
            return f"{volume_id} is detached"
        host = sole_host(volume)
        if host is None:
            return f"{volume_id} is no longer attached to one host alone"
        if host.id != stripes.host_id:
            return f"{volume_id} has moved to {host.id}"
    return None


def split_by_change(
    known: Iterable[StripeSet], volumes: Sequence[Volume], *, account: str, region: str
) -> tuple[list[StripeSet], list[str]]:
    """Splits the sets of an account and region into those unchanged, and a sentence for each that has changed.

    `volumes` are all of the account's in that region.
    """
    by_id = {volume.id: volume for volume in volumes}
    kept, changed = [], []
    for stripes in known:
        if (stripes.account, stripes.region) != (account, region):
            continue
        reason = find_change(stripes, by_id)
        if reason is None:
            kept.append(stripes)
        else:
            changed.append(
                f"the stripe set {stripes} of {stripes.found} is void, since {reason}: its volumes are judged each "
                f"alone. Look again with `plimsoll stripes {stripes.host_id}`."
            )
    return kept, changed


def merge_sets(sets: Iterable[StripeSet]) -> Iterator[StripeSet]:
    """Merges sets that share members (two logical volumes in a group).

    A merged set has the levels of all its devices. It is even only if all have the same level.
    """
    whole: list[StripeSet] = []
    for stripes in sets:
        touching = [other for other in whole if set(other.members) & set(stripes.members)]
        whole = [other for other in whole if other not in touching]
        whole.append(_merge([*touching, stripes]))
    yield from whole


def _merge(sets: Sequence[StripeSet]) -> StripeSet:
    last = sets[-1]
    return StripeSet(
        name="+".join(dict.fromkeys(stripes.name for stripes in sets)),
        account=last.account,
        region=last.region,
        host_id=last.host_id,
        members=tuple(sorted({volume_id for stripes in sets for volume_id in stripes.members})),
        level="+".join(dict.fromkeys(stripes.level for stripes in sets)),
        mounts=tuple(dict.fromkeys(mount for stripes in sets for mount in stripes.mounts)),
        found=max(stripes.found for stripes in sets),
    )
