"""Make a fleet's file for `backtest` and `learn`: of rows, a recording or what clouds keep (benchmarks/fleets)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.bootstrap.clocks import clock
from plimsoll.cli import options
from plimsoll.cli.screen import Screen
from plimsoll.clouds.scope import Scope
from plimsoll.files import check_place
from plimsoll.model.errors import BadInput

_LISTED: Final = ("Look back", 3)


def fleet_command(
    exports: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE...]", help="CSV, Parquet, or a recording. Without one: the clouds' history."),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="The fleet's file, .npz.")],
    period_s: Annotated[int, typer.Option(min=1, max=86400, help="Seconds of a row.")] = 300,
    scope: options.ScopeOptions,
) -> None:
    from plimsoll.cli.option_values import scope_from

    make_fleet(exports or [], scope_from(scope), out, period_s)


def make_fleet(exports: Sequence[Path], scope: Scope, out: Path, period_s: int) -> None:
    """Writes a fleet's file, and says of how many volumes; on the standard error what could not be read."""
    from plimsoll.bootstrap.clouds import ports_of
    from plimsoll.clouds.recording import is_recording
    from plimsoll.reports.wording import count_of
    from plimsoll.settings import Settings
    from plimsoll_backtest.cloud_fleet import fleet_of_clouds
    from plimsoll_backtest.recorded_fleet import fleet_of_recording
    from plimsoll_backtest.rows_fleet import fleet_of_rows

    check_place(out.parent)
    beside = Screen(stderr=True)
    recordings = [path for path in exports if is_recording(path)]
    if recordings and len(exports) > 1:
        raise BadInput(f"{recordings[0]} is a recording: make a fleet of it alone.")
    if recordings:
        volumes = fleet_of_recording(recordings[0], out, period_s, beside.print)
    elif exports:
        volumes = fleet_of_rows(exports, out, period_s)
    else:
        now = clock().now()
        audits = ports_of(scope, Settings.from_environment(), today=now.date())
        volumes = fleet_of_clouds(audits, now, out, period_s, beside.print)
    Screen().print(f"{count_of(volumes, 'volume')} in {out}", markup=False, soft_wrap=True)
