"""The history of a volume: since when something is recommended, and what became of it. What people decided of it is
kept apart (`plimsoll.model.people`), so that no run can write over it.

A recommendation is *new* in the run that first makes it, that makes it again after another answer in between, or that
changes it: another action, another type, or IOPS or throughput that differ by more than `JITTER` from what was first
said. Less than that is what the same workload differs by from week to week. A recommendation that was snoozed is new
again in the run that finds the time run out, one that somebody said was done in the next run that makes it all the
same (the word was wrong, or not true yet), and one whose volume was excluded in the first run that answers of it again.
`insufficient-data` and `wait` ask for nothing, and take nothing back.

It is *done* when the volume's configuration has changed and is now what was recommended, or its drop-in replacement,
or nearly. Doing it adds to what was saved. Undoing it (the volume is not that any more, and the same is recommended
again) takes that back. `became` says the same of two runs, so that `plimsoll diff` and the service agree.

The review of earlier promises of a volume in a run.

A promise is taken up when the volume has become what was recommended, and no less. From then on whole days (UTC) are
counted, each once however many runs see it, until the promised days are over or the volume is changed again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.kinds import ASKING, KEEP, REPROVISION, SILENT, CountsAs, names_counted_as
from plimsoll.model.people import Holding
from plimsoll.model.units import DAY_S
from plimsoll.model.volume import VolumeSpec
from plimsoll.risk.watch import PROMISE_KEPT_DAYS, Promise, Promised, Watch

JITTER: Final = 0.2
"""The part of a figure that it may differ by and still be the same recommendation."""

RULE: Final = 2
"""The version of the rule that answers are made by (docs/decision.md): one more with each change of what is answered.
What changes because the rule did is no news."""

FIRST_RULE: Final = 1
"""The rule of what was written before rules had versions."""

ENOUGH: Final = 0.5
"""The part of the way to a figure that must be gone for a recommendation within one type to be done."""


_DONE_ONCE_GONE: Final = names_counted_as(CountsAs.COST)
_WAITING: Final = names_counted_as(CountsAs.LATER)


class Became(StrEnum):
    """The outcome of a volume between two runs that both answer for it, or know that it is gone."""

    DONE = "done"
    OPEN = "open"
    CHANGED = "changed"
    ALTERED = "altered"
    NEW = "new"
    GONE = "gone"
    WAITING = "waiting"
    SAME = "same"


class How(StrEnum):
    """The ways in which a recommendation was carried out."""

    EXACTLY = "exactly"
    DROP_IN = "drop-in"
    NEARLY = "nearly"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer:
    """The answer of one run for a volume. `target` is None if it stays as it is, or nothing is known."""

    action: str
    current: VolumeSpec | None
    target: VolumeSpec | None
    drop_in: VolumeSpec | None = None


def became(before: RunAnswer | None, after: RunAnswer | None) -> Became:
    """The outcome of a volume between two runs; None for a run in which it was not there. One of both is given."""
    if before is None:
        return Became.NEW
    if after is None:
        return Became.DONE if before.action in _DONE_ONCE_GONE else Became.GONE
    if after.current is not None and carried_out(before, after.current) is not None:
        return Became.DONE
    if before.current != after.current:
        return Became.ALTERED
    return _outcome_of_unaltered(before, after)


def _outcome_of_unaltered(before: RunAnswer, after: RunAnswer) -> Became:
    """The outcome of a volume whose configuration is what it was. One that waits asks for nothing anew."""
    if after.action in _WAITING:
        return Became.WAITING
    if not _same_answer(before, after):
        return Became.CHANGED
    return Became.OPEN if after.action in ASKING else Became.SAME


def carried_out(answer: RunAnswer, now: VolumeSpec) -> How | None:
    """The way in which a recommendation was carried out if the volume is `now` that; None if it was not.

    Sizes do not count. Nearly is at least half of the way to each figure of the target within one type, and up to
    `JITTER` away from it where the type has changed.
    """
    before, target = answer.current, answer.target
    if target is None or answer.action not in ASKING or (before is not None and before.figures == now.figures):
        return None
    if now.figures == target.figures:
        return How.EXACTLY
    if answer.drop_in is not None and now.figures == answer.drop_in.figures:
        return How.DROP_IN
    if now.type != target.type:
        return None
    if before is None or before.type != target.type:
        near = _is_alike(now, target)
    else:
        near = all(map(_is_reached, before.figures[1:], target.figures[1:], now.figures[1:]))
    return How.NEARLY if near else None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A volume's latest recommendation: announced by `first_run`, and seen last by `last_run`. Money is USD a month.

    `target` and `drop_in` are as first announced, None where nothing is to be changed; `current` is the configuration
    that was seen last. `done_on` is the day on which a change was first seen carried out, by `done_run`;
    `done_target` is what the volume became. All changes that were carried out save `done_saved_usd_month`. `promised`
    is what runs promised of it, and what became of that. `rule` is the version that it was seen by last, and
    `ruled_run` the run that recommends it because the rule changed.
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
    drop_in: VolumeSpec | None = None
    promised: Promised | None = None
    rule: int = FIRST_RULE
    ruled_run: str | None = None

    @property
    def answer(self) -> RunAnswer:
        """The last answer to the volume."""
        return RunAnswer(action=self.action, current=self.current, target=self.target, drop_in=self.drop_in)

    @property
    def recommends(self) -> bool:
        """True if the answer asks the owner for something."""
        return self.action in ASKING

    def silent(self, now: datetime, holding: Holding) -> bool:
        """True if the answer asks for something, and people do not want to be told of it at `now`."""
        return self.recommends and holding.end_snooze(self.done_on).is_silent(now)

    def new_in(self, run_id: str, now: datetime, holding: Holding) -> bool:
        """True if that run announced the answer as news: no new rule made it, and nobody asked for silence."""
        announced = self.first_run == run_id and self.ruled_run != run_id
        return self.recommends and announced and not self.silent(now, holding)

    def ruled_in(self, run_id: str, now: datetime, holding: Holding) -> bool:
        """True if that run recommends it because the rule changed, and nobody asked for silence."""
        return self.recommends and self.ruled_run == run_id and not self.silent(now, holding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """The answer of one run to one volume; `target` is None if the volume is to stay as it is.

    `rule_before` is the version of the rule by which the volume was answered last, None where it was not.
    """

    account: str
    region: str
    volume_id: str
    action: str
    current: VolumeSpec
    target: VolumeSpec | None
    saved_usd_month: float
    run_id: str
    now: datetime
    drop_in: VolumeSpec | None = None
    rule_before: int | None = None

    @property
    def by_rule(self) -> bool:
        """True if the rule is another one than that of the volume's last answer."""
        return self.rule_before is not None and self.rule_before != RULE

    @property
    def answer(self) -> RunAnswer:
        """The answer of the run to the volume."""
        return RunAnswer(action=self.action, current=self.current, target=self.target, drop_in=self.drop_in)


def seen(prior: HistoryEntry | None, sighting: Sighting, holding: Holding) -> HistoryEntry | None:
    """The entry after a run, by what holds of what people said: None where nothing has ever been recommended.

    The same sighting twice gives the same entry, and one that is older than the entry changes nothing.
    """
    if prior is None:
        return _make_announcement(sighting) if sighting.action in ASKING else None
    if sighting.now < prior.last_seen:
        return prior
    answered = prior.last_answered or prior.last_seen
    entry = prior if carried_out(prior.answer, sighting.current) is None else _carried_out(prior, sighting)
    sighting = sighting if prior.current == sighting.current else replace(sighting, rule_before=None)
    entry = replace(entry, last_seen=sighting.now, last_run=sighting.run_id, current=sighting.current, rule=RULE)
    if sighting.action in SILENT:
        return replace(entry, last_answered=answered)
    entry = replace(entry, last_answered=None)
    if sighting.action not in ASKING:
        return replace(entry, action=sighting.action, target=None, drop_in=None, saved_usd_month=0.0)
    if _is_undone(entry, sighting):
        entry = replace(entry, done_on=None, done_run=None, done_target=None, done_saved_usd_month=0.0)
    if holding.end_snooze(entry.done_on).has_silence_ended(answered, sighting.now):
        entry = replace(entry, first_run=sighting.run_id)
    return _make_recommended_entry(entry, sighting)


def _same_answer(answer: RunAnswer, other: RunAnswer) -> bool:
    """Two runs recommend the same, or both nothing, within what figures differ by from week to week."""
    return answer.action == other.action and _is_alike(answer.target, other.target)


def _make_announcement(sighting: Sighting) -> HistoryEntry:
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
        drop_in=sighting.drop_in,
        rule=RULE,
        ruled_run=sighting.run_id if sighting.by_rule else None,
    )


def _make_recommended_entry(entry: HistoryEntry, sighting: Sighting) -> HistoryEntry:
    """Makes the entry of a volume with a recommendation, new or the same as before."""
    if _same_answer(entry.answer, sighting.answer):
        return replace(entry, saved_usd_month=sighting.saved_usd_month)
    return replace(
        entry,
        action=sighting.action,
        target=sighting.target,
        drop_in=sighting.drop_in,
        saved_usd_month=sighting.saved_usd_month,
        first_seen=sighting.now,
        first_run=sighting.run_id,
        ruled_run=sighting.run_id if sighting.by_rule else None,
    )


def _carried_out(prior: HistoryEntry, sighting: Sighting) -> HistoryEntry:
    """The entry once its change is made. What an upgrade costs is not taken off what other changes save."""
    return replace(
        prior,
        action=KEEP,
        target=None,
        drop_in=None,
        saved_usd_month=0.0,
        done_on=sighting.now.date(),
        done_run=sighting.run_id,
        done_target=sighting.current,
        done_saved_usd_month=round(prior.done_saved_usd_month + max(0.0, prior.saved_usd_month), 2),
    )


def _is_undone(entry: HistoryEntry, sighting: Sighting) -> bool:
    """The volume is no longer what it became, and that would be recommended again."""
    done = entry.done_target
    return done is not None and not _is_alike(sighting.current, done) and carried_out(sighting.answer, done) is not None


def _is_alike(spec: VolumeSpec | None, other: VolumeSpec | None) -> bool:
    """Two configurations differ only in size and within what figures differ by from week to week."""
    if spec is None or other is None:
        return spec is other
    return spec.type == other.type and all(map(_close, spec.figures[1:], other.figures[1:]))


def _close(figure: int | str | None, other: int | str | None) -> bool:
    """True if two figures are equal, or whole numbers no more than `JITTER` apart."""
    if isinstance(figure, int) and isinstance(other, int):
        return abs(figure - other) <= JITTER * max(figure, other)
    return figure == other


def _is_reached(before: int | str | None, target: int | str | None, now: int | str | None) -> bool:
    """The figure has gone far enough from its former value to the recommended one."""
    if isinstance(before, int) and isinstance(target, int) and isinstance(now, int):
        return abs(now - target) <= (1 - ENOUGH) * abs(before - target)
    return target == now


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """A span (epoch seconds) in which a volume was `spec`."""

    start_s: int
    end_s: int
    spec: VolumeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttling:
    """The throttled minutes of a volume in spans from `starts_s` (epoch seconds), each `lengths_s` long.

    Each span is inside one day (UTC). Nothing is known of those that were not `observed`.
    """

    starts_s: IntArray
    lengths_s: IntArray
    minutes: FloatArray
    observed: BoolArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The view of a run at `at_s` (epoch seconds) of a volume that is `spec` now.

    `offered` is the promise that it makes (None: none). A `silent` run takes no earlier one back: it could not judge.
    `stays` are the specs of the volume in the window, oldest first. `throttling` is None if nothing certain is known.
    """

    at_s: int
    spec: VolumeSpec
    offered: Promise | None
    silent: bool
    stays: Sequence[Stay]
    throttling: Throttling | None


def review_promises(prior: Promised | None, review: Review) -> Promised | None:
    """Updates the promises of a volume after a run; None if nothing ever was promised, or all of it is long ago.

    The same run twice gives the same, and one that is no later than the last changes nothing.
    """
    if prior is None:
        return None if review.offered is None else Promised(at_s=review.at_s, made=review.offered)
    if review.at_s <= prior.at_s:
        return prior
    oldest_s = review.at_s - PROMISE_KEPT_DAYS * DAY_S
    made, watch = prior.made, prior.watch
    if made is not None and _is_taken_up(made, review.spec):
        watch = _begin_watch(made, review)
    if watch is not None:
        watch = _continue_watch(watch, review) if watch.changed_s >= oldest_s else None
    still = made if review.silent and made is not None and made.before.figures == review.spec.figures else None
    made = review.offered or (still if still is not None and still.made_s >= oldest_s else None)
    return None if made is None and watch is None else Promised(at_s=review.at_s, made=made, watch=watch)


def _is_taken_up(made: Promise, now: VolumeSpec) -> bool:
    """The volume became what was recommended: nearly is enough, but nothing was promised of less."""
    how = carried_out(RunAnswer(action=REPROVISION, current=made.before, target=made.target), now)
    pairs = zip(now.figures[1:], made.target.figures[1:], strict=True)
    return how in {How.EXACTLY, How.NEARLY} and all((figure or 0) >= (least or 0) for figure, least in pairs)


def _begin_watch(made: Promise, review: Review) -> Watch:
    """Begins the watch at the change; at the promise if the change was before the window, and nobody saw it."""
    changed_s, since = made.made_s, review.at_s
    for stay in reversed(review.stays):
        if stay.spec.figures != review.spec.figures:
            changed_s = max(since, made.made_s)
            break
        since = stay.start_s
    return Watch(promise=made, spec=review.spec, changed_s=changed_s, until_s=changed_s)


def _continue_watch(watch: Watch, review: Review) -> Watch:
    """The watch with the days of a run added, as far as the volume was then as it was changed."""
    seen, end_s = review.throttling, min(review.at_s // DAY_S * DAY_S, watch.ends_s)
    if seen is None or end_s <= watch.until_s:
        return watch
    ends_s = seen.starts_s + seen.lengths_s
    counted = np.zeros(len(seen.starts_s), dtype=np.bool_)
    for stay in review.stays:
        if stay.spec.figures == watch.spec.figures:
            counted |= (seen.starts_s >= max(stay.start_s, watch.until_s)) & (ends_s <= min(stay.end_s, end_s))
    counted &= seen.observed
    return replace(
        watch,
        until_s=end_s,
        observed_s=watch.observed_s + int(seen.lengths_s[counted].sum()),
        throttled_minutes=round(watch.throttled_minutes + float(seen.minutes[counted].sum()), 1),
    )
