"""A list of volumes with their buttons, as much of it as a message has room for."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Final

from plimsoll.domain.policy import Policy
from plimsoll.reports.wording import count_of, usd
from plimsoll.slack.blocks.digest import Listed, Sums
from plimsoll.slack.blocks.elements import Block, Control, bold, controls, said
from plimsoll.slack.blocks.message import Budget

Numbered = tuple[int, Listed]
"""A volume and its place in a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How volumes are listed: under which policy, which are new, and whether with buttons and a thread."""

    policy: Policy
    new: Collection[str]
    controls: Sequence[Control]
    threaded: bool


_REPORT: Final = "they are in the report"
_REST: Final = "the largest are in the thread, by account, and all of them in the report"
_ELSEWHERE: Final = (said("There is no room here for the buttons of the last ones: they are in the thread."),)
_WAITING: Final = (said(bold("Throttled today")),)


def first_of_all(sums: Sums, budget: Budget, manner: Manner) -> tuple[list[Block], list[Numbered]]:
    """The volumes that save most, as many as there is room for, the first ones with their buttons; then how many
    volumes and how much money are not listed. And those for whose buttons there is a thread, and no room here."""
    rest, found = _REST if manner.threaded else _REPORT, list(enumerate(sums.savers.items, start=1))
    if not budget.take([*_longest_title(sums), *_left(sums, [], rest), *_ELSEWHERE]):
        return [], []
    rows = list(takewhile(lambda row: budget.take([row]), (_row(one, manner) for one in found)))
    found = found[: len(rows)]
    below = list(takewhile(budget.take, _buttons(found, manner)))
    listed = [block for at, row in enumerate(rows) for block in (row, *(below[at] if at < len(below) else ()))]
    elsewhere = found[len(below) :] if manner.controls and manner.threaded else []
    told = [*_left(sums, [one for _, one in found], rest), *(_ELSEWHERE if elsewhere else ())]
    return [*_title(sums, len(rows)), *listed, *told], elsewhere


def with_buttons(found: Sequence[Numbered], manner: Manner) -> Iterator[list[Block]]:
    """These volumes with their buttons, in as many messages as they take."""
    budget, blocks = Budget(), list[Block]()
    for one in [[said(bold("The last volumes of the list above, with their buttons"))], *_both(found, manner)]:
        if not budget.take(one):
            yield blocks
            budget, blocks = Budget(), []
            budget.take(one)
        blocks += one
    if found:
        yield blocks


def of_an_account(sums: Sums, budget: Budget, manner: Manner) -> list[Block]:
    """The volumes of an account that save most, each with its buttons, and how much is not listed.

    Throttled volumes that save nothing come first. As many are listed as there is room for.
    """
    saving = sums.savers.items
    before = {one.volume for one in saving}
    throttled = [one for one in sums.throttled.items if one.volume not in before]
    if not budget.take([*_WAITING, *_longest_title(sums), *_left(sums, [], _REPORT)]):
        return []
    first, then = _fitting(throttled, budget, manner), _fitting(saving, budget, manner)
    left = _left(sums, saving[: len(then)], _REPORT)
    return [*(_WAITING if first else ()), *chain(*first), *_title(sums, len(then)), *chain(*then), *left]


def _fitting(found: Iterable[Listed], budget: Budget, manner: Manner) -> list[list[Block]]:
    return list(takewhile(budget.take, _both(list(enumerate(found, start=1)), manner, account=False)))


def _both(found: Sequence[Numbered], manner: Manner, *, account: bool = True) -> Iterator[list[Block]]:
    for one, below in zip(found, _buttons(found, manner), strict=True):
        yield [_row(one, manner, account=account), *below]


def _buttons(found: Iterable[Numbered], manner: Manner) -> Iterator[list[Block]]:
    """The buttons of each volume; none of one that was there before, since they are told apart by the volume."""
    before: set[str] = set()
    for _, one in found:
        offered = [control for control in manner.controls if one.unproved or not control.unproved_only]
        yield controls(one.volume, offered) if one.volume not in before else []
        before.add(one.volume)


def _title(sums: Sums, listed: int) -> list[Block]:
    total = sums.savers.total
    if not listed:
        return []
    if total == 1:
        return [said(bold("The one volume that saves"))]
    which = f"{listed:,} that save most, of {total:,}" if listed < total else f"{total:,}"
    return [said(bold(f"The {which} volumes that save"))]


def _longest_title(sums: Sums) -> list[Block]:
    """What the title takes at most, before it is known how many volumes are listed."""
    return _title(sums, max(1, sums.savers.total - 1)) if sums.savers.total else []


def _row(numbered: Numbered, manner: Manner, *, account: bool = True) -> Block:
    """A volume; its name stands after what is ours, so that it cannot look like it."""
    number, one = numbered
    new = ", new" if one.volume in manner.new else ""
    outcome = one.outcome[:1].upper() + one.outcome[1:]
    last = " ".join(filter(None, [one.risk, one.id]))
    return said(
        bold(f"{number}. {outcome}{new}: {one.name}"), f" in {one.place(account=account)}\n{one.change}\n{last}"
    )


def _left(sums: Sums, shown: Sequence[Listed], rest: str) -> list[Block]:
    told = []
    more = sums.savers.total - len(shown)
    if more:
        saved = (sums.saved_cents - sum(one.saved_cents for one in shown)) / 100
        saves = f"saves {usd(saved)} a month" if more == 1 else f"save {usd(saved)} a month together"
        told.append(f"{count_of(more, 'more volume')}, which {saves}: {rest}.")
    if sums.quiet:
        verb = "is" if sums.quiet == 1 else "are"
        told.append(
            f"{count_of(sums.quiet, 'volume')} that somebody set aside (snoozed, done or excluded) {verb} not listed."
        )
    return [said(" ".join(told))] if told else []
