"""`plimsoll slack`: a run's report, posted to a channel or shown as it would be."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer
from pydantic import TypeAdapter, ValidationError

from plimsoll.api.runs import run_folder
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.options import PostOptions
from plimsoll.cli.report import Report
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput, PlimsollError
from plimsoll.model.kinds import ASKING
from plimsoll.reports.diff.comparison import Difference, compare_runs
from plimsoll.reports.diff.render import diff_headline
from plimsoll.reports.diff.sql import DiffGroup
from plimsoll.reports.run_reader import Only, read_run
from plimsoll.reports.wording import count_of
from plimsoll.service.slack_config import Channel
from plimsoll.settings import PREFIX, Settings
from plimsoll.slack.actions.registry import CONTROLS
from plimsoll.slack.blocks.message import Conversation
from plimsoll.slack.blocks.pictures import Draft, run_drafts
from plimsoll.slack.blocks.report import run_conversation
from plimsoll.slack.client import slack_client
from plimsoll.slack.notifications.posting import (
    MAIN,
    POSTED,
    FileLedger,
    PngPicture,
    Posting,
    PostingProgress,
    picture_key,
    reply_key,
)
from plimsoll.slack.notifications.webhook import Webhook, post_by_webhook
from plimsoll.slack.preview import show_conversation

_RECOMMENDED: Final = (DiffGroup.NEW, DiffGroup.FIRST_READ, DiffGroup.CHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The words about a run, and the pictures that it has, or why it has none."""

    told: Conversation
    pictures: tuple[Draft, ...]
    no_pictures: str = ""


def show_run(folder: Path, options: PostOptions) -> None:
    """Prints what would be posted, and sends nothing."""
    if options.channel is not None:
        _check(options.channel)
    read, console = _read(folder, options), Screen()
    show_conversation(console, read.told.payload)
    for draft in read.pictures:
        console.say(f"picture in its thread: {draft.name}: {draft.title}")
    if read.no_pictures:
        console.say(read.no_pictures, style="red")
    console.say(f"nothing was sent{f' to {options.channel}' if options.channel else ''}: --dry-run")


def post_run(folder: Path, options: PostOptions, channel: str) -> None:
    """Posts a run to a channel with its replies and pictures, and says what stands; exit code 3 for what does not."""
    _check(channel)
    token = _secret("SLACK_BOT_TOKEN", "the app's bot token (xoxb-...), from OAuth & Permissions on its page")
    client = slack_client(token, api_url=Settings.from_environment().slack_api_url)
    ledger = _ledger(folder, channel, options)
    read, console = _read(folder, options), Screen()
    keys = {MAIN, *(reply_key(reply.key) for reply in read.told.replies)}
    keys |= {picture_key(draft.name) for draft in read.pictures}
    if _is_posted(console, ledger, options, keys):
        return
    with console.status(f"posting to {channel}"):
        pictures = [PngPicture(name=draft.name, title=draft.title, png=draft.png()) for draft in read.pictures]
        _begin(ledger, options)
        posting = Posting(channel=channel, client=client, ledger=ledger, run_id=read_run(folder).id)
        posted = posting.post(read.told, pictures)
    console.say(f"posted to {channel}: {_posted_words(ledger.load())}")
    troubles = [*filter(None, [read.no_pictures]), *posted.troubles]
    for trouble in troubles:
        console.say(trouble, style="red")
    if troubles:
        raise typer.Exit(PARTIAL)


def post_run_by_webhook(folder: Path, options: PostOptions) -> None:
    """Posts a run's main message by the webhook of the environment."""
    url = _secret("SLACK_WEBHOOK_URL", "the incoming webhook's URL (https://hooks.slack.com/services/...)")
    webhook = Webhook.from_url(url, Settings.from_environment().slack_api_url)
    ledger = _ledger(folder, webhook.channel, options)
    read, console = _read(folder, options), Screen()
    if _is_posted(console, ledger, options, {MAIN}):
        return
    with console.status("posting by the webhook"):
        _begin(ledger, options)
        post_by_webhook(read.told.main, webhook, ledger)
    console.say("posted by the webhook: the report alone, since a webhook takes no replies, pictures or buttons")


def _read(folder: Path, options: PostOptions) -> _Read:
    only, part = Report(folder=folder, where=options.where).part()
    since, new = ("", frozenset[str]()) if options.since is None else _news_since(run_folder(options.since), folder)
    conversation = run_conversation(
        folder,
        only,
        part,
        since=since,
        new=new,
        controls=CONTROLS if options.buttons else (),
        threaded=not options.webhook,
    )
    pictures, no_pictures = _drafts(folder, only) if options.pictures and not options.webhook else ((), "")
    return _Read(told=conversation, pictures=pictures, no_pictures=no_pictures)


def _drafts(folder: Path, only: Only | None) -> tuple[tuple[Draft, ...], str]:
    """The pictures that there are, or why there is none: the report stands without."""
    envelopes = envelope_library(Settings.from_environment().measured_dir).envelopes
    try:
        return run_drafts(folder, envelopes, only), ""
    except PlimsollError as error:
        return (), f"no picture is shown: {error}"


def _news_since(before: Path, after: Path) -> tuple[str, frozenset[str]]:
    """A sentence about what was saved since an earlier run, and the volumes that only the later one recommends for."""
    with compare_runs(before, after) as diff:
        listed = (difference for group in _RECOMMENDED for difference in diff.list_volumes(group))
        news = {
            f"{difference.account}/{difference.region}/{difference.volume_id}": difference
            for difference in listed
            if _is_new(difference)
        }
        ruled = {
            name for name, difference in news.items() if diff.rules[0] != diff.rules[1] and _is_as_it_was(difference)
        }
        new = frozenset(news.keys() - ruled)
        parts = [f"{count_of(len(new), 'recommendation')} {'is' if len(new) == 1 else 'are'} new"] if new else []
        if ruled:
            parts.append(f"{count_of(len(ruled), 'recommendation')} came because the rule has changed")
        return f"Compared with the run of {diff.before.as_of:%Y-%m-%d}: {'; '.join([*parts, diff_headline(diff)])}", new


def _is_new(difference: Difference) -> bool:
    was = difference.before is not None and difference.before["action"] in ASKING
    return not was and difference.after is not None and difference.after["action"] in ASKING


def _is_as_it_was(difference: Difference) -> bool:
    """True if the volume was there before, in the same configuration."""
    return (
        difference.before is not None
        and difference.after is not None
        and difference.before["current"] == difference.after["current"]
    )


def _check(channel: str) -> None:
    try:
        TypeAdapter(Channel).validate_python(channel)
    except ValidationError as error:
        sentence = f"--channel {channel}: give the channel's id, such as C0123456789, from the foot of its details."
        raise BadInput(sentence) from error


def _ledger(folder: Path, channel: str, options: PostOptions) -> FileLedger:
    """The ledger of a channel, for the run or for the part that is posted."""
    return FileLedger(path=folder / POSTED, channel=channel if options.where is None else f"{channel}: {options.where}")


def _is_posted(console: Screen, ledger: FileLedger, options: PostOptions, keys: set[str]) -> bool:
    """True if all of it stands already, and says so; with --again nothing does."""
    if options.again or not keys <= ledger.load().posted.keys():
        return False
    console.say(f"this run stands in {ledger.channel} already; --again posts it once more, beside what stands")
    return True


def _begin(ledger: FileLedger, options: PostOptions) -> None:
    """With --again forgets what stands, once all is there that is to be posted."""
    if options.again:
        ledger.keep(PostingProgress())


def _posted_words(progress: PostingProgress) -> str:
    replies, pictures = (sum(key.startswith(kind) for key in progress.posted) for kind in ("reply/", "picture/"))
    verb = "reply" if replies == 1 else "replies"
    return f"the report, {replies:,} {verb} in its thread and {count_of(pictures, 'picture')}"


def _secret(name: str, what: str) -> str:
    """A value of the environment, which no command shows; BadInput where it gives nothing."""
    value = os.environ.get(PREFIX + name, "").strip()
    if not value:
        raise BadInput(f"the environment has no {PREFIX}{name}: set it to {what}. `--dry-run` needs none.")
    return value
