"""Zips that somebody hands over: no member takes more memory than it may, whatever the zip says of it."""

import io
import zipfile
import zlib
from typing import Final

import numpy as np

from plimsoll.reading.known import Found

DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What reading garbage raises: RuntimeError is of encrypted members, of unknown packing and of JSON that nests too
deep."""

_AT_ONCE_BYTES: Final = 2**20
_PACKED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADERS_BYTES: Final = 1024
"""More than the header of an array and its name take."""


def read_member(opened: zipfile.ZipFile, name: str, most_bytes: int) -> bytes:
    """A member's bytes; one of DAMAGE where there is none, it is damaged, or it unpacks to more than that."""
    info = opened.getinfo(name)
    if info.file_size > most_bytes:
        raise ValueError(f"it unpacks to {info.file_size:,} bytes, and {most_bytes:,} are the most")
    if info.compress_type not in _PACKED:
        raise ValueError("it is packed in a way that Plimsoll does not use")
    with opened.open(info) as member:
        # In portions: a member that is larger than it says is found out by its checksum, not by its weight.
        return b"".join(iter(lambda: member.read(_AT_ONCE_BYTES), b""))


def read_arrays(content: bytes, buckets: int, most_series: int) -> Found:
    """The arrays of a .npz, each of that many buckets; one of DAMAGE where they are anything else."""
    most_bytes = 8 * buckets + _HEADERS_BYTES
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        members = packed.namelist()
        if len(members) > most_series:
            raise ValueError(f"it has {len(members):,} series, and {most_series:,} are the most")
        return {name.removesuffix(".npy"): _array(read_member(packed, name, most_bytes), buckets) for name in members}


def _array(content: bytes, buckets: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("it holds an array of another format")
    shape, _fortran_order, kind = np.lib.format.read_array_header_1_0(file)
    if kind != np.float64 or shape != (buckets,):
        raise ValueError(f"it holds an array of {kind} in the shape {shape}, and not {buckets} figures")
    return np.frombuffer(content, dtype=np.float64, count=buckets, offset=file.tell())
