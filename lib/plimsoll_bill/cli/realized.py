"""Say what became of each saving, month by month: promised by runs, realized by the bill, and lost again, by owner.

Give the bill as for `plimsoll bill`. Runs are those of this machine, or those that --run names.
"""

import json
from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput

_LISTED: Final = ("Read a run", 7)
_FORMATS: Final = ("text", "json")


def realized_command(
    places: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Files, folders or s3:// addresses of a bill.")
    ],
    *,
    runs: Annotated[
        list[Path] | None, typer.Option("--run", help="A run's folder; repeat for several. Without it: all runs here.")
    ] = None,
    note: Annotated[
        bool, typer.Option("--note", help="Note the newest month in the newest run, for its page and Slack message.")
    ] = False,
    format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
) -> None:
    from plimsoll.reports.printable import put_out
    from plimsoll_bill.api import note_realized, read_bill, realized_savings
    from plimsoll_bill.shown import realized_json, show_realized

    if format_ not in _FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(_FORMATS)}.")
    screen = Screen(stderr=format_ == "json")
    with screen.doing("reading the bill"), read_bill(places) as bill:
        outcome = realized_savings(bill, runs)
    if format_ == "json":
        put_out([json.dumps(realized_json(outcome), indent=1), "\n"])
    else:
        show_realized(screen, outcome)
    if note:
        place = note_realized(outcome)
        screen.say("nothing to note" if place is None else f"noted in {place}: plimsoll report {place}")
