"""A difference of two runs in words: what the terminal and Markdown say of it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from plimsoll.domain.recommendation import CHANGES
from plimsoll.reports.diff.compared import Diff, Difference
from plimsoll.reports.diff.sql import Group
from plimsoll.reports.record import SpecRecord
from plimsoll.reports.wording import count_of, spec_text, usd

QUIET: Final = frozenset({Group.SAME, Group.OPEN, Group.UNANSWERED})
"""Groups of volumes for which nothing is new, which are counted and not listed."""


def headline(diff: Diff) -> str:
    """What has been saved since, and what is still open."""
    done = diff.totals.get(Group.DONE)
    opened = diff.totals.get(Group.OPEN)
    since = (
        f"{usd(diff.usd_saved)} a month saved by {count_of(done.volumes, 'volume')} done" if done else "Nothing done"
    )
    left = count_of(opened.volumes, "volume") if opened else "nothing"
    return f"{since} since; {left} still open, which can save {usd(diff.usd_open)} a month."


def notes(diff: Diff) -> Iterator[str]:
    """What else differs between the runs, and what the figures leave out."""
    if diff.after.now < diff.before.now:
        yield "The second run is older than the first one."
    for run, which in ((diff.before, "first"), (diff.after, "second")):
        if run.status in {"interrupted", "running"}:
            yield f"The {which} run has not ended: a volume that it does not name may be there all the same."
    if diff.unpriced:
        yield f"{count_of(diff.unpriced, 'done volume')} without a known price: what that saved is not in the sum."
    volumes, usd_more = diff.repriced
    if volumes:
        yield f"Prices differ: {count_of(volumes, 'volume')} of the same configuration, {_signed(usd_more)} a month."
    for key, (before, after) in diff.policy.items():
        yield f"The policy differs: {key} was {before}, now {after}."
    for place, reason in diff.failed_places.items():
        yield f"Not read any more: {place}: {reason}"


def became(one: Difference) -> str:
    """What a volume was and what it is, in words."""
    match one.group:
        case Group.CHANGED:
            return f"{_answer(one.before)} → {_answer(one.after)}"
        case Group.NEW | Group.FIRST_READ | Group.OPEN | Group.SAME:
            return _answer(one.after)
        case Group.GONE | Group.NOT_READ | Group.FAILED | Group.LEFT_OUT:
            return _spec(one.before, "current")
        case Group.DONE | Group.ALTERED:
            return f"{_spec(one.before, 'current')} → {_spec(one.after, 'current') or 'gone'}"
        case Group.UNANSWERED:
            return ""


def money(one: Difference) -> str:
    """What a volume is about: what it saves since, or costs now or did before; USD a month."""
    if one.usd_saved is not None:
        return f"{usd(one.usd_saved)} saved"
    record = one.after or one.before
    cost = None if record is None else record["monthly_usd_now"]
    return "" if cost is None else usd(cost)


def _answer(record: Mapping[str, Any] | None) -> str:
    if record is None:
        return ""
    if record["action"] not in CHANGES:
        return f"{record['action']} {_spec(record, 'current')}"
    return f"{record['action']} to {_spec(record, 'target')}"


def _spec(record: Mapping[str, Any] | None, which: str) -> str:
    return spec_text(SpecRecord.model_validate(record[which])) if record and record[which] else ""


def _signed(amount: float) -> str:
    return f"{'+' if amount > 0 else ''}{usd(amount)}"
