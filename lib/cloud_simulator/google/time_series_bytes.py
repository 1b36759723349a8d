"""Points: time series as Cloud Monitoring's client reads them, many at once.

Of a hundred thousand points each made as a message most of the time would go into making them, so they are written in
protobuf's wire format, all of the same length, a column of bytes after the other. Numbers of fields are those of
google.monitoring.v3 (package google-cloud-monitoring 2.32): Point has interval 1 and value 2, TimeInterval start_time 1
and end_time 2, TypedValue int64_value 2, TimeSeries points 5, ListTimeSeriesResponse time_series 1, next_page_token 2.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

_SECONDS_BYTES: Final = 5
"""Of the number of a second, until the year 3058."""

_VALUE_BYTES: Final = 8
"""Of a value below 2^56: 834 GiB/s for a day."""

_TIME: Final = (1 + _SECONDS_BYTES).to_bytes(1, "big") + b"\x08"
_INTERVAL: Final = 2 * (2 + 1 + _SECONDS_BYTES)
_VALUE: Final = 1 + _VALUE_BYTES
_POINT: Final = 2 + _INTERVAL + 2 + _VALUE


def points(starts_s: Numbers, ends_s: Numbers, values: Numbers) -> bytes:
    """The field `points` of a TimeSeries, in the order given; times are in epoch seconds."""
    parts: Sequence[bytes | npt.NDArray[np.uint8]] = (
        b"\x2a" + _POINT.to_bytes(1, "big") + b"\x0a" + _INTERVAL.to_bytes(1, "big") + b"\x0a" + _TIME,
        _varints(starts_s, _SECONDS_BYTES),
        b"\x12" + _TIME,
        _varints(ends_s, _SECONDS_BYTES),
        b"\x12" + _VALUE.to_bytes(1, "big") + b"\x10",
        _varints(values, _VALUE_BYTES),
    )
    rows = [
        np.broadcast_to(np.frombuffer(p, np.uint8), (len(values), len(p))) if isinstance(p, bytes) else p for p in parts
    ]
    return np.concatenate(rows, axis=1).tobytes()


def _varints(numbers: Numbers, size: int) -> npt.NDArray[np.uint8]:
    """Each number in so many bytes; those that it does not need are zeros that it goes on with."""
    shifts = np.arange(size, dtype=np.int64) * 7
    found = ((numbers[:, np.newaxis] >> shifts) & 0x7F).astype(np.uint8)
    found[:, :-1] |= 0x80
    return found


def series(header: Any, written: bytes) -> bytes:
    """The field `time_series` of a response: a TimeSeries message without points, and its points as written."""
    head: bytes = header.SerializeToString()
    made = head + written
    return b"\x0a" + _length(len(made)) + made


def _length(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)
