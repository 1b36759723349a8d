"""`plimsoll audit`: every volume in scope, into a run folder."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

import typer

from plimsoll.api.audits import Wanted, order_and_ports
from plimsoll.auditing.audit import plan_audit
from plimsoll.auditing.deciders import Deciders
from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.books import change_ledger
from plimsoll.bootstrap.clocks import clock
from plimsoll.bootstrap.clouds import LEARNED_HERE_FILE, ports_of
from plimsoll.bootstrap.recordings import recording_ports
from plimsoll.cli.audit_reports import leave_reports
from plimsoll.cli.exit_codes import EXIT_INTERRUPTED, EXIT_OVER, PARTIAL
from plimsoll.cli.options import RunOptions, ValidateOptions
from plimsoll.cli.progress import run_bar
from plimsoll.cli.screen import Screen
from plimsoll.cli.validate import validate_recommendations
from plimsoll.clouds.recorder import Recorder
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy
from plimsoll.orders import Order, plan_summary, versions
from plimsoll.output_files import check_place
from plimsoll.reports.printable import put_out
from plimsoll.reports.run_files import RECOMMENDATIONS, RUN, TABLE
from plimsoll.reports.run_reader import read_run, stream_records, stream_unanswered
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.terminal.run import show_failures, show_plan, show_run
from plimsoll.reports.totals import RunTotals
from plimsoll.reports.wording import usd
from plimsoll.risk.watch import Promised
from plimsoll.run import carry_out
from plimsoll.settings import Settings

RECOMMENDATION: Final = "recommendation"
UNANSWERED_LINE: Final = "unanswered"
WHOLE_RUN: Final = "run"
PLAN: Final = "plan"
"""What a line of `--json-lines` is of, its `kind`."""


def audit_into_folder(scope: Scope, policy: Policy, options: RunOptions, *, validate: ValidateOptions | None) -> None:
    """Audits a scope, a recording, or the rest of an earlier run, and exits as the run ended.

    `options.plan` prints what that would take, and exits. `validate` then measures what has thin evidence.
    """
    _check(options, validates=validate is not None)
    settings, console = Settings.from_environment(), _screen(options)
    now, ledger = clock().now(), change_ledger(settings)
    if options.plan:
        with console.status("signing in"):
            asked = ports_of(scope, settings, today=now.date(), ledger=ledger)
        expected = [replace(ports, every_minute=options.every_minute) for ports in asked]
        show_expected(console, expected, policy, now, as_json=options.json_lines)
        return
    with ExitStack() as stack:
        with console.status("signing in" if options.from_ is None else "opening the recording"):
            order, audits = order_and_ports(_order_from(scope, policy, options), settings, ledger, now)
        if options.record is not None:
            audits = _record_into(stack, options.record, audits, now)
        run = follow_audit(
            console,
            order,
            audits,
            promised=ledger.promised,
            learned=settings.runs_dir / LEARNED_HERE_FILE,
            deciders=Deciders(settings.deciders, settings.decider_timeout_s),
        )
    ledger.save(now)
    reported = leave_reports(console, order.folder)
    if validate is not None:
        validate_recommendations(order.folder, None, validate, console=console)
    if options.json_lines:
        put_out(answer_lines(order.folder))
    if options.quiet:
        show_failures(Screen(stderr=True), run)
    _check_threshold(order.folder, options.fail_over)
    if run.status != "complete" or not reported:
        raise typer.Exit(PARTIAL)


def _screen(options: RunOptions) -> Screen:
    """The screen for people: silent where only errors are wanted, and apart from where a program reads answers."""
    return Screen(stderr=options.json_lines, quiet=options.quiet, highlight=True)


def _check_threshold(folder: Path, most_usd: float | None) -> None:
    """Ends the command with a code of its own where the run finds more to save than is allowed."""
    saved_usd = read_run(folder).monthly_usd.saved
    if most_usd is not None and saved_usd > most_usd:
        sentence = f"{usd(saved_usd)} a month can be saved: more than the {usd(most_usd)} of --fail-over."
        Screen(stderr=True).say(sentence)
        raise typer.Exit(EXIT_OVER)


def _check(options: RunOptions, *, validates: bool) -> None:
    """BadInput for options that contradict each other."""
    if options.resume is not None and (options.record or options.from_ or options.out or options.every_minute):
        raise BadInput(
            "--resume goes on with a run as it was begun: leave out --out, --record, --from and --every-minute."
        )
    if options.record is not None:
        check_place(options.record.parent)
    if validates and (options.from_ is not None or options.plan):
        raise BadInput("--validate measures in the clouds that were audited: leave out --from and --plan.")
    if options.plan and options.fail_over is not None:
        raise BadInput("--plan finds no savings: leave out --fail-over.")
    if options.plan and options.quiet and not options.json_lines:
        raise BadInput("--plan only prints: leave out --quiet.")
    if options.plan and (options.record or options.from_ or options.resume):
        raise BadInput("--plan is for what clouds would be asked: leave out --record, --from and --resume.")


def _order_from(scope: Scope, policy: Policy, options: RunOptions) -> Wanted:
    """The audit that these options ask for."""
    return Wanted(
        scope=scope,
        policy=policy,
        folder=options.out,
        recording=options.from_,
        resume=options.resume,
        every_minute=options.every_minute,
    )


def follow_audit(
    console: Screen,
    order: Order,
    audits: Sequence[AuditPorts],
    *,
    promised: dict[str, Promised] | None = None,
    learned: Path | None = None,
    deciders: Deciders | None = None,
) -> RunRecord:
    """Carries a run out under a progress bar and prints it; on Ctrl-C leaves its reports and says how to go on.

    What was `promised` is checked by what the run saw, headroom is `learned` into a file, and `deciders` decide, as of
    `carry_out`.
    """
    try:
        with run_bar(console, audits) as (counted, take):
            run, best = carry_out(
                order,
                counted,
                lambda _progress, outcome: take(outcome),
                promised=promised,
                learned=learned,
                deciders=deciders,
            )
    except KeyboardInterrupt:
        begun = (order.folder / RUN).exists()
        sentence = (
            f"interrupted; what was answered is in {order.folder / RECOMMENDATIONS}.\n"
            f"Go on with: plimsoll audit --resume {order.folder}"
        )
        console.say(sentence if begun else "interrupted before anything was read.")
        if begun:
            leave_reports(console, order.folder)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    show_run(console, run, best)
    console.say(f"data: {order.folder}/ has {RUN}, {RECOMMENDATIONS} and {TABLE}")
    return run


def show_expected(
    console: Screen, audits: Sequence[AuditPorts], policy: Policy, now: datetime, *, as_json: bool
) -> None:
    """Prints what an audit is expected to take; exits as partial where a target could not be listed."""
    totals = RunTotals()
    with console.status("listing volumes"):
        for ports in audits:
            for outcome in plan_audit(ports, policy, now):
                totals.add(outcome)
    query_costs = {ports.catalog.provider: ports.query_cost for ports in audits}
    summary = plan_summary(totals.plans, query_costs)
    if as_json:
        put_out([line_of(PLAN, json.dumps({**summary, "failed": totals.failed_targets}))])
    else:
        show_plan(console, summary, totals.failed_targets, list(query_costs))
    if totals.is_partial:
        raise typer.Exit(PARTIAL)


def _record_into(stack: ExitStack, path: Path, audits: Sequence[AuditPorts], now: datetime) -> Sequence[AuditPorts]:
    kept = {ports.catalog.provider: ports.metrics.retention_days for ports in audits}
    late = {ports.catalog.provider: ports.metrics.visible_after_s for ports in audits}
    memory = {ports.catalog.provider: ports.metrics.memory_days for ports in audits}
    recorder = stack.enter_context(Recorder(path, now, versions()["plimsoll"], kept, memory, late))
    return [recording_ports(ports, recorder) for ports in audits]


def answer_lines(folder: Path) -> Iterator[str]:
    """The lines of a run as JSON: each recommendation, each volume without one, and the run itself last.

    They are as in recommendations.json, unanswered.jsonl and run.json. Errors are as of `stream_records`.
    """
    for record in stream_records(folder):
        yield line_of(RECOMMENDATION, record.model_dump_json())
    for unanswered in stream_unanswered(folder):
        yield line_of(UNANSWERED_LINE, unanswered.model_dump_json())
    yield line_of(WHOLE_RUN, json.dumps(read_run(folder).plain, ensure_ascii=False))


def line_of(kind: str, fields: str) -> str:
    """A JSON object, which has a key at least, as a line that says first what it is of."""
    return f'{{"kind":"{kind}",{fields.lstrip()[1:]}\n'
