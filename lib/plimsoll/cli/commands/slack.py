"""Commands that post to Slack."""

from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.cli.option_groups import with_option_groups
from plimsoll.domain.errors import BadInput

slack = typer.Typer(help="Post a run's report to Slack, and print the manifest of the app.", no_args_is_help=True)


@slack.command(name="post")
@with_option_groups
def post(*, run: options.RunFolder = None, what: options.PostOptions) -> None:
    """Post a run to a channel, with a reply for each account; the token is in PLIMSOLL_SLACK_BOT_TOKEN."""
    from plimsoll.cli.run_folder import run_folder
    from plimsoll.cli.slack import post_run, post_run_by_webhook, show_run

    if what.dry_run:
        show_run(run_folder(run), what)
    elif what.webhook:
        post_run_by_webhook(run_folder(run), what)
    elif what.channel is not None:
        post_run(run_folder(run), what, what.channel)
    else:
        raise BadInput("say where to: --channel C0123456789, --webhook, or --dry-run to look at it first.")


@slack.command(name="manifest")
def manifest(
    url: Annotated[str, typer.Argument(help="The https address of the function that answers Slack.")],
) -> None:
    """Print the manifest to paste where Slack creates an app: https://api.slack.com/apps, from a manifest."""
    from plimsoll.slack.manifest import manifest as written

    typer.echo(written(url))
