"""Groups: volumes that change together, or carry what another does.

A stripe set is one device. A template makes many volumes alike: a launch template or the group that uses it, a
StorageClass, a Terraform module. Volumes of one template in one account and region, of one type, are its group; each
has a part in the group's change (docs/decision.md, section 9).

Stripe sets: volumes that one host has put together as one device, so they change together.

Takeovers: volumes that take over from one another, so that each must carry what the busiest of them does.

A tag says so that the policy names, a StatefulSet's claims, the two colors of a blue and green deployment, or an Auto
Scaling group. Only suspected is it by a name (docs/decision.md, section 9).

Lockstep: volumes that look like one stripe set, which is a reason to ask their host and no more.

Cloud sums add up, so a day's work is known exactly however finely it was read. Days are therefore compared: it takes no
further reading, and the answer does not depend on what has been read.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

import numpy as np

from plimsoll.demand.demand import Demand
from plimsoll.model.arrays import FloatArray
from plimsoll.model.ceiling import Ceiling, Need
from plimsoll.model.kinds import Reason
from plimsoll.model.policy import Policy
from plimsoll.model.units import DAY_S
from plimsoll.model.volume import OwnerKind, Volume, VolumeSpec, sole_host

EVEN_LEVELS: Final = frozenset({"raid0", "striped"})
"""Levels that spread the load evenly over the members: md's and LVM's names of striping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeSet:
    """Volumes that are one md or LVM device. Their host itself said so on the day `found`.

    `level` is md's or LVM's word for how they are combined. `mounts` are the device's mount points.
    """

    name: str
    account: str
    region: str
    host_id: str
    members: tuple[str, ...]
    level: str
    mounts: tuple[str, ...] = ()
    found: date

    @property
    def even(self) -> bool:
        """The load is spread evenly over the members, so none carries more than its share."""
        return self.level in EVEN_LEVELS

    def __str__(self) -> str:
        return f"{self.name} ({self.level}, {len(self.members)} volumes) on {self.host_id}"


MADE_WITHIN: Final = timedelta(minutes=10)
"""A volume that was made in so much time after its host was started is taken to be made with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The maker of volumes: the tool that owns it, its name there, and which of a host's volumes (empty: any)."""

    kind: OwnerKind
    name: str
    device: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOffer:
    """The offer for one volume of a template if no least saving was asked for.

    Its price has three parts, USD a month: `iops_usd` for the provisioned IOPS, `throughput_usd` for the provisioned
    MiB/s, `size_usd` for all else. At the volume's size at most `most_iops` and `most_throughput_mib_s` can be bought;
    None if none are provisioned.
    """

    spec: VolumeSpec
    size_usd: float
    iops_usd: float
    throughput_usd: float
    most_iops: int | None
    most_throughput_mib_s: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A volume's part in the change of its template: an offer that carries its demand, or (`held`) why it stays.

    Neither of both: the volume is not judged yet, and has no say. `least_usd_month` is the least saving that its policy
    asks for, and `least_hours` the hours that have to be observed. `together`: it is too new to be judged alone, so
    that it counts only with what the others of its group show.
    """

    template: Template
    least_usd_month: float
    least_hours: float
    offer: PartOffer | None = None
    held: str | None = None
    together: bool = False


def template_of(volume: Volume) -> Template | None:
    """The template that made a volume; None if it is not known, or makes one volume alone."""
    owner = volume.owner
    match owner.kind:
        case OwnerKind.AUTO_SCALING if owner.name is not None and _made_with_its_host(volume):
            return Template(kind=owner.kind, name=owner.name, device=volume.attachments[0].device)
        case OwnerKind.KUBERNETES if "storage_class" in owner.details and "cluster" in owner.details:
            name = f"{owner.details['cluster']}/{owner.details['storage_class']}"
            return Template(kind=owner.kind, name=name)
        case OwnerKind.TERRAFORM if owner.name is not None:
            return Template(kind=owner.kind, name=owner.name)
        case _:
            return None


def is_short_lived(volume: Volume, policy: Policy, now: datetime) -> bool:
    """A volume that was made with its host is younger than the hours that an answer of its own needs."""
    template = template_of(volume)
    made_with_its_host = template is not None and template.kind is OwnerKind.AUTO_SCALING
    return made_with_its_host and now - volume.created < timedelta(hours=policy.least_hours)


def _made_with_its_host(volume: Volume) -> bool:
    """The volume is the boot disk of its only host, or was made when that was started."""
    if len(volume.attachments) != 1:
        return False
    attachment = volume.attachments[0]
    started = None if attachment.host is None else attachment.host.running_since
    return (
        attachment.boot or attachment.at_start or (started is not None and abs(volume.created - started) <= MADE_WITHIN)
    )


class ToldBy(StrEnum):
    """The sources that tell of a takeover."""

    TAG = "tag"
    STATEFUL_SET = "stateful-set"
    BLUE_GREEN = "blue-green"
    AUTO_SCALING = "auto-scaling"
    NAME = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """Volumes of one account and region that take over from one another.

    `told_by` is the source that tells so, and `name` what they share there.
    """

    told_by: ToldBy
    name: str
    volumes: tuple[Volume, ...]

    @property
    def is_suspected(self) -> bool:
        return self.told_by is ToldBy.NAME

    def others(self, volume: Volume) -> Iterator[Volume]:
        """Yields the volumes that a volume takes over from. A suspected takeover has only those of other hosts."""
        for other in self.volumes:
            if other.id != volume.id and not (self.is_suspected and _share_a_host(volume, other)):
                yield other


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """The busiest volume that a volume takes over from, and the need that a reduction must carry for it.

    `ceiling` is what the peer will carry by its own answer. `unknown` says why that is not known; "" if it is.
    """

    takeover: Takeover
    volume: Volume
    need: Need
    ceiling: Ceiling | None = None
    unknown: str = ""


def _share_a_host(volume: Volume, other: Volume) -> bool:
    hosts = sole_host(volume), sole_host(other)
    return hosts[0] is not None and hosts[1] is not None and hosts[0].id == hosts[1].id


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A stripe set to be decided on: all its volumes, and why some of them must stay as they are, by id."""

    stripes: StripeSet
    volumes: Sequence[Volume]
    held: Mapping[str, str]


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


MOST_SUSPECTED: Final = 8
"""More volumes of one name, numbered, are a fleet of workers and no standbys."""

SUSPECTED_SHARE: Final = 0.1
"""A volume that may take over is suspected to if its peak is under this share of the other's."""

COLORS: Final = frozenset({"blue", "green"})

_ROLES: Final = frozenset(
    {"primary", "standby", "secondary", "replica", "leader", "follower", "active", "passive", "master", "slave"}
)

_MEMBER: Final = re.compile(r"(.+)-\d+")

_WORD: Final = re.compile(r"[^-_./\s]+")

_ZONE: Final = re.compile(r"\d*[a-f]")


def find_takeovers(volumes: Iterable[Volume], tags: Sequence[str]) -> list[Takeover]:
    """Finds the takeovers among the volumes of one account and region, each volume in one at most.

    `tags` are the policy's. What is declared goes before what is suspected.
    """
    sets: dict[tuple[str, ...], list[Volume]] = defaultdict(list)
    for volume in volumes:
        sets[(volume.account, volume.region, *_key(volume, tags))].append(volume)
    return [
        Takeover(told_by=ToldBy(told_by), name=key[0], volumes=tuple(members))
        for (_, _, told_by, *key), members in sets.items()
        if told_by and _is_one(ToldBy(told_by), members)
    ]


def takeovers_by_volume(takeovers: Iterable[Takeover]) -> Mapping[str, Takeover]:
    return {volume.id: takeover for takeover in takeovers for volume in takeover.volumes}


def _key(volume: Volume, tags: Sequence[str]) -> tuple[str, ...]:
    """The key that volumes of one takeover share: ToldBy, a name, and what else must be alike."""
    owner, name = volume.owner, (volume.name or "").lower()
    tag = next((tag for tag in tags if volume.tags.get(tag)), None)
    if tag is not None:
        return ToldBy.TAG, f"{tag}={volume.tags[tag]}"
    claim = _MEMBER.fullmatch(owner.details.get("claim", "")) if owner.kind is OwnerKind.KUBERNETES else None
    if claim is not None:
        return (
            ToldBy.STATEFUL_SET,
            f"{owner.details.get('namespace', '')}/{claim[1]}",
            owner.details.get("cluster", ""),
        )
    template = template_of(volume) if "group" in owner.details else None
    if template is not None:
        return _group_key(template.name, template.device)
    if _colors(name):
        return ToldBy.BLUE_GREEN, _colorless(name)
    stem = _stem(name, volume.zone)
    if not stem:
        return "", volume.id
    return ToldBy.NAME, stem, volume.spec.type, str(volume.spec.size_gib)


def _group_key(name: str, device: str) -> tuple[str, ...]:
    return ToldBy.AUTO_SCALING, _colorless(name.lower()), device


def _is_one(told_by: ToldBy, volumes: Sequence[Volume]) -> bool:
    """The volumes with one key take over from one another."""
    if len(volumes) < 2:
        return False
    if told_by is ToldBy.BLUE_GREEN:
        return {color for volume in volumes for color in _colors((volume.name or "").lower())} >= COLORS
    if told_by is ToldBy.NAME:
        return len(volumes) <= MOST_SUSPECTED and len({(volume.name, volume.zone) for volume in volumes}) > 1
    return True


def _colors(name: str) -> frozenset[str]:
    return COLORS.intersection(_WORD.findall(name))


def _colorless(name: str) -> str:
    return _WORD.sub(lambda word: "*" if word[0] in COLORS else word[0], name)


def _stem(name: str, zone: str) -> str:
    """The name without numbers, zones and roles; "" if it is nothing else."""
    words = _WORD.findall(name.replace(zone.lower(), "")) if zone else _WORD.findall(name)
    bare = (word.rstrip("0123456789") for word in words if not _ZONE.fullmatch(word) and word not in _ROLES)
    return "-".join(filter(None, bare))


MADE_TOGETHER: Final = timedelta(minutes=5)
"""Members of a set are created by one script or template."""

APART: Final = 0.1
"""The share of their work by which volumes in lockstep may differ, day by day: small I/O falls on members by chance."""

LEAST_LOCKSTEP_DAYS: Final = 3
"""Fewer days with work than this show no lockstep."""


def find_hints(volumes: Sequence[Volume], demands: Mapping[str, Demand]) -> list[tuple[str, ...]]:
    """Finds groups of volumes, by id, that look like one stripe set; a volume is in one at most.

    They have one type, size, provisioning, zone and only host, were created within minutes, and did the same work day
    by day. Those without a demand are left out. A group is a hint: nothing may rest on it but a sentence.
    """
    return [
        tuple(volume.id for volume in together)
        for alike in _find_alike(volumes, demands)
        for together in _find_lockstep(alike, demands)
    ]


def hint_text(volume_id: str, group: Sequence[str], host_id: str) -> Reason:
    """The sentence for one volume of a hinted group."""
    others = ", ".join(other for other in group if other != volume_id)
    return Reason(
        "looks-like-a-stripe-set",
        f"it looks like one stripe set with {others} (alike, created together, in lockstep), but is judged alone: "
        f"confirm with `plimsoll stripes {host_id}`.",
    )


def _find_alike(volumes: Sequence[Volume], demands: Mapping[str, Demand]) -> Iterator[list[Volume]]:
    """Yields runs of two or more volumes that are alike and were created one shortly after the other."""
    kinds: dict[object, list[Volume]] = {}
    for volume in volumes:
        host = sole_host(volume)
        if host is not None and volume.id in demands and not volume.boot:
            kinds.setdefault((host.id, volume.zone, volume.spec), []).append(volume)
    for kind in kinds.values():
        run: list[Volume] = []
        for volume in sorted(kind, key=lambda volume: (volume.created, volume.id)):
            if run and volume.created - run[0].created > MADE_TOGETHER:
                yield run
                run = []
            run.append(volume)
        yield run


def _find_lockstep(alike: Sequence[Volume], demands: Mapping[str, Demand]) -> Iterator[list[Volume]]:
    """Yields groups of two or more whose work was that of the group's first, every day."""
    left_over = list(alike)
    while len(left_over) > 1:
        work = np.stack([_daily(demands[volume.id]) for volume in left_over])
        same = _same(work[0], work)
        if np.count_nonzero(same) > 1:
            yield [volume for volume, is_same in zip(left_over, same, strict=True) if is_same]
        same[0] = True
        left_over = [volume for volume, is_same in zip(left_over, same, strict=True) if not is_same]


def _daily(demand: Demand) -> FloatArray:
    """Operations and MiB of each day (UTC), as two rows."""
    days = demand.starts_s // DAY_S
    days -= days[0]
    return np.stack(
        [np.bincount(days, weights=rate * demand.lengths_s) for rate in (demand.iops, demand.throughput_mib_s)]
    )


def _same(first: FloatArray, others: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Marks the others that did the work of the first, within the tolerance, on operations and on bytes."""
    apart = np.abs(others - first).sum(axis=2)
    most = np.maximum(others, first).sum(axis=2)
    days = np.count_nonzero((others > 0).all(axis=1), axis=1)
    return np.asarray((apart <= APART * most).all(axis=1) & (days >= LEAST_LOCKSTEP_DAYS))
