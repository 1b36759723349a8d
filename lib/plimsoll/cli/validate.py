"""`plimsoll validate`: a target measured before anything is moved to it."""

import secrets
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import typer
from rich.console import Console

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap import (
    Scope,
    change_ledger,
    clock,
    measured_again,
    open_clouds,
    patience_of,
    validation_book,
    validation_claims,
)
from plimsoll.cli.exit_codes import INTERRUPTED, PARTIAL
from plimsoll.cli.run_folder import leave_reports
from plimsoll.cli.terms import Terms
from plimsoll.domain.errors import BadInput
from plimsoll.domain.evidence import Grade
from plimsoll.domain.policy import Policy
from plimsoll.domain.validation import MeasuringRun, PlannedRun
from plimsoll.domain.volume import VolumeSpec
from plimsoll.ports import Bench
from plimsoll.reports.files import replace_records
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.stored import read_records
from plimsoll.reports.terminal.validation import (
    Judged,
    show_change_of_mind,
    show_lines,
    show_runs,
    show_verdict,
)
from plimsoll.run import resumed
from plimsoll.settings import Settings
from plimsoll.validation.desk import Desk
from plimsoll.validation.rounds import Concluded, Decided, Event, NotConcluded, Office, validate_run, validate_volume
from plimsoll.validation.scratch_volume import Left


def validate_one(volume: str, target: str | None, scope: Scope, policy: Policy, terms: Terms) -> None:
    """Validates one volume's target, prints the verdict and the recommendation that follows from it."""
    settings, console = Settings.of_environment(), Console()
    now = clock().now()
    if len(scope.clouds) > 1:
        raise BadInput("a volume is of one cloud: say which with one --cloud.")
    (office,) = offices_for(scope, policy, terms, settings, console, now)
    with ended_by_sigterm():
        ended = follow(console, validate_volume(volume, target, terms.mode, office))
    if ended:
        raise typer.Exit(PARTIAL)


def validate_recommendations(folder: Path, least: Grade | None, terms: Terms) -> None:
    """Validates the recommendations of a run whose evidence is thin, and puts the new answers into its files."""
    settings, console = Settings.of_environment(), Console()
    order = resumed(folder)
    if "recording" in order.scope:
        raise BadInput(f"{folder} was decided from a recording, in which nothing can be measured: validate a run.")
    offices = list(offices_for(Scope.from_dict(order.scope), order.policy, terms, settings, console, order.now))
    changed: dict[str, RecommendationRecord] = {}
    ended: list[Event] = []
    reported = True
    try:
        with ended_by_sigterm():
            for office in offices:
                records = [one for one in read_records(folder) if one.provider == office.desk.provider]
                ended += follow(console, validate_run(records, least, terms.mode, office), changed)
    finally:
        if changed:
            replace_records(folder, changed)
            console.print(f"{len(changed):,} recommendations in {folder} were decided again", soft_wrap=True)
            reported = leave_reports(console, folder)
    if not any(office.runs for office in offices):
        console.print(
            "nothing was measured: no recommendation that can be carried out has evidence under the grade, or the "
            "budget allows no run.",
            soft_wrap=True,
        )
    if ended or not reported:
        raise typer.Exit(PARTIAL)


def offices_for(
    scope: Scope, policy: Policy, terms: Terms, settings: Settings, console: Console, now: datetime
) -> Iterator[Office]:
    """What a validation of that scope works with, an office for each of its clouds; each has the whole budget."""
    for cloud in open_clouds(scope, settings, today=now.date(), ledger=change_ledger(settings)):
        yield make_office(cloud.ports, cloud.bench, policy, terms, settings, console, now)


def make_office(
    ports: AuditPorts, bench: Bench, policy: Policy, terms: Terms, settings: Settings, console: Console, now: datetime
) -> Office:
    """The office of a ports and a bench."""
    desk = Desk(
        bench=bench,
        book=validation_book(settings),
        claims=validation_claims(settings),
        measured_dir=settings.measured_dir,
        provider=ports.catalog.provider,
        types=ports.catalog.types,
        policy=policy,
        patience=patience_of(settings),
        runtime_s=settings.benchmark_runtime_s,
        ramp_s=settings.benchmark_ramp_s,
        new_id=lambda: f"{clock().now():%Y%m%dt%H%M%S}-{secrets.token_hex(3)}",
        tell=lambda text: show_lines(console, [text], "dim"),
        host_ids=terms.bench_hosts,
        in_place_file_mib=settings.in_place_file_mib,
    )
    return Office(
        ports=ports,
        desk=desk,
        policy=policy,
        now=now,
        budget=terms.budget,
        remeasured=lambda known: measured_again(known, settings),
        agree=_agreement(console, terms),
    )


def follow(
    console: Console, events: Iterator[Event], changed: dict[str, RecommendationRecord] | None = None
) -> list[Event]:
    """Prints what happens; gives what went wrong, and keeps what was decided again in `changed`."""
    wrong: list[Event] = []
    try:
        for event in events:
            _show(console, event, many=changed is not None)
            if isinstance(event, NotConcluded | Left):
                wrong.append(event)
            if isinstance(event, Decided) and changed is not None:
                changed[event.after.volume_id] = event.after
    except KeyboardInterrupt:
        console.print("interrupted; scratch volumes were deleted, or are named above.", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
    return wrong


def _show(console: Console, event: Event, *, many: bool) -> None:
    match event:
        case Concluded():
            line = event.line
            show_verdict(
                console,
                Judged(
                    volume_id=line.volume_id,
                    spec=VolumeSpec(**line.spec.model_dump()),
                    where=f"{line.mode} in {line.zone} on {line.bench_host} ({line.bench_host_type})",
                    passed=line.passed,
                    reasons=line.reasons,
                    simulated=line.simulated,
                    campaign=line.campaign,
                ),
            )
        case NotConcluded():
            show_lines(console, [f"not measured  {event.run.spec}: {event.error}"], "red")
        case Left():
            show_lines(console, [event.text], "red")
        case Decided() if not many or event.before.target != event.after.target:
            show_change_of_mind(console, event.before, event.after, event.asked)
        case Decided():
            return


def _agreement(console: Console, terms: Terms) -> Callable[[Sequence[PlannedRun], Sequence[MeasuringRun]], None]:
    def agree(planned: Sequence[PlannedRun], left: Sequence[MeasuringRun]) -> None:
        if not planned and not left:
            return
        show_runs(console, planned, left)
        if terms.plan:
            raise typer.Exit
        if not planned or terms.yes:
            return
        if not sys.stdin.isatty():
            raise BadInput("a validation makes volumes that cost money: say --yes, or --plan to see it only.")
        if not typer.confirm("Measure?"):
            raise typer.Exit

    return agree


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does, so that what was made is deleted."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
