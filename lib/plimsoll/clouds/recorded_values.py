"""Recorded values: a recording is judged like live answers, since anybody may have changed it on its way here.

No member of its zips takes more memory than it may, whatever the zip says of it. Raises one of DAMAGE, of values a
ValueError, which who reads the recording makes an error that names the member.
"""

import io
import math
import zipfile
import zlib
from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

import numpy as np

from plimsoll.clouds.cloud import published_facts
from plimsoll.clouds.common.dated_data import MOST_USD
from plimsoll.clouds.registry import CLOUDS
from plimsoll.model.market import PriceBook, TypePrice
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.ports import Target, UnreadVolume
from plimsoll.reading.known import Found

MOST_FIGURE: Final = 1e18
"""More than any bucket of any series has."""

_TIMES: Final = 16
"""How many times the largest volume that is sold one may be, and how many times what is sold of IOPS and MiB/s."""


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
"""The errors of reading garbage: RuntimeError is of encrypted members, of unknown packing and of JSON that nests too
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


def check_about(about: Mapping[str, Any]) -> None:
    """Checks a recording's own facts: its time, clouds and targets. Raises ValueError if one is wrong."""
    if datetime.fromisoformat(about["now"]).tzinfo is None:
        raise ValueError("its time has no zone")
    kept = about["retention_days"]
    if not isinstance(kept, Mapping):
        raise ValueError("retention_days is no mapping")  # noqa: TRY004  # all that is wrong is a ValueError here
    figures = [*about.get("memory_days", {}).values(), *about.get("visible_after_s", {}).values()]
    for days in kept.values():
        figures += days.values() if isinstance(days, Mapping) else [days]
    for figure in figures:
        _check_figure("a number of days or seconds", figure, most=1e6)


def check_volume(volume: Volume | UnreadVolume, target: Target) -> None:
    """Checks that a recorded volume is of its target, and can be bought so. Raises ValueError if not."""
    if isinstance(volume, UnreadVolume):
        return
    if (volume.account, volume.region) != (target.account, target.region):
        raise ValueError(f"{volume.id} is of {volume.account}/{volume.region}")
    if not volume.id:
        raise ValueError("a volume has no id")
    before = volume.modification.original if volume.modification else None
    for spec in (volume.spec, before):
        if spec is not None:
            _check_spec(volume.id, spec, target.provider)


def _check_spec(name: str, spec: VolumeSpec, provider: str) -> None:
    kind = published_facts(CLOUDS[provider]).catalog.types.get(spec.type)
    _check_figure(f"the size of {name}", spec.size_gib, least=1, most=_TIMES * (kind.most_size_gib if kind else 1e6))
    for what, figure in (("IOPS", spec.iops), ("MiB/s", spec.throughput_mib_s)):
        if figure is not None:
            _check_figure(f"the {what} of {name}", figure, most=1e7)


def checked_book(book: PriceBook) -> PriceBook:
    """A price book whose prices can be prices."""
    for name, price in book.types.items():
        _check_price(name, price)
    for name, discount in book.discounts_pct.items():
        _check_figure(f"the discount of {name}", discount, most=100)
    return book


def _check_price(name: str, price: TypePrice) -> None:
    figures = [price.gib_month, price.throughput_mib_s_month, price.million_io, *(usd for _, usd in price.iops_tiers)]
    for figure in figures:
        _check_figure(f"a price of {name}", figure, most=MOST_USD)
    for figure in (price.included_iops, price.included_throughput_mib_s):
        _check_figure(f"what is included with {name}", figure, most=1e7)
    ends = [math.inf if end is None else end for end, _ in price.iops_tiers]
    if any(end <= before for before, end in pairwise([0.0, *ends])):
        raise ValueError(f"the tiers of {name} do not rise")


def checked_series(found: Found) -> Found:
    """Series whose figures can be measured."""
    for name, values in found.items():
        known = values[~np.isnan(values)]
        if known.size and not ((known >= 0) & (known <= MOST_FIGURE)).all():
            raise ValueError(f"{name} has a figure that nobody can have measured")
    return found


def _check_figure(what: str, figure: Any, *, least: float = 0.0, most: float) -> None:
    if isinstance(figure, bool) or not isinstance(figure, int | float) or not least <= figure <= most:
        raise ValueError(f"{what} is {figure!r:.40}")
