"""A fleet from rows, CSV or Parquet: one row a volume and period, with the sums that CloudWatch has of it."""

import csv
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from plimsoll.backtesting.fleet import OWNER, SUMS
from plimsoll.domain.errors import BadInput
from plimsoll.writing import whole

METRICS: Final[Mapping[str, str]] = {
    "read_ops": "VolumeReadOps",
    "write_ops": "VolumeWriteOps",
    "read_bytes": "VolumeReadBytes",
    "write_bytes": "VolumeWriteBytes",
}
"""The column of each array, by the name of CloudWatch's metric."""

PARQUET: Final = ".parquet"

_COLUMNS: Final = ("timestamp", "volume", *METRICS.values())
_SELECT: Final = """
select "timestamp", volume, {owner}, VolumeReadOps, VolumeWriteOps, VolumeReadBytes, VolumeWriteBytes
from read_parquet(?)
"""
_ROWS: Final = 50_000

_Row = tuple[int, str, list[float], str]


def fleet_of_rows(files: Sequence[Path], out: Path, period_s: int) -> int:
    """Writes the fleet of CSV or Parquet files, and says of how many volumes. BadInput where a row cannot be used.

    An empty field is no sample. A column `owner` is kept where there is one: of each volume the last that is named.
    Times are ISO 8601, UTC where they name no zone. Rows come in any order: they are put in their places on disk, so
    that memory does not grow with the fleet.
    """
    start_s, end_s, owners = _extent(files)
    volumes = sorted(owners)
    shape = len(volumes), (end_s - start_s) // period_s + 1
    place = {volume: at for at, volume in enumerate(volumes)}
    with whole(out) as beside, tempfile.TemporaryDirectory(dir=out.parent) as folder:
        arrays = {name: _array(Path(folder) / f"{name}.npy", shape) for name in SUMS}
        for time_s, volume, figures, _owner in _rows(files):
            if (time_s - start_s) % period_s:
                raise BadInput(f"{volume} has a row between two periods of {period_s} s: name its period: --period-s.")
            for name, figure in zip(SUMS, figures, strict=True):
                arrays[name][place[volume], (time_s - start_s) // period_s] = figure
        for array in arrays.values():
            array.flush()
        named: dict[str, Any] = {"volume": volumes, "period_s": period_s, "start_epoch_s": start_s}
        if any(owners.values()):
            named[OWNER] = [owners[volume] for volume in volumes]
        for name, value in named.items():
            np.save(Path(folder) / f"{name}.npy", np.array(value), allow_pickle=False)
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in (*named, *SUMS):
                archive.write(Path(folder) / f"{name}.npy", f"{name}.npy")
    return len(volumes)


def _array(path: Path, shape: tuple[int, int]) -> "np.memmap[Any, np.dtype[np.float64]]":
    found = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
    found[:] = np.nan
    return found


def _extent(files: Sequence[Path]) -> tuple[int, int, dict[str, str]]:
    """The first time and the last, and the owner of each volume; BadInput where there are none."""
    first_s, last_s, owners = None, None, dict[str, str]()
    for time_s, volume, _, owner in _rows(files):
        first_s = time_s if first_s is None else min(first_s, time_s)
        last_s = time_s if last_s is None else max(last_s, time_s)
        owners[volume] = owner or owners.get(volume, "")
    if first_s is None or last_s is None:
        raise BadInput(f"there is no row in {', '.join(map(str, files))}: export the metrics of some volumes.")
    return first_s, last_s, owners


def _rows(files: Sequence[Path]) -> Iterator[_Row]:
    for path in files:
        if path.suffix == PARQUET:
            yield from _parquet_rows(path)
            continue
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                yield from _csv_rows(path, csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise BadInput(f"{path} cannot be read as CSV: {error}.") from error


def _csv_rows(path: Path, reader: "csv.DictReader[str]") -> Iterator[_Row]:
    _has_columns(path, reader.fieldnames or ())
    for row in reader:
        try:
            figures = [row[one] for one in METRICS.values()]
            yield _row(datetime.fromisoformat(row["timestamp"]), row["volume"], figures, row.get(OWNER))
        except (TypeError, ValueError) as error:
            raise BadInput(f"{path}, line {reader.line_num}: {error}.") from error


def _parquet_rows(path: Path) -> Iterator[_Row]:
    import duckdb  # noqa: PLC0415  # the extra `sql` brings it

    try:
        with duckdb.connect() as database:
            there = database.execute("select * from read_parquet(?) limit 0", [str(path)])
            columns = [column[0] for column in there.description or ()]
            _has_columns(path, columns)
            found = database.execute(_SELECT.format(owner=OWNER if OWNER in columns else "null"), [str(path)])
            while rows := found.fetchmany(_ROWS):
                for time, volume, owner, *figures in rows:
                    yield _row(time, str(volume), figures, owner)
    except (duckdb.Error, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{path} cannot be read as Parquet: {str(error).partition(chr(10))[0]}.") from error


def _has_columns(path: Path, columns: Sequence[str]) -> None:
    missing = [name for name in _COLUMNS if name not in columns]
    if missing:
        raise BadInput(f"{path} has no column {missing[0]}: its columns must be {', '.join(_COLUMNS)}.")


def _row(time: datetime, volume: str, figures: Sequence[Any], owner: object) -> _Row:
    """A row as figures, NaN where there is none; TypeError and ValueError where it is no row."""
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    known = [np.nan if one in {None, ""} else float(one) for one in figures]
    return int(time.timestamp()), volume, known, str(owner or "")
