"""The reports that an audit leaves in its run's folder, and which folder is meant."""

from pathlib import Path

from plimsoll.cli.screen import Screen
from plimsoll.extras import SQL, install_hint
from plimsoll.model.errors import PlimsollError
from plimsoll.reports.run_files import PAGE
from plimsoll.reports.run_reader import read_run


def order_runs(first: Path, other: Path) -> tuple[Path, Path]:
    """Two runs, the earlier first; says so where they were given the other way round."""
    try:
        swapped = read_run(first).as_of > read_run(other).as_of
    except (KeyError, TypeError, ValueError):
        return first, other
    if swapped:
        Screen(stderr=True).say(f"{first} is the later run: compared from {other} to {first}.", "yellow")
    return (other, first) if swapped else (first, other)


def leave_reports(console: Screen, folder: Path) -> bool:
    """Writes the reports that every audit leaves in its folder, and prints where. False where that was not possible."""
    from plimsoll.cli.report import FORMATS, Report, write_report  # noqa: PLC0415  # waited for once there is a run

    try:
        with console.status("writing the report"):
            (page,) = write_report(Report(folder=folder), FORMATS["html"], folder / PAGE)
            if SQL.is_installed:
                write_report(Report(folder=folder), FORMATS["parquet"], folder)
    except (PlimsollError, OSError) as error:
        sentence = f"the run is whole, but its report could not be written: {error} Then: plimsoll report {folder}"
        console.say(sentence, "red")
        return False
    console.say(f"report: {page}", "bold")
    if not SQL.is_installed:
        sentence = f"no Parquet files were written: they need {SQL.brings}. {install_hint(SQL)}"
        console.say(sentence, "dim")
    return True
