"""The plan of an audit: what reading the metrics would take. None is read."""

from dataclasses import replace
from datetime import datetime

import typer

from plimsoll.auditing.audit import plan_audit
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.options import RunOptions
from plimsoll.cli.output_lines import plan_line
from plimsoll.cli.screen import Screen
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.scope import Scope
from plimsoll.model.policy import Policy
from plimsoll.orders import plan_summary
from plimsoll.reports.printable import put_out
from plimsoll.reports.terminal.run import show_plan
from plimsoll.reports.totals import RunTotals
from plimsoll.settings import Settings


def show_audit_plan(
    console: Screen,
    scope: Scope,
    policy: Policy,
    options: RunOptions,
    *,
    settings: Settings,
    ledger: Ledger,
    now: datetime,
) -> None:
    """Prints what an audit is expected to take; exits as partial where a target could not be listed."""
    with console.status("signing in"):
        asked = ports_of(scope, settings, today=now.date(), ledger=ledger)
    audits = [replace(ports, every_minute=options.every_minute) for ports in asked]
    totals = RunTotals()
    with console.status("listing volumes"):
        for ports in audits:
            for outcome in plan_audit(ports, policy, now):
                totals.add(outcome)
    query_costs = {ports.catalog.provider: ports.query_cost for ports in audits}
    summary = plan_summary(totals.plans, query_costs)
    if options.json_lines:
        put_out([plan_line({**summary, "failed": totals.failed_targets})])
    else:
        show_plan(console, summary, totals.failed_targets, list(query_costs))
    if totals.is_partial:
        raise typer.Exit(PARTIAL)
