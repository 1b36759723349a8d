"""Show what is paid for and not used: volumes, snapshots and fast restores, each with what to do and the way back.

It reads the accounts of a run again, writes states.json and states.csv into its folder, and notes the picture of what
is paid in run.json, for its page and Slack message. It changes nothing. What it may read: see `plimsoll permissions
--for states`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput

if TYPE_CHECKING:
    from plimsoll.reports.story import Story
    from plimsoll_bill.states.report import StatesReport

_FORMATS: Final = ("text", "json", "csv")

_LISTED: Final = ("Read a run", 5)


def states_command(
    run: options.RunFolder = None,
    format_: Annotated[str, typer.Option("--format", help="text, json or csv.")] = "text",
    bill: Annotated[list[str] | None, typer.Option(metavar="FILE", help="Files of a bill.")] = None,
    keep_days: Annotated[float, typer.Option(min=1, help="Days after which a snapshot is beyond its age.")] = 365.0,
    prices: Annotated[str | None, typer.Option(metavar="FILE", help="A price file; else that of the run.")] = None,
    rows: Annotated[int, typer.Option(min=0, help="Most lines listed; 0 lists all.")] = 20,
    external_id: Annotated[str | None, typer.Option(help="The run's external id, which is not kept.")] = None,
) -> None:
    from plimsoll.api.runs import run_folder
    from plimsoll.clouds.scope import Scope
    from plimsoll.orders import read_order
    from plimsoll.reports.csv_table import model_lines
    from plimsoll.reports.printable import put_out
    from plimsoll.reports.record import StateRecord
    from plimsoll.reports.terminal.run import show_story
    from plimsoll.settings import Settings
    from plimsoll_bill.states.report import judge_run, note_states, state_json_lines
    from plimsoll_bill.states.run_places import read_run_places

    if format_ not in _FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(_FORMATS)}.")
    folder = run_folder(run)
    order, console = read_order(folder), Screen(stderr=format_ != "text")
    scope = Scope.from_dict(order.scope, external_id=external_id)
    scope = scope if prices is None else replace(scope, prices=prices)
    billed = None
    if bill:
        from plimsoll_bill.api import read_bill
        from plimsoll_bill.states.billed import find_billed_month

        with console.doing("reading the bill"), read_bill(bill) as opened:
            billed = find_billed_month(opened, order.now)
    with console.doing("reading snapshots and what uses them"):
        settings = Settings.from_environment()
        places, unread = read_run_places(folder, order, scope, settings, keep_days)
        report = judge_run(folder, order, places, scope, keep_days=keep_days, billed=billed)
    report.unread |= unread
    note_states(folder, report)
    if format_ == "text":
        show_story(console, _tell_report(report, rows))
    else:
        put_out(state_json_lines(report) if format_ == "json" else model_lines(StateRecord, report.states))
    if report.unread:
        raise typer.Exit(PARTIAL)


def _tell_report(report: StatesReport, most: int) -> Story:
    """The picture, the sums of states, what was not read, and the first things in a state (0: all)."""
    from plimsoll.reports.story import Missing, Note, Topic, Unread
    from plimsoll.reports.story.run import tell_paid, tell_state, tell_states
    from plimsoll.reports.totals import sum_states

    places = ((name.partition(": "), why) for name, why in report.unread.items())
    unread = (Unread(place=place[0], what=place[2] or "everything", why=why) for place, why in places)
    shown = report.states[: most or None]
    left = len(report.states) - len(shown)
    return (
        tell_paid(report.picture),
        tell_states(sum_states(report.states)),
        Missing(unread=tuple(unread), left_out=()),
        *map(tell_state, shown),
        *([Note(topic=Topic.STATES, lines=(f"{left:,} more; --rows 0 shows all.",))] if left else []),
    )
