"""The reports of a run: which of its volumes one is about, the page that audits leave, and the Parquet files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from plimsoll.bootstrap.consoles import console_link
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.screen import Screen
from plimsoll.distribution import SQL
from plimsoll.files import note_checksums
from plimsoll.model.errors import PlimsollError
from plimsoll.model.kinds import CHANGES
from plimsoll.orders import read_order
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_files import PAGE, PARQUET_FILES
from plimsoll.reports.run_reader import Only, stream_records
from plimsoll.reports.sorting import MONEY, Largest, Weight, find_sort
from plimsoll.settings import Settings

if TYPE_CHECKING:
    from plimsoll.reports.data.database import Selection

_MOST_ROWS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The subject of a report: a run, or those of its volumes for which an SQL condition holds, or with these ids."""

    folder: Path
    where: str | None = None
    volumes: tuple[str, ...] = ()
    sort: str | None = None
    terraform: tuple[Path, ...] = ()

    @property
    def weight(self) -> Weight | None:
        """The order of its lists; None if nothing was asked for. BadInput for what they cannot be sorted by."""
        return None if self.sort is None else find_sort(self.sort)

    @property
    def is_part(self) -> bool:
        """True if it is about some of the run's volumes."""
        return self.where is not None or bool(self.volumes)

    def selection(self) -> "Selection | None":
        """The volumes of a part, None for the whole run. BadInput for an SQL condition that is none."""
        from plimsoll.reports.data.database import open_runs, select

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


def write_page(report: Report, place: Path) -> list[Path]:
    """Writes the page to read, and gives its file."""
    from plimsoll.reports.html.page import write_html  # waited for once there is a run

    only, about = report.part()
    envelopes = envelope_library(Settings.from_environment().measured_dir).envelopes
    link = report.console_link()
    write_html(report.folder, place, envelopes=envelopes, console_link=link, only=only, about=about)
    return [place]


def write_tables(report: Report, place: Path) -> list[Path]:
    """Writes the Parquet files into a folder, and gives them."""
    from plimsoll.reports.data.database import open_runs, select
    from plimsoll.reports.data.exports import write_parquet

    with open_runs(report.folder) as database:
        files = write_parquet(database, place, select(database, report.where, report.volumes))
    if place.resolve() == report.folder.resolve():
        note_checksums(place, [path.name for path in files])
    return files


def _renew_tables(folder: Path) -> None:
    """Writes a run's Parquet files anew where it has any: they are of all its answers. Without DuckDB they go."""
    written = [path for path in (folder / name for name in PARQUET_FILES) if path.exists()]
    if written and SQL.is_installed:
        write_tables(Report(folder=folder), folder)
    elif written:
        for path in written:
            path.unlink()


def terminal_lines(report: Report) -> Iterator[str]:
    """The table of the terminal, of the volumes that change."""
    from plimsoll.reports.terminal.run import savings_table  # waited for by those alone who ask for it

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


def leave_reports(console: Screen, folder: Path) -> bool:
    """Writes the page that every audit leaves in its folder, and prints where. False where that was not possible."""
    try:
        with console.status("writing the report"):
            (page,) = write_page(Report(folder=folder), folder / PAGE)
            _renew_tables(folder)
    except (PlimsollError, OSError) as error:
        sentence = f"the run is whole, but its report could not be written: {error} Then: plimsoll report {folder}"
        console.say(sentence, "red")
        return False
    console.say(f"report: {page}", "bold")
    return True
