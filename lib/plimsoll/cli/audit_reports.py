"""The reports that an audit leaves in its run's folder, and which folder is meant."""

from pathlib import Path

from plimsoll.cli.screen import Screen
from plimsoll.domain.errors import PlimsollError
from plimsoll.extras import SQL, how_to_install
from plimsoll.reports.run_files import PAGE
from plimsoll.reports.run_reader import read_run


def in_order(one: Path, other: Path) -> tuple[Path, Path]:
    """Two runs, the earlier first; says so where they were given the other way round."""
    try:
        swapped = read_run(one).at > read_run(other).at
    except (KeyError, TypeError, ValueError):
        return one, other
    if swapped:
        Screen(stderr=True).say(f"{one} is the later run: compared from {other} to {one}.", "yellow")
    return (other, one) if swapped else (one, other)


def leave_reports(console: Screen, folder: Path) -> bool:
    """Writes the reports that every audit leaves in its folder, and prints where. False where that was not possible."""
    from plimsoll.cli.report import FORMATS, Report, written  # noqa: PLC0415  # waited for once there is a run

    try:
        with console.status("writing the report"):
            (page,) = written(Report(folder=folder), FORMATS["html"], folder / PAGE)
            if SQL.installed:
                written(Report(folder=folder), FORMATS["parquet"], folder)
    except (PlimsollError, OSError) as error:
        told = f"the run is whole, but its report could not be written: {error} Then: plimsoll report {folder}"
        console.say(told, "red")
        return False
    console.say(f"report: {page}", "bold")
    if not SQL.installed:
        told = f"no Parquet files were written: they need {SQL.brings}. {how_to_install(SQL)}"
        console.say(told, "dim")
    return True
