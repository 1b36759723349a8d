"""A run that is followed on the screen: its progress, its end, and how to go on where it was interrupted."""

from collections.abc import Sequence

import typer

from plimsoll.auditing.at_once import Deciders
from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.clouds import LEARNED_HERE_FILE
from plimsoll.cli.exit_codes import EXIT_INTERRUPTED
from plimsoll.cli.progress import run_bar
from plimsoll.cli.run_reports import leave_reports
from plimsoll.cli.screen import Screen
from plimsoll.orders import Order
from plimsoll.reports.run_files import RECOMMENDATIONS, RUN, TABLE
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.terminal.run import show_run
from plimsoll.risk.watch import Promised
from plimsoll.run import carry_out
from plimsoll.settings import Settings


def follow_audit(
    console: Screen,
    order: Order,
    audits: Sequence[AuditPorts],
    *,
    promised: dict[str, Promised] | None = None,
    settings: Settings | None = None,
) -> RunRecord:
    """Carries a run out under a progress bar and prints it; on Ctrl-C leaves its reports and says how to go on.

    What was `promised` is checked by what the run saw. By its `settings` it learns headroom into a file and has
    processes that decide, as of `carry_out`; without them it does neither.
    """
    try:
        with run_bar(console, audits) as (counted, take):
            run, best = carry_out(
                order,
                counted,
                lambda _progress, outcome: take(outcome),
                promised=promised,
                learned=settings.runs_dir / LEARNED_HERE_FILE if settings else None,
                deciders=Deciders(settings.deciders, settings.decider_timeout_s) if settings else None,
            )
    except KeyboardInterrupt:
        begun = (order.folder / RUN).exists()
        sentence = (
            f"interrupted; the answers so far are in {order.folder / RECOMMENDATIONS}.\n"
            f"Continue with: plimsoll audit --resume {order.folder}"
        )
        console.say(sentence if begun else "interrupted before anything was read.")
        if begun:
            leave_reports(console, order.folder)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    show_run(console, run, best)
    console.say(f"data: {order.folder}/ has {RUN}, {RECOMMENDATIONS} and {TABLE}")
    return run
