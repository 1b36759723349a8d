"""A list of volumes with their buttons, as much of it as a message has room for."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Final

from plimsoll.model.policy import Policy
from plimsoll.reports.wording import count_of, usd
from plimsoll_service.slack.blocks.digest import DigestSums, ListedVolume
from plimsoll_service.slack.blocks.elements import Block, Control, bold, controls, paragraph
from plimsoll_service.slack.blocks.message import MessageBudget

Numbered = tuple[int, ListedVolume]
"""A volume and its place in a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """The manner of listing volumes: under which policy, which are new, and whether with buttons and a thread."""

    policy: Policy
    new: Collection[str]
    controls: Sequence[Control]
    threaded: bool


_REPORT: Final = "they are in the report"
_REST: Final = "the largest are in the thread, by account, and all of them in the report"
_ELSEWHERE: Final = (paragraph("There is no room here for the buttons of the last ones: they are in the thread."),)
_WAITING: Final = (paragraph(bold("Throttled today")),)


def list_first_volumes(sums: DigestSums, budget: MessageBudget, manner: Manner) -> tuple[list[Block], list[Numbered]]:
    """The volumes that save most, as far as there is room, and those whose buttons need the thread.

    The first ones have their buttons; the last line says how many volumes and how much money are not listed.
    """
    place, volumes = _REST if manner.threaded else _REPORT, list(enumerate(sums.savers.items, start=1))
    if not budget.take([*_longest_title(sums), *_unlisted_blocks(sums, [], place), *_ELSEWHERE]):
        return [], []
    rows = list(takewhile(lambda row: budget.take([row]), (_row(volume, manner) for volume in volumes)))
    volumes = volumes[: len(rows)]
    below = list(takewhile(budget.take, _buttons(volumes, manner)))
    listed = [block for at, row in enumerate(rows) for block in (row, *(below[at] if at < len(below) else ()))]
    elsewhere = volumes[len(below) :] if manner.controls and manner.threaded else []
    remarks = [*_unlisted_blocks(sums, [volume for _, volume in volumes], place), *(_ELSEWHERE if elsewhere else ())]
    return [*_title(sums, len(rows)), *listed, *remarks], elsewhere


def button_messages(volumes: Sequence[Numbered], manner: Manner) -> Iterator[list[Block]]:
    """The volumes with their buttons, in one message or more."""
    budget, blocks = MessageBudget(), list[Block]()
    for section in [
        [paragraph(bold("The last volumes of the list above, with their buttons"))],
        *_volumes_with_buttons(volumes, manner),
    ]:
        if not budget.take(section):
            yield blocks
            budget, blocks = MessageBudget(), []
            budget.take(section)
        blocks += section
    if volumes:
        yield blocks


def list_account_volumes(sums: DigestSums, budget: MessageBudget, manner: Manner) -> list[Block]:
    """The volumes of an account that save most, each with its buttons, and how much is not listed.

    Throttled volumes that save nothing come first. The list ends where the message is full.
    """
    saving = sums.savers.items
    before = {volume.volume for volume in saving}
    throttled = [volume for volume in sums.throttled.items if volume.volume not in before]
    if not budget.take([*_WAITING, *_longest_title(sums), *_unlisted_blocks(sums, [], _REPORT)]):
        return []
    first, then = _fitting_volumes(throttled, budget, manner), _fitting_volumes(saving, budget, manner)
    left = _unlisted_blocks(sums, saving[: len(then)], _REPORT)
    return [*(_WAITING if first else ()), *chain(*first), *_title(sums, len(then)), *chain(*then), *left]


def _fitting_volumes(volumes: Iterable[ListedVolume], budget: MessageBudget, manner: Manner) -> list[list[Block]]:
    return list(takewhile(budget.take, _volumes_with_buttons(list(enumerate(volumes, start=1)), manner, account=False)))


def _volumes_with_buttons(
    volumes: Sequence[Numbered], manner: Manner, *, account: bool = True
) -> Iterator[list[Block]]:
    for volume, below in zip(volumes, _buttons(volumes, manner), strict=True):
        yield [_row(volume, manner, account=account), *below]


def _buttons(volumes: Iterable[Numbered], manner: Manner) -> Iterator[list[Block]]:
    """The buttons of each volume; none if it stands in the list already, because a block is named by its volume."""
    before: set[str] = set()
    for _, volume in volumes:
        offered = [control for control in manner.controls if volume.unproved or not control.unproved_only]
        yield controls(volume.volume, offered) if volume.volume not in before else []
        before.add(volume.volume)


def _title(sums: DigestSums, listed: int) -> list[Block]:
    total = sums.savers.total
    if not listed:
        return []
    if total == 1:
        return [paragraph(bold("The one volume that saves"))]
    which = f"{listed:,} that save most, of {total:,}" if listed < total else f"{total:,}"
    return [paragraph(bold(f"The {which} volumes that save"))]


def _longest_title(sums: DigestSums) -> list[Block]:
    """The longest title, before it is known how many volumes are listed."""
    return _title(sums, max(1, sums.savers.total - 1)) if sums.savers.total else []


def _row(numbered: Numbered, manner: Manner, *, account: bool = True) -> Block:
    """A volume; its name stands after our own words, so that it cannot look like them."""
    number, volume = numbered
    new = ", new" if volume.volume in manner.new else ""
    outcome = volume.outcome[:1].upper() + volume.outcome[1:]
    last = " ".join(filter(None, [volume.risk, volume.id]))
    return paragraph(
        bold(f"{number}. {outcome}{new}: {volume.name}"),
        f" in {volume.place(account=account)}\n{volume.change}\n{last}",
    )


def _unlisted_blocks(sums: DigestSums, shown: Sequence[ListedVolume], place: str) -> list[Block]:
    sentences = []
    count = sums.savers.total - len(shown)
    if count:
        saved = (sums.saved_cents - sum(volume.saved_cents for volume in shown)) / 100
        saves = f"saves {usd(saved)} a month" if count == 1 else f"save {usd(saved)} a month together"
        sentences.append(f"{count_of(count, 'more volume')}, which {saves}: {place}.")
    if sums.quiet:
        verb = "is" if sums.quiet == 1 else "are"
        sentences.append(
            f"{count_of(sums.quiet, 'volume')} that somebody set aside (snoozed, done or excluded) {verb} not listed."
        )
    return [paragraph(" ".join(sentences))] if sentences else []
