"""A difference of two runs in words: what the terminal and Markdown say of it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from plimsoll.domain.recommendation import CHANGES
from plimsoll.reports.diff.compared import Diff, Difference, Money
from plimsoll.reports.diff.sql import Group
from plimsoll.reports.record import SpecRecord
from plimsoll.reports.steps import CENT
from plimsoll.reports.wording import count_of, spec_text, usd

QUIET: Final = frozenset({Group.SAME, Group.OPEN, Group.UNANSWERED})
"""Groups of volumes for which nothing is new, which are counted and not listed."""


def headline(diff: Diff) -> str:
    """What has been saved since, and what is still open."""
    saved, left = diff.saved, diff.open_saving
    since = "Nothing saved"
    if saved.volumes:
        since = f"{usd(saved.usd)} a month saved by {count_of(saved.volumes, 'volume')} done"
    still = f"{count_of(left.volumes, 'volume')} still open, which can save {usd(left.usd)} a month"
    return f"{since} since; {still if left.volumes else 'nothing still open that can save'}."


def notes(diff: Diff) -> Iterator[str]:
    """What else differs between the runs, and what the figures leave out."""
    if diff.after.now < diff.before.now:
        yield "The second run is older than the first one."
    for run, which in ((diff.before, "first"), (diff.after, "second")):
        if run.status in {"interrupted", "running"}:
            yield f"The {which} run has not ended: a volume that it does not name may be there all the same."
    yield from _besides(diff)
    if diff.mixed:
        yield (
            f"{count_of(diff.mixed, 'volume')} changed to what the first run has no price for: what that saved may "
            "hold a change of prices."
        )
    if diff.unpriced:
        yield f"{count_of(diff.unpriced, 'done volume')} without a known price: what that saved is not in the sum."
    volumes, usd_more = diff.repriced
    if volumes:
        yield f"Prices differ: {count_of(volumes, 'volume')} of the same configuration, {_signed(usd_more)} a month."
    for key, (before, after) in diff.policy.items():
        yield f"The policy differs: {key} was {before}, now {after}."
    for place, reason in diff.failed_places.items():
        yield f"Not read any more: {place}: {reason}"


def _besides(diff: Diff) -> Iterator[str]:
    """Money that is no saving: upgrades, other changes, and what is attached to nothing."""
    if diff.upgraded.volumes:
        yield f"{_upgrades(diff.upgraded)} done, which cost {usd(diff.upgraded.usd)} a month more; not in the saving."
    if diff.altered.volumes:
        less = f"{usd(diff.altered.usd)} a month less" if diff.altered.usd >= 0 else f"{usd(-diff.altered.usd)} more"
        yield f"{count_of(diff.altered.volumes, 'volume')} changed to something else: {less}, not in the saving."
    if diff.open_upgrades.volumes:
        yield f"Still open: {_upgrades(diff.open_upgrades)}, for {usd(diff.open_upgrades.usd)} a month more."
    if diff.open_detached.volumes:
        detached = diff.open_detached
        yield f"Still open: {count_of(detached.volumes, 'volume')} attached to nothing, {usd(detached.usd)} a month."


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
        return f"{usd(one.usd_saved)} saved" if one.usd_saved > -CENT else f"{usd(-one.usd_saved)} more"
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


def _upgrades(found: Money) -> str:
    return count_of(found.volumes, "upgrade")


def _signed(amount: float) -> str:
    return f"{'+' if amount > 0 else ''}{usd(amount)}"
