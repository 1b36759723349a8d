"""Compare two runs: what is new, gone, done and saved."""

from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput
from plimsoll.reports.printable import put_out

DIFF_FORMATS: Final = ("text", "json", "md")

_LISTED: Final = ("Begin with", 6)


def diff_command(
    before: Annotated[Path, typer.Argument(help="The folder of the earlier run.")],
    after: Annotated[Path, typer.Argument(help="The folder of the later run.")],
    format_: Annotated[str, typer.Option("--format", help="text, json or md.")] = "text",
    rows: Annotated[int, typer.Option(min=0, help="Most volumes listed of each group; 0 lists all.")] = 10,
) -> None:
    from plimsoll.api.runs import run_folder
    from plimsoll.reports.diff.comparison import compare_runs
    from plimsoll.reports.diff.render import json_diff, markdown_diff, show_diff

    if format_ not in DIFF_FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(DIFF_FORMATS)}.")
    with compare_runs(*_order_runs(run_folder(before), run_folder(after))) as comparison:
        if format_ == "text":
            show_diff(Screen(), comparison, rows)
        else:
            put_out(json_diff(comparison) if format_ == "json" else [markdown_diff(comparison)])


def _order_runs(first: Path, other: Path) -> tuple[Path, Path]:
    """Two runs, the earlier first; says so where they were given the other way round."""
    from plimsoll.reports.run_reader import read_run

    try:
        swapped = read_run(first).as_of > read_run(other).as_of
    except (KeyError, TypeError, ValueError):
        return first, other
    if swapped:
        Screen(stderr=True).say(f"{first} is the later run: compared from {other} to {first}.", "yellow")
    return (other, first) if swapped else (first, other)
