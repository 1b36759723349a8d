"""A run's summary for every report: what can be saved, how sure that is, what to do first, what is missing."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from plimsoll.domain.kinds import COSTS, CountsAs
from plimsoll.domain.policy import Policy
from plimsoll.reports.largest import Largest
from plimsoll.reports.learning import learned_words
from plimsoll.reports.promises import kept_promises
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import Matched
from plimsoll.reports.run_record import HistoryTold, PartUsd, RunRecord
from plimsoll.reports.steps import CENT, STEP_COMMANDS, STEP_TITLES, Step, StepWords, step_of, step_words
from plimsoll.reports.totals import DIMENSIONS, RunTotals
from plimsoll.reports.wording import account_word, change_left_for_risk, clouds_of, count_of, usd

FIRST_VOLUMES: Final = 3
"""How many volumes of a step are named."""

_QUIET: Final = frozenset({Step.UNKNOWN, Step.KEEP})
"""Steps with nothing to do, whose volumes need no naming."""

_UNENDED: Final = {
    "interrupted": "The run was interrupted, so volumes are missing in these figures.",
    "running": "The run has not ended, so volumes are missing in these figures.",
}
_GO_ON: Final = {
    "interrupted": "To go on with it:",
    "running": "If nothing works on it any more, go on with it:",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One of the figures under the headline: money, what it is, and what it means."""

    kind: str
    amount: str
    label: str
    meaning: str


def incomplete(run: RunRecord, *, whole: bool) -> str:
    """The reason why the figures lack part of the scope; empty if they are complete, or meant for a part alone."""
    if sentence := unended_sentence(run):
        return f"{sentence} {_GO_ON[run.status]}"
    return unreadable(run) if whole else ""


def unended_sentence(run: RunRecord) -> str:
    """A sentence for a run that did not end; empty if it ended."""
    return _UNENDED.get(run.status, "")


def unreadable(run: RunRecord) -> str:
    """The numbers of places and volumes that could not be read; empty if all could."""
    places, volumes = len(run.failures.targets), sum(len(ids) for *_, ids in failed_volumes(run))
    missing = [count_of(number, thing) for number, thing in ((places, "place"), (volumes, "volume")) if number]
    return f"Not in these figures, because unreadable: {' and '.join(missing)}." if missing else ""


def resume_command(run: RunRecord, folder: Path) -> str | None:
    """The command that resumes an interrupted run; None if it has ended."""
    return shlex.join(["plimsoll", "audit", "--resume", str(folder)]) if run.status in _UNENDED else None


def run_headline(totals: RunTotals, run: RunRecord, *, whole: bool) -> str:
    """The saving and the cost in one sentence; `whole` if it is about the run and not a part of it."""
    priced = totals.answered_count - totals.unpriced
    if totals.answered_count == 0:
        return _nothing_answered(run) if whole else "No volume matches this report."
    if priced == 0:
        volumes = _volume_words(totals.answered_count)
        return f"No price is known for {volumes}, so no saving is known. Give prices with --prices."
    costs = "costs" if priced == 1 else "cost"
    if totals.usd_saved < CENT:
        sentence = f"Nothing can be saved on {_volume_words(priced)}, which {costs} {usd(totals.usd_now)} a month"
    else:
        sentence = (
            f"{usd(totals.usd_saved)} a month can be saved: {_share(totals.usd_saved / totals.usd_now)} of the "
            f"{usd(totals.usd_now)} that {_volume_words(priced)} {costs}"
        )
    if totals.unpriced:
        sentence += f"; no price is known for {count_of(totals.unpriced, 'other')}"
    return f"{sentence}."


def take_now(totals: RunTotals) -> str:
    """The saving that gives nothing up, as a headline; empty if there is none."""
    safe = totals.by["step"].get(Step.SAFE)
    if safe is None or safe.usd_saved < CENT:
        return ""
    return f"Take {usd(safe.usd_saved)} a month now: nothing is given up."


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPart:
    """A step's saving and its percent of the cost of all volumes; `small` if under a hundredth of the saving."""

    step: Step
    title: str
    volumes: str
    money: str
    share_pct: float
    small: bool


def parts(overview: "Overview", totals: RunTotals) -> Iterator[StepPart]:
    """The money by step: the steps that hold volumes, in the order in which to act."""
    for step in Step:
        sums = totals.by["step"].get(step)
        if sums is None:
            continue
        share = sums.usd_saved / totals.usd_now * 100 if totals.usd_now > 0 else 0.0
        yield StepPart(
            step=step,
            title=STEP_TITLES[step],
            volumes=f"{count_of(sums.answered_count, 'volume')}{_count_suffix(step, overview)}",
            money=usd(sums.usd_saved) if sums.usd_saved >= CENT else money_of(sums.step_summary().monthly_usd),
            share_pct=round(max(0.0, share), 2),
            small=sums.usd_saved < max(CENT, totals.usd_saved / 100),
        )


def figures(totals: RunTotals, requirement: str) -> Iterator[Figure]:
    """The certainty of the saving, and further figures of money."""
    if totals.usd_saved >= CENT:
        yield Figure(
            kind="drop-in",
            amount=usd(totals.usd_saved_drop_in),
            label="would be saved by same-limits replacements alone",
            meaning="They keep the IOPS and MiB/s of today, but may give something else up. Most cost more than "
            "what is recommended; each volume's page shows its own.",
        )
        yield Figure(
            kind="proof",
            amount=usd(totals.usd_saved_on_proof),
            label="more with what is recommended",
            meaning=f"Rests on the measured demand: the offers carry {requirement}.",
        )
    yield from _besides(totals)


def _share(part: float) -> str:
    percent = round(part * 100)
    if percent >= 100:
        return "all" if part >= 1 else "more than 99 %"
    return f"{percent} %" if percent else "less than 1 %"


def _volume_words(volumes: int) -> str:
    return "this one volume" if volumes == 1 else f"these {volumes:,} volumes"


def _besides(totals: RunTotals) -> Iterator[Figure]:
    if totals.usd_blocked >= CENT:
        yield Figure(
            kind="blocked",
            amount=usd(totals.usd_blocked),
            label="of the saving is blocked today",
            meaning="The change is right, but something blocks it today. Each volume says what.",
        )
    if totals.usd_upgrades >= CENT:
        yield Figure(
            kind="upgrades",
            amount=usd(totals.usd_upgrades),
            label="a month more for throttled volumes",
            meaning="Not subtracted from the saving: paying for speed is a decision of its own.",
        )
    for kind in COSTS:
        if totals.usd_cost(kind.name) >= CENT:
            yield Figure(
                kind=kind.name,
                amount=usd(totals.usd_cost(kind.name)),
                label=f"a month for what is {kind.words}",
                meaning="Not counted as a saving: only the owner knows whether it is needed.",
            )
    if totals.usd_too_risky >= CENT:
        yield Figure(
            kind="too-risky",
            amount=usd(totals.usd_too_risky),
            label="more a month, but not recommended",
            meaning="Not counted as a saving: the chance that these volumes outgrow less is above what the policy "
            "allows, or not known. Each volume says what it is.",
        )
    if totals.usd_waiting >= CENT:
        yield Figure(
            kind="waiting",
            amount=usd(totals.usd_waiting),
            label="a month may be saved later",
            meaning="Not counted as a saving: those volumes were changed lately, and cannot be judged yet.",
        )


def _nothing_answered(run: RunRecord) -> str:
    volumes = run.volumes
    if volumes.failed:
        return f"No volume could be judged: {count_of(volumes.failed, 'volume')} could not be read."
    if run.failures.targets:
        return f"No volume could be judged: no {account_word(clouds_of(run))} could be read."
    if run.status in _UNENDED:
        return "No volume has been judged yet."
    if volumes.seen:
        return f"No volume was judged: {count_of(volumes.seen, 'volume')} were seen, and all were skipped."
    return "No volumes were found."


def changes_since(run: RunRecord) -> str:
    """The changes since earlier runs, kept promises and what was learned; empty if the run knows of none."""
    changed = "; ".join(_parts(run.history)) + "." if run.history else ""
    return " ".join(filter(None, [changed, kept_promises(run), learned_words(run)]))


def _parts(history: HistoryTold) -> Iterator[str]:
    new, snoozed, done, now = history.new, history.snoozed, history.done, history.done_now
    verb = "is" if new == 1 else "are"
    yield f"{count_of(new, 'recommendation')} {verb} new" if new else "No recommendation is new"
    if done:
        sentence = f"{count_of(done, 'volume')} {'has' if done == 1 else 'have'} been changed as recommended"
        sentence += f", {now:,} of them seen for the first time" if now and now < done else ""
        saved = history.saved_usd_month_since
        yield f"{sentence}, which saves {usd(saved)} a month" if saved >= CENT else sentence
    if history.by_rule:
        verb = "differs" if history.by_rule == 1 else "differ"
        yield f"{count_of(history.by_rule, 'recommendation')} {verb} because the rule has changed"
    if snoozed:
        yield f"{count_of(snoozed, 'recommendation')} {'is' if snoozed == 1 else 'are'} snoozed"


_NAMED: Final = 3
"""How many places or volumes are named; of more, how many there are."""


_THESE: Final = "\0"
"""What stands for a place in a reason while reasons are compared: no reason has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Something that is not in the report: where, what, and why."""

    place: str
    what: str
    why: str


def unread(run: RunRecord) -> Iterator[Unread]:
    """Every place that could not be read, and every volume of the others that could not, by reason."""
    for places, reason in failed_places(run.failures.targets):
        yield Unread(place=", ".join(places), what="everything", why=reason)
    for place, reason, ids in failed_volumes(run):
        what = ids[0] if len(ids) == 1 else f"{count_of(len(ids), 'volume')}: {', '.join(ids[:_NAMED])}"
        yield Unread(place=place, what=f"{what}, …" if len(ids) > _NAMED else what, why=reason)


def failed_places(failed: Mapping[str, str]) -> Iterator[tuple[list[str], str]]:
    """The places that could not be read, grouped by reason: all are named, and the reason once."""
    alike: dict[str, list[str]] = {}
    for place, reason in failed.items():
        alike.setdefault(reason.replace(place, _THESE), []).append(place)
    for reason, places in alike.items():
        yield places, reason.replace(_THESE, places[0] if len(places) == 1 else "these places")


def failed_volumes(run: RunRecord) -> Iterator[tuple[str, str, list[str]]]:
    """The volumes that could not be read, of places that could: each place with a reason and the ids."""
    for place, reasons in run.failures.volumes.items():
        if place not in run.failures.targets:
            yield from ((place, reason, ids) for reason, ids in reasons.items())


def skipped_sentences(run: RunRecord) -> Iterator[str]:
    """Volumes that were left out on purpose, with the reason."""
    for reason, count in run.volumes.skipped.items():
        yield f"{count_of(count, 'volume')} left out: {reason}."


def group_notices(run: RunRecord) -> Iterator[tuple[str, str]]:
    """Pairs of the places, in words, and the text, in the order in which they were told."""
    places: dict[str, list[str]] = {}
    for place, texts in run.notices.items():
        for text in texts:
            places.setdefault(text, []).append(place)
    for text, named in places.items():
        unnamed = len(named) - _NAMED
        tail = f" and {count_of(unnamed, 'more place')}" if unnamed > 0 else ""
        yield f"{', '.join(named[:_NAMED])}{tail}", text


@dataclass(slots=True)
class Overview:
    """The totals of some volumes by every dimension, and the first volumes of each step.

    `until` is the day on which the first of those that wait can be judged, None where none waits.
    """

    totals: RunTotals = field(default_factory=lambda: RunTotals.add_up((), by=DIMENSIONS))
    first: dict[Step, Largest[RecommendationRecord]] = field(
        default_factory=lambda: defaultdict(lambda: Largest(most=FIRST_VOLUMES))
    )
    until: str | None = None

    def add(self, record: RecommendationRecord) -> None:
        """Counts a recommendation."""
        self.totals.add(record)
        self.first[step_of(record)].add(weight(record), record.volume_id, record)
        if record.wait is not None:
            self.until = min(record.wait.until, self.until or record.wait.until)


def count_volumes(volumes: Iterable[Matched], overview: Overview) -> Iterator[Matched]:
    """The same volumes, each counted as it goes by."""
    for volume in volumes:
        overview.add(volume[0])
        yield volume


def weight(record: RecommendationRecord) -> float:
    """The order of a step's volumes: by throttled minutes, by cost, or by the saving."""
    money, left = record.kind.money, change_left_for_risk(record)
    if money is CountsAs.MORE:
        return record.demand.throttled_minutes if record.demand else 0.0
    if record.wait is not None:
        return record.wait.monthly_usd_saved
    if left is not None:
        return left.monthly_usd_saved
    return (record.monthly_usd_now or 0.0) if money is CountsAs.COST else record.monthly_usd_saved


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """A step that holds volumes."""

    step: Step
    words: StepWords
    volumes: str
    money: str
    first: list[RecommendationRecord]
    more: int
    command: str | None


def todos(overview: Overview, policy: Policy, folder: Path) -> Iterator[Todo]:
    """The steps that hold volumes, in the order in which to act."""
    for step in Step:
        sums = overview.totals.by["step"].get(step)
        if sums is None:
            continue
        first = [] if step in _QUIET else overview.first[step].items
        yield Todo(
            step=step,
            words=step_words(step, policy),
            volumes=f"{count_of(sums.answered_count, 'volume')}{_count_suffix(step, overview)}",
            money=money_of(sums.step_summary().monthly_usd),
            first=first,
            more=sums.answered_count - len(first),
            command=STEP_COMMANDS[step].format(shlex.quote(str(folder))) if step in STEP_COMMANDS else None,
        )


def _count_suffix(step: Step, overview: Overview) -> str:
    """A further count of a step's volumes."""
    return f", the first from {overview.until} on" if step is Step.WAIT and overview.until else ""


def most_money(totals: RunTotals) -> str:
    """The step with most of the saving, as a sentence; empty if at most one saves."""
    steps = totals.by["step"]
    saving = {step: sums.usd_saved for step, sums in steps.items() if sums.usd_saved >= CENT}
    if len(saving) < 2:
        return ""
    step = Step(max(sorted(saving), key=lambda name: saving[name]))
    number = [name for name in Step if name in steps].index(step) + 1
    return (
        f"The most money is in step {number}, which saves {usd(saving[step])} of the {usd(totals.usd_saved)} a month."
    )


def money_of(money: PartUsd) -> str:
    """The saving or cost of a step in words, by its part of run.json."""
    parts = []
    saved, drop_in = money.saved, money.saved_drop_in
    if saved >= CENT:
        instead = f" ({usd(drop_in)} with the same limits)" if CENT <= drop_in < saved - CENT else ""
        parts.append(f"saves {usd(saved)} a month{instead}")
    if money.more_for_upgrades >= CENT:
        parts.append(f"{'others cost' if parts else 'costs'} {usd(money.more_for_upgrades)} a month more")
    if money.too_risky >= CENT:
        parts.append(f"{usd(money.too_risky)} a month more is not recommended, because of its risk")
    if money.waiting >= CENT:
        parts.append(f"may save {usd(money.waiting)} a month later")
    if not parts and money.now >= CENT:
        parts.append(f"costs {usd(money.now)} a month")
    return "; ".join(parts) or "no price known"
