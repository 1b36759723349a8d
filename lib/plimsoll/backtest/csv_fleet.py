"""A fleet from CSV: one row a volume and period, with the sums that CloudWatch has of it."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

from plimsoll.backtest.fleet import SUMS, keep_arrays
from plimsoll.domain.errors import BadInput

METRICS: Final[Mapping[str, str]] = {
    "read_ops": "VolumeReadOps",
    "write_ops": "VolumeWriteOps",
    "read_bytes": "VolumeReadBytes",
    "write_bytes": "VolumeWriteBytes",
}
"""The column of each array, by the name of CloudWatch's metric."""

_COLUMNS: Final = ("timestamp", "volume", *METRICS.values())

_Row = tuple[int, str, list[float]]


def fleet_of_csv(files: Sequence[Path], out: Path, period_s: int) -> int:
    """Writes the fleet of CSV files, and says of how many volumes. BadInput where a row cannot be used.

    An empty field is no sample. Times are ISO 8601, UTC where they name no zone.
    """
    start_s, end_s, volumes = _extent(files)
    buckets = (end_s - start_s) // period_s + 1
    arrays = {name: np.full((len(volumes), buckets), np.nan) for name in SUMS}
    place = {volume: at for at, volume in enumerate(sorted(volumes))}
    for time_s, volume, figures in _rows(files):
        if (time_s - start_s) % period_s:
            raise BadInput(f"{volume} has a row between two periods of {period_s} s: give its period with --period-s.")
        for name, figure in zip(SUMS, figures, strict=True):
            arrays[name][place[volume], (time_s - start_s) // period_s] = figure
    fixed = {"volume": np.array(sorted(volumes)), "period_s": np.array(period_s), "start_epoch_s": np.array(start_s)}
    keep_arrays(out, {**fixed, **arrays})
    return len(volumes)


def _extent(files: Sequence[Path]) -> tuple[int, int, set[str]]:
    """The first time and the last, and the volumes; BadInput where there are none."""
    first_s, last_s, volumes = None, None, set()
    for time_s, volume, _ in _rows(files):
        first_s = time_s if first_s is None else min(first_s, time_s)
        last_s = time_s if last_s is None else max(last_s, time_s)
        volumes.add(volume)
    if first_s is None or last_s is None:
        raise BadInput(f"there is no row in {', '.join(map(str, files))}: export the metrics of some volumes.")
    return first_s, last_s, volumes


def _rows(files: Sequence[Path]) -> Iterator[_Row]:
    for path in files:
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                yield from _rows_of(path, csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise BadInput(f"{path} cannot be read as CSV: {error}.") from error


def _rows_of(path: Path, reader: "csv.DictReader[str]") -> Iterator[_Row]:
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise BadInput(f"{path} has no column {missing[0]}: its columns must be {', '.join(_COLUMNS)}.")
    for row in reader:
        try:
            time = datetime.fromisoformat(row["timestamp"])
            time = time if time.tzinfo else time.replace(tzinfo=UTC)
            figures = [float(row[metric]) if row[metric] else np.nan for metric in METRICS.values()]
        except (TypeError, ValueError) as error:
            raise BadInput(f"{path}, line {reader.line_num}: {error}.") from error
        yield int(time.timestamp()), row["volume"], figures
