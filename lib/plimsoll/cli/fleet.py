"""`plimsoll fleet`: a fleet's file, from rows or from the clouds' own history."""

from collections.abc import Sequence
from pathlib import Path

from plimsoll.backtesting.cloud_fleet import fleet_of_clouds
from plimsoll.backtesting.rows_fleet import fleet_of_rows
from plimsoll.bootstrap.clocks import clock
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.cli.screen import Screen
from plimsoll.clouds.scope import Scope
from plimsoll.reports.wording import count_of
from plimsoll.settings import Settings
from plimsoll.writing import check_place


def make_fleet(exports: Sequence[Path], scope: Scope, out: Path, period_s: int) -> None:
    """Writes a fleet's file, and says of how many volumes; on the standard error what could not be read."""
    if exports:
        volumes = fleet_of_rows(exports, out, period_s)
    else:
        check_place(out.parent)
        now, beside = clock().now(), Screen(stderr=True)
        audits = ports_of(scope, Settings.of_environment(), today=now.date())
        volumes = fleet_of_clouds(audits, now, out, period_s, beside.print)
    Screen().print(f"{count_of(volumes, 'volume')} in {out}", markup=False, soft_wrap=True)
