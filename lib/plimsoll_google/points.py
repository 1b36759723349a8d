"""Points: the times and values of a `TimeSeries`, read from its wire format, all points of one shape at once.

An audit reads millions of points, and Python takes a microsecond for each field of a message. The points of a series
have few shapes: where their fields begin depends on how many bytes an integer takes. So one point tells where the
fields are of all that are like it (https://protobuf.dev/programming-guides/encoding).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray

Bytes = NDArray[np.uint8]

_VARINT, _FIXED_64, _LENGTH, _FIXED_32 = 0, 1, 2, 5
"""Wire types."""

_POINTS: Final = 5
_INTERVAL, _VALUE, _END, _SECONDS = 1, 2, 2, 1
_INT64, _DOUBLE = 2, 3
"""Field numbers of TimeSeries, of Point, of TimeInterval, of Timestamp and of TypedValue. Those of a value are the
numbers of google.api.MetricDescriptor.ValueType as well."""

_WIRES: Final = {_INT64: _VARINT, _DOUBLE: _FIXED_64}
_SHORT_POINT: Final = _POINTS << 3 | _LENGTH
"""The first byte of a point in a series; then comes its length, in one byte where it is short."""


def points_of(series: Any) -> tuple[IntArray, FloatArray, BoolArray]:
    """The end of each point of a `TimeSeries`, its value, and whether it has one of the series' type.

    In epoch seconds; 0 for a missing part.
    """
    raw: bytes = series.SerializeToString()
    begins, lengths = _places(raw)
    every = np.frombuffer(raw, dtype=np.uint8)
    ends_s, values = np.zeros(len(begins), dtype=np.int64), np.zeros(len(begins))
    valued = np.zeros(len(begins), dtype=np.bool_)
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        left = np.flatnonzero(lengths == length)
        while len(left):
            points = every[begins[left] + np.arange(length)[:, None]]
            shape = _Shape.of(points[:, 0].tobytes(), series.value_type)
            alike = shape.match(points)
            these, at = points[:, alike], left[alike]
            ends_s[at] = 0 if shape.seconds is None else _varints(these[shape.seconds]).view(np.int64)
            if shape.value is not None:
                values[at], valued[at] = _values(these[shape.value], series.value_type), True
            left = left[~alike]
    return ends_s, values, valued


def _places(raw: bytes) -> tuple[IntArray, IntArray]:
    """The start of each point in a series, and its length."""
    begins, lengths = list[int](), list[int]()
    begin, last = begins.append, lengths.append
    at, end = 0, len(raw)
    while at < end:
        if raw[at] == _SHORT_POINT and (length := raw[at + 1]) < 0x80:
            begin(at + 2)
            last(length)
            at += 2 + length
            continue
        number, _, start, at = next(_fields(raw, at, end))
        if number == _POINTS:
            begin(start)
            last(at - start)
    return np.array(begins, dtype=np.int64), np.array(lengths, dtype=np.int64)


@dataclass(slots=True)
class _Shape:
    """The shape of a point: the bytes of its end and of its value, and the bytes that all its points share.

    `seconds` and `value` are None if it has none. `last` are the last bytes of its integers, and `more` those before.
    """

    seconds: slice | None = None
    value: slice | None = None
    same: dict[int, int] = field(default_factory=dict)
    last: list[int] = field(default_factory=list)
    more: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, row: bytes, value_type: int) -> "_Shape":
        """The shape of one point, whose value counts if it is of that type."""
        shape = cls()
        for number, wire, start, end in shape._walk(row, 0, len(row)):
            if number == _INTERVAL and wire == _LENGTH:
                shape._note_interval(row, start, end)
            elif number == _VALUE and wire == _LENGTH:
                shape._note_value(row, start, end, value_type)
        return shape

    def match(self, points: Bytes) -> BoolArray:
        """True for each of some points, a column each and of the same length, that has this shape."""
        at, same = list(self.same), np.array(list(self.same.values()), dtype=np.uint8)
        matching: BoolArray = (points[at] == same[:, None]).all(axis=0)
        matching &= (points[self.last] < 0x80).all(axis=0) & (points[self.more] >= 0x80).all(axis=0)
        return matching

    def _walk(self, row: bytes, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """The fields of a message in a point; the bytes before each are the same in all of the shape."""
        before = start
        for number, wire, first, after in _fields(row, start, end):
            self.same |= {at: row[at] for at in range(before, first)}
            before = after
            yield number, wire, first, after

    def _note_interval(self, row: bytes, start: int, end: int) -> None:
        for number, _, begin, until in self._walk(row, start, end):
            for part, wire, first, after in self._walk(row, begin, until):
                if wire == _VARINT:
                    self._integer(first, after)
                    if number == _END and part == _SECONDS:
                        self.seconds = slice(first, after)

    def _note_value(self, row: bytes, start: int, end: int, value_type: int) -> None:
        for number, wire, first, after in self._walk(row, start, end):
            if wire == _VARINT:
                self._integer(first, after)
            if number == value_type and wire == _WIRES.get(value_type):
                self.value = slice(first, after)

    def _integer(self, first: int, after: int) -> None:
        self.last.append(after - 1)
        self.more += range(first, after - 1)


def _fields(raw: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields of a message: number, wire type, and where the content begins and ends."""
    while at < end:
        tag, at = _varint(raw, at)
        number, wire = tag >> 3, tag & 7
        if wire == _LENGTH:
            length, at = _varint(raw, at)
            after = at + length
        elif wire == _VARINT:
            after = _varint(raw, at)[1]
        else:
            after = at + {_FIXED_64: 8, _FIXED_32: 4}[wire]
        yield number, wire, at, after
        at = after


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """An integer of a message, and the place after it."""
    number = raw[at]
    if number < 0x80:
        return number, at + 1
    number, shift = number & 0x7F, 7
    while True:
        at += 1
        number |= (raw[at] & 0x7F) << shift
        if raw[at] < 0x80:
            return number, at + 1
        shift += 7


def _varints(points: Bytes) -> NDArray[np.uint64]:
    """Integers of equally many bytes, one a column."""
    numbers = np.zeros(points.shape[1], dtype=np.uint64)
    for place, part in enumerate(points):
        numbers |= (part & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * place)
    return numbers


def _values(points: Bytes, value_type: int) -> FloatArray:
    if value_type == _DOUBLE:
        return np.ascontiguousarray(points.T).view("<f8")[:, 0].astype(np.float64)
    return _varints(points).view(np.int64).astype(np.float64)
