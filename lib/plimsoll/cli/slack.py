"""`plimsoll slack`: a run's report, posted to a channel or shown as it would be."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import typer
from rich.console import Console

from plimsoll.bootstrap import envelope_library
from plimsoll.bootstrap.slack import client_of_environment, webhook_of_environment
from plimsoll.cli.chosen import run_folder
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.domain.errors import BadInput, PlimsollError
from plimsoll.domain.recommendation import CHANGES
from plimsoll.reports.data.database import opened
from plimsoll.reports.data.selection import Selection, select
from plimsoll.reports.diff.compared import Difference, compared
from plimsoll.reports.diff.sql import Group
from plimsoll.reports.diff.words import headline
from plimsoll.reports.money import money_of
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.screen import printable
from plimsoll.reports.slack.digest import Digest
from plimsoll.reports.slack.message import Conversation
from plimsoll.reports.slack.weekly import conversation
from plimsoll.reports.stored import find_profile, full_name, read_run, stream_records
from plimsoll.reports.terminal.slack import show_conversation
from plimsoll.reports.wording import count_of
from plimsoll.settings import Settings
from plimsoll.slack.ledger import MAIN, POSTED, FileLedger, Progress
from plimsoll.slack.pictures import Draft, drafts
from plimsoll.slack.posting import post
from plimsoll.slack.webhook import post_by_webhook

_CHANNEL: Final = re.compile(r"[CG][A-Z0-9]{5,20}")
_ASKED: Final = frozenset({*CHANGES, "detached"})
_RECOMMENDED: Final = (Group.NEW, Group.FIRST_READ, Group.CHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be posted, and how: `again` whether or not it was posted before, `buttons` and `pictures` or not."""

    since: Path | None = None
    where: str | None = None
    again: bool = False
    buttons: bool = False
    pictures: bool = True

    def __post_init__(self) -> None:
        if self.since is not None and self.where is not None:
            raise BadInput("--since compares whole runs, and --where posts a part: give one of both.")


@dataclass(slots=True, kw_only=True)
class _Read:
    """A run as it was read: its digest, what its accounts save in USD a month, and what saves most."""

    run: Mapping[str, Any]
    selection: Selection | None
    digest: Digest = field(default_factory=Digest)
    by_account: dict[str, float] = field(default_factory=dict)
    largest: RecommendationRecord | None = None

    def count(self, record: RecommendationRecord) -> None:
        self.digest.count(record)
        saved_usd = money_of(record).usd_saved
        self.by_account[record.account] = self.by_account.get(record.account, 0.0) + saved_usd
        if saved_usd > 0 and (self.largest is None or saved_usd > money_of(self.largest).usd_saved):
            self.largest = record


def show_run(run: Path | None, wanted: Wanted, channel: str | None, *, webhook: bool) -> None:
    """Prints what would be posted, and sends nothing."""
    folder = run_folder(run)
    read, console = _read(folder, wanted.where), Console(highlight=False)
    show_conversation(console, _told(folder, read, wanted, webhook=webhook).payload)
    planned, why = _drafts(folder, read, wanted, webhook=webhook)
    for draft in planned:
        _say(console, f"picture in its thread: {draft.name}: {draft.title}")
    for one in why:
        _say(console, one, style="red")
    _say(console, f"nothing was sent{f' to {channel}' if channel else ''}: --dry-run")


def post_run(run: Path | None, wanted: Wanted, channel: str) -> None:
    """Posts a run to a channel with its replies and pictures, and says what stands; exit code 3 for what does not."""
    if _CHANNEL.fullmatch(channel) is None:
        raise BadInput(
            f"--channel {channel}: give the channel's id, such as C0123456789, from the foot of its details."
        )
    client = client_of_environment(Settings.of_environment())
    folder = run_folder(run)
    ledger = FileLedger(path=folder / POSTED, channel=_posted_as(channel, wanted))
    read, console = _read(folder, wanted.where), Console(highlight=False)
    told = _told(folder, read, wanted, webhook=False)
    planned, why = _drafts(folder, read, wanted, webhook=False)
    if _stands(console, ledger, wanted, {MAIN, *(f"reply/{reply.key}" for reply in told.replies)}):
        return
    with console.status(f"posting to {channel}"):
        pictures = [draft.drawn() for draft in planned]
        posted = post(told, channel, client, ledger, pictures, run_id=str(read.run["id"]))
    _say(console, f"posted to {channel}: {_counted(ledger.load())}")
    troubles = [*why, *posted.troubles]
    for trouble in troubles:
        _say(console, trouble, style="red")
    if troubles:
        raise typer.Exit(PARTIAL)


def post_run_by_webhook(run: Path | None, wanted: Wanted) -> None:
    """Posts a run's main message by the webhook of the environment."""
    webhook = webhook_of_environment(Settings.of_environment())
    folder = run_folder(run)
    ledger = FileLedger(path=folder / POSTED, channel=_posted_as(webhook.channel, wanted))
    read, console = _read(folder, wanted.where), Console(highlight=False)
    told = _told(folder, read, wanted, webhook=True)
    if _stands(console, ledger, wanted, {MAIN}):
        return
    with console.status("posting by the webhook"):
        post_by_webhook(told.main, webhook, ledger)
    _say(console, "posted by the webhook: the report alone, since a webhook takes no replies, pictures or buttons")


def _read(folder: Path, where: str | None) -> _Read:
    run = read_run(folder)
    with opened(folder) as database:
        selection = select(database, where, ())
    read = _Read(run=run, selection=selection)
    for record in stream_records(folder):
        if selection is None or selection.has(record):
            read.count(record)
    return read


def _told(folder: Path, read: _Read, wanted: Wanted, *, webhook: bool) -> Conversation:
    since, new = ("", frozenset[str]()) if wanted.since is None else _since(run_folder(wanted.since), folder)
    return conversation(
        read.digest,
        read.run,
        since=since,
        new=new,
        part=read.selection.told if read.selection else "",
        acting=wanted.buttons and not webhook,
    )


def _since(before: Path, after: Path) -> tuple[str, frozenset[str]]:
    """What was saved since an earlier run, in a sentence, and the volumes that only the later one recommends for."""
    with compared(before, after) as diff:
        listed = (one for group in _RECOMMENDED for one in diff.listed(group))
        new = frozenset(f"{one.account}/{one.region}/{one.volume_id}" for one in listed if _is_new(one))
        return headline(diff), new


def _is_new(one: Difference) -> bool:
    was = one.before is not None and one.before["action"] in _ASKED
    return not was and one.after is not None and one.after["action"] in _ASKED


def _drafts(folder: Path, read: _Read, wanted: Wanted, *, webhook: bool) -> tuple[tuple[Draft, ...], list[str]]:
    """The pictures that there are, and why one is not; the report stands without."""
    if not wanted.pictures or webhook:
        return (), []
    largest, profile, why = read.largest, None, list[str]()
    try:
        profile = None if largest is None else find_profile(folder, full_name(largest))
    except PlimsollError as error:
        why = [f"no roofline is shown: {error}"]
    envelopes = envelope_library(Settings.of_environment().measured_dir).envelopes
    name = largest.evidence.envelope if largest is not None and largest.evidence is not None else None
    return drafts(read.by_account, largest, profile, envelopes.get(name or "")), why


def _posted_as(channel: str, wanted: Wanted) -> str:
    """What stands for a report in the ledger: its channel, and the part of the run where it tells of one."""
    return channel if wanted.where is None else f"{channel}: {wanted.where}"


def _stands(console: Console, ledger: FileLedger, wanted: Wanted, keys: set[str]) -> bool:
    """Whether all of it stands already, and says so; with --again nothing does."""
    if wanted.again:
        ledger.keep(Progress())
        return False
    progress = ledger.load()
    if not keys <= {*progress.posted, *progress.doubtful} or MAIN in progress.doubtful:
        return False
    _say(console, f"this run stands in {ledger.channel} already; --again posts it once more, beside what stands")
    return True


def _counted(progress: Progress) -> str:
    replies, pictures = (sum(key.startswith(kind) for key in progress.posted) for kind in ("reply/", "picture/"))
    return f"the report, {count_of(replies, 'account')} in its thread and {count_of(pictures, 'picture')}"


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(printable(text), style=style, markup=False, soft_wrap=True)
