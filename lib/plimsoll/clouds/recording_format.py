"""The format of a recording: what the members of its zip are called, and how sums and errors are written.

A recording is a zip: `about.json` (when, by which version, the targets), one JSON lines file of volumes, a price book
and the notices per target, and for each volume and window its sums as numpy arrays. Errors are kept as errors, so that
a replayed audit fails where the recorded one did.
"""

import io
from collections.abc import Mapping
from typing import Final

import numpy as np
from pydantic import TypeAdapter

from plimsoll.domain import errors
from plimsoll.domain.errors import CloudError, Unexpected
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.sums import Sums, Window, series
from plimsoll.domain.volume import Volume
from plimsoll.ports import Target

FORMAT: Final = 1
VOLUME: Final = TypeAdapter(Volume)
BOOK: Final = TypeAdapter(PriceBook)
_SUMS_FIELDS: Final = ("start_s", "period_s")


def member(target: Target, name: str) -> str:
    """The name of a target's member."""
    return f"{target.account}/{target.region}/{name}"


def sums_member(volume: Volume, window: Window, period_s: int, ending: str) -> str:
    """The name of the member with a volume's sums, or the error in their place."""
    place = f"{volume.account}/{volume.region}/sums/{volume.id}"
    return f"{place}.{window.start_s}-{window.end_s}-{period_s}.{ending}"


def pack(sums: Sums) -> bytes:
    """Sums as bytes."""
    packed = io.BytesIO()
    np.savez(packed, start_s=sums.start_s, period_s=sums.period_s, **dict(series(sums)))  # type: ignore[arg-type]  # its allow_pickle keyword
    return packed.getvalue()


def unpack(content: bytes) -> Sums:
    """The sums in bytes."""
    with np.load(io.BytesIO(content), allow_pickle=False) as packed:
        arrays = {name: packed[name] for name in packed.files if name not in _SUMS_FIELDS}
        return Sums(start_s=int(packed["start_s"]), period_s=int(packed["period_s"]), **arrays)


def error_out(error: CloudError) -> dict[str, str]:
    """An error as plain values."""
    return {"kind": type(error).__name__, "message": str(error)}


def error_in(written: Mapping[str, str]) -> CloudError:
    """The error in plain values."""
    kind = getattr(errors, written["kind"], Unexpected)
    return kind(written["message"]) if issubclass(kind, CloudError) else Unexpected(written["message"])
