"""Fleets: the demand of many volumes over time, from a file that people can share (benchmarks/fleets/README.md).

A file is read in batches of volumes, so that memory does not grow with the fleet.
"""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from plimsoll.files import atomic_path
from plimsoll.model.arrays import FloatArray
from plimsoll.model.errors import BadInput
from plimsoll.model.units import KIB_PER_MIB, MIB
from plimsoll.model.volume import OwnerKind

SUMS: Final = ("read_ops", "write_ops", "read_bytes", "write_bytes")
"""Arrays of (volumes, buckets): what each bucket had, -1 or NaN where there is no sample."""

KIB_RATES: Final = "disk_kb_s"
"""An array of (volumes, 2, buckets): KiB/s read and written, where nobody counted operations."""

ENDS: Final = "end_us"
"""An array of (volumes, buckets): when each bucket ends, in microseconds since the first began."""

OWNER: Final = "owner"
"""An array of (volumes): the kind of each one's owner (`OwnerKind`), or an empty text."""

_NAMES: Final = ("volume", "vm")
_BATCH_BYTES: Final = 24 * MIB
_UNEVEN_PERIOD_S: Final = 1800
_READABLE: Final = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The content of a fleet's file: its volumes by name, and the buckets of each, of `period_s` seconds.

    `owners` are the kinds of their owners, "" where one is not known; none where the file has no owners.
    """

    names: Sequence[str]
    buckets: int
    period_s: int
    owners: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Some volumes of a fleet from the one with number `first` on: rates in the order of `Resource`, (volumes, 2,
    buckets), NaN where there is no sample."""

    first: int
    rates: FloatArray


class Fleet:
    """A fleet's file; BadInput where it is none."""

    def __init__(self, path: Path, io_kib: float) -> None:
        self.path, self._io_kib = path, io_kib
        try:
            with zipfile.ZipFile(path) as archive:
                self._arrays = {name.removesuffix(".npy") for name in archive.namelist()}
                self.shape = self._shape(archive)
        except _READABLE as error:
            raise _no_fleet(path, error) from error

    @property
    def counts_operations(self) -> bool:
        """True if operations were counted. If not, they are taken to be of `io_kib`."""
        return KIB_RATES not in self._arrays

    @property
    def batch_volumes(self) -> int:
        """The number of volumes that are read at once."""
        return max(1, int(_BATCH_BYTES // (16 * max(1, self.shape.buckets))))

    def batches(self) -> Iterator[Batch]:
        """The fleet in batches of volumes; BadInput where the file ends early."""
        names = [KIB_RATES] if KIB_RATES in self._arrays else [*SUMS, *({ENDS} & self._arrays)]
        first = 0
        try:
            with zipfile.ZipFile(self.path) as archive:
                rows = [_rows(archive, name, self.batch_volumes) for name in names]
                for parts in zip(*rows, strict=True):
                    batch = dict(zip(names, parts, strict=True))
                    yield Batch(first=first, rates=self._rates(batch))
                    first += len(parts[0])
        except _READABLE as error:
            raise _no_fleet(self.path, error) from error

    def _shape(self, archive: zipfile.ZipFile) -> Shape:
        name = next(name for name in (KIB_RATES, SUMS[0], "") if name in self._arrays or not name)
        if not name:
            raise KeyError("no array of demand")
        with archive.open(f"{name}.npy") as file:
            shape = _header(file)[0]
        column = next((name for name in _NAMES if name in self._arrays), None)
        names = (
            [str(at) for at in range(shape[0])]
            if column is None
            else [str(name) for name in _read_column(archive, column)]
        )
        owners = _owners(_read_column(archive, OWNER), names) if OWNER in self._arrays else []
        if ENDS in self._arrays:
            # What fewer than half of the volumes reach is left out.
            ends_s = np.median(_ends_s(_read_column(archive, ENDS)).max(axis=1, initial=0.0))
            buckets = int(ends_s // _UNEVEN_PERIOD_S)
            return Shape(names=names, buckets=buckets, period_s=_UNEVEN_PERIOD_S, owners=owners)
        period_s = int(_read_column(archive, "period_s"))
        return Shape(names=names, buckets=int(shape[-1]), period_s=period_s, owners=owners)

    def _rates(self, batch: Mapping[str, np.ndarray[Any, Any]]) -> FloatArray:
        """The rates of a batch as [volume, side, sample]; IOPS are made of KiB where only these are known."""
        if KIB_RATES in batch:
            throughput = _samples(batch[KIB_RATES]).sum(axis=1) / KIB_PER_MIB
            return np.stack([throughput * KIB_PER_MIB / self._io_kib, throughput], axis=1)
        sums = {name: _samples(batch[name]) for name in SUMS}
        rates = np.stack(
            [sums["read_ops"] + sums["write_ops"], (sums["read_bytes"] + sums["write_bytes"]) / MIB], axis=1
        )
        if ENDS in batch:
            rates = _spread_evenly(rates, _ends_s(batch[ENDS]), self.shape.buckets)
        return rates / self.shape.period_s


def keep_arrays(path: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Writes arrays to an NPZ file, whole or not at all."""
    with atomic_path(path) as beside, zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(array, order="C"), allow_pickle=False)


def _owners(column: np.ndarray[Any, Any], names: Sequence[str]) -> list[str]:
    """The kinds of owners; ValueError where they are not those of the volumes, or one is no kind."""
    owners = [str(kind) for kind in column]
    if len(owners) != len(names):
        raise ValueError(f"it has {len(owners)} owners of {len(names)} volumes")
    kinds = {"", *OwnerKind}
    for name, owner in zip(names, owners, strict=True):
        if owner not in kinds:
            raise ValueError(f"the owner of {name} is {owner!r}, and not one of {', '.join(OwnerKind)}")
    return owners


def _spread_evenly(sums: FloatArray, ends_s: FloatArray, buckets: int) -> FloatArray:
    """Sums over uneven spans as sums over even ones, each spread evenly over its span. Where one span is longer than
    two even ones, it is not known when in it the work was done: NaN."""
    edges_s = np.arange(buckets + 1) * float(_UNEVEN_PERIOD_S)
    even = np.full((len(sums), 2, buckets), np.nan)
    for place, (rows, ends) in enumerate(zip(sums, ends_s, strict=True)):
        known = np.flatnonzero(~np.isnan(rows).any(axis=0) & (ends >= 0))
        if not len(known):
            continue
        times = np.maximum.accumulate(np.concatenate([[0.0], ends[known]]))
        for side in (0, 1):
            total = np.interp(edges_s, times, np.concatenate([[0.0], np.cumsum(rows[side][known])]))
            even[place, side] = np.diff(total)
        span = np.diff(times)[np.minimum(np.searchsorted(times[1:], edges_s[1:]), len(known) - 1)]
        even[place][:, (span > 2 * _UNEVEN_PERIOD_S) | (edges_s[1:] > times[-1])] = np.nan
    return even


def _ends_s(ends_us: np.ndarray[Any, Any]) -> FloatArray:
    return np.where(ends_us < 0, -1.0, ends_us / 1e6)


def _samples(figures: np.ndarray[Any, Any]) -> FloatArray:
    """Figures as they are, NaN where there is no sample."""
    samples = figures.astype(np.float64)
    samples[~(samples >= 0)] = np.nan
    return samples


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and kind of an array in a file; ValueError where its volumes are not one after the other."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, is_fortran, kind = read(file)
    if is_fortran or kind.hasobject:
        raise ValueError("its arrays must be plain numbers in C order")
    return shape, kind


def _rows(archive: zipfile.ZipFile, name: str, most: int) -> Iterator[np.ndarray[Any, Any]]:
    """An array's first axis in parts, read as they are asked for."""
    with archive.open(f"{name}.npy") as file:
        shape, kind = _header(file)
        row = int(np.prod(shape[1:], dtype=np.int64))
        for first in range(0, shape[0], most):
            rows = min(most, shape[0] - first)
            part = np.frombuffer(_read_exactly(file, rows * row * kind.itemsize), dtype=kind)
            yield part.reshape(rows, *shape[1:])


def _read_exactly(file: IO[bytes], size: int) -> bytes:
    """The next `size` bytes of a file. Raises EOFError if it ends before."""
    content = bytearray()
    while len(content) < size:
        part = file.read(size - len(content))
        if not part:
            raise EOFError("it ends early")
        content += part
    return bytes(content)


def _read_column(archive: zipfile.ZipFile, name: str) -> np.ndarray[Any, Any]:
    with archive.open(f"{name}.npy") as file:
        column: np.ndarray[Any, Any] = np.lib.format.read_array(file, allow_pickle=False)
        return column


def _no_fleet(path: Path, error: Exception) -> BadInput:
    return BadInput(
        f"{path} cannot be read as a fleet ({error}). benchmarks/fleets/README.md says what such a file holds."
    )
