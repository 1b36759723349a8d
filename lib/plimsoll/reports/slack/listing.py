"""A list of volumes with their buttons, as much of it as a message has room for."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Final

from plimsoll.domain.policy import Policy
from plimsoll.reports.slack.blocks import Block, bold, buttons, said
from plimsoll.reports.slack.digest import Sums
from plimsoll.reports.slack.fitting import Budget
from plimsoll.reports.slack.listed import Listed
from plimsoll.reports.wording import count_of, usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How volumes are listed: of which run and policy, which are new, and whether with buttons and a thread."""

    run_id: str
    policy: Policy
    new: Collection[str]
    acting: bool
    threaded: bool


_REPORT: Final = "they are in the report"
_REST: Final = "the largest are in the thread, by account, and all of them in the report"
_ELSEWHERE: Final = (said("There is no room here for the buttons of the last ones: they are in the thread."),)
_WAITING: Final = (said(bold("Throttled today")),)


def first_of_all(sums: Sums, budget: Budget, manner: Manner) -> list[Block]:
    """The volumes that save most, as many as there is room for, the first ones with their buttons; then how many
    volumes and how much money are not listed."""
    rest, found = _REST if manner.threaded else _REPORT, sums.savers.items
    if not budget.take([*_title(sums), *_left(sums, [], rest), *_ELSEWHERE]):
        return []
    rows = list(takewhile(lambda row: budget.take([row]), _rows(found, manner)))
    below = list(takewhile(budget.take, _buttons(found[: len(rows)], manner)))
    listed = [block for at, row in enumerate(rows) for block in (row, *(below[at] if at < len(below) else ()))]
    elsewhere = _ELSEWHERE if manner.acting and manner.threaded and len(below) < len(rows) else ()
    return [*_title(sums), *listed, *_left(sums, found[: len(rows)], rest), *elsewhere]


def of_an_account(sums: Sums, budget: Budget, manner: Manner) -> list[Block]:
    """The same of an account, each volume with its buttons; those that are throttled and save nothing come first."""
    rest, saving = _REPORT, sums.savers.items
    before = {one.volume for one in saving}
    throttled = [one for one in sums.throttled.items if one.volume not in before]
    if not budget.take([*_WAITING, *_title(sums), *_left(sums, [], rest)]):
        return []
    first, then = _fitting(throttled, budget, manner), _fitting(saving, budget, manner)
    left = _left(sums, saving[: len(then)], rest)
    return [*(_WAITING if first else ()), *chain(*first), *_title(sums), *chain(*then), *left]


def _fitting(found: Sequence[Listed], budget: Budget, manner: Manner) -> list[list[Block]]:
    """The volumes for which there is room, each with its buttons."""
    both = ([row, *below] for row, below in zip(_rows(found, manner), _buttons(found, manner), strict=True))
    return list(takewhile(budget.take, both))


def _buttons(found: Sequence[Listed], manner: Manner) -> Iterator[list[Block]]:
    """The buttons of each volume; none of one that was there before, since they are told apart by the volume."""
    before: set[str] = set()
    for one in found:
        wanted = manner.acting and one.volume not in before
        before.add(one.volume)
        yield buttons(one.volume, manner.run_id, one.actions) if wanted else []


def _title(sums: Sums) -> list[Block]:
    total = sums.savers.total
    if not total:
        return []
    if total == 1:
        return [said(bold("The one volume that saves"))]
    most = min(total, sums.most)
    told = f"The {most:,} that save most, of {total:,} volumes" if most < total else f"The {total:,} volumes that save"
    return [said(bold(told))]


def _rows(found: Sequence[Listed], manner: Manner) -> Iterator[Block]:
    """The volumes; each one's name stands after what is ours, so that none can look like it."""
    for number, one in enumerate(found, start=1):
        new = ", new" if one.volume in manner.new else ""
        outcome = one.outcome[:1].upper() + one.outcome[1:]
        yield said(bold(f"{number}. {outcome}{new}:"), f" {one.name}\n{one.change}\n{one.place}. {one.risk}")


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
