"""Rows of CSV: the sums of volumes over time, in any of the layouts that benchmarks/fleets/README.md states.

- Rows: a row a volume and period, a column a metric.
- Labels: a row a point, as `get-metric-data` has it: when, the label of its series, and the figure.
- Columns: a row a period, a column a series, under rows of labels, as a graph of CloudWatch is downloaded.

A label has to hold one id of a volume and one name of a metric.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from plimsoll.model.errors import BadInput
from plimsoll_backtest.fleet import OWNER

METRICS: Final[Mapping[str, str]] = {
    "read_ops": "VolumeReadOps",
    "write_ops": "VolumeWriteOps",
    "read_bytes": "VolumeReadBytes",
    "write_bytes": "VolumeWriteBytes",
}
"""The column of each array, by the name of CloudWatch's metric."""

FLEET_COLUMNS: Final = ("timestamp", "volume", *METRICS.values())
LABEL_COLUMNS: Final = ("timestamp", "label", "value")

FleetRow = tuple[int, str, list[float], str]
"""When (epoch seconds), which volume, its figures in the order of `METRICS` (NaN: none), and the kind of its owner."""

_VOLUME: Final = re.compile(r"vol-[0-9a-f]+")
_METRIC: Final = re.compile("|".join(METRICS.values()))
_NO_SUM: Final = re.compile(r"\b(average|minimum|maximum|samplecount|sample count|p\d[\d.]*)\b", re.IGNORECASE)
_HEADER_ROWS: Final = 20
"""More rows than these before the first time are no labels."""

_LAYOUTS: Final = "benchmarks/fleets/README.md states the layouts"


def rows_of_csv(path: Path) -> Iterator[FleetRow]:
    """The rows of a file; BadInput where its layout is none of these, or a row cannot be used."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            read, begun = _layout(path, reader)
            for cells in chain(begun, reader):
                if not any(cells):
                    continue
                try:
                    yield from read(cells)
                except IndexError as error:
                    raise BadInput(f"{path}, line {reader.line_num}: it has fewer fields than the first.") from error
                except ValueError as error:
                    raise BadInput(f"{path}, line {reader.line_num}: {error}.") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path} cannot be read as CSV: {error}.") from error


def has_columns(path: Path, columns: Sequence[str]) -> None:
    """BadInput where a column of the rows' layout is missing."""
    missing = [name for name in FLEET_COLUMNS if name not in columns]
    if missing:
        raise BadInput(f"{path} has no column {missing[0]}: its columns must be {', '.join(FLEET_COLUMNS)}.")


def row_of(time: datetime, volume: str, figures: Sequence[Any], owner: object) -> FleetRow:
    """A row as figures, NaN where there is none; TypeError and ValueError where it is no row."""
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    known = [np.nan if figure in {None, ""} else float(figure) for figure in figures]
    return int(time.timestamp()), volume, known, str(owner or "")


def _layout(
    path: Path, reader: Iterator[list[str]]
) -> tuple[Callable[[list[str]], Iterator[FleetRow]], list[list[str]]]:
    """A function that reads a row of the file's layout, and the rows that were read to tell the layout."""
    first = next(reader, [])
    if "volume" in first:
        has_columns(path, first)
        return partial(_read_by_name, {name: place for place, name in enumerate(first)}), []
    names = [cell.strip().lower() for cell in first]
    if sorted(names) == sorted(LABEL_COLUMNS):
        return partial(_read_labeled, [names.index(name) for name in LABEL_COLUMNS]), []
    labels, begun = [first], list[list[str]]()
    for cells in reader:
        if any(cells) and _is_time(cells[0]):
            begun.append(cells)
            break
        labels.append(cells)
        if len(labels) > _HEADER_ROWS:
            break
    return partial(_read_columns, _series_of(path, labels)), begun


def _read_by_name(places: Mapping[str, int], cells: list[str]) -> Iterator[FleetRow]:
    figures = [cells[places[name]] for name in METRICS.values()]
    owner = cells[places[OWNER]] if OWNER in places else ""
    yield row_of(_time(cells[places["timestamp"]]), cells[places["volume"]], figures, owner)


def _read_labeled(places: Sequence[int], cells: list[str]) -> Iterator[FleetRow]:
    time, label, value = (cells[place] for place in places)
    series = _series(label)
    if series is None:
        raise ValueError(f"the label {label!r} holds no volume, or no metric of {', '.join(METRICS.values())}")
    yield _point(_time(time), series, value)


def _read_columns(series: Mapping[int, tuple[str, str]], cells: list[str]) -> Iterator[FleetRow]:
    time = _time(cells[0])
    yield from (_point(time, column, cells[place]) for place, column in series.items() if place < len(cells))


def _series_of(path: Path, labels: Sequence[Sequence[str]]) -> dict[int, tuple[str, str]]:
    """The volume and the metric of each column, by all of its labels; BadInput where there is none, or no sum."""
    width = max(map(len, labels))
    texts = [" ".join(row[place] for row in labels if place < len(row)) for place in range(width)]
    columns = {place: series for place, text in enumerate(texts) if place and (series := _series(text)) is not None}
    if not columns:
        raise BadInput(f"{path} has no label with a volume and one of {', '.join(METRICS.values())}: {_LAYOUTS}.")
    other = next((match for place in columns if (match := _NO_SUM.search(texts[place])) is not None), None)
    if other is not None:
        raise BadInput(f"{path} has the statistic {other.group()}: export the statistic Sum.")
    return columns


def _series(label: str) -> tuple[str, str] | None:
    """The volume and the metric of a label; None where it does not hold one of each."""
    volumes, metrics = set(_VOLUME.findall(label)), set(_METRIC.findall(label))
    return (volumes.pop(), metrics.pop()) if len(volumes) == len(metrics) == 1 else None


def _point(time: datetime, series: tuple[str, str], value: str) -> FleetRow:
    volume, metric = series
    return row_of(time, volume, [value if name == metric else "" for name in METRICS.values()], "")


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.strip().replace("/", "-"))


def _is_time(text: str) -> bool:
    try:
        _time(text)
    except ValueError:
        return False
    return True
