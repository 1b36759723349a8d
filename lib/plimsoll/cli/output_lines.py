"""The plan of an audit on the screen, and the lines of JSON that an audit prints for programs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import typer

from plimsoll.auditing.audit import plan_audit
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.options import RunOptions
from plimsoll.cli.screen import Screen
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.scope import Scope
from plimsoll.model.policy import Policy
from plimsoll.orders import plan_summary
from plimsoll.reports.printable import put_out
from plimsoll.reports.run_reader import read_run, stream_records, stream_unanswered
from plimsoll.reports.terminal.run import show_plan
from plimsoll.reports.totals import RunTotals
from plimsoll.settings import Settings

RECOMMENDATION: Final = "recommendation"
UNANSWERED_LINE: Final = "unanswered"
WHOLE_RUN: Final = "run"
PLAN: Final = "plan"
"""The `kind` of a line: its subject."""


def answer_lines(folder: Path) -> Iterator[str]:
    """The lines of a run: each recommendation, each volume without one, and the run itself.

    They are as in recommendations.json, unanswered.jsonl and run.json. Errors are as of `stream_records`.
    """
    for record in stream_records(folder):
        yield _line_of(RECOMMENDATION, record.model_dump_json())
    for unanswered in stream_unanswered(folder):
        yield _line_of(UNANSWERED_LINE, unanswered.model_dump_json())
    yield _line_of(WHOLE_RUN, json.dumps(read_run(folder).plain, ensure_ascii=False))


def plan_line(plan: Mapping[str, Any]) -> str:
    """The line of a plan."""
    return _line_of(PLAN, json.dumps(plan))


def _line_of(kind: str, fields: str) -> str:
    """A JSON object, which has a key at least, as a line that says first what it is of."""
    return f'{{"kind":"{kind}",{fields.lstrip()[1:]}\n'


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
        usd_query = {cloud: cost.usd_query for cloud, cost in query_costs.items()}
        show_plan(console, summary, totals.failed_targets, usd_query)
    if totals.is_partial:
        raise typer.Exit(PARTIAL)
