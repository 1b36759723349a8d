"""`plimsoll report`: a run for those who act on it, whole or of some volumes; and what every audit leaves behind."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console

from plimsoll.bootstrap import console_link, envelope_library
from plimsoll.cli.run_folder import run_folder
from plimsoll.cli.standard_output import put_out
from plimsoll.domain.errors import BadInput, PlimsollError
from plimsoll.extras import SQL, how_to_install
from plimsoll.reports.data.database import opened
from plimsoll.reports.data.exports import csv_lines, json_lines, not_of_the_run, write_parquet
from plimsoll.reports.data.selection import Selection, select
from plimsoll.reports.html.page import write_html
from plimsoll.reports.markdown.run import run_markdown, tickets
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.screen import printable
from plimsoll.reports.stored import MARKDOWN, PAGE, RECOMMENDATIONS, SLACK_PREVIEW, TABLE
from plimsoll.reports.table import ENCODING
from plimsoll.run import resumed
from plimsoll.settings import Settings
from plimsoll.writing import write_lines

FILES: Final = {
    "html": PAGE,
    "json": RECOMMENDATIONS,
    "csv": TABLE,
    "parquet": None,
    "md": MARKDOWN,
    "slack": "slack.json",
    "slack-preview": SLACK_PREVIEW,
}
"""The formats of a report, and the file of each in the folder of a run; Parquet is several."""

_SHOWN: Final = frozenset({"slack"})
"""Those that go to standard output where nothing else is asked for: they are looked at, or piped."""

SCREEN: Final = Path("-")
"""Standard output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Which volumes of a run a report is about: by a condition in SQL, and by their ids; all where neither is given."""

    where: str | None = None
    volumes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether it is a part."""
        return self.where is not None or bool(self.volumes)


def report_run(run: Path | None, *, format_: str, out: Path | None, part: Part) -> None:
    """Writes a report of a run, and says where it is."""
    if format_ not in FILES:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(FILES)}.")
    folder = run_folder(run)
    place = _place(folder, format_, out, part)
    for path in _written(folder, format_, place, part):
        Console(highlight=False).print(str(path), soft_wrap=True, markup=False)


def write_reports(folder: Path) -> list[Path]:
    """What every audit leaves behind beside its answers, and where: the page to read and the tables to ask."""
    formats = {"html": folder / PAGE, **({"parquet": folder} if SQL.installed else {})}
    return [path for format_, place in formats.items() for path in _written(folder, format_, place, Part())]


def leave_reports(console: Console, folder: Path) -> bool:
    """Writes what every audit leaves behind and says where; whether that was possible. The run stays as it is."""
    try:
        with console.status("writing the report"):
            written = write_reports(folder)
    except (PlimsollError, OSError) as error:
        told = f"the run is whole, but its report could not be written: {error} Then: plimsoll report {folder}"
        console.print(printable(told), style="red", markup=False, soft_wrap=True)
        return False
    console.print(f"report: {written[0]}", style="bold", markup=False, soft_wrap=True)
    if not SQL.installed:
        told = f"no Parquet files were written: they need {SQL.brings}. {how_to_install(SQL)}"
        console.print(told, style="dim", markup=False, soft_wrap=True)
    return True


def _place(folder: Path, format_: str, out: Path | None, part: Part) -> Path:
    """Where a report goes: into the run's folder, unless it tells of a part or another place is named."""
    if out is None:
        if format_ in _SHOWN:
            return SCREEN
        if part:
            raise BadInput("--where and --volume make a report of a part: say with --out where it goes (- is here).")
        return folder / (FILES[format_] or "")
    if out == SCREEN:
        if format_ in {"html", "parquet", "slack-preview"}:
            raise BadInput(f"--format {format_} is for a file: give --out a path.")
        return out
    name = FILES[format_]
    place = out / name if name is not None and out.is_dir() else out
    if name is None and part and out.resolve() == folder.resolve():
        raise BadInput(f"{out} holds the whole run's own tables: give another --out.")
    if part or place.name != name:
        not_of_the_run(place, folder)
    return place


def _written(folder: Path, format_: str, place: Path, part: Part) -> list[Path]:
    """Writes a report, and says into which files; none where it went to the screen."""
    selection = None
    if part or format_ == "parquet":
        with opened(folder) as database:
            selection = select(database, part.where, part.volumes)
            if format_ == "parquet":
                return write_parquet(database, place, selection)
    if format_ == "html":
        return _page(folder, place, selection)
    if format_ == "slack-preview":
        return _preview(folder, place, selection)
    text = _text(folder, format_, selection, one_by_one=bool(part.volumes))
    return _put(text, place, ENCODING if format_ == "csv" else "utf-8")


def _text(folder: Path, format_: str, selection: Selection | None, *, one_by_one: bool) -> Iterable[str]:
    if format_ == "md":
        return _markdown(folder, selection, one_by_one=one_by_one)
    if format_ == "slack":
        return _messages(folder, selection)
    if format_ == "csv":
        return csv_lines(folder, selection)
    return json_lines(folder, selection)


def _page(folder: Path, place: Path, selection: Selection | None) -> list[Path]:
    settings = Settings.of_environment()
    write_html(
        folder,
        place,
        envelopes=envelope_library(settings.measured_dir).envelopes,
        console_link=_linked(folder),
        only=selection.has if selection else None,
        told=selection.told if selection else "",
    )
    return [place]


def _preview(folder: Path, place: Path, selection: Selection | None) -> list[Path]:
    from plimsoll.cli.slack_preview import write_preview  # noqa: PLC0415  # extras bring what draws its pictures

    write_preview(folder, place, selection)
    return [place]


def _markdown(folder: Path, selection: Selection | None, *, one_by_one: bool) -> Iterable[str]:
    if selection is not None and one_by_one:
        yield tickets(folder, selection.has, _linked(folder))
    else:
        yield run_markdown(folder, selection.has if selection else None, selection.told if selection else "")


def _messages(folder: Path, selection: Selection | None) -> Iterable[str]:
    """What a channel would be told, as Slack is sent it."""
    # The extra `slack` brings its blocks.
    from plimsoll.slack.actions.registry import CONTROLS  # noqa: PLC0415
    from plimsoll.slack.blocks.report import run_conversation  # noqa: PLC0415

    only, part = (selection.has, selection.told) if selection else (None, "")
    told = run_conversation(folder, only, part, controls=CONTROLS)
    yield json.dumps(told.payload, ensure_ascii=False, indent=2) + "\n"


def _linked(folder: Path) -> Callable[[RecommendationRecord], str]:
    """Where a volume's demand of the run's own time can be seen."""
    order = resumed(folder)
    return lambda record: console_link(record, order.policy, order.now)


def _put(lines: Iterable[str], place: Path, encoding: str) -> list[Path]:
    if place == SCREEN:
        put_out(lines)
        return []
    write_lines(lines, place, encoding)
    return [place]
