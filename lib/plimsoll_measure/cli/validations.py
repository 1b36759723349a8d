"""Validations that are followed on the screen, and the agreement to what they cost."""

import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import typer

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.books import validation_book
from plimsoll.bootstrap.clocks import clock
from plimsoll.bootstrap.clouds import OpenCloud, with_new_measurements
from plimsoll.cli.exit_codes import EXIT_INTERRUPTED
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy
from plimsoll.ports import Target
from plimsoll.reports.record import RecommendationRecord
from plimsoll.settings import Settings
from plimsoll_measure.cli.options import ValidateOptions
from plimsoll_measure.local_files import bench_patience, validation_claims, validation_jobs
from plimsoll_measure.runs import MeasuringRun, PlannedRun
from plimsoll_measure.terminal.validation import show_change_of_mind, show_lines, show_runs, show_verdict
from plimsoll_measure.validate import ConcludedRun, RevisedAnswer, RunEvent, UnmeasuredRun
from plimsoll_measure.validation.context import Agree, Context
from plimsoll_measure.validation.job import Job, JobName
from plimsoll_measure.validation.scratch_volume import Left


def new_job(volume: str, target: str | None, options: ValidateOptions, ports: AuditPorts, now: datetime) -> Job:
    """The job of one volume. Its account and region are known once it is found; each cloud has the whole budget."""
    return Job(
        name=JobName(validation=new_name(), index=0),
        place=any_place_in(ports),
        volume_id=volume,
        mode=options.mode,
        now=now,
        budget=options.budget,
        asked=target,
    )


def context_of(
    cloud: OpenCloud, policy: Policy, options: ValidateOptions, settings: Settings, console: Screen
) -> Context:
    """The context of a validation in one cloud. The folder of runs keeps its jobs and what was measured."""
    bench = cloud.bench
    return Context(
        bench=lambda _place: bench,
        ports=lambda _place, _now: with_new_measurements(cloud.ports, settings),
        types=cloud.ports.catalog.types,
        verdicts=validation_book(settings),
        claims=validation_claims(settings),
        jobs=validation_jobs(settings),
        policy=policy,
        patience=bench_patience(settings),
        runtime_s=settings.benchmark_runtime_s,
        ramp_s=settings.benchmark_ramp_s,
        say=lambda text: show_lines(console, [text], "dim"),
        host_ids=tuple(options.bench_host or ()),
        in_place_file_mib=settings.in_place_file_mib,
        agree=_agreement(console, options),
    )


def any_place_in(ports: AuditPorts) -> Target:
    return Target(account="", region="", provider=ports.catalog.provider)


def new_name() -> str:
    return f"{clock().now():%Y%m%dt%H%M%S}-{secrets.token_hex(3)}"


def follow_validation(
    console: Screen, events: Iterator[RunEvent], change: Callable[[RecommendationRecord], None] | None = None
) -> list[RunEvent]:
    """Prints what happens; gives what went wrong. `change` is given what was decided again, one of many volumes."""
    wrong: list[RunEvent] = []
    try:
        for event in events:
            _show(console, event, many=change is not None)
            if isinstance(event, UnmeasuredRun | Left):
                wrong.append(event)
            if isinstance(event, RevisedAnswer) and change is not None:
                change(event.after)
    except KeyboardInterrupt:
        console.say("interrupted; scratch volumes were deleted, or are named above.")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    return wrong


def _show(console: Screen, event: RunEvent, *, many: bool) -> None:
    match event:
        case ConcludedRun():
            line = event.line
            where = f"{line.mode} in {line.zone} on {line.bench_host} ({line.bench_host_type})"
            show_verdict(
                console,
                f"{line.spec} for {line.volume_id}, {where}",
                passed=line.passed,
                reasons=line.reasons,
                simulated=line.simulated,
                campaign=line.campaign,
            )
        case UnmeasuredRun():
            show_lines(console, [f"not measured  {event.run.spec}: {event.error}"], "red")
        case Left():
            show_lines(console, [event.text], "red")
        case RevisedAnswer() if not many or event.before.target != event.after.target:
            show_change_of_mind(console, event.before, event.after, event.asked)
        case RevisedAnswer():
            return


def _agreement(console: Screen, options: ValidateOptions) -> Agree:
    def agree(planned: Sequence[PlannedRun], left: Sequence[MeasuringRun]) -> None:
        if not planned and not left:
            return
        show_runs(console, planned, left)
        if options.plan:
            raise typer.Exit
        if not planned or options.yes:
            return
        if not sys.stdin.isatty():
            raise BadInput(
                "a validation creates volumes that cost money: add --yes to begin, or --plan to see only the plan."
            )
        if not typer.confirm("Measure?"):
            raise typer.Exit

    return agree
