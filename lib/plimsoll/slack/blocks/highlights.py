"""The beginning of a report: what can be saved and how sure that is, and a line for each thing that matters."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final, TypeVar

from plimsoll.domain.kinds import COSTS, CountsAs, Kind
from plimsoll.domain.policy import Policy
from plimsoll.reports.run_record import Failures, RunRecord
from plimsoll.reports.steps import CENT, EVIDENCE, Step, requirement_words
from plimsoll.reports.summary import Unread, run_headline, unended_sentence, unread, unreadable
from plimsoll.reports.template_text import template_texts
from plimsoll.reports.totals import RunTotals
from plimsoll.reports.wording import count_of, usd
from plimsoll.slack.blocks.digest import OTHERS, OWNER_BY_HAND, DigestSums, ListedVolume
from plimsoll.slack.blocks.elements import Block, RichText, bold, header_block, line, marked_name, paragraph

_MOST: Final = 3
"""The most groups of blocked volumes, and places that could not be read, that are named."""

_WHY: Final = 200

_FIRST: Final = {
    Step.SAFE: "with nothing given up",
    Step.TRADE: "for the owner to decide",
    Step.PROVED: "proved to carry the measured demand",
    Step.MEASURE: "to be measured",
}
"""The next steps for volumes that save, in their order."""

_FORBIDS: Final = {
    EVIDENCE: "to be measured first",
    "operator-managed": "whose operator refuses changes by others",
    "modification-in-progress": "in the middle of another change",
    "modifications-used-up": "changed as often today as is allowed",
    "shrink": "which cannot shrink",
    "impossible": "which cannot be made so where they are",
    "multi-attach": "with Multi-Attach enabled",
}
"""The reasons that forbid a change, by the code of the blocker."""

_Why = TypeVar("_Why")

HighlightRow = tuple[str | RichText, ...]


def highlights(sums: DigestSums, run: RunRecord) -> Iterator[HighlightRow]:
    """A line for each thing that matters; `run` says what could not be read."""
    yield from _first_rows(sums)
    yield from _template_rows(run)
    yield from _throttled_rows(sums)
    yield from _blocked_rows(sums)
    for kind in COSTS:
        yield from _cost_rows(kind, sums)
    yield from _waiting_rows(sums)
    yield from _unread_rows(run)


def run_of_accounts(run: RunRecord, accounts: Collection[str]) -> RunRecord:
    """The run with the templates, and what could not be read, of these accounts alone."""

    def select_places(places: Mapping[str, _Why]) -> dict[str, _Why]:
        return {place: why for place, why in places.items() if place.partition("/")[0] in accounts}

    failures = Failures(targets=select_places(run.failures.targets), volumes=select_places(run.failures.volumes))
    templates = [template for template in run.templates if template.account in accounts]
    return run.model_copy(update={"failures": failures, "templates": templates})


def _first_rows(sums: DigestSums) -> Iterator[HighlightRow]:
    steps = sums.totals.by["step"]
    saving = [(words, steps[step]) for step, words in _FIRST.items() if step in steps and steps[step].saved_cents > 0]
    changed = [
        (words, group, group.answered_count - group.volumes_counted_as(CountsAs.SAME)) for words, group in saving
    ]
    phrases = [f"{usd(group.usd_saved)} on {count_of(volumes, 'volume')} {words}" for words, group, volumes in changed]
    if phrases:
        yield (bold("What to do first:"), f" {'; then '.join(phrases)}.")


def _template_rows(run: RunRecord) -> Iterator[HighlightRow]:
    """The changes of templates that save most, one for all the volumes of a template."""
    templates = list(template_texts(run))
    for template in templates[:_MOST]:
        yield (
            bold("One change for all of "),
            marked_name(line(template.made_by)),
            f": {template.volumes}, {template.change}, {template.saves}.",
        )
    if len(templates) > _MOST:
        yield (f"{count_of(len(run.templates) - _MOST, 'more template')} can be changed so: see the report.",)


def _throttled_rows(sums: DigestSums) -> Iterator[HighlightRow]:
    total = sums.totals.volumes_counted_as(CountsAs.MORE)
    if not total:
        return
    money = sums.totals.usd_upgrades
    lead = f"{count_of(total, 'volume')} {'is' if total == 1 else 'are'} throttled today"
    whose = "more speed" if sums.dearer == total else f"more speed for {sums.dearer:,} of them"
    cost = f", and {whose} costs {usd(money)} a month" if money >= CENT else ""
    worst = [part for volume in sums.throttled.items[:1] for part in _worst_words(volume)]
    yield (bold(lead), f": the workload waits for the disk{cost}.", *worst)


def _worst_words(volume: ListedVolume) -> Iterator[str | RichText]:
    yield " Worst is "
    yield marked_name(volume.name)
    yield f" in {volume.place()}: {volume.change}, {volume.outcome}. {volume.risk}"


def _blocked_rows(sums: DigestSums) -> Iterator[HighlightRow]:
    if not sums.blocked:
        return
    money, groups = sums.totals.usd_blocked, sorted(sums.blocked.items(), key=_weight)
    volumes = sum(group.answered_count for group in sums.blocked.values())
    are = "is" if volumes == 1 else "are"
    lead = f"{usd(money)} of the saving is" if money >= CENT else f"{count_of(volumes, 'volume')} {are}"
    phrases = [part for (who, code), group in groups[:_MOST] for part in _group_words(who, code, group)][:-1]
    left = volumes - sum(group.answered_count for _, group in groups[:_MOST])
    yield (bold(f"{lead} blocked today:"), *phrases, f"; {count_of(left, 'volume')} more." if left else ".")


def _group_words(who: str, code: str, group: RunTotals) -> Iterator[str | RichText]:
    money = f" {usd(group.usd_saved)} on" if group.usd_saved >= CENT else ""
    yield f"{money} {count_of(group.answered_count, 'volume')} {_FORBIDS.get(code, line(code))} ("
    yield who if who in {OWNER_BY_HAND, OTHERS} else marked_name(who)
    yield ")"
    yield ";"


def _weight(group: tuple[tuple[str, str], RunTotals]) -> tuple[int, int, tuple[str, str]]:
    key, totals = group
    return -totals.saved_cents, -totals.answered_count, key


def _cost_rows(kind: Kind, sums: DigestSums) -> Iterator[HighlightRow]:
    total, money = sums.totals.actions[kind.name], sums.totals.usd_cost(kind.name)
    if total:
        is_, costs = ("is", "costs") if total == 1 else ("are", "cost")
        priced = f" and {costs} {usd(money)} a month" if money >= CENT else ""
        yield (
            bold(f"{count_of(total, 'volume')} {is_} {kind.words}"),
            f"{priced}. That is not counted as a saving: only the owner knows what is needed.",
        )


def _waiting_rows(sums: DigestSums) -> Iterator[HighlightRow]:
    total, money = sums.totals.volumes_counted_as(CountsAs.LATER), sums.totals.usd_waiting
    if total:
        were = "was" if total == 1 else "were"
        may = f" {usd(money)} a month may be saved then." if money >= CENT else ""
        sentence = f" {were} changed lately, and cannot be judged before {sums.until}.{may}"
        yield (bold(count_of(total, "volume")), sentence)


def _unread_rows(run: RunRecord) -> Iterator[HighlightRow]:
    lead = unreadable(run)
    if not lead:
        return
    gaps = list(unread(run))
    places = [part for gap in gaps[:_MOST] for part in _place_words(gap)]
    remainder = f" {len(gaps) - _MOST:,} more such lines are in run.json." if len(gaps) > _MOST else ""
    yield (bold(lead), *places, remainder)


def _place_words(gap: Unread) -> Iterator[str | RichText]:
    yield " In "
    yield marked_name(line(gap.place))
    yield f", {line(gap.what)}: {line(gap.why, _WHY)}"


_PURPOSE: Final = (
    "Plimsoll compares what cloud disks are asked for with what is paid for, and recommends cheaper ones that still "
    "carry the work."
)


def opening(sums: DigestSums, run: RunRecord, policy: Policy, part: str) -> Iterator[Block]:
    """The title, and a paragraph for somebody who has never heard of Plimsoll."""
    yield header_block(run_headline(sums.totals, run, whole=not part).removesuffix("."))
    if sentence := unended_sentence(run):
        yield paragraph(bold("Partial. "), sentence)
    about = f"This report is of {line(part)} alone." if part else ""
    known = f"{_PURPOSE} {_certainty(sums.totals, policy)}" if sums.totals.answered_count else ""
    if sentence := f"{about} {known}".strip():
        yield paragraph(sentence)


def _certainty(totals: RunTotals, policy: Policy) -> str:
    """The share of the saving that keeps today's limits, and the share that rests on measurements; empty without
    savings."""
    if totals.usd_saved < CENT:
        return ""
    carries = f"the measured demand: the cheaper ones carry {requirement_words(policy)}."
    kept = "would be saved even with all of today's IOPS and MiB/s kept"
    if totals.usd_saved_drop_in < CENT:
        return f"The saving rests on {carries}"
    if totals.usd_saved_on_proof < CENT:
        return f"All of the saving {kept}."
    return f"{usd(totals.usd_saved_drop_in)} {kept}; the other {usd(totals.usd_saved_on_proof)} rests on {carries}"
