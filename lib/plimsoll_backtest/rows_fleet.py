"""A fleet from rows, CSV (`csv_rows`) or Parquet: the sums that CloudWatch has of each volume and period."""

import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from plimsoll.files import atomic_path
from plimsoll.model.arrays import BoolArray
from plimsoll.model.errors import BadInput
from plimsoll.reports.run_files import check_export
from plimsoll_backtest.csv_rows import METRICS, FleetRow, has_columns, row_of, rows_of_csv
from plimsoll_backtest.fleet import OWNER, SUMS

PARQUET_SUFFIX: Final = ".parquet"

_SELECT: Final = """
select "timestamp", volume, {owner}, VolumeReadOps, VolumeWriteOps, VolumeReadBytes, VolumeWriteBytes
from read_parquet(?)
"""
_ROWS: Final = 50_000


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
    with atomic_path(out) as beside, tempfile.TemporaryDirectory(dir=out.parent) as folder:
        arrays = {name: _array(Path(folder) / f"{name}.npy", shape) for name in SUMS}
        sampled = np.zeros((len(volumes), len(SUMS)), dtype=np.bool_)
        for time_s, volume, figures, _owner in _rows(files):
            if (time_s - start_s) % period_s:
                raise BadInput(f"{volume} has a row between two periods of {period_s} s: name its period: --period-s.")
            for at in np.flatnonzero(~np.isnan(figures)):
                arrays[SUMS[at]][place[volume], (time_s - start_s) // period_s] = figures[at]
                sampled[place[volume], at] = True
        _check_metrics(volumes, sampled)
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


def _check_metrics(volumes: Sequence[str], sampled: BoolArray) -> None:
    """BadInput where a volume has some of the metrics alone: what it did is not known of any bucket then."""
    for volume, has_metric in zip(volumes, sampled, strict=True):
        if has_metric.any() and not has_metric.all():
            lacking = METRICS[SUMS[int(np.argmin(has_metric))]]
            raise BadInput(f"there is no {lacking} of {volume}: export {', '.join(METRICS.values())} of each volume.")


def _array(path: Path, shape: tuple[int, int]) -> "np.memmap[Any, np.dtype[np.float64]]":
    """A new array in a file, NaN everywhere."""
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
    array[:] = np.nan
    return array


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


def _rows(files: Sequence[Path]) -> Iterator[FleetRow]:
    for path in files:
        yield from _parquet_rows(path) if path.suffix == PARQUET_SUFFIX else rows_of_csv(path)


def _parquet_rows(path: Path) -> Iterator[FleetRow]:
    import duckdb  # noqa: PLC0415  # the extra `sql` brings it

    check_export(path)
    try:
        with duckdb.connect() as database:
            empty = database.execute("select * from read_parquet(?) limit 0", [str(path)])
            columns = [column[0] for column in empty.description or ()]
            has_columns(path, columns)
            result = database.execute(_SELECT.format(owner=OWNER if OWNER in columns else "null"), [str(path)])
            while rows := result.fetchmany(_ROWS):
                for time, volume, owner, *figures in rows:
                    yield row_of(time, str(volume), figures, owner)
    except (duckdb.Error, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{path} cannot be read as Parquet: {str(error).partition(chr(10))[0]}.") from error
