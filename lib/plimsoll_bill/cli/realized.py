"""Say what became of each saving, month by month: promised by runs, realized by the bill, and lost again, by owner.

Give the bill as for `plimsoll bill`. Runs are those of this machine, or those that --run names.
"""

from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.cli.screen import Screen
from plimsoll_bill.cli.bill import BillFormat, BillPlaces

_LISTED: Final = ("Read a run", 7)


def realized_command(
    places: BillPlaces,
    *,
    runs: Annotated[
        list[Path] | None, typer.Option("--run", help="A run's folder; repeat for several. Without it: all runs here.")
    ] = None,
    note: Annotated[
        bool, typer.Option("--note", help="Note the newest month in the newest run, for its page and Slack message.")
    ] = False,
    format_: BillFormat = "text",
) -> None:
    from plimsoll_bill.api import note_realized, read_bill, realized_savings
    from plimsoll_bill.told import put_told, realized_values, tell_realized

    screen = Screen(stderr=format_ == "json")
    with screen.doing("reading the bill"), read_bill(places) as bill:
        outcome = realized_savings(bill, runs)
    put_told(screen, format_, tell_realized(outcome), lambda: realized_values(outcome))
    if note:
        place = note_realized(outcome)
        screen.say("nothing to note" if place is None else f"noted in {place}: plimsoll report {place}")
