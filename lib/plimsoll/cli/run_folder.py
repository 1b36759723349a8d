"""The folder of a run: which one is meant, and the reports that are left in it."""

import re
from pathlib import Path

from plimsoll.cli.screen import Screen
from plimsoll.clouds.registry import volume_pattern
from plimsoll.domain.errors import BadInput, PlimsollError
from plimsoll.extras import SQL, how_to_install
from plimsoll.reports.run_reader import PAGE, RUN, audited_at, read_run, stream_records
from plimsoll.reports.run_writer import up_to_date
from plimsoll.settings import Settings


def run_folder(path: Path | None) -> Path:
    """The folder of a run: the one given, by itself or by one of its files, or the newest run that has answers.

    Its files hold all that it answered, also where it was killed. BadInput where it holds no run, or there is none.
    """
    if path is not None:
        folder = path.parent if path.is_file() and is_run(path.parent) else path
        if is_run(folder):
            up_to_date(folder)
            return folder
        if re.fullmatch(volume_pattern(), str(path)):
            raise BadInput(
                f"{path} is a volume, and a run's folder is wanted here. See it with: plimsoll explain {path}"
            )
        raise BadInput(f"{path} holds no {RUN}: give the folder of a run, such as one under plimsoll-runs.")
    runs_dir = Settings.of_environment().runs_dir
    by_age = sorted(runs_dir.glob(f"*/{RUN}"), key=lambda found: found.stat().st_mtime_ns, reverse=True)
    newest = next((found.parent for found in by_age if _has_answers(found.parent)), None)
    if newest is None:
        raise BadInput(
            f"no run under {runs_dir} has answers yet: give the folder of one, or begin with `plimsoll audit`."
        )
    return newest


def is_run(path: Path) -> bool:
    """Whether it is the folder of a run."""
    try:
        return (path / RUN).is_file()
    except (OSError, ValueError):  # what cannot be a path, such as a long query
        return False


def in_order(one: Path, other: Path) -> tuple[Path, Path]:
    """Two runs, the earlier first; says so where they were given the other way round."""
    try:
        swapped = audited_at(read_run(one)) > audited_at(read_run(other))
    except (KeyError, TypeError, ValueError):
        return one, other
    if swapped:
        Screen(stderr=True).say(f"{one} is the later run: compared from {other} to {one}.", "yellow")
    return (other, one) if swapped else (one, other)


def _has_answers(folder: Path) -> bool:
    """Whether a run answered any volume; one that cannot be read counts, so that whoever reads it is told why."""
    try:
        up_to_date(folder)
        return bool(read_run(folder)) and any(True for _ in stream_records(folder))
    except BadInput:
        return True


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
