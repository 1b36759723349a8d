"""Print the version."""

from typing import Final

import typer

_LISTED: Final = ("Help", 2)


def version_command() -> None:
    import plimsoll

    typer.echo(f"plimsoll {plimsoll.__version__}")
