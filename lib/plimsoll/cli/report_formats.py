"""The formats of a report: one row each. `plimsoll report` and its help read them."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plimsoll.bootstrap import console_link, envelope_library
from plimsoll.reports.csv_table import ENCODING
from plimsoll.reports.data.database import Selection, opened, select
from plimsoll.reports.data.exports import csv_lines, json_lines, write_parquet
from plimsoll.reports.html.page import write_html
from plimsoll.reports.markdown.run import run_markdown, tickets
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import MARKDOWN, PAGE, RECOMMENDATIONS, SLACK_PREVIEW, TABLE
from plimsoll.run import resumed
from plimsoll.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What to report: a run, or those of its volumes for which an SQL condition holds, or with these ids."""

    folder: Path
    where: str | None = None
    volumes: tuple[str, ...] = ()

    @property
    def is_part(self) -> bool:
        """Whether it is about some of the run's volumes."""
        return self.where is not None or bool(self.volumes)

    def selection(self) -> Selection | None:
        """The volumes of a part, None for the whole run. BadInput for an SQL condition that is none."""
        if not self.is_part:
            return None
        with opened(self.folder) as database:
            return select(database, self.where, self.volumes)

    def console_link(self) -> Callable[[RecommendationRecord], str]:
        """What gives the link to a volume's demand in its cloud's console, over the run's own window."""
        order = resumed(self.folder)
        return lambda record: console_link(record, order.policy, order.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFormat:
    """One format of a report.

    `file` is its name in a run's folder, None where it is several files. A format of text has `lines`, which can go to
    standard output, and does so unasked where it is `shown`. Any other format has `write`, which is given the path.
    """

    name: str
    file: str | None
    lines: Callable[[Report], Iterable[str]] | None = None
    write: Callable[[Report, Path], list[Path]] | None = None
    encoding: str = "utf-8"
    shown: bool = False


def _html(report: Report, place: Path) -> list[Path]:
    selection = report.selection()
    write_html(
        report.folder,
        place,
        envelopes=envelope_library(Settings.of_environment().measured_dir).envelopes,
        console_link=report.console_link(),
        only=selection.has if selection else None,
        told=selection.told if selection else "",
    )
    return [place]


def _parquet(report: Report, place: Path) -> list[Path]:
    with opened(report.folder) as database:
        return write_parquet(database, place, select(database, report.where, report.volumes))


def _markdown(report: Report) -> Iterable[str]:
    selection = report.selection()
    if selection is not None and report.volumes:
        yield tickets(report.folder, selection.has, report.console_link())
    else:
        yield run_markdown(report.folder, selection.has if selection else None, selection.told if selection else "")


def _slack(report: Report) -> Iterable[str]:
    """The message to a channel, as it is sent to Slack."""
    from plimsoll.slack.actions.registry import CONTROLS  # noqa: PLC0415  # the extra `slack` brings what it needs
    from plimsoll.slack.blocks.report import run_conversation  # noqa: PLC0415  # as above

    selection = report.selection()
    only, part = (selection.has, selection.told) if selection else (None, "")
    told = run_conversation(report.folder, only, part, controls=CONTROLS)
    yield json.dumps(told.payload, ensure_ascii=False, indent=2) + "\n"


def _slack_preview(report: Report, place: Path) -> list[Path]:
    from plimsoll.cli.slack_preview import write_preview  # noqa: PLC0415  # extras bring what draws its pictures

    write_preview(report.folder, place, report.selection())
    return [place]


FORMATS: Final[Mapping[str, ReportFormat]] = {
    one.name: one
    for one in (
        ReportFormat(name="html", file=PAGE, write=_html),
        ReportFormat(
            name="json", file=RECOMMENDATIONS, lines=lambda report: json_lines(report.folder, report.selection())
        ),
        ReportFormat(
            name="csv",
            file=TABLE,
            lines=lambda report: csv_lines(report.folder, report.selection()),
            encoding=ENCODING,
        ),
        ReportFormat(name="parquet", file=None, write=_parquet),
        ReportFormat(name="md", file=MARKDOWN, lines=_markdown),
        ReportFormat(name="slack", file="slack.json", lines=_slack, shown=True),
        ReportFormat(name="slack-preview", file=SLACK_PREVIEW, write=_slack_preview),
    )
}
