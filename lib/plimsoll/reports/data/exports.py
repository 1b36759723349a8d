"""Exports: a run's recommendations as JSON, CSV and Parquet, whole or of some volumes; the same run, the same bytes."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from plimsoll.files import CHECKSUMS, atomic_path
from plimsoll.model.errors import BadInput
from plimsoll.reports.csv_table import csv_line, header, record_line, row
from plimsoll.reports.data.column_types import KEYS, literal
from plimsoll.reports.data.database import SELECTED, Database, Selection
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_files import (
    DEMAND,
    FOCUS,
    MARKDOWN,
    PAGE,
    PARQUET_FILES,
    RECOMMENDATIONS,
    RUN,
    SLACK_PREVIEW,
    STATES_FILE,
    STATES_TABLE,
    TABLE,
    TICKETS,
    UNANSWERED,
)
from plimsoll.reports.run_folder import JOURNAL
from plimsoll.reports.run_reader import stream_records
from plimsoll.reports.sorting import Weight

PARQUET: Final = dict(zip(PARQUET_FILES, (KEYS, (*KEYS, "start")), strict=True))
"""The Parquet files of a run, each of the view of its name, and the order of its rows."""

_OWN: Final = (
    *(RUN, JOURNAL, RECOMMENDATIONS, TABLE, DEMAND, UNANSWERED, CHECKSUMS, PAGE, MARKDOWN, SLACK_PREVIEW),
    *(FOCUS, TICKETS, STATES_FILE, STATES_TABLE),
    *PARQUET,
)


def json_lines(folder: Path, selection: Selection | None, weight: Weight | None = None) -> Iterator[str]:
    """The lines of recommendations.json: a list with a recommendation a line."""
    return json_list(record_line(record).decode() for record in select_records(folder, selection, weight))


def json_list(items: Iterable[str], begin: str = "[", end: str = "]") -> Iterator[str]:
    """A list of JSON values, each on a line of its own."""
    yield begin
    before = "\n"
    for item in items:
        yield before + item
        before = ",\n"
    yield f"\n{end}\n"


def csv_lines(folder: Path, selection: Selection | None, weight: Weight | None = None) -> Iterator[str]:
    """The lines of recommendations.csv."""
    yield csv_line(header())
    yield from map(csv_line, map(row, select_records(folder, selection, weight)))


def select_records(
    folder: Path, selection: Selection | None, weight: Weight | None = None
) -> Iterable[RecommendationRecord]:
    """The records that are selected, the heaviest first where they are weighed: these are then held in memory."""
    records = stream_records(folder, None if selection is None else selection.includes)
    return records if weight is None else sorted(records, key=weight, reverse=True)


def write_parquet(
    database: Database, out: Path, selection: Selection | None, *, run_id: str | None = None
) -> list[Path]:
    """Writes the Parquet files of a run into a folder, compressed by zstd, rows in the order of their keys.

    With a `run_id` each row names its run in a last column, so that the files of many runs can be one table.
    """
    named = "" if run_id is None else f"select *, {literal(run_id)} as run_id "
    chosen = "" if selection is None else f"where ({', '.join(KEYS)}) in (from {SELECTED})"
    written = []
    for name, order in PARQUET.items():
        path = out / name
        copy_parquet(database, f"{named}from {Path(name).stem} {chosen} order by {', '.join(order)}", path)
        written.append(path)
    return written


def check_not_of_run(out: Path, folder: Path) -> None:
    """BadInput where a path is that of one of the files that tell of a whole run."""
    if out.name in _OWN and out.parent.resolve() == folder.resolve():
        raise BadInput(f"{out} is the whole run's own: give another --out.")


def copy_parquet(database: Database, sql: str, out: Path) -> None:
    """Writes the answer of a query into a Parquet file, whole or not at all."""
    written = database.scratch / out.name
    database.run(f"copy ({sql}\n) to {literal(str(written))} (format parquet, compression zstd, use_tmp_file false)")
    with atomic_path(out) as beside:
        shutil.copyfile(written, beside)
    written.unlink()
