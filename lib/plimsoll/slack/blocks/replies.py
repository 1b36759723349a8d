"""The thread of a report: a reply for each account, the largest savings first, and one about the rest."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from plimsoll.reports.wording import count_of, usd
from plimsoll.slack.blocks.digest import Digest, Sums
from plimsoll.slack.blocks.elements import Block, bold, bullets, named, said
from plimsoll.slack.blocks.highlights import first_sentence, highlights, of_accounts
from plimsoll.slack.blocks.message import Budget, Message, Reply
from plimsoll.slack.blocks.text import line
from plimsoll.slack.blocks.volumes import Manner, Numbered, of_an_account, with_buttons

MOST_REPLIES: Final = 40
"""Accounts with a reply of their own: at one message a second, a thread is posted in less than a minute."""

MORE: Final = "more"
"""The key of the reply about the accounts that have none."""

_BUTTONS: Final = "buttons"
"""The key of the replies with the buttons for which the main message has no room; from the second one on numbered."""


def buttons_elsewhere(found: Sequence[Numbered], manner: Manner) -> Iterator[Reply]:
    """The volumes of the main message that have no buttons there, with their buttons; no reply where all have."""
    told = f"The last {count_of(len(found), 'volume')} of the list, with buttons"
    for number, blocks in enumerate(with_buttons(found, manner), start=1):
        yield Reply(key=_BUTTONS if number == 1 else f"{_BUTTONS}-{number}", message=Message.of(told, blocks))


def replies(digest: Digest, run: Mapping[str, Any], manner: Manner) -> Iterator[Reply]:
    """A reply for each account where there is something to do; then one about the others, where there are any.

    `run` says what could not be read: each reply has its own account's.
    """
    busy = sorted(
        ((account, sums) for account, sums in digest.accounts.items() if sums.busy),
        key=lambda found: (-found[1].totals.saved_cents, found[0]),
    )
    for account, sums in busy[:MOST_REPLIES]:
        part, called = of_accounts(run, {account}), digest.called[account].capitalize()
        yield Reply(key=line(account), message=_account(called, account, sums, part, manner))
    if len(busy) > MOST_REPLIES:
        yield Reply(key=MORE, message=_more([sums for _, sums in busy[MOST_REPLIES:]]))


def _account(called: str, account: str, sums: Sums, run: Mapping[str, Any], manner: Manner) -> Message:
    sentence, budget = first_sentence(sums, run, account), Budget()
    begin = said(bold(f"{called} "), named(line(account)), bold(f": {sentence}"))
    blocks: list[Block] = budget.taken([begin, *bullets(highlights(sums, run))])
    return Message.of(f"{called} {line(account)}: {sentence}", [*blocks, *of_an_account(sums, budget, manner)])


def _more(others: list[Sums]) -> Message:
    saved = sum(sums.totals.saved_cents for sums in others) / 100
    volumes = sum(sums.savers.total + sums.quiet for sums in others)
    told = (
        f"{count_of(len(others), 'more account')} with something to do: {count_of(volumes, 'volume')} "
        f"{'saves' if volumes == 1 else 'save'} {usd(saved)} a month there. They are in the report."
    )
    return Message.of(told, [said(told)])
