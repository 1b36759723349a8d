"""The report of a run: a message to read at a glance, a thread with each account's part, and its figures in short."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from plimsoll.domain.kinds import COSTS, CountsAs
from plimsoll.policy_file import parse_policy
from plimsoll.reports.fleet_risk import outlook
from plimsoll.reports.run_reader import Only, read_run, stream_records
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.sorting import MONEY, Weight, find_sort
from plimsoll.reports.steps import CENT
from plimsoll.reports.summary import changes_since, incomplete, run_headline
from plimsoll.reports.wording import count_of, usd
from plimsoll.slack.blocks.digest import Digest, DigestSums
from plimsoll.slack.blocks.elements import (
    Block,
    Control,
    bold,
    bullets,
    header_block,
    line,
    marked_name,
    note,
    paragraph,
    report_link,
)
from plimsoll.slack.blocks.highlights import highlights, opening, run_of_accounts
from plimsoll.slack.blocks.message import Conversation, MessageBudget, Reply, SlackMessage
from plimsoll.slack.blocks.volume_list import (
    Manner,
    Numbered,
    button_messages,
    list_account_volumes,
    list_first_volumes,
)

_ENDED: Final = {
    "complete": "complete",
    "partial": "partial, because not everything could be read",
    "interrupted": "partial, because it was interrupted",
    "running": "partial, because it has not ended",
}
_MOST_ID: Final = 200
_MOST_SINCE: Final = 500

_MOST_REPLIES: Final = 40
"""Accounts with a reply of their own: at one message a second, a thread is posted in less than a minute."""

_MORE: Final = "more"
"""The key of the reply about the accounts that have none."""

_BUTTONS: Final = "buttons"
"""The key of the replies with the buttons for which the main message has no room; from the second one on numbered."""

_BESIDE: Final = {
    "saved_drop_in": "of it gives up no IOPS or MiB/s that the volumes have today",
    "saved_on_proof": "of it rests on the measured demand",
    "saved_but_blocked": "of it is blocked today",
    "more_for_upgrades": "a month more would speed up throttled volumes",
    **{kind.name: f"a month is paid for volumes that are {kind.words}" for kind in COSTS},
    "too_risky": "a month more is not recommended, because its risk is above the policy's or not known",
    "waiting": "a month may be saved later, on volumes that were changed lately",
}
"""The figures of run.json beside the saving, and what each means."""


def conversation(
    digest: Digest,
    run: RunRecord,
    *,
    link: str | None = None,
    since: str = "",
    new: Collection[str] = (),
    part: str = "",
    controls: Sequence[Control] = (),
    threaded: bool = True,
    accounts: Collection[str] = (),
) -> Conversation:
    """A run's report: the message, and a reply for each account.

    `run` is its run.json and `digest` its records. `link` opens the report. `since` says what is new and what was done;
    where it is empty, the report of a whole run says it by run.json. `new` names the volumes that this run is the first
    to recommend a change for, as account/region/id. `part` names the part of the run that the records are: only what
    could not be read in their accounts and in `accounts` is then reported. `controls` stand under each volume. Without
    `threaded`, as for a webhook, there are no replies.
    """
    own_run = run_of_accounts(run, {*digest.accounts, *accounts}) if part else run
    policy = parse_policy(run.policy)
    manner = Manner(policy=policy, new=new, controls=controls, threaded=threaded)
    blocks, elsewhere = _blocks(digest, own_run, manner, since or ("" if part else changes_since(run)), part, link)
    thread = (*_buttons_elsewhere(elsewhere, manner), *_replies(digest, own_run, manner)) if threaded else ()
    return Conversation(main=SlackMessage.compose(_notice(digest, own_run, part), blocks), replies=thread)


def _blocks(
    digest: Digest, run: RunRecord, manner: Manner, since: str, part: str, link: str | None
) -> tuple[list[Block], list[Numbered]]:
    """The blocks of the main message, and the volumes in it whose buttons it has no room for."""
    budget, end = MessageBudget(), [*report_link(link), _run_note(run, link)]
    budget.take(end)
    ahead = outlook(digest.whole.totals.risk.run_risk)
    sentences = [paragraph(line(sentence, _MOST_SINCE)) for sentence in (since, ahead) if sentence]
    begin = [*opening(digest.whole, run, manner.policy, part), *sentences, *bullets(highlights(digest.whole, run))]
    begin = budget.take_first(begin)
    listed, elsewhere = list_first_volumes(digest.whole, budget, manner)
    return [*begin, *listed, *end], elsewhere


def _notice(digest: Digest, run: RunRecord, part: str) -> str:
    throttled = digest.whole.totals.volumes_counted_as(CountsAs.MORE)
    notice = f"Plimsoll{f' on {line(part)}' if part else ''}: {run_headline(digest.whole.totals, run, whole=not part)}"
    return f"{notice} {count_of(throttled, 'volume')} throttled today." if throttled else notice


def _run_note(run: RunRecord, link: str | None) -> Block:
    run_id = line(run.id, _MOST_ID)
    when = run.as_of
    place = "" if link is None or report_link(link) else f" Its report: {line(link, _MOST_SINCE)}"
    return note(f"Plimsoll run {run_id} of {when:%Y-%m-%d %H:%M} UTC, {_ENDED.get(run.status, run.status)}.{place}")


def run_conversation(
    folder: Path,
    only: Only | None = None,
    part: str = "",
    *,
    since: str = "",
    new: Collection[str] = (),
    controls: Sequence[Control] = (),
    threaded: bool = True,
    weight: Weight | None = None,
) -> Conversation:
    """The report of a run, of all its records or those that `only` takes, which `part` names.

    Raises BadInput if the folder is damaged. The other parameters are those of `conversation`.
    """
    digest = Digest(weight=weight or find_sort(MONEY))
    for record in stream_records(folder):
        if only is None or only(record):
            digest.count(record)
    run = read_run(folder)
    return conversation(digest, run, since=since, new=new, part=part, controls=controls, threaded=threaded)


def _buttons_elsewhere(volumes: Sequence[Numbered], manner: Manner) -> Iterator[Reply]:
    """Replies with the main message's volumes that have no buttons there; no reply if all have."""
    title = f"The last {count_of(len(volumes), 'volume')} of the list, with buttons"
    for number, blocks in enumerate(button_messages(volumes, manner), start=1):
        yield Reply(
            key=_BUTTONS if number == 1 else f"{_BUTTONS}-{number}", message=SlackMessage.compose(title, blocks)
        )


def _replies(digest: Digest, run: RunRecord, manner: Manner) -> Iterator[Reply]:
    """A reply for each account with something to do, then one about the others if there are any.

    `run` says what could not be read: each reply has its own account's.
    """
    busy = sorted(
        ((account, sums) for account, sums in digest.accounts.items() if sums.has_work),
        key=lambda entry: (-entry[1].totals.saved_cents, entry[0]),
    )
    for account, sums in busy[:_MOST_REPLIES]:
        part, called = run_of_accounts(run, {account}), digest.called[account].capitalize()
        yield Reply(key=line(account), message=_account_message(called, account, sums, part, manner))
    if len(busy) > _MOST_REPLIES:
        yield Reply(key=_MORE, message=_others_message([sums for _, sums in busy[_MOST_REPLIES:]]))


def _account_message(called: str, account: str, sums: DigestSums, run: RunRecord, manner: Manner) -> SlackMessage:
    sentence, budget = run_headline(sums.totals, run, whole=False), MessageBudget()
    begin = paragraph(bold(f"{called} "), marked_name(line(account)), bold(f": {sentence}"))
    blocks: list[Block] = budget.take_first([begin, *bullets(highlights(sums, run))])
    return SlackMessage.compose(
        f"{called} {line(account)}: {sentence}", [*blocks, *list_account_volumes(sums, budget, manner)]
    )


def _others_message(others: list[DigestSums]) -> SlackMessage:
    saved = sum(sums.totals.saved_cents for sums in others) / 100
    volumes = sum(sums.savers.total + sums.quiet for sums in others)
    sentence = (
        f"{count_of(len(others), 'more account')} with something to do: {count_of(volumes, 'volume')} "
        f"{'saves' if volumes == 1 else 'save'} {usd(saved)} a month there. They are in the report."
    )
    return SlackMessage.compose(sentence, [paragraph(sentence)])


def savings_message(run: RunRecord, place: str) -> SlackMessage:
    """The figures of a run by its run.json; `place` is where its report is."""
    saved = run.monthly_usd.saved
    text = f"{usd(saved)} a month can be saved" if saved >= CENT else "Nothing can be saved"
    return SlackMessage.compose(text, _savings_blocks(run, text, place))


def _savings_blocks(run: RunRecord, text: str, place: str) -> Iterator[Block]:
    money, missing, since = run.monthly_usd, incomplete(run, whole=True), changes_since(run)
    yield header_block(text)
    if money.now >= CENT:
        yield paragraph(f"The volumes whose price is known cost {usd(money.now)} a month.")
    figures = [(key, words) for key, words in _BESIDE.items() if money.amount(key) >= CENT]
    yield from bullets([bold(usd(money.amount(key))), f" {words}"] for key, words in figures)
    yield from (paragraph(sentence) for sentence in (since, outlook(run.risk)) if sentence)
    if missing:
        yield paragraph(missing)
    when = f"{datetime.fromisoformat(run.now):%Y-%m-%d %H:%M} UTC"
    yield note(f"Audit {run.id} of {when}, {count_of(run.volumes.seen, 'volume')}. Its report: {place}")
