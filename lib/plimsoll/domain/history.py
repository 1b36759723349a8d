"""The history of a volume: since when something is recommended, and what became of it. What people decided of it is
kept apart (`plimsoll.domain.decisions`), so that no run can write over it.

A recommendation is *new* in the run that first makes it, that makes it again after another answer in between, or that
changes it: another action, another type, or IOPS or throughput that differ by more than `JITTER` from what was first
said. Less than that is what the same workload differs by from week to week. A recommendation that was snoozed is new
again in the run that finds the time run out, one that somebody said was done in the next run that makes it all the
same (the word was wrong, or not true yet), and one whose volume was excluded in the first run that answers of it again.
`insufficient-data` says nothing, and takes nothing back.

It is *done* when the volume's configuration has changed and is now what was recommended, or nearly; doing it adds to
what was saved, and undoing it (the volume is not that any more, and the same is recommended again) takes that back.
"""

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from plimsoll.domain.decisions import Holding
from plimsoll.domain.recommendation import CHANGES, Detached, InsufficientData
from plimsoll.domain.volume import VolumeSpec

JITTER: Final = 0.2
"""The part of a figure that it may differ by and still be the same recommendation."""

ENOUGH: Final = 0.5
"""The part of the way to a figure that must be gone for a recommendation within one type to be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A volume's latest recommendation: announced by `first_run`, and seen last by `last_run`. Money is USD a month.

    `target` is None where nothing is to be changed, and as first announced otherwise; `current` is the configuration
    that was seen last. `snoozed_until` and `decided_by` are what people said of it. `done_on` is when a change was last
    first seen carried out, by `done_run`, to `done_target`; all that were carried out save `done_saved_usd_month`.
    """

    account: str
    region: str
    volume_id: str
    action: str
    target: VolumeSpec | None
    saved_usd_month: float
    first_seen: datetime
    first_run: str
    last_seen: datetime
    last_run: str
    done_on: date | None = None
    done_saved_usd_month: float = 0.0
    current: VolumeSpec | None = None
    done_run: str | None = None
    done_target: VolumeSpec | None = None
    last_answered: datetime | None = None

    @property
    def recommends(self) -> bool:
        """Whether something is asked for."""
        return _asks(self.action)

    def silent(self, now: datetime, holding: Holding) -> bool:
        """Whether something is asked for that people do not want to be told of as of that time."""
        return self.recommends and holding.after(self.done_on).silent(now)

    def new_in(self, run_id: str, now: datetime, holding: Holding) -> bool:
        """Whether that run announced it, and nobody asked for silence."""
        return self.recommends and self.first_run == run_id and not self.silent(now, holding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What one run answers of one volume; `target` is None where it is to stay as it is."""

    account: str
    region: str
    volume_id: str
    action: str
    current: VolumeSpec
    target: VolumeSpec | None
    saved_usd_month: float
    run_id: str
    now: datetime


def seen(prior: HistoryEntry | None, sighting: Sighting, holding: Holding) -> HistoryEntry | None:
    """The entry after a run, by what holds of what people said: None where nothing has ever been recommended.

    The same sighting twice gives the same entry, and one that is older than the entry changes nothing.
    """
    if prior is None:
        return _announced(sighting) if _asks(sighting.action) else None
    if sighting.now < prior.last_seen:
        return prior
    answered = prior.last_answered or prior.last_seen
    entry = _carried_out(prior, sighting) if _is_done(prior, sighting) else prior
    entry = replace(entry, last_seen=sighting.now, last_run=sighting.run_id, current=sighting.current)
    if sighting.action == InsufficientData.action:
        return replace(entry, last_answered=answered)
    entry = replace(entry, last_answered=None)
    if not _asks(sighting.action):
        return replace(entry, action=sighting.action, target=None, saved_usd_month=0.0)
    if _is_undone(entry, sighting):
        entry = replace(entry, done_on=None, done_run=None, done_target=None, done_saved_usd_month=0.0)
    if holding.after(entry.done_on).speaks(answered, sighting.now):
        entry = replace(entry, first_run=sighting.run_id)
    return _asked_again(entry, sighting)


def _asks(action: str) -> bool:
    return action in CHANGES or action == Detached.action


def _announced(sighting: Sighting) -> HistoryEntry:
    return HistoryEntry(
        account=sighting.account,
        region=sighting.region,
        volume_id=sighting.volume_id,
        action=sighting.action,
        target=sighting.target,
        saved_usd_month=sighting.saved_usd_month,
        first_seen=sighting.now,
        first_run=sighting.run_id,
        last_seen=sighting.now,
        last_run=sighting.run_id,
        current=sighting.current,
    )


def _asked_again(entry: HistoryEntry, sighting: Sighting) -> HistoryEntry:
    """The entry of a volume of which something is recommended, whether that is the same as before or not."""
    if entry.action == sighting.action and _alike(entry.target, sighting.target):
        return replace(entry, saved_usd_month=sighting.saved_usd_month)
    return replace(
        entry,
        action=sighting.action,
        target=sighting.target,
        saved_usd_month=sighting.saved_usd_month,
        first_seen=sighting.now,
        first_run=sighting.run_id,
    )


def _carried_out(prior: HistoryEntry, sighting: Sighting) -> HistoryEntry:
    """The entry once its change is made. What an upgrade costs is not taken off what other changes save."""
    return replace(
        prior,
        action="keep",
        target=None,
        saved_usd_month=0.0,
        done_on=sighting.now.date(),
        done_run=sighting.run_id,
        done_target=prior.target,
        done_saved_usd_month=round(prior.done_saved_usd_month + max(0.0, prior.saved_usd_month), 2),
    )


def _is_done(prior: HistoryEntry, sighting: Sighting) -> bool:
    """Whether the volume has been changed since into what was recommended, or nearly; its size is no matter."""
    before, target, now = prior.current, prior.target, sighting.current
    if target is None or now.type != target.type or (before is not None and _figures(before) == _figures(now)):
        return False
    if before is None or before.type != target.type:
        return _alike(now, target)
    return all(map(_reached, _figures(before)[1:], _figures(target)[1:], _figures(now)[1:]))


def _is_undone(entry: HistoryEntry, sighting: Sighting) -> bool:
    done = entry.done_target
    return done is not None and not _alike(sighting.current, done) and _alike(sighting.target, done)


def _figures(spec: VolumeSpec) -> tuple[str, int | None, int | None]:
    return spec.type, spec.iops, spec.throughput_mib_s


def _alike(one: VolumeSpec | None, other: VolumeSpec | None) -> bool:
    """Whether two configurations are the same but for their size and what figures differ by from week to week."""
    if one is None or other is None:
        return one is other
    return one.type == other.type and all(map(_close, _figures(one)[1:], _figures(other)[1:]))


def _close(one: int | str | None, other: int | str | None) -> bool:
    if isinstance(one, int) and isinstance(other, int):
        return abs(one - other) <= JITTER * max(one, other)
    return one == other


def _reached(before: int | str | None, target: int | str | None, now: int | str | None) -> bool:
    """Whether a figure has gone far enough from what it was to what was recommended."""
    if isinstance(before, int) and isinstance(target, int) and isinstance(now, int):
        return abs(now - target) <= (1 - ENOUGH) * abs(before - target)
    return target == now
