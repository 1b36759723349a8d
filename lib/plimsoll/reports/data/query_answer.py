"""The answer of a query, as a table of a terminal, as CSV, as JSON and as Parquet."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from duckdb.sqltypes import DuckDBPyType
from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from plimsoll.reports.csv_table import cell, csv_line
from plimsoll.reports.data.database import Database
from plimsoll.reports.data.exports import json_list
from plimsoll.reports.data.views import VIEWS
from plimsoll.reports.printable import printable
from plimsoll.reports.wording import count_of

_WHOLE: Final = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_NUMBERS: Final = (*_WHOLE, *(f"u{kind}" for kind in _WHOLE), "float", "double", "decimal")
_NESTED: Final = ("struct", "list", "array", "map", "union", "json")
_READABLE: Final = 24
"""A column of a table is as wide as its longest cell, or so wide at least; rows that need more become lists."""


def show_answer(console: Console, database: Database, query: str, most: int) -> None:
    """Prints at most `most` rows of a query's answer (0: all), and the number of rows left out."""
    columns = database.columns(query)
    rows = _fetch_rows(database, query, columns)
    shown = list(islice(rows, most or None))
    names = [printable(name) for name, _ in columns]
    widths = (max(len(_cell_text(value)) for value in column) for column in zip(names, *shown, strict=True))
    fits = sum(min(width, _READABLE) + 2 for width in widths) <= console.width
    console.print((_table if fits else _lists)(columns, shown))
    left = sum(1 for _ in rows)
    if left:
        console.print(f"{len(shown):,} of {len(shown) + left:,} rows; --rows 0 shows all.", style="dim")
    else:
        console.print(count_of(len(shown), "row"), style="dim")


def csv_answer(database: Database, query: str) -> Iterator[str]:
    """The answer as the lines of a CSV file that no spreadsheet runs."""
    columns = database.columns(query)
    yield csv_line(cell(name) for name, _ in columns)
    for row in _fetch_rows(database, query, columns):
        yield csv_line(cell(value) for value in row)


def json_answer(database: Database, query: str) -> Iterator[str]:
    """The answer as a JSON list with an object a line; figures that JSON has no sign for are null."""
    rows = database.rows(f"select to_json(answer)::varchar from ({query}\n) as answer")
    return json_list(_finite(text) for (text,) in rows)


def json_rows(database: Database, query: str, most: int, longest: int) -> tuple[int, Iterator[str]]:
    """The number of an answer's rows, and the first `most` as JSON, each cut where it is longer than `longest`."""
    ((total,),) = database.rows(f"select count(*) from ({query}\n)")
    few = f"select * from ({query}\n) limit {most}"
    texts = database.rows(f"select left(to_json(answer)::varchar, {longest + 1}) from ({few}) as answer")
    return total, (text for (text,) in texts)


def show_views(console: Console, database: Database) -> None:
    """Prints every view of a run with its columns and their types."""
    for view, meaning in VIEWS.items():
        columns = (
            Text.assemble(name, (f" {kind}", "dim")) for name, kind in flat_columns(database.columns(f"from {view}"))
        )
        console.print(Text.assemble((view, "bold"), ": ", meaning))
        console.print(Text("  ") + Text(", ").join(columns), soft_wrap=False)


def flat_columns(columns: list[tuple[str, DuckDBPyType]], within: str = "") -> Iterator[tuple[str, str]]:
    """Columns and their types as text, each field of a struct by its dotted name."""
    for name, kind in columns:
        if kind.id == "struct":
            yield from flat_columns(_children(kind), f"{within}{name}.")
        else:
            structs = kind.id == "list" and _children(kind)[0][1].id == "struct"
            yield f"{within}{name}", "STRUCT[]" if structs else str(kind)


def _children(kind: DuckDBPyType) -> list[tuple[str, DuckDBPyType]]:
    return [(name, child) for name, child in kind.children if isinstance(child, DuckDBPyType)]


def _fetch_rows(database: Database, query: str, columns: list[tuple[str, DuckDBPyType]]) -> Iterator[tuple[Any, ...]]:
    """The rows with numbers as numbers and all else as text; what is nested is text as JSON."""
    names = [f"c{number}" for number in range(len(columns))]
    shown = ", ".join(_as_text(name, kind) for name, (_, kind) in zip(names, columns, strict=True))
    return database.rows(f"select {shown} from ({query}\n) as answer({', '.join(names)})")


def _as_text(name: str, kind: DuckDBPyType) -> str:
    if kind.id in _NUMBERS:
        return name
    return f"to_json({name})::varchar" if kind.id in _NESTED else f"{name}::varchar"


def _finite(text: str) -> str:
    """The JSON of a row; DuckDB writes infinities and what is no number as words that JSON does not know."""
    if not any(word in text for word in ("NaN", "Infinity")):
        return text
    return json.dumps(json.loads(text, parse_constant=lambda _: None), ensure_ascii=False)


def _table(columns: list[tuple[str, DuckDBPyType]], rows: list[tuple[Any, ...]]) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, kind in columns:
        table.add_column(Text(printable(name)), justify="right" if kind.id in _NUMBERS else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell_text(value)) for value in row))
    return table


def _lists(columns: list[tuple[str, DuckDBPyType]], rows: list[tuple[Any, ...]]) -> RenderableType:
    """Each row as a list of its columns, where they are too many to stand side by side."""
    parts: list[RenderableType] = []
    for number, row in enumerate(rows, start=1):
        parts.append(Rule(f"row {number}", align="left", style="dim"))
        listed = Table(box=None, pad_edge=False, show_header=False)
        listed.add_column(style="bold", no_wrap=True)
        listed.add_column(overflow="fold")
        for (name, _), value in zip(columns, row, strict=True):
            listed.add_row(Text(printable(name)), Text(_cell_text(value)))
        parts.append(listed)
    return Group(*parts)


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else printable(str(value))
