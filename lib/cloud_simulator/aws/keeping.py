"""What an account keeps beside volumes: snapshots with their blocks, images, launch templates, and Recycle Bin rules.

A snapshot is a set of blocks of 1 GiB. Its truth, what it is billed for and what a delete frees, follows from them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from cloud_simulator.faults import Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedSnapshot:
    """A snapshot. Two of its blocks are the same if they are equal; `told_gib`: EC2 says its full size."""

    id: str
    volume_id: str
    size_gib: int
    started: datetime
    blocks: frozenset[str]
    description: str = ""
    tags: tuple[tuple[str, str], ...] = ()
    archived: bool = False
    locked: bool = False
    shared: tuple[str, ...] = ()
    told_gib: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedImage:
    """An AMI, its snapshots, and the accounts that it is shared with."""

    id: str
    created: datetime
    snapshots: tuple[str, ...]
    launched: datetime | None = None
    public: bool = False
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRestore:
    """A fast restore of a snapshot in a zone."""

    snapshot_id: str
    zone: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BinRule:
    """A rule of the Recycle Bin."""

    id: str
    kind: str
    days: int
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """All that one account keeps in one region. `templates` are the images of each launch template's versions."""

    snapshots: tuple[SimulatedSnapshot, ...] = ()
    images: tuple[SimulatedImage, ...] = ()
    templates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    restores: tuple[SimulatedRestore, ...] = ()
    rules: tuple[BinRule, ...] = ()

    def billed_gib(self) -> dict[str, int]:
        """The blocks that each snapshot is billed for: those that no earlier one has."""
        seen, billed = set[str](), dict[str, int]()
        for snapshot in sorted(self.snapshots, key=lambda snapshot: (snapshot.started, snapshot.id)):
            if not snapshot.archived:
                billed[snapshot.id] = len(snapshot.blocks - seen)
                seen |= snapshot.blocks
        return billed

    def freed_gib(self, ids: Iterable[str]) -> int:
        """The blocks that are gone once these snapshots are deleted."""
        gone, stay = set[str](), set[str]()
        for snapshot in self.snapshots:
            if not snapshot.archived:
                (gone if snapshot.id in set(ids) else stay).update(snapshot.blocks)
        return len(gone - stay)


NOTHING: Final = Keeping()


def list_rules(asked: Mapping[str, Any], keeping: Keeping) -> Mapping[str, Any]:
    """The answer to ListRules: the rules of a kind of resource, without their tags."""
    rules = [rule for rule in keeping.rules if rule.kind == asked.get("ResourceType")]
    period = [{"RetentionPeriodValue": rule.days, "RetentionPeriodUnit": "DAYS"} for rule in rules]
    return {
        "Rules": [{"Identifier": rule.id, "RetentionPeriod": days} for rule, days in zip(rules, period, strict=True)]
    }


def get_rule(name: str, keeping: Keeping) -> Mapping[str, Any]:
    """The answer to GetRule. Refused for a rule that does not exist."""
    for rule in keeping.rules:
        if rule.id == name:
            return {
                "Identifier": rule.id,
                "ResourceType": rule.kind,
                "Status": "available",
                "RetentionPeriod": {"RetentionPeriodValue": rule.days, "RetentionPeriodUnit": "DAYS"},
                "ResourceTags": [{"ResourceTagKey": key, "ResourceTagValue": value} for key, value in rule.tags],
                "ExcludeResourceTags": [],
            }
    raise Refused("ResourceNotFoundException", f"There is no rule {name}.", 404)
