"""Options of the commands that post to Slack."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.option_groups import OptionGroup
from plimsoll.cli.options import Where
from plimsoll.model.errors import BadInput


@dataclass(frozen=True, slots=True, kw_only=True)
class PostOptions(OptionGroup):
    """The content of a post to Slack, its channel, and its form."""

    channel: Annotated[str | None, typer.Option(help="The channel's id, such as C0123456789.")] = None
    since: Annotated[Path | None, typer.Option(help="An earlier run: say what is new and what was saved since.")] = None
    where: Where = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the message here and send nothing.")] = False
    again: Annotated[bool, typer.Option("--again", help="Post it although it was posted there before.")] = False
    webhook: Annotated[
        bool, typer.Option("--webhook", help="By the URL in PLIMSOLL_SLACK_WEBHOOK_URL: the main message alone.")
    ] = False
    buttons: Annotated[
        bool, typer.Option("--buttons", help="With buttons, for an app that the deployed service answers.")
    ] = False
    pictures: Annotated[bool, typer.Option(help="Savings by account and the largest one's roofline.")] = True

    def __post_init__(self) -> None:
        if self.webhook and (self.channel is not None or self.buttons):
            raise BadInput("a webhook is bound to its channel and has no buttons: leave out --channel and --buttons.")
        if self.since is not None and self.where is not None:
            raise BadInput("--since compares whole runs, and --where posts a part: give one of the two.")
