"""The command line: a file of this folder for each command, and errors as a sentence and an exit code."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import plimsoll
from plimsoll.cli.ending import end_as_by_ctrl_c
from plimsoll.cli.exit_codes import EXIT_INTERRUPTED, PARTIAL, UNUSABLE
from plimsoll.cli.listed import ListedGroup
from plimsoll.cli.plain_help import PlainTyper
from plimsoll.cli.screen import Screen
from plimsoll.distribution import missing_extra
from plimsoll.files import NO_ROOM, disk_full
from plimsoll.garbage import collect_rarely
from plimsoll.model.errors import BadInput, PlimsollError

app = PlainTyper(
    cls=ListedGroup,
    epilog="Exit codes: 0 done, 2 unusable input, 3 done in part (not all could be read, or the disk is full), "
    "4 more can be saved than --fail-over allows, or a plan is refused, 130 interrupted.",
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"plimsoll {plimsoll.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version and stop.")
    ] = False,
) -> None:
    """Right-sizes cloud block storage on what its workload really asks for."""


def main() -> None:
    """Runs the command line; every error that people can act on is one sentence on standard error."""
    end_as_by_ctrl_c()
    collect_rarely()
    try:
        _run()
    except BadInput as error:
        _say(error)
        sys.exit(UNUSABLE)
    except PlimsollError as error:
        _say(error)
        sys.exit(PARTIAL)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except OSError as error:
        if error.errno not in NO_ROOM and error.filename:
            _say(BadInput(f"{error.filename} cannot be used: {error.strerror}."))
            sys.exit(UNUSABLE)
        if error.errno not in NO_ROOM:
            raise
        _say(disk_full(Path(error.filename or "a file")))
        sys.exit(PARTIAL)


def _run() -> None:
    try:
        app()
    except ModuleNotFoundError as error:
        raise missing_extra(error, _command(sys.argv[1:])) from error


def _command(words: Sequence[str]) -> str:
    """The command that these words begin with, as people write it."""
    command, names = typer.main.get_command(app), ["plimsoll"]
    for word in words:
        commands = getattr(command, "commands", {})
        if word not in commands:
            break
        command = commands[word]
        names.append(word)
    return " ".join(names)


def _say(error: PlimsollError) -> None:
    Screen(stderr=True).say(f"plimsoll: {error}", "red")
