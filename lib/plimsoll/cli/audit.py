"""`plimsoll audit`: every volume in scope, into a run folder."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from plimsoll.audit import plan_audit
from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap import Scope, change_ledger, clock, ports_of, recorded_ports, recording_ports
from plimsoll.cli.exit_codes import INTERRUPTED, PARTIAL
from plimsoll.cli.leaving import LeaveReports
from plimsoll.cli.progress import RunBar
from plimsoll.cli.terms import Terms
from plimsoll.cli.validate import validate_recommendations
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.recorder import Recorder
from plimsoll.domain.errors import BadInput
from plimsoll.domain.policy import Policy
from plimsoll.reports.stored import RECOMMENDATIONS, RUN
from plimsoll.reports.tally import Tally
from plimsoll.reports.terminal.run import show_plan, show_run
from plimsoll.run import Order, carry_out, plan_summary, resumed, versions
from plimsoll.settings import Settings


def audit_into_folder(
    scope: Scope,
    policy: Policy,
    leave_reports: LeaveReports,
    *,
    out: Path | None,
    record: Path | None,
    from_: Path | None,
    resume: Path | None,
    every_minute: bool,
    plan: bool,
    validate: Terms | None = None,
) -> None:
    """Audits a scope, what a recording has, or the rest of an earlier run, and exits as the run ended.

    With `plan` says what that would take, and exits; with `validate` measures what has thin evidence afterwards.
    """
    settings = Settings.of_environment()
    console = Console()
    if resume is not None and (record or from_ or out or every_minute):
        raise BadInput(
            "--resume goes on with a run as it was begun: leave out --out, --record, --from and --every-minute."
        )
    if validate is not None and (from_ is not None or plan):
        raise BadInput("--validate measures in the clouds that were audited: leave out --from and --plan.")
    if plan and (record or from_ or resume):
        raise BadInput("--plan is for what clouds would be asked: leave out --record, --from and --resume.")
    now = clock().now()
    ledger = change_ledger(settings)
    if plan:
        asked = ports_of(scope, settings, today=now.date(), ledger=ledger)
        foresee(console, [replace(ports, every_minute=every_minute) for ports in asked], policy, now)
        return
    with ExitStack() as stack:
        if resume is not None:
            order = resumed(resume)
            audits = _worlds_of(order, settings, ledger)
        elif from_ is not None:
            audits, then = recorded_ports(from_, settings)
            order = _order(out, {"recording": str(from_)}, policy, then, settings, every_minute)
        else:
            audits = ports_of(scope, settings, today=now.date(), ledger=ledger)
            order = _order(out, scope.as_dict(), policy, now, settings, every_minute)
        if record is not None:
            audits = _recorded(stack, record, audits, now)
        run = follow(console, order, audits, leave_reports)
    ledger.save(now)
    reported = leave_reports(console, order.folder)
    if validate is not None:
        validate_recommendations(order.folder, None, validate, leave_reports)
    if run["status"] != "complete" or not reported:
        raise typer.Exit(PARTIAL)


def _worlds_of(order: Order, settings: Settings, ledger: Ledger) -> Sequence[AuditPorts]:
    """The audits that an earlier part of a run was begun in."""
    recording = order.scope.get("recording")
    if isinstance(recording, str):
        return recorded_ports(Path(recording), settings)[0]
    return ports_of(Scope.from_dict(order.scope), settings, today=order.now.date(), ledger=ledger)


def follow(console: Console, order: Order, audits: Sequence[AuditPorts], leave_reports: LeaveReports) -> dict[str, Any]:
    """Carries a run out under a progress bar and prints it; on Ctrl-C leaves its reports and says how to go on."""
    try:
        with RunBar(console, [ports.metrics.usage for ports in audits]) as bar:
            run, best = carry_out(order, audits, lambda _progress, outcome: bar.take(outcome))
    except KeyboardInterrupt:
        console.print(
            f"interrupted; what was answered is in {order.folder / RECOMMENDATIONS}.\n"
            f"Go on with: plimsoll audit --resume {order.folder}",
            markup=False,
            soft_wrap=True,
        )
        if (order.folder / RUN).exists():
            leave_reports(console, order.folder)
        raise typer.Exit(INTERRUPTED) from None
    show_run(console, run, best)
    console.print(
        f"files: {order.folder}/{{run.json,recommendations.json,recommendations.csv}}", soft_wrap=True, markup=False
    )
    return run


def foresee(console: Console, audits: Sequence[AuditPorts], policy: Policy, now: datetime) -> None:
    """Prints what an audit is expected to take; exits as partial where a target could not be listed."""
    tally = Tally()
    with console.status("listing volumes"):
        for ports in audits:
            for outcome in plan_audit(ports, policy, now):
                tally.take(outcome)
    query_costs = {ports.catalog.provider: ports.query_cost for ports in audits}
    show_plan(console, plan_summary(tally.plans, query_costs), tally.failed_targets, list(query_costs))
    if tally.partial:
        raise typer.Exit(PARTIAL)


def _order(
    out: Path | None, scope: dict[str, Any], policy: Policy, now: datetime, settings: Settings, every_minute: bool
) -> Order:
    folder = out or settings.runs_dir / clock().now().strftime("%Y%m%dT%H%M%SZ")
    if out is not None and (out / RECOMMENDATIONS).exists():
        raise BadInput(f"{out} holds a run already: give another --out, or go on with it by --resume {out}.")
    return Order(
        folder=folder,
        scope=scope,
        policy=policy,
        now=now,
        every_minute=every_minute,
    )


def _recorded(stack: ExitStack, path: Path, audits: Sequence[AuditPorts], now: datetime) -> Sequence[AuditPorts]:
    kept = {ports.catalog.provider: ports.metrics.retention_days for ports in audits}
    late = {ports.catalog.provider: ports.metrics.visible_after_s for ports in audits}
    recorder = stack.enter_context(Recorder(path, now, versions()["plimsoll"], kept, late))
    return [recording_ports(ports, recorder) for ports in audits]
