"""Try it: audit a simulated cloud. Needs no account.

It takes under three minutes, no Docker and no configuration, measures some targets with fio, and carries some changes
of AWS out in simulated time. Accounts of AWS, projects of Google Cloud, or both.
"""

import shutil
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.bootstrap.clocks import SystemClock
from plimsoll.cli import options
from plimsoll.cli.screen import Screen, beginning
from plimsoll.reports.run_files import PAGE, PARQUET_FILES

FOLDER: Final = "demo"
FILES: Final = (
    "run.json",
    "recommendations.json",
    "recommendations.csv",
    "demand.jsonl",
    "unanswered.jsonl",
    PAGE,
    *PARQUET_FILES,
    "ledger.json",
)
FOLDERS: Final = ("measured", "changes")

SHORT: Final = {"benchmark_runtime_s": 2, "benchmark_ramp_s": 0, "poll_s": 0.25}
"""Jobs of seconds, where a real validation takes minutes."""

_LISTED: Final = ("Begin with", 2)

_TAKES: Final = (
    "The demo audits simulated volumes, measures some recommendations with real fio, and carries changes of AWS out "
    "in simulated time: under three minutes for 600 volumes."
)


def demo_command(
    cloud: Annotated[
        options.SimulatedCloud,
        typer.Option(parser=options.simulated_named, metavar="aws|google|both", help="The cloud to simulate."),
    ] = options.SimulatedCloud.AWS,
    volumes: options.SimulatedVolumes = None,
    seed: options.Seed = 1,
) -> None:
    with beginning("starting"):
        from plimsoll.cli.followed_run import follow_audit
        from plimsoll.cli.run_reports import leave_reports
        from plimsoll.cli.simulated_clouds import start_clouds
        from plimsoll_measure.cli.demo_examples import validate_examples

    from plimsoll.bootstrap.clouds import ports_of
    from plimsoll.clouds.ledger import Ledger
    from plimsoll.clouds.registry import AWS
    from plimsoll.distribution import DEMO
    from plimsoll.model.policy import Policy
    from plimsoll.orders import Order
    from plimsoll.settings import Settings
    from plimsoll.wings import DEMO_CHANGES

    DEMO.need()
    console, folder, now = Screen(highlight=True), Settings.from_environment().runs_dir / FOLDER, SystemClock().now()
    _clear(folder)
    with ExitStack() as stack:
        console.progress.say(_TAKES, "dim")
        scope = start_clouds(stack, console, _clouds_of(cloud), now, volumes, seed)
        settings_now = Settings.from_environment()  # where the simulated clouds are is in the environment by now
        settings = settings_now.model_copy(update={**SHORT, "campaigns_dir": folder / "measured"})
        ledger = Ledger(path=folder / "ledger.json")
        audits = ports_of(scope, settings, today=now.date(), ledger=ledger, paced=False)
        follow_audit(console, Order(folder=folder, scope=scope.as_dict(), policy=Policy(), now=now), audits)
        leave_reports(console, folder)
        console.print(
            "In each cloud one volume is of a type that Plimsoll does not know, so the run is partial: a real audit "
            "would exit with 3.",
            style="dim",
        )
        validate_examples(console, scope, settings, folder, now)
        if AWS in scope.clouds:
            import_module(DEMO_CHANGES).show_changes(console, settings, folder)
    console.say(f"\nOpen {folder / PAGE} in a browser: it says what to do first, and why.", "bold")


def _clouds_of(cloud: options.SimulatedCloud) -> list[str]:
    both = options.SimulatedCloud.BOTH
    return [
        str(simulated) for simulated in options.SimulatedCloud if simulated is not both and cloud in {simulated, both}
    ]


def _clear(folder: Path) -> None:
    """Removes the last demo's files, and nothing else."""
    from plimsoll.reports.run_folder import JOURNAL
    from plimsoll.run import WRONG_ANSWERS

    for name in (*FILES, JOURNAL, WRONG_ANSWERS):
        (folder / name).unlink(missing_ok=True)
    for name in FOLDERS:
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
    if folder.exists() and not any(folder.iterdir()):
        shutil.rmtree(folder)
