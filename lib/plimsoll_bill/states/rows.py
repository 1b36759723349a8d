"""The states: a row each, of the same table as kinds of answers, and the codes of what an action may lack."""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict

from plimsoll.model.kinds import COSTS, CountsAs, Kind

IDLE_VOLUME: Final = "idle"
STOPPED: Final = "on-a-stopped-host"
COLD: Final = "cold-on-a-fast-disk"
OF_DELETED: Final = "snapshot-of-a-deleted-volume"
OF_GONE_IMAGE: Final = "snapshot-of-a-deregistered-image"
OF_UNUSED_IMAGE: Final = "snapshot-of-an-unused-image"
TOO_OLD: Final = "snapshot-beyond-its-age"
FAST_RESTORE: Final = "fast-restore-without-use"
ARCHIVE: Final = "cheaper-in-the-archive"
NO_ARCHIVE: Final = "dearer-in-the-archive"


def _row(name: str, rank: int, words: str, *, money: CountsAs = CountsAs.COST) -> Kind:
    return Kind(name, rank, money, "yellow", words, words)


STATE_ROWS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        _row(STOPPED, 1, "on a host that is stopped"),
        *COSTS,
        _row(IDLE_VOLUME, 7, "attached, and idle"),
        _row(COLD, 8, "cold data on a fast disk"),
        _row(OF_DELETED, 9, "snapshots of deleted volumes"),
        _row(OF_GONE_IMAGE, 10, "snapshots of deregistered images"),
        _row(OF_UNUSED_IMAGE, 11, "snapshots of images that nothing uses"),
        _row(TOO_OLD, 12, "snapshots beyond their age"),
        _row(FAST_RESTORE, 13, "fast restores that nobody uses"),
        _row(ARCHIVE, 14, "snapshots that are cheaper in the archive"),
        _row(NO_ARCHIVE, 15, "snapshots that are dearer in the archive", money=CountsAs.SAME),
    )
}
"""Every state by its name."""

OWNERS_WORD: Final = "owners-word"
IN_USE: Final = "in-use"
SHARED: Final = "shared"
LOCKED: Final = "locked"
MANAGED: Final = "managed"
NO_SNAPSHOT: Final = "no-snapshot"
NO_RETENTION: Final = "no-retention-rule"
UNREAD: Final = "not-read"
MULTI_ATTACH: Final = "multi-attach"
UNSEEN_USES: Final = "unseen-uses"
BLOCKED: Final = frozenset({IN_USE, SHARED, LOCKED, MANAGED})
"""What speaks against an action, and is not missing for it."""

MAY_DELETE: Final = "plimsoll:may-delete"
"""The tag by which an owner says that something may be deleted (`true`)."""


class Lack(BaseModel):
    """A reason against an action today, or a thing that is missing for it."""

    model_config = ConfigDict(frozen=True)

    code: str
    text: str


class StateRecord(BaseModel):
    """One thing in a state: what it costs, why that is said, what to do, what is missing for that, and the way back.

    Money is USD a month; null where no price, or nothing of what is billed, is known.
    """

    model_config = ConfigDict(frozen=True)

    provider: str = "aws"
    account: str
    region: str
    state: str
    ids: tuple[str, ...]
    name: str | None = None
    owner: str = ""
    since: str | None = None
    evidence: tuple[str, ...] = ()
    monthly_usd: float | None = None
    action: str
    target: str | None = None
    freed_gib_least: float | None = None
    freed_gib_most: float | None = None
    monthly_usd_saved_least: float | None = None
    monthly_usd_saved_most: float | None = None
    lacks: tuple[Lack, ...] = ()
    gives_up: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    way_back: str = ""
    way_back_usd: float | None = None
    way_back_hours: float | None = None

    @property
    def can_be_taken(self) -> bool:
        """True if nothing is missing for the action."""
        return not self.lacks and not self.gives_up

    @property
    def waits_for_owner(self) -> bool:
        """True if only the owner can say whether it may be done."""
        return bool(self.gives_up) or any(lack.code in {OWNERS_WORD, *BLOCKED} for lack in self.lacks)


def lack_owner(why: str) -> Lack:
    """The lack of the owner's word."""
    return Lack(code=OWNERS_WORD, text=f"{why} Its owner says so by the tag {MAY_DELETE}=true.")


def lack_reading(what: str, permission: str) -> Lack:
    """The lack of something that could not be read."""
    return Lack(code=UNREAD, text=f"{what} could not be read ({permission}).")
