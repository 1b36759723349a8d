"""`plimsoll demo`: simulated clouds, audited by the ordinary path, and two of the answers put to the test."""

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.console import Console

from plimsoll.bootstrap import AWS, GCP, Scope, SignedIn, aws_bench, aws_world, clock, sign_in, worlds_of
from plimsoll.cli.audit import follow
from plimsoll.cli.leaving import LeaveReports
from plimsoll.cli.terms import Terms
from plimsoll.cli.validate import ended_by_sigterm, make_office
from plimsoll.cli.validate import follow as follow_validation
from plimsoll.clouds.ledger import Ledger
from plimsoll.domain.policy import Policy
from plimsoll.domain.validation import Mode
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.stored import PAGE, read_records
from plimsoll.run import Order
from plimsoll.settings import Settings
from plimsoll.simulator.organisation import DEMO_VOLUMES
from plimsoll.simulator.running import running
from plimsoll.validation.proposal import FLIP
from plimsoll.validation.rounds import validate_volume

FOLDER: Final = "demo"
FILES: Final = (
    "run.json",
    "recommendations.json",
    "recommendations.csv",
    "demand.jsonl",
    "unanswered.jsonl",
    PAGE,
    "recommendations.parquet",
    "demand.parquet",
    "ledger.json",
)

NO_LATENCY: Final = Policy(max_p99_latency_us=60_000_000, latency_slack_pct=10_000)
"""A simulated volume is held to a real one's IOPS and MiB/s, but answers as this machine's disk does."""

SHORT: Final = {"benchmark_runtime_s": 2, "benchmark_ramp_s": 0, "poll_s": 0.25}
"""Jobs of seconds, where a real validation takes minutes."""

MOST_IOPS: Final = 12_000
MOST_MIB_S: Final = 300
"""What any machine's own disk carries: larger targets would measure this machine."""


def audit_simulated(clouds: Sequence[str], volumes: int | None, seed: int, leave_reports: LeaveReports) -> None:
    """Audits simulated clouds into the demo's folder as one run, prints it, and validates two of AWS's answers."""
    console = Console()
    folder = Settings.of_environment().runs_dir / FOLDER
    _clear(folder)
    now = clock().now()
    with ExitStack() as stack:
        scope = _simulated(stack, console, clouds, now, volumes, seed)
        found = Settings.of_environment()  # where the simulated clouds are is in the environment by now
        settings = found.model_copy(update={**SHORT, "campaigns_dir": folder / "measured"})
        _audit(console, scope, settings, folder, now, leave_reports)
        if AWS in clouds:
            alone = replace(scope, clouds=(AWS,), regions=scope.regions_of(AWS), projects=())
            _validate(console, alone, settings, folder, now)
    console.print(
        f"\nOpen {folder / PAGE} in a browser: it says what to do first, and why.", style="bold", soft_wrap=True
    )


def _simulated(
    stack: ExitStack, console: Console, clouds: Sequence[str], now: datetime, volumes: int | None, seed: int
) -> Scope:
    """Starts the simulated clouds, points this process at them, and gives the scope that has all of each."""
    scope = Scope(clouds=tuple(clouds))
    if AWS in clouds:
        console.print("starting a simulated AWS organisation on loopback ...", style="dim")
        organisation = stack.enter_context(running(now, volumes=volumes or DEMO_VOLUMES, seed=seed))
        os.environ.update(organisation.environment)
        scope = replace(scope, role_arns=organisation.role_arns, regions=organisation.fleet.regions)
    if GCP in clouds:
        from plimsoll.simulator.gcp.projects import LEAST_VOLUMES  # noqa: PLC0415  # what only Google's demo needs
        from plimsoll.simulator.gcp.running import running_gcp  # noqa: PLC0415  # what only Google's demo needs

        console.print("starting simulated Google Cloud projects on loopback ...", style="dim")
        projects = stack.enter_context(running_gcp(now, volumes=volumes or LEAST_VOLUMES, seed=seed))
        os.environ.update(projects.environment)
        scope = replace(scope, projects=tuple(projects.projects))
    return scope


def _audit(
    console: Console, scope: Scope, settings: Settings, folder: Path, now: datetime, leave_reports: LeaveReports
) -> None:
    ledger = Ledger(path=folder / "ledger.json")
    worlds = worlds_of(scope, settings, today=now.date(), ledger=ledger, paced=False)
    order = Order(folder=folder, scope=scope.as_dict(), policy=Policy(), now=now)
    follow(console, order, worlds, leave_reports)
    leave_reports(console, folder)
    console.print(
        "In each cloud one volume is of a type that Plimsoll does not know, so the run is partial: a real audit would "
        "exit with 3.",
        style="dim",
    )


def _validate(console: Console, scope: Scope, settings: Settings, folder: Path, now: datetime) -> None:
    """Puts a recommendation to the test with fio, and beside it what a bare change of type would do to a volume that
    needs more."""
    console.print(
        "\nThe simulated volumes are measured by real fio. Their latency is this machine's, and is not judged here.",
        style="dim",
    )
    records = read_records(folder)
    signed_in = sign_in(scope, settings)
    for told, record, target in (
        ("Validating a recommendation before anything is moved:", _easy(records), None),
        ("Validating a bare change of type, as tools make it that do not look at demand:", _hard(records), FLIP),
    ):
        if record is not None:
            console.print(f"\n{told} {record.volume_id} ({record.name or 'no name'})", style="bold", soft_wrap=True)
            _validate_one(console, record, target, scope, settings, signed_in, now)


def _validate_one(
    console: Console,
    record: RecommendationRecord,
    target: str | None,
    scope: Scope,
    settings: Settings,
    signed_in: SignedIn,
    now: datetime,
) -> None:
    ledger = Ledger(path=settings.runs_dir / FOLDER / "ledger.json")
    world = aws_world(scope, settings, today=now.date(), ledger=ledger, paced=False, signed_in=signed_in)
    terms = Terms.of(None, max_runs=3, yes=True)
    office = make_office(world, aws_bench(signed_in, settings), NO_LATENCY, terms, settings, console, now)
    with ended_by_sigterm():
        follow_validation(console, validate_volume(record.volume_id, target, Mode.CANARY, office))


def _easy(records: Sequence[RecommendationRecord]) -> RecommendationRecord | None:
    """The best saving whose target is what gp3 includes, with a workload worth the name."""
    return _best(one for one in records if _asks(one) == (3000, 125) and one.demand and one.demand.peak_iops > 1000)


def _hard(records: Sequence[RecommendationRecord]) -> RecommendationRecord | None:
    """The best saving whose target needs more than gp3 includes, and no more than any machine carries."""
    return _best(
        one
        for one in records
        if (asked := _asks(one)) is not None
        and asked != (3000, 125)
        and asked[0] <= MOST_IOPS
        and asked[1] <= MOST_MIB_S
    )


def _asks(record: RecommendationRecord) -> tuple[int, int] | None:
    """What a migration to gp3 provisions, None for any other answer or one that cannot be carried out today."""
    target = record.target
    if record.action != "migrate" or target is None or target.type != "gp3" or record.blockers:
        return None
    return (target.iops or 0, target.throughput_mib_s or 0)


def _best(records: Iterable[RecommendationRecord]) -> RecommendationRecord | None:
    return max(records, key=lambda one: (one.monthly_usd_saved, one.volume_id), default=None)


def _clear(folder: Path) -> None:
    """Removes the last demo's files, and nothing else."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    if (folder / "measured").is_dir():
        shutil.rmtree(folder / "measured")
    if folder.exists() and not any(folder.iterdir()):
        shutil.rmtree(folder)
