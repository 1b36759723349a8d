"""Ask a run in SQL: recommendations, offers, demand and failures; without a query, list their columns."""

from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.cli.screen import Screen
from plimsoll.files import write_lines
from plimsoll.model.errors import BadInput
from plimsoll.reports.printable import put_out

QUERY_FORMATS: Final = ("table", "csv", "json", "parquet")

_LISTED: Final = ("Read a run", 3)


def query_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN] [SQL]", help="A run's folder (default: the newest), and a query in quotes."),
    ] = None,
    format_: Annotated[str, typer.Option("--format", help="table, csv, json or parquet.")] = "table",
    out: Annotated[Path | None, typer.Option(help="File to write. Default: standard output.")] = None,
    rows: Annotated[int, typer.Option(min=0, help="Most rows of a table; 0 shows all.")] = 40,
    file: Annotated[
        list[str] | None,
        typer.Option(help="A file of your own that the query may read, as it names it; repeatable."),
    ] = None,
) -> None:
    from plimsoll.api.runs import run_folder
    from plimsoll.reports.csv_table import ENCODING
    from plimsoll.reports.data.database import open_runs
    from plimsoll.reports.data.exports import check_not_of_run, copy_parquet
    from plimsoll.reports.data.query_answer import csv_answer, json_answer, show_answer, show_views

    run, sql = _run_and_query(words or [])
    if format_ not in QUERY_FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(QUERY_FORMATS)}.")
    if out is not None and format_ == "table":
        raise BadInput("a table is for the terminal: give --out with --format csv, json or parquet.")
    if out is None and format_ == "parquet":
        raise BadInput("Parquet is a file: say with --out where it goes.")
    folder, console = run_folder(run), Screen()
    with open_runs(folder, files=tuple(file or ())) as database:
        if sql is None:
            show_views(console, database)
            return
        asked = database.statement(sql)
        if out is not None:
            check_not_of_run(out, folder)
        if format_ == "table":
            show_answer(console, database, asked, rows)
        elif out is None:
            put_out(csv_answer(database, asked) if format_ == "csv" else json_answer(database, asked))
        elif format_ == "parquet":
            copy_parquet(database, asked, out)
        elif format_ == "csv":
            write_lines(csv_answer(database, asked), out, ENCODING)
        else:
            write_lines(json_answer(database, asked), out, "utf-8")


def _run_and_query(words: list[str]) -> tuple[Path | None, str | None]:
    """A run and a query, in whichever order; each may be left out. The folder of a run is no query."""
    from plimsoll.api.runs import is_run

    if len(words) > 2:
        raise BadInput('give a run and one query in quotes, such as: plimsoll query RUN "select * from offers".')
    runs = [word for word in words if is_run(Path(word))]
    others = [word for word in words if word not in runs]
    if len(others) == 2:
        return Path(others[0]), others[1]
    return Path(runs[0]) if runs else None, others[0] if others else None
