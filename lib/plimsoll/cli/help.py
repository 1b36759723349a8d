"""Show the help of a command, or of all."""

from typing import Annotated, Final

import typer

_LISTED: Final = ("Help", 1)


def help_command(
    context: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND", help="A command, such as chart demand.")
    ] = None,
) -> None:
    context.find_root().command.main([*(words or ()), "--help"], prog_name="plimsoll")
