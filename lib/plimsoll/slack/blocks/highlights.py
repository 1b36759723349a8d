"""The beginning of a report: what can be saved and how sure that is, and a line for each thing that matters."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from plimsoll.domain.actions import KEEP
from plimsoll.domain.policy import Policy
from plimsoll.reports.steps import CENT, EVIDENCE, Step, judged_by
from plimsoll.reports.summary import Unread, headline, unended, unread, unreadable
from plimsoll.reports.template_text import template_texts
from plimsoll.reports.totals import Totals
from plimsoll.reports.wording import count_of, usd
from plimsoll.slack.blocks.digest import BY_HAND, OTHERS, Listed, Sums
from plimsoll.slack.blocks.elements import Block, Said, bold, header, line, named, said

_MOST: Final = 3
"""How many groups of blocked volumes, and places that could not be read, are named."""

_WHY: Final = 200

_FIRST: Final = {
    Step.SAFE: "with nothing given up",
    Step.TRADE: "for the owner to decide",
    Step.PROVED: "proved to carry the measured demand",
    Step.MEASURE: "to be measured",
}
"""What is to be done with volumes that save, in the order in which it is done."""

_FORBIDS: Final = {
    EVIDENCE: "to be measured first",
    "operator-managed": "whose operator refuses changes by others",
    "modification-in-progress": "in the middle of another change",
    "modifications-used-up": "changed as often today as is allowed",
    "shrink": "which cannot shrink",
    "impossible": "which cannot be made so where they are",
    "multi-attach": "with Multi-Attach enabled",
}
"""What forbids a change, by the code of the blocker."""

Row = tuple[str | Said, ...]


def highlights(sums: Sums, run: Mapping[str, Any]) -> Iterator[Row]:
    """A line for each thing that matters; `run` says what could not be read."""
    yield from _first(sums)
    yield from _templates(run)
    yield from _throttled(sums)
    yield from _blocked(sums)
    yield from _detached(sums)
    yield from _waiting(sums)
    yield from _unread(run)


def of_accounts(run: Mapping[str, Any], accounts: Collection[str]) -> dict[str, Any]:
    """The run with the templates, and what could not be read, of these accounts alone."""
    failures = {
        kind: {place: why for place, why in found.items() if place.partition("/")[0] in accounts}
        for kind, found in run["failures"].items()
    }
    templates = [one for one in run.get("templates", ()) if one["account"] in accounts]
    return {**run, "failures": failures, "templates": templates}


def _first(sums: Sums) -> Iterator[Row]:
    steps = sums.totals.by["step"]
    saving = [(words, steps[step]) for step, words in _FIRST.items() if step in steps and steps[step].saved_cents > 0]
    told = [
        f"{usd(one.usd_saved)} on {count_of(one.answered - one.actions[KEEP], 'volume')} {words}"
        for words, one in saving
    ]
    if told:
        yield (bold("What to do first:"), f" {'; then '.join(told)}.")


def _templates(run: Mapping[str, Any]) -> Iterator[Row]:
    """The changes of templates that save most, one for all the volumes that each makes."""
    found = list(template_texts(run))
    for one in found[:_MOST]:
        yield bold("One change for all of "), named(line(one.made_by)), f": {one.volumes}, {one.change}, {one.saves}."
    if len(found) > _MOST:
        yield (f"{count_of(len(run['templates']) - _MOST, 'more template')} can be changed so: see the report.",)


def _throttled(sums: Sums) -> Iterator[Row]:
    total = sums.totals.actions["upgrade"]
    if not total:
        return
    money = sums.totals.usd_upgrades
    lead = f"{count_of(total, 'volume')} {'is' if total == 1 else 'are'} throttled today"
    whose = "more speed" if sums.dearer == total else f"more speed for {sums.dearer:,} of them"
    cost = f", and {whose} costs {usd(money)} a month" if money >= CENT else ""
    told = [part for one in sums.throttled.items[:1] for part in _worst(one)]
    yield (bold(lead), f": the workload waits for the disk{cost}.", *told)


def _worst(one: Listed) -> Iterator[str | Said]:
    yield " Worst is "
    yield named(one.name)
    yield f" in {one.place()}: {one.change}, {one.outcome}. {one.risk}"


def _blocked(sums: Sums) -> Iterator[Row]:
    if not sums.blocked:
        return
    money, groups = sums.totals.usd_blocked, sorted(sums.blocked.items(), key=_weight)
    volumes = sum(group.answered for group in sums.blocked.values())
    are = "is" if volumes == 1 else "are"
    lead = f"{usd(money)} of the saving is" if money >= CENT else f"{count_of(volumes, 'volume')} {are}"
    told = [part for (who, code), group in groups[:_MOST] for part in _group(who, code, group)][:-1]
    left = volumes - sum(group.answered for _, group in groups[:_MOST])
    yield (bold(f"{lead} blocked today:"), *told, f"; {count_of(left, 'volume')} more." if left else ".")


def _group(who: str, code: str, group: Totals) -> Iterator[str | Said]:
    money = f" {usd(group.usd_saved)} on" if group.usd_saved >= CENT else ""
    yield f"{money} {count_of(group.answered, 'volume')} {_FORBIDS.get(code, line(code))} ("
    yield who if who in {BY_HAND, OTHERS} else named(who)
    yield ")"
    yield ";"


def _weight(group: tuple[tuple[str, str], Totals]) -> tuple[int, int, tuple[str, str]]:
    key, found = group
    return -found.saved_cents, -found.answered, key


def _detached(sums: Sums) -> Iterator[Row]:
    total, money = sums.totals.actions["detached"], sums.totals.usd_detached
    if total:
        is_, costs = ("is", "costs") if total == 1 else ("are", "cost")
        priced = f" and {costs} {usd(money)} a month" if money >= CENT else ""
        yield (
            bold(f"{count_of(total, 'volume')} {is_} attached to nothing"),
            f"{priced}. That is not counted as a saving: only the owner knows what is needed.",
        )


def _waiting(sums: Sums) -> Iterator[Row]:
    total, money = sums.totals.actions["wait"], sums.totals.usd_waiting
    if total:
        were = "was" if total == 1 else "were"
        may = f" {usd(money)} a month may be saved then." if money >= CENT else ""
        told = f" {were} changed lately, and cannot be judged before {sums.until}.{may}"
        yield (bold(count_of(total, "volume")), told)


def _unread(run: Mapping[str, Any]) -> Iterator[Row]:
    told = unreadable(run)
    if not told:
        return
    found = list(unread(run))
    places = [part for one in found[:_MOST] for part in _place(one)]
    more = f" {len(found) - _MOST:,} more such lines are in run.json." if len(found) > _MOST else ""
    yield (bold(told), *places, more)


def _place(one: Unread) -> Iterator[str | Said]:
    yield " In "
    yield named(line(one.place))
    yield f", {line(one.what)}: {line(one.why, _WHY)}"


_PURPOSE: Final = (
    "Plimsoll compares what cloud disks are asked for with what is paid for, and recommends cheaper ones that still "
    "carry the work."
)


def opening(sums: Sums, run: Mapping[str, Any], policy: Policy, part: str) -> Iterator[Block]:
    """The title, and a paragraph for somebody who has never heard of Plimsoll."""
    yield header(headline(sums.totals, run, whole=not part).removesuffix("."))
    if told := unended(run):
        yield said(bold("Partial. "), told)
    about = f"This report is of {line(part)} alone." if part else ""
    known = f"{_PURPOSE} {_how_sure(sums.totals, policy)}" if sums.totals.answered else ""
    if told := f"{about} {known}".strip():
        yield said(told)


def _how_sure(totals: Totals, policy: Policy) -> str:
    """How much of the saving keeps today's limits and how much rests on measurements; empty without savings."""
    if totals.usd_saved < CENT:
        return ""
    carries = f"the measured demand: the cheaper ones carry {judged_by(policy)}."
    kept = "would be saved even with all of today's IOPS and MiB/s kept"
    if totals.usd_saved_drop_in < CENT:
        return f"The saving rests on {carries}"
    if totals.usd_saved_on_proof < CENT:
        return f"All of the saving {kept}."
    return f"{usd(totals.usd_saved_drop_in)} {kept}; the other {usd(totals.usd_saved_on_proof)} rests on {carries}"
