"""`plimsoll report`: a run for those who act on it, whole or in part, in one of several formats: one row each."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plimsoll.api.runs import run_folder
from plimsoll.bootstrap.consoles import console_link
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput
from plimsoll.model.kinds import CHANGES
from plimsoll.orders import read_order
from plimsoll.output_files import write_lines
from plimsoll.reports.change_files import write_changes
from plimsoll.reports.csv_table import ENCODING
from plimsoll.reports.data.database import Selection, open_runs, select
from plimsoll.reports.data.exports import check_not_of_run, csv_lines, json_lines, write_parquet
from plimsoll.reports.html.page import write_html
from plimsoll.reports.markdown.run import run_markdown, tickets
from plimsoll.reports.printable import put_out
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_files import MARKDOWN, PAGE, RECOMMENDATIONS, SLACK_PREVIEW, TABLE, note_checksums
from plimsoll.reports.run_reader import Only, read_run, stream_records
from plimsoll.reports.sorting import MONEY, Largest, Weight, find_sort
from plimsoll.reports.templates import template_texts
from plimsoll.reports.terminal.run import savings_table
from plimsoll.settings import Settings

_MOST_ROWS: Final = 50

SCREEN: Final = Path("-")
"""Standard output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The subject of a report: a run, or those of its volumes for which an SQL condition holds, or with these ids."""

    folder: Path
    where: str | None = None
    volumes: tuple[str, ...] = ()
    sort: str | None = None

    @property
    def weight(self) -> Weight | None:
        """The order of its lists; None if nothing was asked for. BadInput for what they cannot be sorted by."""
        return None if self.sort is None else find_sort(self.sort)

    @property
    def is_part(self) -> bool:
        """True if it is about some of the run's volumes."""
        return self.where is not None or bool(self.volumes)

    def selection(self) -> Selection | None:
        """The volumes of a part, None for the whole run. BadInput for an SQL condition that is none."""
        if not self.is_part:
            return None
        with open_runs(self.folder) as database:
            return select(database, self.where, self.volumes)

    def part(self) -> tuple[Only | None, str]:
        """A condition that holds for the records of a part, and the part in words; None and "" for the whole run."""
        selection = self.selection()
        return (selection.includes, selection.words) if selection else (None, "")

    def console_link(self) -> Callable[[RecommendationRecord], str]:
        """A function that gives the link to a volume's demand in its cloud's console, over the run's own window."""
        order = read_order(self.folder)
        return lambda record: console_link(record, order.policy, order.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFormat:
    """One format of a report.

    `file` is its name in a run's folder, None where it is several files, in a `folder` there unless that is empty. A
    format of text has `lines`, which can go to standard output, and does so unasked where it is `shown`. Any other
    format has `write`, which is given the path.
    """

    name: str
    file: str | None
    folder: str = ""
    lines: Callable[[Report], Iterable[str]] | None = None
    write: Callable[[Report, Path], list[Path]] | None = None
    encoding: str = "utf-8"
    shown: bool = False


def _html(report: Report, place: Path) -> list[Path]:
    only, about = report.part()
    envelopes = envelope_library(Settings.from_environment().measured_dir).envelopes
    link = report.console_link()
    write_html(report.folder, place, envelopes=envelopes, console_link=link, only=only, about=about)
    return [place]


def _parquet(report: Report, place: Path) -> list[Path]:
    with open_runs(report.folder) as database:
        write_report = write_parquet(database, place, select(database, report.where, report.volumes))
    if place.resolve() == report.folder.resolve():
        note_checksums(place, [path.name for path in write_report])
    return write_report


def _changes(report: Report, place: Path) -> list[Path]:
    (only, _), run = report.part(), read_run(report.folder)
    templates = () if report.is_part else template_texts(run)
    profiles = run.scope.get("profiles", ())
    return write_changes(stream_records(report.folder, only), place, templates, profiles)


def _markdown(report: Report) -> Iterable[str]:
    only, about = report.part()
    if only is not None and report.volumes:
        yield tickets(report.folder, only, report.console_link())
    else:
        yield run_markdown(report.folder, only, about, report.weight)


def _slack(report: Report) -> Iterable[str]:
    """The message to a channel, as it is sent to Slack."""
    from plimsoll.slack.actions.registry import CONTROLS  # noqa: PLC0415  # the extra `slack` brings what it needs
    from plimsoll.slack.blocks.report import run_conversation  # noqa: PLC0415  # as above

    conversation = run_conversation(report.folder, *report.part(), controls=CONTROLS, weight=report.weight)
    yield json.dumps(conversation.payload, ensure_ascii=False, indent=2) + "\n"


def _slack_preview(report: Report, place: Path) -> list[Path]:
    from plimsoll.slack.actions.registry import CONTROLS  # noqa: PLC0415  # as above
    from plimsoll.slack.blocks.pictures import run_drafts  # noqa: PLC0415  # as above
    from plimsoll.slack.blocks.report import run_conversation  # noqa: PLC0415  # as above
    from plimsoll.slack.preview import preview  # noqa: PLC0415  # as above

    only, about = report.part()
    envelopes = envelope_library(Settings.from_environment().measured_dir).envelopes
    page = preview(
        run_conversation(report.folder, only, about, controls=CONTROLS, weight=report.weight),
        pictures={draft.title: draft.png() for draft in run_drafts(report.folder, envelopes, only)},
        sent=read_run(report.folder).as_of,
    )
    write_lines([page], place, "utf-8")
    return [place]


def _terminal(report: Report) -> Iterable[str]:
    """The table of the terminal, of the volumes that change."""
    only, _ = report.part()
    weight = report.weight or find_sort(MONEY)
    largest: Largest[RecommendationRecord] = Largest(most=_MOST_ROWS)
    for record in stream_records(report.folder, only):
        if record.action in CHANGES:
            largest.add(weight(record), record.volume_id, record)
    screen = Screen()
    with screen.capture() as printed:
        screen.print(savings_table(largest.items, screen.width))
    yield printed.get()
    if largest.total > largest.most:
        yield f"{largest.total - largest.most:,} more are in recommendations.csv.\n"


FORMATS: Final[Mapping[str, ReportFormat]] = {
    one.name: one
    for one in (
        ReportFormat(name="html", file=PAGE, write=_html),
        ReportFormat(
            name="json",
            file=RECOMMENDATIONS,
            lines=lambda report: json_lines(report.folder, report.selection(), report.weight),
        ),
        ReportFormat(
            name="csv",
            file=TABLE,
            lines=lambda report: csv_lines(report.folder, report.selection(), report.weight),
            encoding=ENCODING,
        ),
        ReportFormat(name="parquet", file=None, write=_parquet),
        ReportFormat(name="changes", file=None, folder="changes", write=_changes),
        ReportFormat(name="md", file=MARKDOWN, lines=_markdown),
        ReportFormat(name="slack", file="slack.json", lines=_slack, shown=True),
        ReportFormat(name="slack-preview", file=SLACK_PREVIEW, write=_slack_preview),
        ReportFormat(name="terminal", file="recommendations.txt", lines=_terminal, shown=True),
    )
}

SORTED: Final = ("json", "csv", "md", "slack", "slack-preview", "terminal")
"""The formats whose lists may be sorted by something; the page sorts itself, by the address after #."""


def report_run(
    run: Path | None,
    *,
    format_: str,
    out: Path | None,
    where: str | None = None,
    volumes: tuple[str, ...] = (),
    sort: str | None = None,
) -> None:
    """Writes a report of a run, or of some of its volumes, and prints where it is."""
    if format_ not in FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(FORMATS)}.")
    report, report_format = Report(folder=run_folder(run), where=where, volumes=volumes, sort=sort), FORMATS[format_]
    if sort is not None and format_ not in SORTED:
        raise BadInput(f"--format {format_} has no list to sort: give one of {', '.join(SORTED)}.")
    for path in write_report(report, report_format, _place(report, report_format, out)):
        Screen().print(str(path), soft_wrap=True, markup=False)


def _place(report: Report, format_: ReportFormat, out: Path | None) -> Path:
    """The place of a report: the run's folder, unless it is a part or another place is named."""
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
    if format_.write is not None:
        return format_.write(report, place)
    lines = format_.lines(report) if format_.lines is not None else ()
    if place == SCREEN:
        put_out(lines)
        return []
    write_lines(lines, place, format_.encoding)
    return [place]
