"""Post a run's report to Slack, and print the manifest of the app."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.plain_help import PlainTyper
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput
from plimsoll_service.cli.options import PostOptions

if TYPE_CHECKING:
    from plimsoll_service.slack.notifications.posting import FileLedger, PostingProgress

_LISTED: Final = ("Read a run", 7)

slack_command = PlainTyper()


@slack_command.command(name="post")
def post(*, run: options.RunFolder = None, what: PostOptions) -> None:
    """Post a run to a channel, with a reply for accounts that save most; the token is in PLIMSOLL_SLACK_BOT_TOKEN."""
    from plimsoll.api.runs import run_folder
    from plimsoll.cli.option_values import read_scope_file

    if what.dry_run:
        _show_run(run_folder(run), what)
    elif what.webhook:
        _post_run_by_webhook(run_folder(run), what)
    elif channel := what.channel or read_scope_file().channel:
        _post_run(run_folder(run), what, channel)
    else:
        raise BadInput("say where to: --channel C0123456789, --webhook, or --dry-run to look at it first.")


@slack_command.command(name="manifest")
def manifest(
    url: Annotated[str, typer.Argument(help="The https address of the function that answers Slack.")],
) -> None:
    """Print the manifest to paste where Slack creates an app: https://api.slack.com/apps, from a manifest."""
    from plimsoll_service.slack.manifest import app_manifest

    typer.echo(app_manifest(url))


def _show_run(folder: Path, what: PostOptions) -> None:
    """Prints what would be posted, and sends nothing."""
    from plimsoll_service.cli.slack_message import read_content
    from plimsoll_service.slack.preview import show_conversation

    if what.channel is not None:
        _check(what.channel)
    content, console = read_content(folder, what), Screen()
    show_conversation(console, content.conversation.payload)
    for draft in content.pictures:
        console.say(f"picture in its thread: {draft.name}: {draft.title}")
    if content.no_pictures:
        console.say(content.no_pictures, style="red")
    console.say(f"nothing was sent{f' to {what.channel}' if what.channel else ''}: --dry-run")


def _post_run(folder: Path, what: PostOptions, channel: str) -> None:
    """Posts a run to a channel with its replies and pictures, and says what stands; exit code 3 for what does not."""
    from plimsoll.reports.run_reader import read_run
    from plimsoll.settings import Settings
    from plimsoll_service.cli.slack_message import read_content
    from plimsoll_service.slack.client import slack_client
    from plimsoll_service.slack.notifications.posting import MAIN, PngPicture, Posting, picture_key, reply_key

    _check(channel)
    token = _secret("SLACK_BOT_TOKEN", "the app's bot token (xoxb-...), from OAuth & Permissions on its page")
    client = slack_client(token, api_url=Settings.from_environment().slack_api_url)
    ledger = _ledger(folder, channel, what)
    content, console = read_content(folder, what, introduce=ledger.is_first), Screen()
    keys = {MAIN, *(reply_key(reply.key) for reply in content.conversation.replies)}
    keys |= {picture_key(draft.name) for draft in content.pictures}
    if _is_posted(console, ledger, what, keys):
        return
    with console.status(f"posting to {channel}"):
        pictures = [PngPicture(name=draft.name, title=draft.title, png=draft.png()) for draft in content.pictures]
        _begin(ledger, what)
        posting = Posting(channel=channel, client=client, ledger=ledger, run_id=read_run(folder).id)
        posted = posting.post(content.conversation, pictures)
    console.say(f"posted to {channel}: {_posted_words(ledger.load())}")
    troubles = [*filter(None, [content.no_pictures]), *posted.troubles]
    for trouble in troubles:
        console.say(trouble, style="red")
    if troubles:
        raise typer.Exit(PARTIAL)


def _post_run_by_webhook(folder: Path, what: PostOptions) -> None:
    """Posts a run's main message by the webhook of the environment."""
    from plimsoll.settings import Settings
    from plimsoll_service.cli.slack_message import read_content
    from plimsoll_service.slack.notifications.posting import MAIN
    from plimsoll_service.slack.notifications.webhook import Webhook, post_by_webhook

    url = _secret("SLACK_WEBHOOK_URL", "the incoming webhook's URL (https://hooks.slack.com/services/...)")
    webhook = Webhook.from_url(url, Settings.from_environment().slack_api_url)
    ledger = _ledger(folder, webhook.channel, what)
    content, console = read_content(folder, what, introduce=ledger.is_first), Screen()
    if _is_posted(console, ledger, what, {MAIN}):
        return
    with console.status("posting by the webhook"):
        _begin(ledger, what)
        post_by_webhook(content.conversation.main, webhook, ledger)
    console.say("posted by the webhook: the report alone, since a webhook takes no replies, pictures or buttons")


def _check(channel: str) -> None:
    from pydantic import TypeAdapter, ValidationError

    from plimsoll_service.slack_config import Channel

    try:
        TypeAdapter(Channel).validate_python(channel)
    except ValidationError as error:
        sentence = f"--channel {channel}: give the channel's id, such as C0123456789, from the foot of its details."
        raise BadInput(sentence) from error


def _ledger(folder: Path, channel: str, what: PostOptions) -> FileLedger:
    """The ledger of a channel, for the run or for the part that is posted."""
    from plimsoll_service.slack.notifications.posting import POSTED, FileLedger

    return FileLedger(path=folder / POSTED, channel=channel if what.where is None else f"{channel}: {what.where}")


def _is_posted(console: Screen, ledger: FileLedger, what: PostOptions, keys: set[str]) -> bool:
    """True if all of it stands already, and says so; with --again nothing does."""
    if what.again or not keys <= ledger.load().posted.keys():
        return False
    console.say(f"this run stands in {ledger.channel} already; --again posts it once more, beside what stands")
    return True


def _begin(ledger: FileLedger, what: PostOptions) -> None:
    """With --again forgets what stands, once all is there that is to be posted."""
    from plimsoll_service.slack.notifications.posting import PostingProgress

    if what.again:
        ledger.keep(PostingProgress())


def _posted_words(progress: PostingProgress) -> str:
    from plimsoll.reports.wording import count_of

    replies, pictures = (sum(key.startswith(kind) for key in progress.posted) for kind in ("reply/", "picture/"))
    verb = "reply" if replies == 1 else "replies"
    return f"the report, {replies:,} {verb} in its thread and {count_of(pictures, 'picture')}"


def _secret(name: str, what: str) -> str:
    """A value of the environment, which no command shows; BadInput where it gives nothing."""
    from plimsoll.settings import PREFIX

    value = os.environ.get(PREFIX + name, "").strip()
    if not value:
        raise BadInput(f"the environment has no {PREFIX}{name}: set it to {what}. `--dry-run` needs none.")
    return value
