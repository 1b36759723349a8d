"""The folder of a run: which one is meant, and the reports that are left in it."""

from pathlib import Path

from rich.console import Console

from plimsoll.domain.errors import BadInput, PlimsollError
from plimsoll.extras import SQL, how_to_install
from plimsoll.reports.printable import printable
from plimsoll.reports.run_reader import PAGE, RUN, read_run, stream_records
from plimsoll.reports.run_writer import up_to_date
from plimsoll.settings import Settings


def run_folder(path: Path | None) -> Path:
    """The folder of a run: the one given, or of the runs under the folder of runs that have answers the newest.

    Its files hold all that it answered, also where it was killed. BadInput where it holds no run, or there is none.
    """
    if path is not None:
        if (path / RUN).is_file():
            up_to_date(path)
            return path
        raise BadInput(f"{path} holds no {RUN}: give the folder of a run, such as one under plimsoll-runs.")
    runs_dir = Settings.of_environment().runs_dir
    by_age = sorted(runs_dir.glob(f"*/{RUN}"), key=lambda found: found.stat().st_mtime_ns, reverse=True)
    newest = next((found.parent for found in by_age if _has_answers(found.parent)), None)
    if newest is None:
        raise BadInput(
            f"no run under {runs_dir} has answers yet: give the folder of one, or begin with `plimsoll audit`."
        )
    return newest


def _has_answers(folder: Path) -> bool:
    """Whether a run answered any volume; one that cannot be read counts, so that whoever reads it is told why."""
    try:
        up_to_date(folder)
        return bool(read_run(folder)) and any(True for _ in stream_records(folder))
    except BadInput:
        return True


def leave_reports(console: Console, folder: Path) -> bool:
    """Writes the reports that every audit leaves in its folder, and prints where. False where that was not possible."""
    from plimsoll.cli.report import FORMATS, Report, written  # noqa: PLC0415  # waited for once there is a run

    try:
        with console.status("writing the report"):
            (page,) = written(Report(folder=folder), FORMATS["html"], folder / PAGE)
            if SQL.installed:
                written(Report(folder=folder), FORMATS["parquet"], folder)
    except (PlimsollError, OSError) as error:
        told = f"the run is whole, but its report could not be written: {error} Then: plimsoll report {folder}"
        console.print(printable(told), style="red", markup=False, soft_wrap=True)
        return False
    console.print(f"report: {page}", style="bold", markup=False, soft_wrap=True)
    if not SQL.installed:
        told = f"no Parquet files were written: they need {SQL.brings}. {how_to_install(SQL)}"
        console.print(told, style="dim", markup=False, soft_wrap=True)
    return True
