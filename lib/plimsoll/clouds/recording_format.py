"""The format of a recording: what the members of its zip are called, and how sums and errors are written.

A recording is a zip: `about.json` (when, by which version, the targets, how long each cloud keeps its metrics and how
late they come), one JSON lines file of volumes, a price book, the notices and remarks per target, and for each volume
and window every series as numpy arrays, as finely as the cloud has it.
Errors are kept as errors, so that a replayed audit fails where the recorded one did.
"""

import io
from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np
from pydantic import TypeAdapter

from plimsoll.domain import errors
from plimsoll.domain.branch_and_bound import Ask, Found
from plimsoll.domain.errors import CloudError, Unexpected
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.volume import Volume
from plimsoll.ports import Target

FORMAT: Final = 3
READ_FORMATS: Final = (2, FORMAT)
"""Format 2 knew one cloud alone, and did not name it."""

REMARKS: Final = "remarks.json"
"""The member of a target with what is to be known of what was read."""


@cache
def volume_adapter() -> TypeAdapter[Volume]:
    """What reads and writes volumes."""
    return TypeAdapter(Volume)


@cache
def book_adapter() -> TypeAdapter[PriceBook]:
    """What reads and writes price books."""
    return TypeAdapter(PriceBook)


def member(target: Target, name: str) -> str:
    """The name of a target's member."""
    return f"{target.account}/{target.region}/{name}"


def found_member(ask: Ask, ending: str) -> str:
    """The name of the member with what a look found, or the error in its place."""
    volume, window = ask.volume, ask.look.window
    place = f"{volume.account}/{volume.region}/sums/{volume.id}"
    return f"{place}.{window.start_s}-{window.end_s}-{ask.look.period_s}.{ending}"


def pack(found: Found) -> bytes:
    """What a look found as bytes."""
    packed = io.BytesIO()
    np.savez(packed, **dict(found))  # type: ignore[arg-type]  # its allow_pickle keyword
    return packed.getvalue()


def unpack(content: bytes) -> Found:
    """What a look found, from bytes."""
    with np.load(io.BytesIO(content), allow_pickle=False) as packed:
        return {name: packed[name] for name in packed.files}


def error_out(error: CloudError) -> dict[str, str]:
    """An error as plain values."""
    return {"kind": type(error).__name__, "message": str(error)}


def error_in(written: Mapping[str, str]) -> CloudError:
    """The error in plain values."""
    kind = getattr(errors, written["kind"], Unexpected)
    return kind(written["message"]) if issubclass(kind, CloudError) else Unexpected(written["message"])
