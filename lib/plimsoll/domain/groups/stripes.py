"""Stripe sets: volumes that one host has put together as one device, so they change together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from plimsoll.domain.groups.group import StripeSet
from plimsoll.domain.volume import Volume, sole_host

LINEAR: Final = "linear"


def void(stripes: StripeSet, volumes: Mapping[str, Volume]) -> str | None:
    """Why a set is not what it was when found, given its region's volumes by id. None if it is unchanged."""
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


def unchanged(
    known: Iterable[StripeSet], volumes: Sequence[Volume], *, account: str, region: str
) -> tuple[list[StripeSet], list[str]]:
    """The sets of an account and region that are unchanged, and a sentence for each that has changed.

    `volumes` are all of the account's in that region.
    """
    by_id = {volume.id: volume for volume in volumes}
    kept, changed = [], []
    for stripes in known:
        if (stripes.account, stripes.region) != (account, region):
            continue
        reason = void(stripes, by_id)
        if reason is None:
            kept.append(stripes)
        else:
            changed.append(
                f"the stripe set {stripes} of {stripes.found} is void, since {reason}: its volumes are judged each "
                f"alone. Look again with `plimsoll stripes {stripes.host_id}`."
            )
    return kept, changed


def merged(sets: Iterable[StripeSet]) -> Iterator[StripeSet]:
    """Sets without a volume in common. Devices that share members (two logical volumes in a group) become one set.

    A merged set has the levels of all its devices. It is even only where all have the same level.
    """
    whole: list[StripeSet] = []
    for found in sets:
        touching = [one for one in whole if set(one.members) & set(found.members)]
        whole = [one for one in whole if one not in touching]
        whole.append(_as_one([*touching, found]))
    yield from whole


def _as_one(sets: Sequence[StripeSet]) -> StripeSet:
    last = sets[-1]
    return StripeSet(
        name="+".join(dict.fromkeys(one.name for one in sets)),
        account=last.account,
        region=last.region,
        host_id=last.host_id,
        members=tuple(sorted({volume_id for one in sets for volume_id in one.members})),
        level="+".join(dict.fromkeys(one.level for one in sets)),
        mounts=tuple(dict.fromkeys(mount for one in sets for mount in one.mounts)),
        found=max(one.found for one in sets),
    )
