"""Carry a run's changes out in waves, prove that they did no harm, and take back what did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.plain_help import PlainTyper
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput

if TYPE_CHECKING:
    from plimsoll.settings import Settings
    from plimsoll_change.ledger import ChangeLedger

_LISTED: Final = ("Change", 1)

change_command = PlainTyper()

PlanWord = Annotated[str | None, typer.Argument(metavar="PLAN", help="A plan's name or file. Default: the newest.")]
SaidBy = Annotated[str, typer.Option("--by", metavar="NAME", help="Who says so; it is kept in the ledger.")]
WhyOption = Annotated[str, typer.Option(help="Why, for the ledger.")]
ExternalId = Annotated[str | None, typer.Option(help="The run's external id, which is not kept.")]


def _open_plan(word: str | None) -> tuple[ChangeLedger, Settings]:
    """The ledger of a plan as it is now, and the settings of this machine."""
    from plimsoll.settings import Settings
    from plimsoll_change.opening import find_plan, open_ledger

    settings = Settings.from_environment()
    return open_ledger(find_plan(word, settings), settings), settings


@change_command.command(name="plan")
def plan_changes(
    run: options.RunFolder = None,
    where: options.Where = None,
    step: Annotated[
        list[str] | None, typer.Option(help="Only changes of this step: safe, trade, proved, measure; repeatable.")
    ] = None,
    rules: Annotated[Path | None, typer.Option(help="Rules for changes (YAML); see docs/change.md.")] = None,
    external_id: ExternalId = None,
) -> None:
    """Freeze what will be done to which volumes into a plan. Nothing is changed."""
    from plimsoll.api.runs import run_folder
    from plimsoll.cli.run_reports import Report
    from plimsoll.reports.change_files import CHANGED_IN
    from plimsoll.reports.steps import Step
    from plimsoll.settings import Settings
    from plimsoll_change.opening import open_store, plan_changes_of
    from plimsoll_change.plan_files import load_rules
    from plimsoll_change.shown import sum_up_plan

    if unknown := [name for name in step or () if name not in CHANGED_IN]:
        raise BadInput(f"--step {unknown[0]}: it must be one of {', '.join(CHANGED_IN)}.")
    folder, screen = run_folder(run), Screen()
    only, _ = Report(folder=folder, where=where).part()
    with screen.doing("looking at the volumes"):
        settings = Settings.from_environment()
        steps = [Step(name) for name in step or ()]
        plan = plan_changes_of(folder, load_rules(rules), settings, only=only, steps=steps, external_id=external_id)
    screen.say(f"{sum_up_plan(plan)} Plan: {open_store(settings).folder / plan.id}")
    screen.say(f"Then: plimsoll change show {plan.id}, and plimsoll change approve {plan.id} --by NAME")


@change_command.command(name="show")
def show_change_plan(
    plan: PlanWord = None,
    out: Annotated[Path | None, typer.Option(help="Write it as Markdown to this file.")] = None,
) -> None:
    """Show a plan as a page that a change board signs."""
    from rich.markdown import Markdown

    from plimsoll.files import write_lines
    from plimsoll_change.shown import plan_markdown

    page, screen = plan_markdown(_open_plan(plan)[0].plan), Screen()
    if out is not None:
        write_lines([page], out, "utf-8")
        screen.say(str(out))
    elif screen.is_terminal:
        screen.print(Markdown(page))
    else:
        typer.echo(page, nl=False)


@change_command.command(name="approve")
def approve_plan(
    plan: PlanWord = None,
    *,
    by: SaidBy,
    accept_late_back: Annotated[
        bool, typer.Option("--accept-late-back", help="Accept volumes without a way back within a day.")
    ] = False,
    go_on: Annotated[bool, typer.Option("--go-on", help="Let what is paused, or a class that stopped, go on.")] = False,
    only_class: Annotated[str | None, typer.Option("--class", help="With --go-on: this class alone.")] = None,
    reason: WhyOption = "",
) -> None:
    """Approve a plan as it is, by its digest; or let it go on after a pause."""
    from plimsoll.bootstrap.clocks import clock
    from plimsoll_change.people import note_approval, note_go_on

    ledger, now = _open_plan(plan)[0], clock().now()
    if go_on:
        note_go_on(ledger, by=by, at=now, reason=reason, only_class=only_class)
        Screen().say(f"{ledger.plan.id} goes on: plimsoll change apply {ledger.plan.id}")
        return
    if only_class is not None:
        raise BadInput("--class is for --go-on: a plan is approved as a whole.")
    missing = note_approval(ledger, by=by, at=now, reason=reason, accepts_late_back=accept_late_back)
    Screen().say(f"Noted. {missing}" if missing else f"Approved. Then: plimsoll change apply {ledger.plan.id}")


@change_command.command(name="apply")
def apply_plan(
    plan: PlanWord = None,
    *,
    once: Annotated[bool, typer.Option("--once", help="One pass, for a schedule; else until all is judged.")] = False,
    external_id: ExternalId = None,
) -> None:
    """Carry an approved plan out. It can be ended at any time: the same command goes on."""
    from plimsoll_change.opening import open_rollout
    from plimsoll_change.status import describe_status, status_lines

    screen = Screen()
    rollout = open_rollout(*_open_plan(plan), screen.say, external_id=external_id)
    rollout.check_work()
    progress = rollout.run(once=once)
    for line in status_lines(describe_status(progress, rollout.context.now)):
        screen.say(line)


@change_command.command(name="status")
def show_status(
    plan: PlanWord = None,
    *,
    as_json: options.AsJson = False,
    facts: Annotated[bool, typer.Option("--facts", help="Every fact of the ledger, by its time.")] = False,
    bill: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Files of a bill: what each change costs now.")
    ] = None,
) -> None:
    """Say what a plan has come to, from its ledger alone."""
    from plimsoll.bootstrap.clocks import clock
    from plimsoll_bill.api import read_costs
    from plimsoll_change.progress import Progress
    from plimsoll_change.status import describe_status, fact_lines, status_lines

    ledger, costs = _open_plan(plan)[0], read_costs(bill) if bill else None
    status = describe_status(Progress.read(ledger), clock().now(), costs)
    if as_json and not facts:
        typer.echo(json.dumps(status, indent=1))
        return
    for line in fact_lines(ledger.rows) if facts else status_lines(status):
        Screen().say(line)


@change_command.command(name="stop")
def stop_plan(plan: PlanWord = None, *, by: SaidBy, reason: WhyOption = "") -> None:
    """End what has not begun. What has begun is watched, and goes back if it did harm."""
    from plimsoll.bootstrap.clocks import clock
    from plimsoll_change.people import note_stop

    ledger = _open_plan(plan)[0]
    note_stop(ledger, by=by, at=clock().now(), reason=reason)
    name = ledger.plan.id
    Screen().say(f"{name} begins nothing more. To take back what was changed: plimsoll change back {name}")


@change_command.command(name="back")
def take_volumes_back(
    plan: PlanWord = None,
    volume: Annotated[list[str] | None, typer.Option(help="This volume, by id or line; repeatable.")] = None,
    only_class: Annotated[str | None, typer.Option("--class", help="The changed volumes of this class.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="All changed volumes of the plan.")] = False,
    by: SaidBy,
    reason: WhyOption = "",
    external_id: ExternalId = None,
) -> None:
    """Take changes back: as soon as a slot is free and the cloud's state allows it."""
    from plimsoll_change.opening import open_rollout
    from plimsoll_change.people import note_back

    ledger, settings = _open_plan(plan)
    if not (volume or only_class or everything):
        raise BadInput("say what goes back: --volume ID, --class CLASS, or --all.")
    wanted = [
        line.id
        for line in ledger.plan.lines
        if everything or line.change_class == only_class or {line.id, line.volume_id} & set(volume or ())
    ]
    screen = Screen()
    rollout = open_rollout(ledger, settings, screen.say, external_id=external_id)
    asked = note_back(ledger, wanted, by=by, at=rollout.context.now, reason=reason)
    if not asked:
        raise BadInput("none of these volumes was changed by this plan: plimsoll change status shows them.")
    if not rollout.run_back(asked):
        screen.say(f"Not all of it could be done: plimsoll change status {ledger.plan.id}", "yellow")
        raise typer.Exit(PARTIAL)
