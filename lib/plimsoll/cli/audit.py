"""Find what each volume should be, what that saves and why.

Each answer has its evidence, its risk and what blocks it. An audit only reads.
"""

from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.bootstrap.clocks import clock
from plimsoll.cli import options
from plimsoll.cli.exit_codes import EXIT_OVER, PARTIAL
from plimsoll.cli.screen import Screen, beginning
from plimsoll.files import check_place
from plimsoll.model.errors import BadInput
from plimsoll.reports.printable import put_out
from plimsoll.wings import RUN_VALIDATION

_LISTED: Final = ("Begin with", 1)


def audit_command(
    *,
    scope: options.ScopeOptions,
    policy: options.AuditPolicyOptions,
    run: options.RunOptions,
    validate: Annotated[
        bool,
        typer.Option(
            "--validate",
            help="Then validate the recommendations with thin evidence, as `validate` does.",
            rich_help_panel=options.MeasureOptions.PANEL,
        ),
    ] = False,
    measure: options.MeasureOptions,
) -> None:
    with beginning("starting"):
        from plimsoll.cli.followed_run import follow_audit
        from plimsoll.cli.run_reports import leave_reports

    from plimsoll.api.audits import Wanted, order_and_ports
    from plimsoll.bootstrap.books import change_ledger
    from plimsoll.bootstrap.recordings import record_audits
    from plimsoll.cli.option_values import policy_from, read_scope_file, scope_from
    from plimsoll.cli.output_lines import answer_lines, show_audit_plan
    from plimsoll.reports.terminal.run import show_failures
    from plimsoll.settings import Settings

    file = read_scope_file()
    asked, rules = scope_from(scope, policy.prices, file), policy_from(policy, file)
    _check(run, validates=validate)
    settings, console = Settings.from_environment(), _screen(run)
    if file.path is not None and run.resume is None:
        console.say(f"Scope and policy: {file.path}, except where an option says otherwise.", "dim")
    now, ledger = clock().now(), change_ledger(settings)
    if run.plan:
        show_audit_plan(console, asked, rules, run, settings=settings, ledger=ledger, now=now)
        return
    with ExitStack() as stack:
        with console.status("signing in" if run.from_ is None else "opening the recording"):
            wanted = Wanted(
                scope=asked,
                policy=rules,
                folder=run.out,
                recording=run.from_,
                resume=run.resume,
                every_minute=run.every_minute,
            )
            order, audits = order_and_ports(wanted, settings, ledger, now)
        if run.record is not None:
            audits = stack.enter_context(record_audits(run.record, audits, now))
        answered = follow_audit(console, order, audits, promised=ledger.promised, settings=settings)
    ledger.save(now)
    reported = leave_reports(console, order.folder)
    if validate:
        import_module(RUN_VALIDATION).validate_audited(order.folder, measure, console)
    if run.json_lines:
        put_out(answer_lines(order.folder))
    if run.quiet:
        show_failures(Screen(stderr=True), answered)
    _check_threshold(order.folder, run.fail_over)
    if answered.status != "complete" or not reported:
        raise typer.Exit(PARTIAL)


def _screen(run: options.RunOptions) -> Screen:
    """The screen for people: silent where only errors are wanted, and apart from where a program reads answers."""
    return Screen(stderr=run.json_lines, quiet=run.quiet, highlight=True)


def _check(run: options.RunOptions, *, validates: bool) -> None:
    """BadInput for options that contradict each other."""
    if run.resume is not None and (run.record or run.from_ or run.out or run.every_minute):
        raise BadInput(
            "--resume goes on with a run as it was begun: leave out --out, --record, --from and --every-minute."
        )
    if run.record is not None:
        check_place(run.record.parent)
    if validates and (run.from_ is not None or run.plan):
        raise BadInput("--validate measures in the clouds that were audited: leave out --from and --plan.")
    if run.plan and run.fail_over is not None:
        raise BadInput("--plan finds no savings: leave out --fail-over.")
    if run.plan and run.quiet and not run.json_lines:
        raise BadInput("--plan only prints: leave out --quiet.")
    if run.plan and (run.record or run.from_ or run.resume):
        raise BadInput("--plan is for what clouds would be asked: leave out --record, --from and --resume.")


def _check_threshold(folder: Path, most_usd: float | None) -> None:
    """Ends the command with a code of its own where the run finds more to save than is allowed."""
    from plimsoll.reports.run_reader import read_run
    from plimsoll.reports.wording import usd

    saved_usd = read_run(folder).monthly_usd.saved
    if most_usd is not None and saved_usd > most_usd:
        sentence = f"{usd(saved_usd)} a month can be saved: more than the {usd(most_usd)} of --fail-over."
        Screen(stderr=True).say(sentence)
        raise typer.Exit(EXIT_OVER)
