"""The kinds of answers: a row each. Totals, reports, SQL, the page and messages read the table and name no kind.

A reason: a sentence that a person reads in an answer, with the code of what it says. Its figures: money, days, spans.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final


class CountsAs(StrEnum):
    """The part of a run's money that a kind of answer counts for."""

    SAVED = "saved"  # a change, which saves money
    MORE = "more"  # a change that may cost more: that stands apart from the saving
    SAME = "same"  # nothing to change
    LATER = "later"  # a change that may come later: what it may save stands apart
    COST = "cost"  # paid for nothing: that stands apart, and is saved once the volume is gone
    UNKNOWN = "unknown"  # nothing can be said


@dataclass(frozen=True, slots=True)
class Kind:
    """A row of the table: `name` is the action of an answer, `rank` its place among counts.

    `words` are said where answers are counted; for a cost, they are the state of its volumes. `verdict` is one volume's
    answer, in which its present configuration, its target and a day are filled in. A cost has a step of its own
    (`plimsoll.reports.steps`), with `title` and `why`.
    """

    name: str
    rank: int
    money: CountsAs
    color: str
    words: str
    verdict: str
    title: str = ""
    why: str = ""


MIGRATE: Final = "migrate"
REPROVISION: Final = "reprovision"
UPGRADE: Final = "upgrade"
KEEP: Final = "keep"
WAIT: Final = "wait"
DETACHED: Final = "detached"
INSUFFICIENT_DATA: Final = "insufficient-data"

_CHANGED: Final = "{now} → {target}"
_WAITS: Final = "changed lately: look again before anything is reduced"

_ROWS: Final = (
    Kind(MIGRATE, 2, CountsAs.SAVED, "green", "move to another type", _CHANGED),
    Kind(REPROVISION, 3, CountsAs.SAVED, "green", "provision less of the same type", _CHANGED),
    Kind(UPGRADE, 1, CountsAs.MORE, "red", "throttled today: move to something faster", _CHANGED),
    Kind(KEEP, 4, CountsAs.SAME, "", "keep as they are", "Keep {now}"),
    Kind(WAIT, 5, CountsAs.LATER, "yellow", _WAITS, "{now}: wait, and look again on {until}"),
    Kind(
        DETACHED,
        6,
        CountsAs.COST,
        "yellow",
        "attached to nothing",
        "{now}, attached to nothing",
        title="Look at unattached volumes",
        why="Paid for, and no host uses it. Take a snapshot and delete it if nobody needs it; only the owner can know "
        "that, so this is not counted as a saving.",
    ),
    Kind(INSUFFICIENT_DATA, 7, CountsAs.UNKNOWN, "", "not enough data to say", "{now}: too little data to say"),
)

KINDS: Final[Mapping[str, Kind]] = {kind.name: kind for kind in _ROWS}
"""Every kind of answer by its name."""


def names_counted_as(*money: CountsAs) -> tuple[str, ...]:
    """The names of the kinds whose money counts as one of these."""
    return tuple(kind.name for kind in _ROWS if kind.money in money)


CHANGES: Final = names_counted_as(CountsAs.SAVED, CountsAs.MORE)
"""The kinds that change a volume."""

COSTS: Final = tuple(kind for kind in _ROWS if kind.money is CountsAs.COST)
"""The kinds that are paid for nothing."""

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


def _state(name: str, rank: int, words: str, money: CountsAs = CountsAs.COST) -> Kind:
    return Kind(name, rank, money, "yellow", words, words)


STATE_KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        _state(STOPPED, 1, "on a host that is stopped"),
        *COSTS,
        _state(IDLE_VOLUME, 7, "attached, and idle"),
        _state(COLD, 8, "cold data on a fast disk", CountsAs.SAVED),
        _state(OF_DELETED, 9, "snapshots of deleted volumes"),
        _state(OF_GONE_IMAGE, 10, "snapshots of deregistered images"),
        _state(OF_UNUSED_IMAGE, 11, "snapshots of images that nothing uses"),
        _state(TOO_OLD, 12, "snapshots beyond their age"),
        _state(FAST_RESTORE, 13, "fast restores that nobody uses"),
        _state(ARCHIVE, 14, "snapshots that are cheaper in the archive", CountsAs.SAVED),
        _state(NO_ARCHIVE, 15, "snapshots that are dearer in the archive", CountsAs.SAME),
    )
}
"""The states of what is paid for and not used, by name: rows of the same table, which no audit gives."""

ASKING: Final = names_counted_as(CountsAs.SAVED, CountsAs.MORE, CountsAs.COST)
"""The kinds that ask the owner for something."""

SILENT: Final = names_counted_as(CountsAs.LATER, CountsAs.UNKNOWN)
"""The kinds that say nothing for or against what was recommended before."""


class Reason(str):
    """A sentence with its `code`: sentences may be worded anew, and nothing asks how one begins."""

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str, text: str) -> "Reason":
        """The sentence with that code."""
        reason = super().__new__(cls, text)
        reason.code = code
        return reason

    def __reduce__(self) -> tuple[type["Reason"], tuple[str, str]]:
        """The call with which another process makes the same reason."""
        return Reason, (self.code, str(self))


WHOLE_USD: Final = 100
"""From this amount on people read money in whole dollars."""


def dollars(amount_usd: float) -> str:
    """Money as people read it: its sign before the currency's, cents below `WHOLE_USD` alone."""
    digits = 0 if abs(amount_usd) >= WHOLE_USD else 2
    return f"{'-' if amount_usd <= -0.005 else ''}${abs(amount_usd):,.{digits}f}"


_SPANS: Final = (
    (60.0, 1.0, "minute"),
    (2 * 1440.0, 60.0, "hour"),
    (60 * 1440.0, 1440.0, "day"),
    (float("inf"), 30.44 * 1440.0, "month"),
)
"""Up to how many minutes a span is told in which unit, and how many minutes that has."""


def day_of(time_s: float) -> str:
    """The date (UTC) of a time in epoch seconds: 3 May 2026."""
    day = datetime.fromtimestamp(time_s, UTC)
    return f"{day.day} {day:%B %Y}"


def lasting(minutes: float) -> str:
    """A span of time: 5 minutes, 1.5 hours, 12 days, 13 months."""
    _, unit, name = next(span for span in _SPANS if minutes < span[0])
    count = f"{minutes / unit:.0f}" if unit != 60.0 else f"{minutes / unit:.3g}"
    return f"{count} {name}{'' if count == '1' else 's'}"
