"""Records of states: how each thing in a state becomes a line, and what speaks against its action or is missing."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from plimsoll.clouds.aws.assets import SNAPSHOT, PlaceFacts
from plimsoll.clouds.aws.snapshot_chains import GibBounds
from plimsoll.clouds.registry import AWS
from plimsoll.reports.record import BlockerRecord, RecommendationRecord, StateRecord
from plimsoll.reports.wording import owner_text

OWNERS_WORD: Final = "owners-word"
IN_USE: Final = "in-use"
SHARED: Final = "shared"
LOCKED: Final = "locked"
MANAGED: Final = "managed"
NO_SNAPSHOT: Final = "no-snapshot"
BLOCKED: Final = frozenset({IN_USE, SHARED, LOCKED, MANAGED})
"""The reasons against an action; what is missing for it is none."""

MAY_DELETE: Final = "plimsoll:may-delete"
"""The tag by which an owner says that something may be deleted (`true`)."""


def make_record(
    state: str,
    about: RecommendationRecord | PlaceFacts,
    *,
    action: str,
    lacks: Iterable[BlockerRecord] = (),
    saved: tuple[float | None, float | None] = (None, None),
    freed: GibBounds | None = None,
    commands: Iterable[str] = (),
    first: Iterable[str] = (),
    **fields: Any,
) -> StateRecord:
    """The record of a thing in a state, which is kept where something speaks against the action.

    `commands` are left out where anything is missing; those of `first` do no harm, and stay.
    """
    listed = list(lacks)
    if any(lack.code in BLOCKED for lack in listed):
        action, saved, freed = "keep", (0.0, 0.0), None if freed is None else (0.0, 0.0)
        fields |= {"way_back": "", "way_back_usd": None, "way_back_hours": None}
    if isinstance(about, RecommendationRecord):
        fields = {
            "ids": [about.volume_id],
            "name": about.name,
            "owner": owner_text(about.owner),
            "monthly_usd": about.monthly_usd_now,
            **fields,
        }
    return StateRecord(
        provider=about.provider if isinstance(about, RecommendationRecord) else AWS,
        account=about.account,
        region=about.region,
        state=state,
        action=action,
        lacks=listed,
        freed_gib_least=None if freed is None else freed[0],
        freed_gib_most=None if freed is None else freed[1],
        monthly_usd_saved_least=saved[0],
        monthly_usd_saved_most=saved[1],
        commands=[*first, *(() if listed else commands)],
        **fields,
    )


def lack_owner(why: str) -> BlockerRecord:
    """The lack of the owner's word."""
    return BlockerRecord(code=OWNERS_WORD, text=f"{why} Its owner says so by the tag {MAY_DELETE}=true.")


def lack_reading(what: str, permission: str) -> BlockerRecord:
    """The lack of something that could not be read."""
    return BlockerRecord(code="not-read", text=f"{what} could not be read ({permission}).")


def lack_retention(place: PlaceFacts, kind: str, tags: Mapping[str, str]) -> Iterator[BlockerRecord]:
    """Yields the lack of a rule of the Recycle Bin that keeps the resource."""
    if place.rules is None:
        yield lack_reading("rules of the Recycle Bin", "rbin:ListRules")
    elif not any(rule.may_keep(kind, tags) for rule in place.rules):
        what = "snapshots" if kind == SNAPSHOT else "volumes"
        yield BlockerRecord(
            code="no-retention-rule", text=f"no rule of the Recycle Bin keeps such {what}: no way back."
        )
