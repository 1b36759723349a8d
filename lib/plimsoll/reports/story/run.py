"""The story of a run, or of a part: what can be saved, how sure that is, what to do first, what is missing."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from plimsoll.model.kinds import COSTS, KINDS, STATE_KINDS, CountsAs, Kind
from plimsoll.model.market import DOLLARS
from plimsoll.model.policy import Policy, SizeOn
from plimsoll.reports.record import RecommendationRecord, StateRecord
from plimsoll.reports.run_reader import Matched
from plimsoll.reports.run_record import (
    PAID_PARTS,
    Failures,
    HistoryTold,
    PaidRecord,
    PartUsd,
    PriceSource,
    RunRecord,
    RunUsd,
    StateSum,
    VolumeCounts,
)
from plimsoll.reports.sorting import Largest
from plimsoll.reports.steps import CENT, STEP_COMMANDS, Step, requirement_words, step_of, step_words
from plimsoll.reports.story import (
    Changes,
    Figure,
    Figures,
    Headline,
    Missing,
    Note,
    StepLine,
    StepList,
    Story,
    Topic,
    Unread,
)
from plimsoll.reports.templates import TITLE, WHY, template_texts
from plimsoll.reports.totals import COSTS_WHY, DIMENSIONS, RunTotals, cost_tables
from plimsoll.reports.wording import (
    account_word,
    calls_in,
    change_left_for_risk,
    clouds_of,
    count_of,
    kept_promises,
    kind_words,
    learned_words,
    outlook,
    usd,
    words_of,
)

FIRST_VOLUMES: Final = 3
"""How many volumes of a step are named."""

_QUIET: Final = frozenset({Step.UNKNOWN, Step.KEEP})
"""StepList with nothing to do, whose volumes need no naming."""

_UNENDED: Final = {
    "interrupted": ("The run was interrupted, so volumes are missing in these figures.", "To go on with it:"),
    "running": (
        "The run has not ended, so volumes are missing in these figures.",
        "If nothing works on it any more, go on with it:",
    ),
}
_NAMED: Final = 3
"""How many places or volumes are named; of more, how many there are."""

_THESE: Final = "\0"
"""What stands for a place in a reason while reasons are compared: no reason has it."""

_Why = TypeVar("_Why")


@dataclass(slots=True)
class Overview:
    """The totals of some volumes, and the first volumes of each step.

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


def counted_run(run: RunRecord, totals: RunTotals) -> RunRecord:
    """The run with the sums of its volumes that were counted, which may be a part of them."""
    money = {**totals.summary()["monthly_usd"], "saved_by_templates": run.monthly_usd.saved_by_templates}
    counts = {"answered": totals.answered_count, "unpriced": totals.unpriced}
    return run.model_copy(
        update={
            "volumes": run.volumes.model_copy(update=counts),
            "actions": dict(totals.actions),
            "monthly_usd": RunUsd.model_validate(money),
            "risk": totals.risk.run_risk,
            "steps": {str(step): part.step_summary() for step, part in totals.by["step"].items()},
        }
    )


def part_of_run(run: RunRecord, accounts: Collection[str] = ()) -> RunRecord:
    """The run without what is of no volume of a part: only failures and templates of these accounts stay."""

    def select_places(places: Mapping[str, _Why]) -> dict[str, _Why]:
        return {place: why for place, why in places.items() if place.partition("/")[0] in accounts}

    failures = Failures(targets=select_places(run.failures.targets), volumes=select_places(run.failures.volumes))
    return run.model_copy(
        update={
            **dict.fromkeys(("history", "promises", "learning")),
            **{kind.name: [] for kind in COSTS},
            "paid": [],
            "states": [],
            "volumes": run.volumes.model_copy(update={"skipped": {}}),
            "monthly_usd": run.monthly_usd.model_copy(update={"saved_by_templates": 0.0}),
            "failures": failures,
            "notices": {},
            "templates": [template for template in run.templates if template.account in accounts],
        }
    )


def blocks_about(story: Story, *topics: Topic) -> Story:
    """The blocks of a run's story with these topics, in the story's order."""
    return tuple(block for block in story if block.topic in topics)


def tell_run(
    run: RunRecord, policy: Policy, *, folder: Path | None = None, overview: Overview | None = None, whole: bool = True
) -> Story:
    """The story of a run, or of a part, by its sums. `overview` names volumes, and `folder` is in its commands."""
    steps = tell_steps(run, policy, folder, overview)
    blocks = [
        tell_headline(run, whole=whole),
        tell_incomplete(run, folder),
        tell_money(run.monthly_usd, policy),
        Note(topic=Topic.SINCE, lines=_lines(changes_since(run))),
        Note(topic=Topic.OUTLOOK, lines=_lines(outlook(run.risk))),
        *([steps] if steps.steps else []),
        *_tell_places(run),
        tell_counts(run),
        Figures(topic=Topic.ABOUT, title="How this was found", heads=("", ""), rows=tuple(_run_facts(run, policy))),
    ]
    return tuple(block for block in blocks if not _is_empty(block))


def _is_empty(block: object) -> bool:
    return (isinstance(block, Note) and not block.lines) or (isinstance(block, Figures) and not block.rows)


def _lines(*sentences: str) -> tuple[str, ...]:
    return tuple(filter(None, sentences))


# ---- the headline, and why it is not of everything


def tell_headline(run: RunRecord, *, whole: bool) -> Headline:
    """The saving and the cost in one sentence, and what can be taken at once."""
    safe = run.steps.get(Step.SAFE)
    saved = 0.0 if safe is None else safe.monthly_usd.saved
    first = f"Take {usd(saved)} a month now: nothing is given up." if saved >= CENT else ""
    return Headline(text=_headline(run, whole=whole), first=first)


def _headline(run: RunRecord, *, whole: bool) -> str:
    answered, unpriced, money = run.volumes.answered, run.volumes.unpriced, run.monthly_usd
    priced = answered - unpriced
    if answered == 0:
        return _nothing_answered(run) if whole else "No volume matches this report."
    if priced == 0:
        return f"No price is known for {_volume_words(answered)}, so no saving is known. Give prices with --prices."
    costs = "costs" if priced == 1 else "cost"
    if money.saved < CENT:
        sentence = f"Nothing can be saved on {_volume_words(priced)}, which {costs} {usd(money.now)} a month"
    else:
        sentence = (
            f"{usd(money.saved)} a month can be saved: {_share(money.saved / money.now if money.now else 1.0)} of the "
            f"{usd(money.now)} that {_volume_words(priced)} {costs}"
        )
    if unpriced:
        sentence += f"; no price is known for {count_of(unpriced, 'other')}"
    return f"{sentence}."


def _share(part: float) -> str:
    percent = round(part * 100)
    if percent >= 100:
        return "all" if part >= 1 else "more than 99 %"
    return f"{percent} %" if percent else "less than 1 %"


def _volume_words(volumes: int) -> str:
    return "this one volume" if volumes == 1 else f"these {volumes:,} volumes"


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


def tell_incomplete(run: RunRecord, folder: Path | None) -> Note:
    """The reason why the figures lack part of the scope, with the command that goes on; no lines if they are whole."""
    if run.status in _UNENDED:
        sentence, go_on = _UNENDED[run.status]
        command = "" if folder is None else shlex.join(["plimsoll", "audit", "--resume", str(folder)])
        lines = (f"{sentence} {go_on}",) if command else (sentence,)
        return Note(topic=Topic.INCOMPLETE, lines=lines, copy=command)
    return Note(topic=Topic.INCOMPLETE, lines=_lines(unreadable(run)))


def unreadable(run: RunRecord) -> str:
    """The numbers of places and volumes that could not be read; empty if all could."""
    places, volumes = len(run.failures.targets), sum(len(ids) for *_, ids in failed_volumes(run))
    missing = [count_of(number, thing) for number, thing in ((places, "place"), (volumes, "volume")) if number]
    return f"Not in these figures, because unreadable: {' and '.join(missing)}." if missing else ""


# ---- money


def tell_money(money: RunUsd, policy: Policy) -> Figures:
    """The certainty of the saving, and the sums of money that are no part of it."""
    rows = tuple(
        Figure(usd(money.amount(key)), label, meaning)
        for key, label, meaning in _MONEY
        if (money.saved if key in _SAVING else money.amount(key)) >= CENT
    )
    why = f"Recommended sizes carry {requirement_words(policy)}." if money.saved >= CENT else ""
    return Figures(topic=Topic.MONEY, heads=("USD a month:", "what", "why"), rows=rows, why=why)


_SAVING: Final = frozenset({"saved_drop_in", "saved_on_proof"})
"""The two parts of the saving, which are shown together."""

_MONEY: Final = (
    (
        "saved_drop_in",
        "with same-limits replacements alone",
        ("Same IOPS and MiB/s as today; something else may be given up. Based on limits, not on metrics."),
    ),
    (
        "saved_on_proof",
        "more with reductions",
        "Based on measured use.",
    ),
    (
        "saved_but_blocked",
        "of the saving is blocked today",
        "Each volume says what blocks its change.",
    ),
    (
        "more_for_upgrades",
        "a month more for throttled volumes",
        "Not subtracted from the saving: paying for speed is a decision of its own.",
    ),
    *(
        (
            kind.name,
            f"a month for volumes {kind.words}",
            "Not counted as a saving: only the owner knows whether it is needed.",
        )
        for kind in COSTS
    ),
    (
        "too_risky",
        "more a month, but not recommended",
        (
            "Not counted as a saving: the risk that these volumes outgrow a smaller size is above the policy's "
            "limit, or unknown. Each volume shows it."
        ),
    ),
    (
        "waiting",
        "a month possible later",
        "Not counted as a saving: these volumes changed recently and cannot be judged yet.",
    ),
    (
        "saved_by_templates",
        "a month more by changes of templates",
        "Beyond what their volumes save alone.",
    ),
)
"""The sums of money beside the saving, by their keys in run.json: a label, and what each means."""


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
        parts.append(f"{usd(money.too_risky)} a month more is too risky to recommend")
    if money.waiting >= CENT:
        parts.append(f"{usd(money.waiting)} a month possible later")
    if not parts and money.now >= CENT:
        parts.append(f"costs {usd(money.now)} a month")
    return "; ".join(parts) or "no price known"


# ---- steps


def tell_steps(run: RunRecord, policy: Policy, folder: Path | None, overview: Overview | None) -> StepList:
    """The steps that hold volumes, in the order in which to act."""
    held = [step for step in Step if step in run.steps]
    steps = tuple(_step_line(step, run, policy, folder, overview) for step in held)
    saving = {step: run.steps[step].monthly_usd.saved for step in held if run.steps[step].monthly_usd.saved >= CENT}
    most_money = ""
    if len(saving) > 1:
        step = max(saving, key=lambda held_step: saving[held_step])
        most_money = (
            f"The most money is in step {held.index(step) + 1}, which saves {usd(saving[step])} of the "
            f"{usd(run.monthly_usd.saved)} a month."
        )
    return StepList(steps=steps, most_money=most_money)


def _step_line(step: Step, run: RunRecord, policy: Policy, folder: Path | None, overview: Overview | None) -> StepLine:
    part, whole = run.steps[step], run.monthly_usd
    saved = part.monthly_usd.saved
    first = () if overview is None or step in _QUIET else tuple(overview.first[step].items)
    until = overview.until if overview is not None and step is Step.WAIT else None
    command = STEP_COMMANDS.get(step)
    return StepLine(
        step=step,
        words=step_words(step, policy),
        volumes=count_of(part.volumes, "volume") + (f", from {until} on" if until else ""),
        money=money_of(part.monthly_usd),
        amount=usd(saved) if saved >= CENT else money_of(part.monthly_usd),
        share_pct=round(max(0.0, saved / whole.now * 100 if whole.now > 0 else 0.0), 2),
        small=saved < max(CENT, whole.saved / 100),
        first=first,
        more=part.volumes - len(first),
        command=None if command is None or folder is None else command.format(shlex.quote(str(folder))),
    )


# ---- what has changed since earlier runs


def changes_since(run: RunRecord) -> str:
    """The changes since earlier runs, what the bill shows of them, kept promises and what was learned; may be empty."""
    changed = "; ".join(_parts(run.history)) + "." if run.history else ""
    return " ".join(filter(None, [changed, realized_words(run), kept_promises(run), learned_words(run)]))


def realized_words(run: RunRecord) -> str:
    """The sentence on carried out savings in the newest bill; empty if no bill was compared."""
    savings = run.realized
    if savings is None:
        return ""
    lost = f"; {usd(savings.lost)} was lost again" if savings.lost >= CENT else ""
    carried_out = f"{usd(savings.carried_out)} a month that was carried out"
    return f"The bill of {savings.month} shows {usd(savings.realized)} of the {carried_out}{lost}."


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


# ---- what only a whole run has


def _tell_places(run: RunRecord) -> Iterator[Changes | Figures | Missing | Note]:
    templates = tuple(template_texts(run))
    if templates:
        yield Changes(topic=Topic.TEMPLATES, title=TITLE, why=WHY, changes=templates)
    if run.paid:
        yield tell_paid(run.paid)
    if run.states:
        yield tell_states(run.states)
    for costs in cost_tables(run):
        heads = ("owner", "made", "volumes:", "money:")
        yield Figures(topic=Topic.COSTS, title=costs.title, why=COSTS_WHY, heads=heads, rows=tuple(costs.rows))
    missing = tell_missing(run)
    if missing.unread or missing.left_out:
        yield missing
    for places, text in group_notices(run):
        yield Note(topic=Topic.NOTICES, title=places, lines=(text,))


def tell_paid(rows: Sequence[PaidRecord]) -> Figures:
    """The picture of what is paid: by type and state, what of it is used and what can be taken, the dearest first."""
    few = [_paid_row(row) for row in rows[:_PAID_ROWS]]
    few += [_paid_row(total, f"all in {total.currency}") for total in sum_paid(rows)]
    heads = ("type", "state", *_PAID_HEADS, "without a price:")
    return Figures(topic=Topic.PAID, title=_PAID_TITLE, why=_paid_words(rows), heads=heads, rows=tuple(few))


_PAID_TITLE: Final = "What is paid a month, and what of it is used"
_PAID_HEADS: Final = ("paid:", "used:", "now:", "with proof:", "owner's word:", "not known:")
_PAID_ROWS: Final = 12


def sum_paid(rows: Iterable[PaidRecord]) -> list[PaidRecord]:
    """The sum of each currency's rows: currencies are never added up."""
    sums: dict[str, PaidRecord] = {}
    for row in rows:
        before = sums.get(row.currency, PaidRecord(type="together", state="", currency=row.currency))
        added = {name: getattr(before, name) + getattr(row, name) for name in ("count", "unpriced", *PAID_PARTS)}
        sums[row.currency] = before.model_copy(update=added)
    return list(sums.values())


def _paid_row(row: PaidRecord, state: str = "") -> tuple[str, ...]:
    words = STATE_KINDS[row.state].words if row.state in STATE_KINDS else row.state or state
    money = (getattr(row, part) for part in PAID_PARTS)
    amounts = (_paid_amount(amount, row.currency) if amount else "" for amount in money)
    return row.type, words, *amounts, f"{row.unpriced:,}" if row.unpriced else ""


def _paid_amount(amount: float, currency: str) -> str:
    return usd(amount) if currency == DOLLARS else f"{currency} {amount:,.2f}"


def _paid_words(rows: Sequence[PaidRecord]) -> str:
    """The picture in a sentence for each currency; things without a known price are counted."""
    sentences = []
    for total in sum_paid(rows):
        parts = [
            f"{_paid_amount(getattr(total, part), total.currency)} {words}"
            for part, words in zip(PAID_PARTS[1:], _PAID_WORDS, strict=True)
            if getattr(total, part) >= CENT
        ]
        if parts:
            sentences.append(f"Of {_paid_amount(total.paid, total.currency)} a month: {', '.join(parts)}.")
        if total.unpriced:
            sentences.append(f"What {count_of(total.unpriced, 'more thing')} cost is not known.")
    return " ".join(sentences)


_PAID_WORDS: Final = ("is used", "can be taken now", "needs proof", "needs its owner's word", "is not known")


def tell_states(sums: Iterable[StateSum]) -> Figures:
    """The sums of things in each state, with the bounds of what their actions save."""
    rows = tuple(
        (
            STATE_KINDS[state.state].words,
            f"{state.things:,}",
            _with_unknown(state.monthly_usd, state.unpriced),
            usd(state.monthly_usd_saved_least),
            _with_unknown(state.monthly_usd_saved_most, state.unsaved),
        )
        for state in sums
        if state.state in STATE_KINDS
    )
    heads = ("state", "things:", "paid a month:", "saved at least:", "at most:")
    return Figures(topic=Topic.STATES, title="Paid for, and not used", heads=heads, rows=rows)


def _with_unknown(amount: float, things: int) -> str:
    return f"{usd(amount)} and {things:,} unknown" if things else usd(amount)


def tell_state(record: StateRecord) -> Note:
    """One thing in a state: what to do, why, what is given up and missing, the commands and the way back."""
    name = record.ids[0] if len(record.ids) == 1 else f"{record.ids[0]} and {len(record.ids) - 1:,} more"
    least, most = record.monthly_usd_saved_least, record.monthly_usd_saved_most
    money = "" if most is None else f", {usd(most)} a month"
    if least is not None and most is not None and least != most:
        money = f", {usd(least)} to {usd(most)} a month"
    called, target = f"{name} {record.name or ''}".rstrip(), f" to {record.target}" if record.target else ""
    lines = [f"{called} ({STATE_KINDS[record.state].words}): {record.action}{target}{money}"]
    lines += [f"  why: {'; '.join(record.evidence)}"] if record.evidence else []
    lines += [f"  given up: {'; '.join(record.gives_up)}"] if record.gives_up else []
    lines += [f"  missing: {lack.text}" for lack in record.lacks]
    back = [record.way_back or "none", *([usd(record.way_back_usd)] if record.way_back_usd else [])]
    back += [f"about {record.way_back_hours:g} hours"] if record.way_back_hours else []
    copy = "\n".join(f"  {command}" for command in record.commands)
    return Note(topic=Topic.STATES, lines=(*lines, f"  way back: {', '.join(back)}"), copy=copy)


def tell_missing(run: RunRecord) -> Missing:
    """The places and volumes that could not be read, and those that were left out on purpose."""
    left_out = (f"{count_of(count, 'volume')} left out: {reason}." for reason, count in run.volumes.skipped.items())
    return Missing(unread=tuple(_unread(run)), left_out=tuple(left_out))


def _unread(run: RunRecord) -> Iterator[Unread]:
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


# ---- counts and facts


def tell_counts(run: RunRecord) -> Figures:
    """Every volume by its outcome."""
    volumes = run.volumes
    rows = [
        (f"{run.actions[kind.name]:,}", kind.name, kind_words(kind))
        for kind in sorted(KINDS.values(), key=_rank)
        if run.actions.get(kind.name)
    ]
    rows += [(f"{count:,}", "skipped", reason) for reason, count in volumes.skipped.items()]
    rows += [(f"{volumes.failed:,}", "failed", "could not be read")] if volumes.failed else []
    rows.append((f"{volumes.seen:,}", "volumes seen", _balance_words(volumes)))
    return Figures(topic=Topic.COUNTS, heads=("volumes:", "outcome", ""), rows=tuple(rows))


def _rank(kind: Kind) -> int:
    return kind.rank


def _balance_words(volumes: VolumeCounts) -> str:
    return "each has exactly one outcome" if volumes.reconciled else "the outcomes do not add up: please report this"


def _run_facts(run: RunRecord, policy: Policy) -> Iterator[tuple[str, str]]:
    """Facts of the run, in pairs of a word and a sentence."""
    yield "Audited", f"{run.as_of:%Y-%m-%d %H:%M} UTC, run {run.id}"
    if len(run.clouds) > 1:
        for provider, cloud in run.clouds.items():
            money = cloud.monthly_usd
            saved = f"{usd(money.saved)} a month can be saved of {usd(money.now)}"
            yield f"In {words_of(provider).cloud}", f"{saved}, {count_of(cloud.volumes, 'volume')}"
    yield "Policy", ". ".join(_policy(policy)) + "."
    yield "Prices", "; ".join(_prices(run.prices)) or "none were read"
    yield "Asked", _asked_words(run)
    yield "Made by", f"Plimsoll {run.versions.get('plimsoll', 'of an unknown version')}"


def _policy(policy: Policy) -> Iterator[str]:
    yield f"An offer must carry {requirement_words(policy)}"
    if policy.size_on is not SizeOn.AVERAGE:
        yield "A bucket's busiest second sizes it where the cloud publishes that"
    if policy.size_on is SizeOn.BUSY_TIME:
        yield "Elsewhere rates over the busy share of a bucket do"
    types = " or ".join(policy.target_types) or "of any type marked as a target in its cloud's data"
    yield f"It may be {types}, and must save ${policy.min_saving_usd_month:,.2f} a month"
    yield f"Measurements in the volume's own account and region have grade A for {policy.evidence_max_age_days} days"
    if policy.overrides:
        yield f"{count_of(len(policy.overrides), 'override')} by tag may say otherwise for some volumes"


def _prices(prices: Mapping[str, PriceSource]) -> Iterator[str]:
    for (source, as_of), count in Counter((price.source, price.as_of) for price in prices.values()).items():
        yield f"{source}{f' as of {as_of}' if as_of else ''}, in {count_of(count, 'place')}"


def _asked_words(run: RunRecord) -> str:
    usage, most = run.usage, run.plan.most_datapoints
    part = usage.datapoints / most * 100 if most else 0.0
    share = f" ({part:.1f} % of every minute's)" if 0 < part < 100 else ""
    return (
        f"{count_of(usage.calls, 'call')} of {calls_in(clouds_of(run))}, {usage.metrics:,} metrics, "
        f"{usage.datapoints:,} datapoints{share}, about {usd(usage.estimated_usd)}; "
        f"{run.seconds['elapsed']:,.1f} seconds"
    )
