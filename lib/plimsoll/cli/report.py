"""`plimsoll report`: a run for those who act on it, whole or in part, and the reports that every audit leaves."""

from pathlib import Path
from typing import Final

from rich.console import Console

from plimsoll.cli.report_formats import FORMATS, Report, ReportFormat
from plimsoll.cli.run_folder import run_folder
from plimsoll.domain.errors import BadInput, PlimsollError
from plimsoll.extras import SQL, how_to_install
from plimsoll.reports.data.exports import not_of_the_run
from plimsoll.reports.printable import printable, put_out
from plimsoll.writing import write_lines

SCREEN: Final = Path("-")
"""Standard output."""


def report_run(
    run: Path | None, *, format_: str, out: Path | None, where: str | None = None, volumes: tuple[str, ...] = ()
) -> None:
    """Writes a report of a run, or of some of its volumes, and prints where it is."""
    if format_ not in FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(FORMATS)}.")
    report, found = Report(folder=run_folder(run), where=where, volumes=volumes), FORMATS[format_]
    for path in _written(report, found, _place(report, found, out)):
        Console(highlight=False).print(str(path), soft_wrap=True, markup=False)


def leave_reports(console: Console, folder: Path) -> bool:
    """Writes the reports that every audit leaves, and prints where. False where that was not possible."""
    try:
        with console.status("writing the report"):
            written = _written(Report(folder=folder), FORMATS["html"], folder / (FORMATS["html"].file or ""))
            if SQL.installed:
                _written(Report(folder=folder), FORMATS["parquet"], folder)
    except (PlimsollError, OSError) as error:
        told = f"the run is whole, but its report could not be written: {error} Then: plimsoll report {folder}"
        console.print(printable(told), style="red", markup=False, soft_wrap=True)
        return False
    console.print(f"report: {written[0]}", style="bold", markup=False, soft_wrap=True)
    if not SQL.installed:
        told = f"no Parquet files were written: they need {SQL.brings}. {how_to_install(SQL)}"
        console.print(told, style="dim", markup=False, soft_wrap=True)
    return True


def _place(report: Report, format_: ReportFormat, out: Path | None) -> Path:
    """Where a report goes: into the run's folder, unless it is a part or another place is named."""
    if out is None:
        if format_.shown:
            return SCREEN
        if report.is_part:
            raise BadInput("--where and --volume make a report of a part: say with --out where it goes (- is here).")
        return report.folder / (format_.file or "")
    if out == SCREEN:
        if format_.lines is None:
            raise BadInput(f"--format {format_.name} is for a file: give --out a path.")
        return out
    place = out / format_.file if format_.file is not None and out.is_dir() else out
    if format_.file is None and report.is_part and out.resolve() == report.folder.resolve():
        raise BadInput(f"{out} holds the whole run's own tables: give another --out.")
    if report.is_part or place.name != format_.file:
        not_of_the_run(place, report.folder)
    return place


def _written(report: Report, format_: ReportFormat, place: Path) -> list[Path]:
    """Writes a report, and gives its files: none where it went to standard output."""
    if format_.write is not None:
        return format_.write(report, place)
    lines = format_.lines(report) if format_.lines is not None else ()
    if place == SCREEN:
        put_out(lines)
        return []
    write_lines(lines, place, format_.encoding)
    return [place]
