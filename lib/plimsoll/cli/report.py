"""Write a run's page, data files, tickets or Slack message.

The page to read, the data as files, tickets as Markdown or CSV, FOCUS, messages for Slack, or metrics for Prometheus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.screen import Screen
from plimsoll.files import write_lines
from plimsoll.model.errors import BadInput
from plimsoll.reports.printable import put_out
from plimsoll.reports.run_files import (
    FOCUS,
    MARKDOWN,
    PAGE,
    PROMETHEUS_FILE,
    RECOMMENDATIONS,
    SLACK_PREVIEW,
    TABLE,
    TICKETS,
)
from plimsoll.wings import SLACK_MESSAGE

if TYPE_CHECKING:
    from plimsoll.cli.run_reports import Report
    from plimsoll.reports.record import RecommendationRecord
    from plimsoll.reports.run_record import RunRecord

SCREEN: Final = Path("-")
"""Standard output."""

_LISTED: Final = ("Begin with", 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFormat:
    """One format of a report.

    `file` is its name in a run's folder, None where it is several files, in a `folder` there unless that is empty. A
    format of text has `lines`, which can go to standard output, and does so unasked where it is `shown`. What is no
    plain file of UTF-8 has `write`, which is given the path.
    """

    name: str
    file: str | None
    folder: str = ""
    lines: Callable[[Report], Iterable[str]] | None = None
    write: Callable[[Report, Path], list[Path]] | None = None
    shown: bool = False


def _html(report: Report, place: Path) -> list[Path]:
    from plimsoll.cli.run_reports import write_page

    return write_page(report, place)


def _json(report: Report) -> Iterable[str]:
    from plimsoll.reports.data.exports import json_lines

    return json_lines(report.folder, report.selection(), report.weight)


def _csv(report: Report) -> Iterable[str]:
    from plimsoll.reports.data.exports import csv_lines

    return csv_lines(report.folder, report.selection(), report.weight)


def _write_csv(report: Report, place: Path) -> list[Path]:
    from plimsoll.reports.csv_table import ENCODING

    write_lines(_csv(report), place, ENCODING)
    return [place]


def _parquet(report: Report, place: Path) -> list[Path]:
    from plimsoll.cli.run_reports import write_tables

    return write_tables(report, place)


def _changes(report: Report, place: Path) -> list[Path]:
    from plimsoll.reports.change_files import is_open_change, write_changes
    from plimsoll.reports.run_reader import read_run, stream_records
    from plimsoll.reports.templates import template_texts

    (only, _), run = report.part(), read_run(report.folder)
    templates = () if report.is_part else template_texts(run)
    profiles = run.scope.get("profiles", ())
    written = write_changes(stream_records(report.folder, only), place, templates, profiles)
    if report.terraform:
        write_terraform = _import_from_wing("plimsoll.reports.terraform", "write_terraform")
        written += write_terraform(filter(is_open_change, stream_records(report.folder, only)), report.terraform, place)
    return written


def _focus(report: Report) -> Iterable[str]:
    from plimsoll.reports.focus import focus_lines

    return _run_lines(report, focus_lines)


def _tickets(report: Report) -> Iterable[str]:
    from plimsoll.reports.ticket_table import ticket_lines

    return _run_lines(report, ticket_lines)


def _run_lines(
    report: Report, lines: Callable[[Iterable[RecommendationRecord], RunRecord], Iterable[str]]
) -> Iterable[str]:
    """The lines that are made of a report's records and of its run."""
    from plimsoll.reports.data.exports import select_records
    from plimsoll.reports.run_reader import read_run

    records = select_records(report.folder, report.selection(), report.weight)
    return lines(records, read_run(report.folder))


def _markdown(report: Report) -> Iterable[str]:
    from plimsoll.reports.markdown.run import run_markdown, tickets

    only, about = report.part()
    if only is not None and report.volumes:
        yield tickets(report.folder, only, report.console_link())
    else:
        yield run_markdown(report.folder, only, about, report.weight)


def _openmetrics(report: Report) -> Iterable[str]:
    from plimsoll.reports.open_metrics import metrics_lines

    return metrics_lines(report.folder, report.part()[0])


def _import_from_wing(module: str, function: str) -> Callable[..., Any]:
    """A function of a wing, which is imported when it is called."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(module), function)(*arguments)

    return call


def _terminal(report: Report) -> Iterable[str]:
    from plimsoll.cli.run_reports import terminal_lines

    return terminal_lines(report)


FORMATS: Final[Mapping[str, ReportFormat]] = {
    report_format.name: report_format
    for report_format in (
        ReportFormat(name="html", file=PAGE, write=_html),
        ReportFormat(name="json", file=RECOMMENDATIONS, lines=_json),
        ReportFormat(name="csv", file=TABLE, lines=_csv, write=_write_csv),
        ReportFormat(name="parquet", file=None, write=_parquet),
        ReportFormat(name="changes", file=None, folder="changes", write=_changes),
        ReportFormat(name="md", file=MARKDOWN, lines=_markdown),
        ReportFormat(name="tickets", file=TICKETS, lines=_tickets),
        ReportFormat(name="focus", file=FOCUS, lines=_focus),
        ReportFormat(
            name="slack", file="slack.json", lines=_import_from_wing(SLACK_MESSAGE, "message_lines"), shown=True
        ),
        ReportFormat(name="slack-preview", file=SLACK_PREVIEW, write=_import_from_wing(SLACK_MESSAGE, "write_preview")),
        ReportFormat(name="openmetrics", file=PROMETHEUS_FILE, lines=_openmetrics),
        ReportFormat(name="terminal", file="recommendations.txt", lines=_terminal, shown=True),
    )
}

SORTED: Final = ("json", "csv", "md", "tickets", "focus", "slack", "slack-preview", "terminal")
"""The formats whose lists may be sorted by something; the page sorts itself, by the address after #."""


def report_command(
    run: options.RunFolder = None,
    format_: Annotated[
        str, typer.Option("--format", help=f"{', '.join(list(FORMATS)[:-1])} or {list(FORMATS)[-1]}.")
    ] = "html",
    out: Annotated[
        Path | None,
        typer.Option(help="File to write (- is standard output, and slack's default). Default: in the run's folder."),
    ] = None,
    where: options.Where = None,
    volume: Annotated[
        list[str] | None,
        typer.Option(help="Only this volume, by id or name; repeatable. With md: a ticket."),
    ] = None,
    sort: Annotated[str | None, typer.Option(help="Order of lists: money, risk or losses.")] = None,
    terraform: Annotated[
        list[Path] | None,
        typer.Option(help="With changes: the folder of the configuration, and a state or `terraform show -json`."),
    ] = None,
) -> None:
    from plimsoll.api.runs import run_folder
    from plimsoll.cli.run_reports import Report

    if format_ not in FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(FORMATS)}.")
    report = Report(
        folder=run_folder(run), where=where, volumes=tuple(volume or ()), sort=sort, terraform=tuple(terraform or ())
    )
    report_format = FORMATS[format_]
    if terraform and format_ != "changes":
        raise BadInput(f"--terraform is for --format changes, not {format_}.")
    if sort is not None and format_ not in SORTED:
        raise BadInput(f"--format {format_} has no list to sort: give one of {', '.join(SORTED)}.")
    for path in write_report(report, report_format, _place(report, report_format, out)):
        Screen().print(str(path), soft_wrap=True, markup=False)


def _place(report: Report, format_: ReportFormat, out: Path | None) -> Path:
    """The place of a report: the run's folder, unless it is a part or another place is named."""
    from plimsoll.reports.data.exports import check_not_of_run

    if out is None:
        if format_.shown:
            return SCREEN
        if report.is_part:
            raise BadInput("--where and --volume make a report of a part: give --out a path, or - for standard output.")
        return report.folder / (format_.file or format_.folder)
    if out == SCREEN:
        if format_.lines is None:
            raise BadInput(f"--format {format_.name} is for a file: give --out a path.")
        return out
    place = out / format_.file if format_.file is not None and out.is_dir() else out
    if format_.file is None and report.is_part and out.resolve() == report.folder.resolve():
        raise BadInput(f"{out} holds the whole run's own tables: give another --out.")
    if report.is_part or place.name != format_.file:
        check_not_of_run(place, report.folder)
    return place


def write_report(report: Report, format_: ReportFormat, place: Path) -> list[Path]:
    """Writes a report, and gives its files: none where it went to standard output."""
    lines = format_.lines(report) if format_.lines is not None else ()
    if place == SCREEN:
        put_out(lines)
        return []
    if format_.write is not None:
        return format_.write(report, place)
    write_lines(lines, place, "utf-8")
    return [place]
