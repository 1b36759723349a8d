"""The report of a run: one message to read at a glance, and a thread with each account's part."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from plimsoll.policy_file import parse_policy
from plimsoll.reports.run_reader import Only, read_run, stream_records
from plimsoll.reports.summary.headline import since_before
from plimsoll.reports.wording import count_of
from plimsoll.slack.blocks.digest import Digest
from plimsoll.slack.blocks.elements import Block, Control, bullets, note, report_link, said
from plimsoll.slack.blocks.highlights import first_sentence, highlights, of_accounts, opening
from plimsoll.slack.blocks.message import Budget, Conversation, Message
from plimsoll.slack.blocks.replies import buttons_elsewhere, replies
from plimsoll.slack.blocks.text import line
from plimsoll.slack.blocks.volumes import Manner, Numbered, first_of_all

_ENDED: Final = {
    "complete": "complete",
    "partial": "partial, because not everything could be read",
    "interrupted": "partial, because it was interrupted",
    "running": "partial, because it has not ended",
}
_MOST_ID: Final = 200
_MOST_SINCE: Final = 500


def conversation(
    digest: Digest,
    run: Mapping[str, Any],
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
    told = of_accounts(run, {*digest.accounts, *accounts}) if part else run
    policy = parse_policy(dict(run["policy"]))
    manner = Manner(policy=policy, new=new, controls=controls, threaded=threaded)
    blocks, elsewhere = _blocks(digest, told, manner, since or ("" if part else since_before(run)), part, link)
    thread = (*buttons_elsewhere(elsewhere, manner), *replies(digest, told, manner)) if threaded else ()
    return Conversation(main=Message.of(_notice(digest, told, part), blocks), replies=thread)


def _blocks(
    digest: Digest, run: Mapping[str, Any], manner: Manner, since: str, part: str, link: str | None
) -> tuple[list[Block], list[Numbered]]:
    """The blocks of the main message, and the volumes in it whose buttons it has no room for."""
    budget, end = Budget(), [*report_link(link), _about(run, link)]
    budget.take(end)
    told = [said(line(since, _MOST_SINCE))] if since else []
    begin = [*opening(digest.whole, run, manner.policy, part), *told, *bullets(highlights(digest.whole, run))]
    begin = budget.taken(begin)
    listed, elsewhere = first_of_all(digest.whole, budget, manner)
    return [*begin, *listed, *end], elsewhere


def _notice(digest: Digest, run: Mapping[str, Any], part: str) -> str:
    """The notification, as a phone shows it."""
    throttled = digest.whole.totals.actions["upgrade"]
    told = f"Plimsoll{f' on {line(part)}' if part else ''}: {first_sentence(digest.whole, run, part)}"
    return f"{told} {count_of(throttled, 'volume')} throttled today." if throttled else told


def _about(run: Mapping[str, Any], link: str | None) -> Block:
    run_id = line(str(run["id"]), _MOST_ID)
    when = datetime.fromisoformat(run["now"]).astimezone(UTC)
    place = "" if link is None or report_link(link) else f" Its report: {line(link, _MOST_SINCE)}"
    return note(
        f"Plimsoll run {run_id} of {when:%Y-%m-%d %H:%M} UTC, {_ENDED.get(run['status'], run['status'])}.{place}"
    )


def run_conversation(
    folder: Path,
    only: Only | None = None,
    part: str = "",
    *,
    link: str | None = None,
    since: str = "",
    new: Collection[str] = (),
    controls: Sequence[Control] = (),
    threaded: bool = True,
) -> Conversation:
    """The report of a run, of the records that `only` takes where it is given, which `part` names; BadInput where the
    folder is damaged. The rest is as of `conversation`."""
    digest = Digest()
    for record in stream_records(folder):
        if only is None or only(record):
            digest.count(record)
    return conversation(
        digest, read_run(folder), link=link, since=since, new=new, part=part, controls=controls, threaded=threaded
    )
