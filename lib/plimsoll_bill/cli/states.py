"""Show what is paid for and not used: volumes, snapshots and fast restores, each with what to do and the way back.

It reads the accounts of a run again, and writes states.json and states.csv into its folder. It changes nothing. What it
may read: see `plimsoll permissions --for states`.
"""

from __future__ import annotations

from typing import Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput

_FORMATS: Final = ("text", "json", "csv")

_LISTED: Final = ("Read a run", 5)


def states_command(
    run: options.RunFolder = None,
    format_: Annotated[str, typer.Option("--format", help="text, json or csv.")] = "text",
    bill: Annotated[list[str] | None, typer.Option(metavar="FILE", help="Files of a bill.")] = None,
    keep_days: Annotated[float, typer.Option(min=1, help="Days after which a snapshot is beyond its age.")] = 365.0,
    rows: Annotated[int, typer.Option(min=0, help="Most lines listed; 0 lists all.")] = 20,
    external_id: Annotated[str | None, typer.Option(help="The run's external id, which is not kept.")] = None,
) -> None:
    from plimsoll.api.runs import run_folder
    from plimsoll.clouds.scope import Scope
    from plimsoll.orders import read_order
    from plimsoll.reports.printable import put_out
    from plimsoll.settings import Settings
    from plimsoll_bill.states.printed import show_states, state_csv_lines, state_json_lines, write_states
    from plimsoll_bill.states.report import report_states

    if format_ not in _FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(_FORMATS)}.")
    folder = run_folder(run)
    order, console = read_order(folder), Screen(stderr=format_ != "text")
    scope = Scope.from_dict(order.scope, external_id=external_id)
    billed = None
    if bill:
        from plimsoll_bill.api import read_bill
        from plimsoll_bill.states.billed import find_billed_month

        with console.doing("reading the bill"), read_bill(bill) as opened:
            billed = find_billed_month(opened, order.now)
    with console.doing("reading snapshots and what uses them"):
        settings = Settings.from_environment()
        report = report_states(folder, order, scope, settings, keep_days=keep_days, billed=billed)
    write_states(folder, report)
    if format_ == "text":
        show_states(console, report, rows)
    else:
        put_out(state_json_lines(report) if format_ == "json" else state_csv_lines(report))
    if report.unread:
        raise typer.Exit(PARTIAL)
