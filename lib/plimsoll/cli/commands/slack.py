"""Commands that post to Slack."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.domain.errors import BadInput

slack = typer.Typer(help="Post a run's report to Slack, and print the manifest of the app.", no_args_is_help=True)


@slack.command(name="post")
def post(
    run: options.RunFolder = None,
    channel: Annotated[str | None, typer.Option(help="The channel's id, such as C0123456789.")] = None,
    since: Annotated[
        Path | None, typer.Option(help="An earlier run: say what is new and what was saved since.")
    ] = None,
    where: options.Where = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the message here and send nothing.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Post it although it was posted there before.")] = False,
    webhook: Annotated[
        bool, typer.Option("--webhook", help="By the URL in PLIMSOLL_SLACK_WEBHOOK_URL: the main message alone.")
    ] = False,
    buttons: Annotated[
        bool, typer.Option("--buttons", help="With buttons, for an app that the deployed service answers.")
    ] = False,
    pictures: Annotated[bool, typer.Option(help="Savings by account and the largest one's roofline.")] = True,
) -> None:
    """Post a run to a channel, with a reply for each account; the token is in PLIMSOLL_SLACK_BOT_TOKEN."""
    from plimsoll.cli.slack import Wanted, post_run, post_run_by_webhook, show_run

    if webhook and (channel is not None or buttons):
        raise BadInput("a webhook is bound to its channel and has no buttons: leave out --channel and --buttons.")
    wanted = Wanted(
        since=since, where=where, again=again, buttons=buttons, pictures=pictures and not webhook, thread=not webhook
    )
    if dry_run:
        show_run(run, wanted, channel)
    elif webhook:
        post_run_by_webhook(run, wanted)
    elif channel is not None:
        post_run(run, wanted, channel)
    else:
        raise BadInput("say where to: --channel C0123456789, --webhook, or --dry-run to look at it first.")


@slack.command(name="manifest")
def manifest(
    url: Annotated[str, typer.Argument(help="The https address of the function that answers Slack.")],
) -> None:
    """Print the manifest to paste where Slack creates an app: https://api.slack.com/apps, from a manifest."""
    from plimsoll.slack.manifest import manifest as written

    typer.echo(written(url))
