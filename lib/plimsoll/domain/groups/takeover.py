"""Takeovers: volumes that take over from one another, so that each must carry what the busiest of them does.

A tag says so that the policy names, a StatefulSet's claims, the two colors of a blue and green deployment, or an Auto
Scaling group. Only suspected is it by a name (docs/decision.md, section 9).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from plimsoll.domain.groups.group import Takeover, ToldBy, template_of
from plimsoll.domain.volume import OwnerKind, Volume

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
