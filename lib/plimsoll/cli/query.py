"""`plimsoll query`: SQL over a run."""

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from plimsoll.cli.run_folder import run_folder
from plimsoll.domain.errors import BadInput
from plimsoll.reports.csv_table import ENCODING
from plimsoll.reports.data.database import opened
from plimsoll.reports.data.exports import copy_parquet, not_of_the_run
from plimsoll.reports.data.query_answer import csv_answer, json_answer, show_answer, show_views
from plimsoll.reports.printable import put_out
from plimsoll.reports.run_reader import RUN
from plimsoll.writing import write_lines

FORMATS = ("table", "csv", "json", "parquet")


def query_run(words: list[str], *, format_: str, out: Path | None, rows: int) -> None:
    """Answers a query over a run's views, or lists these where nothing is asked."""
    run, sql = _run_and_query(words)
    if format_ not in FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(FORMATS)}.")
    if out is not None and format_ == "table":
        raise BadInput("a table is for the terminal: give --out with --format csv, json or parquet.")
    if out is None and format_ == "parquet":
        raise BadInput("Parquet is a file: say with --out where it goes.")
    folder, console = run_folder(run), Console(highlight=False)
    with opened(folder) as database:
        if sql is None:
            show_views(console, database)
            return
        query = database.statement(sql)
        if out is not None:
            not_of_the_run(out, folder)
        if format_ == "table":
            show_answer(console, database, query, rows)
        elif format_ == "csv":
            _write(csv_answer(database, query), out, ENCODING)
        elif format_ == "json":
            _write(json_answer(database, query), out, "utf-8")
        elif out is not None:
            copy_parquet(database, query, out)


def _run_and_query(words: list[str]) -> tuple[Path | None, str | None]:
    """A run and a query, each of which may be left out: what is the folder of a run is no query."""
    if len(words) > 2:
        raise BadInput('give a run and one query in quotes, such as: plimsoll query RUN "select * from offers".')
    if len(words) == 2:
        return Path(words[0]), words[1]
    if not words:
        return None, None
    is_folder = "\n" not in words[0] and len(words[0]) < 256 and (Path(words[0]) / RUN).is_file()
    return (Path(words[0]), None) if is_folder else (None, words[0])


def _write(lines: Iterable[str], out: Path | None, encoding: str) -> None:
    if out is None:
        put_out(lines)
    else:
        write_lines(lines, out, encoding)
