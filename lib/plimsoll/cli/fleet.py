"""`plimsoll fleet`: a fleet's file, from rows, from a recording or from the clouds' own history."""

from collections.abc import Sequence
from pathlib import Path

from plimsoll.backtesting.cloud_fleet import fleet_of_clouds
from plimsoll.backtesting.recorded_fleet import fleet_of_recording
from plimsoll.backtesting.rows_fleet import fleet_of_rows
from plimsoll.bootstrap.clocks import clock
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.cli.screen import Screen
from plimsoll.clouds.recording import is_recording
from plimsoll.clouds.scope import Scope
from plimsoll.domain.errors import BadInput
from plimsoll.reports.wording import count_of
from plimsoll.settings import Settings
from plimsoll.writing import check_place


def make_fleet(exports: Sequence[Path], scope: Scope, out: Path, period_s: int) -> None:
    """Writes a fleet's file, and says of how many volumes; on the standard error what could not be read."""
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
        audits = ports_of(scope, Settings.of_environment(), today=now.date())
        volumes = fleet_of_clouds(audits, now, out, period_s, beside.print)
    Screen().print(f"{count_of(volumes, 'volume')} in {out}", markup=False, soft_wrap=True)
