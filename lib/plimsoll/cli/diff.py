"""`plimsoll diff`: what has become of one run's recommendations by the next."""

from pathlib import Path

from rich.console import Console

from plimsoll.cli.run_folder import run_folder
from plimsoll.cli.standard_output import put_out
from plimsoll.domain.errors import BadInput
from plimsoll.reports.diff.compared import compared
from plimsoll.reports.diff.shown import json_diff, markdown_diff, show_diff

FORMATS = ("text", "json", "md")


def diff_runs(before: Path, after: Path, *, format_: str, rows: int) -> None:
    """Prints the difference of two runs."""
    if format_ not in FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(FORMATS)}.")
    with compared(run_folder(before), run_folder(after)) as diff:
        if format_ == "text":
            show_diff(Console(highlight=False), diff, rows)
        elif format_ == "json":
            put_out(json_diff(diff))
        else:
            put_out([markdown_diff(diff)])
