"""The report of a run: a message to read at a glance, a thread with each account's part, and its figures in short."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from plimsoll.model.kinds import CountsAs
from plimsoll.model.policy import Policy
from plimsoll.policy_file import parse_policy
from plimsoll.reports.run_reader import Only, read_run, stream_records
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.sorting import MONEY, Weight, find_sort
from plimsoll.reports.story import Headline, Note, Story, Topic
from plimsoll.reports.story.run import Overview, blocks_about, counted_run, part_of_run, tell_run
from plimsoll.reports.wording import count_of, usd
from plimsoll_service.slack.blocks.digest import Digest, DigestSums
from plimsoll_service.slack.blocks.elements import (
    Block,
    Control,
    bold,
    line,
    marked_name,
    note,
    paragraph,
    report_link,
)
from plimsoll_service.slack.blocks.message import Conversation, MessageBudget, Reply, SlackMessage
from plimsoll_service.slack.blocks.story import story_blocks
from plimsoll_service.slack.blocks.volume_list import (
    Manner,
    Numbered,
    button_messages,
    list_account_volumes,
    list_first_volumes,
)

_OF_ACCOUNT: Final = (Topic.INCOMPLETE, Topic.STEPS, Topic.TEMPLATES, Topic.MISSING)
_AT_A_GLANCE: Final = (Topic.MONEY, Topic.PAID, Topic.STATES, Topic.STEPS, Topic.TEMPLATES, Topic.MISSING)
"""The blocks of an account's story, and those of a run's that follow on what Plimsoll is and what has changed."""

_PURPOSE: Final = (
    "Plimsoll compares how much cloud disks are used with their cost, and recommends cheaper ones that "
    "still deliver enough."
)
_MOST_ID: Final = 200
_MOST_SINCE: Final = 500

_MOST_REPLIES: Final = 8
"""Accounts with a reply of their own: whoever wants to see more opens the report."""

_MORE: Final = "more"
"""The key of the reply about the accounts that have none."""

_BUTTONS: Final = "buttons"
"""The key of the replies with the buttons for which the main message has no room; from the second one on numbered."""


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
    introduce: bool = True,
    accounts: Collection[str] = (),
) -> Conversation:
    """A run's report: the message, and a reply for each of the accounts that save most.

    `run` is its run.json and `digest` its records. `link` opens the report. `since` says what is new and what was done;
    where it is empty, the report of a whole run says it by run.json. `new` names the volumes that this run is the first
    to recommend a change for, as account/region/id. `part` names the part of the run that the records are: only what
    could not be read in their accounts and in `accounts` is then reported. `controls` stand under each volume. Without
    `threaded`, as for a webhook, there are no replies. `introduce`: it is the channel's first report, and says what
    Plimsoll is.
    """
    own_run = part_of_run(run, {*digest.accounts, *accounts}) if part else run
    policy = parse_policy(run.policy)
    manner = Manner(policy=policy, new=new, controls=controls, threaded=threaded)
    story = _tell(digest.whole, own_run, policy, whole=not part)
    about = f"This report covers {line(part)} only." if part else ""
    purpose = _PURPOSE if introduce and not since and digest.whole.totals.answered_count else ""
    blocks, elsewhere = _blocks(digest, own_run, story, manner, since, f"{about} {purpose}".strip(), link)
    thread = (*_buttons_elsewhere(elsewhere, manner), *_replies(digest, own_run, manner, link)) if threaded else ()
    return Conversation(main=SlackMessage.compose(_notice(digest, story, part), blocks), replies=thread)


def _tell(sums: DigestSums, run: RunRecord, policy: Policy, *, whole: bool) -> Story:
    overview = Overview(totals=sums.totals, until=sums.until)
    return tell_run(counted_run(run, sums.totals), policy, overview=overview, whole=whole)


def _headline_of(story: Story) -> str:
    return next(block.text for block in story if isinstance(block, Headline))


def _blocks(
    digest: Digest, run: RunRecord, story: Story, manner: Manner, since: str, about: str, link: str | None
) -> tuple[list[Block], list[Numbered]]:
    """The blocks of the main message, and the volumes in it whose buttons it has no room for."""
    budget, end = MessageBudget(), [*report_link(link), _run_note(run, link)]
    budget.take(end)
    changed = (Note(topic=Topic.SINCE, lines=(since,)),) if since else blocks_about(story, Topic.SINCE)
    begin = [
        *story_blocks(blocks_about(story, Topic.HEADLINE, Topic.INCOMPLETE)),
        *([paragraph(about)] if about else []),
        *story_blocks((*changed, *blocks_about(story, Topic.OUTLOOK))),
        *story_blocks(blocks_about(story, *_AT_A_GLANCE), digest.whole),
    ]
    begin = budget.take_first(begin)
    listed, elsewhere = list_first_volumes(digest.whole, budget, manner)
    return [*begin, *listed, *end], elsewhere


def _notice(digest: Digest, story: Story, part: str) -> str:
    throttled = digest.whole.totals.volumes_counted_as(CountsAs.MORE)
    notice = f"Plimsoll{f' on {line(part)}' if part else ''}: {_headline_of(story)}"
    return f"{notice} {count_of(throttled, 'volume')} throttled today." if throttled else notice


def _run_note(run: RunRecord, link: str | None) -> Block:
    run_id = line(run.id, _MOST_ID)
    when = run.as_of
    place = "" if link is None or report_link(link) else f" Its report: {line(link, _MOST_SINCE)}"
    return note(f"Plimsoll run {run_id} of {when:%Y-%m-%d %H:%M} UTC, {run.status}.{place}")


def run_conversation(
    folder: Path,
    only: Only | None = None,
    part: str = "",
    *,
    since: str = "",
    new: Collection[str] = (),
    controls: Sequence[Control] = (),
    threaded: bool = True,
    introduce: bool = True,
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
    return conversation(
        digest, run, since=since, new=new, part=part, controls=controls, threaded=threaded, introduce=introduce
    )


def _buttons_elsewhere(volumes: Sequence[Numbered], manner: Manner) -> Iterator[Reply]:
    """Replies with the main message's volumes that have no buttons there; no reply if all have."""
    title = f"The last {count_of(len(volumes), 'volume')} of the list, with buttons"
    for number, blocks in enumerate(button_messages(volumes, manner), start=1):
        yield Reply(
            key=_BUTTONS if number == 1 else f"{_BUTTONS}-{number}", message=SlackMessage.compose(title, blocks)
        )


def _replies(digest: Digest, run: RunRecord, manner: Manner, report: str | None) -> Iterator[Reply]:
    """A reply for each of the accounts that save most, then one about the others if there are any.

    `run` says what could not be read: each reply has its own account's.
    """
    busy = sorted(
        ((account, sums) for account, sums in digest.accounts.items() if sums.has_work),
        key=lambda entry: (-entry[1].totals.saved_cents, entry[0]),
    )
    for account, sums in busy[:_MOST_REPLIES]:
        part, called = part_of_run(run, {account}), digest.called[account].capitalize()
        yield Reply(key=line(account), message=_account_message(called, account, sums, part, manner))
    if len(busy) > _MOST_REPLIES:
        yield Reply(key=_MORE, message=_others_message([sums for _, sums in busy[_MOST_REPLIES:]], report))


def _account_message(called: str, account: str, sums: DigestSums, run: RunRecord, manner: Manner) -> SlackMessage:
    story, budget = _tell(sums, run, manner.policy, whole=False), MessageBudget()
    sentence = _headline_of(story)
    begin = paragraph(bold(f"{called} "), marked_name(line(account)), bold(f": {sentence}"))
    glance = story_blocks(blocks_about(story, *_OF_ACCOUNT), sums)
    blocks: list[Block] = budget.take_first([begin, *glance])
    return SlackMessage.compose(
        f"{called} {line(account)}: {sentence}", [*blocks, *list_account_volumes(sums, budget, manner)]
    )


def _others_message(others: list[DigestSums], report: str | None) -> SlackMessage:
    saved = sum(sums.totals.saved_cents for sums in others) / 100
    volumes = sum(sums.savers.total + sums.quiet for sums in others)
    sentence = (
        f"{count_of(len(others), 'more account')} with something to do: {count_of(volumes, 'volume')} "
        f"{'saves' if volumes == 1 else 'save'} {usd(saved)} a month there. They are in the report."
    )
    return SlackMessage.compose(sentence, [paragraph(sentence), *report_link(report)])


def savings_message(run: RunRecord, place: str) -> SlackMessage:
    """The figures of a run by its run.json; `place` is where its report is."""
    story = tell_run(run, parse_policy(run.policy))
    topics = Topic.HEADLINE, Topic.INCOMPLETE, Topic.MONEY, Topic.PAID, Topic.SINCE, Topic.OUTLOOK
    seen = count_of(run.volumes.seen, "volume")
    end = note(f"Audit {run.id} of {run.as_of:%Y-%m-%d %H:%M} UTC, {seen}. Its report: {place}")
    return SlackMessage.compose(_headline_of(story), [*story_blocks(blocks_about(story, *topics)), end])
