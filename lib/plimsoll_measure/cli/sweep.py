"""Delete scratch volumes past their deadline, also those that a killed command left."""

from typing import Annotated, Final

import typer

from plimsoll.bootstrap.clocks import clock
from plimsoll.cli import options
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.screen import Screen
from plimsoll.ports import FailedTarget

_LISTED: Final = ("Measure", 4)


def sweep_command(
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Delete scratch volumes that are not due yet, too: their runs then fail.")
    ] = False,
    scope: options.ScopeOptions,
) -> None:
    from plimsoll.bootstrap.clouds import open_clouds
    from plimsoll.cli.option_values import scope_from
    from plimsoll.reports.wording import count_of
    from plimsoll.settings import Settings
    from plimsoll_measure.local_files import bench_patience
    from plimsoll_measure.terminal.validation import show_lines
    from plimsoll_measure.validation import scratch_volume

    settings, console, now = Settings.from_environment(), Screen(highlight=True), clock().now()
    patience = bench_patience(settings)
    deleted, complete = 0, True
    for cloud in open_clouds(scope_from(scope), settings, today=now.date()):
        bench, targets = cloud.bench, cloud.ports.inventory.targets()
        for swept in scratch_volume.sweep_scratch_volumes(
            targets,
            now,
            bench_at=lambda _target: bench,  # noqa: B023  # called before the next cloud is opened
            patience=patience,
            everything=everything,
        ):
            if isinstance(swept, FailedTarget):
                complete = False
                show_lines(console, [f"failed {swept.name}: {swept.error}"])
                continue
            deleted += swept.deleted
            complete = complete and swept.left is None
            show_lines(console, [swept.text])
    console.print(f"{count_of(deleted, 'scratch volume')} deleted")
    if not complete:
        raise typer.Exit(PARTIAL)
