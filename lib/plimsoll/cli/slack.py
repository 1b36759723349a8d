"""`plimsoll slack`: a run's report, posted to a channel or shown as it would be."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer
from pydantic import TypeAdapter, ValidationError
from rich.console import Console

from plimsoll.bootstrap import envelope_library
from plimsoll.bootstrap.slack import client_of_environment, webhook_of_environment
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.run_folder import run_folder
from plimsoll.domain.errors import BadInput, PlimsollError
from plimsoll.domain.recommendation import CHANGES
from plimsoll.reports.data.database import opened, select
from plimsoll.reports.diff.comparison import Difference, compared
from plimsoll.reports.diff.render import headline
from plimsoll.reports.diff.sql import Group
from plimsoll.reports.printable import printable
from plimsoll.reports.run_reader import Only, read_run
from plimsoll.reports.wording import count_of
from plimsoll.service.slack_config import Channel
from plimsoll.settings import Settings
from plimsoll.slack.actions.registry import CONTROLS
from plimsoll.slack.blocks.message import Conversation
from plimsoll.slack.blocks.pictures import Draft, run_drafts
from plimsoll.slack.blocks.report import run_conversation
from plimsoll.slack.notifications.posting import (
    MAIN,
    POSTED,
    FileLedger,
    Picture,
    Posting,
    Progress,
    picture_key,
    reply_key,
)
from plimsoll.slack.notifications.webhook import post_by_webhook
from plimsoll.slack.preview import show_conversation

_ASKED: Final = frozenset({*CHANGES, "detached"})
_RECOMMENDED: Final = (Group.NEW, Group.FIRST_READ, Group.CHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be posted, and how: `again` whether or not it was posted before; `buttons`, `pictures`, and a thread
    or not."""

    since: Path | None = None
    where: str | None = None
    again: bool = False
    buttons: bool = False
    pictures: bool = True
    thread: bool = True

    def __post_init__(self) -> None:
        if self.since is not None and self.where is not None:
            raise BadInput("--since compares whole runs, and --where posts a part: give one of both.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A run as it was read: what is told of it, and the pictures that it has, or why it has none."""

    id: str
    told: Conversation
    pictures: tuple[Draft, ...]
    no_pictures: str = ""


def show_run(run: Path | None, wanted: Wanted, channel: str | None) -> None:
    """Prints what would be posted, and sends nothing."""
    if channel is not None:
        _check(channel)
    read, console = _read(run_folder(run), wanted), Console(highlight=False)
    show_conversation(console, read.told.payload)
    for draft in read.pictures:
        _say(console, f"picture in its thread: {draft.name}: {draft.title}")
    if read.no_pictures:
        _say(console, read.no_pictures, style="red")
    _say(console, f"nothing was sent{f' to {channel}' if channel else ''}: --dry-run")


def post_run(run: Path | None, wanted: Wanted, channel: str) -> None:
    """Posts a run to a channel with its replies and pictures, and says what stands; exit code 3 for what does not."""
    _check(channel)
    client, folder = client_of_environment(Settings.of_environment()), run_folder(run)
    ledger = FileLedger(path=folder / POSTED, channel=_posted_as(channel, wanted))
    read, console = _read(folder, wanted), Console(highlight=False)
    keys = {MAIN, *(reply_key(reply.key) for reply in read.told.replies)}
    keys |= {picture_key(draft.name) for draft in read.pictures}
    if _stands(console, ledger, wanted, keys):
        return
    with console.status(f"posting to {channel}"):
        pictures = [Picture(name=draft.name, title=draft.title, png=draft.png()) for draft in read.pictures]
        _begin(ledger, wanted)
        posting = Posting(channel=channel, client=client, ledger=ledger, run_id=read.id)
        posted = posting.post(read.told, pictures)
    _say(console, f"posted to {channel}: {_counted(ledger.load())}")
    troubles = [*filter(None, [read.no_pictures]), *posted.troubles]
    for trouble in troubles:
        _say(console, trouble, style="red")
    if troubles:
        raise typer.Exit(PARTIAL)


def post_run_by_webhook(run: Path | None, wanted: Wanted) -> None:
    """Posts a run's main message by the webhook of the environment."""
    webhook, folder = webhook_of_environment(Settings.of_environment()), run_folder(run)
    ledger = FileLedger(path=folder / POSTED, channel=_posted_as(webhook.channel, wanted))
    read, console = _read(folder, wanted), Console(highlight=False)
    if _stands(console, ledger, wanted, {MAIN}):
        return
    with console.status("posting by the webhook"):
        _begin(ledger, wanted)
        post_by_webhook(read.told.main, webhook, ledger)
    _say(console, "posted by the webhook: the report alone, since a webhook takes no replies, pictures or buttons")


def _read(folder: Path, wanted: Wanted) -> _Read:
    selection = None
    if wanted.where is not None:
        with opened(folder) as database:
            selection = select(database, wanted.where, ())
    only, part = (selection.has, selection.told) if selection else (None, "")
    since, new = ("", frozenset[str]()) if wanted.since is None else _since(run_folder(wanted.since), folder)
    told = run_conversation(
        folder,
        only,
        part,
        since=since,
        new=new,
        controls=CONTROLS if wanted.buttons else (),
        threaded=wanted.thread,
    )
    pictures, no_pictures = _drafts(folder, only) if wanted.pictures else ((), "")
    return _Read(id=str(read_run(folder)["id"]), told=told, pictures=pictures, no_pictures=no_pictures)


def _drafts(folder: Path, only: Only | None) -> tuple[tuple[Draft, ...], str]:
    """The pictures that there are, or why there is none: the report stands without."""
    envelopes = envelope_library(Settings.of_environment().measured_dir).envelopes
    try:
        return run_drafts(folder, envelopes, only), ""
    except PlimsollError as error:
        return (), f"no picture is shown: {error}"


def _since(before: Path, after: Path) -> tuple[str, frozenset[str]]:
    """What was saved since an earlier run, in a sentence, and the volumes that only the later one recommends for."""
    with compared(before, after) as diff:
        listed = (one for group in _RECOMMENDED for one in diff.listed(group))
        new = frozenset(f"{one.account}/{one.region}/{one.volume_id}" for one in listed if _is_new(one))
        told = [f"{count_of(len(new), 'recommendation')} {'is' if len(new) == 1 else 'are'} new"] if new else []
        return f"Compared with the run of {diff.before.now:%Y-%m-%d}: {'; '.join([*told, headline(diff)])}", new


def _is_new(one: Difference) -> bool:
    was = one.before is not None and one.before["action"] in _ASKED
    return not was and one.after is not None and one.after["action"] in _ASKED


def _check(channel: str) -> None:
    try:
        TypeAdapter(Channel).validate_python(channel)
    except ValidationError as error:
        told = f"--channel {channel}: give the channel's id, such as C0123456789, from the foot of its details."
        raise BadInput(told) from error


def _posted_as(channel: str, wanted: Wanted) -> str:
    """What stands for a report in the ledger: its channel, and the part of the run where it tells of one."""
    return channel if wanted.where is None else f"{channel}: {wanted.where}"


def _stands(console: Console, ledger: FileLedger, wanted: Wanted, keys: set[str]) -> bool:
    """Whether all of it stands already, and says so; with --again nothing does."""
    if wanted.again or not keys <= ledger.load().posted.keys():
        return False
    _say(console, f"this run stands in {ledger.channel} already; --again posts it once more, beside what stands")
    return True


def _begin(ledger: FileLedger, wanted: Wanted) -> None:
    """With --again forgets what stands, once all is there that is to be posted."""
    if wanted.again:
        ledger.keep(Progress())


def _counted(progress: Progress) -> str:
    replies, pictures = (sum(key.startswith(kind) for key in progress.posted) for kind in ("reply/", "picture/"))
    verb = "reply" if replies == 1 else "replies"
    return f"the report, {replies:,} {verb} in its thread and {count_of(pictures, 'picture')}"


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(printable(text), style=style, markup=False, soft_wrap=True)
