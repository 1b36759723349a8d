"""Encodings: answers about metrics as JSON and CBOR, with whole arrays of numbers written at once."""

import json
from functools import lru_cache
from typing import Any, Final

import cbor2
import numpy as np

from cloud_simulator.units import FloatArray

_EXACT: Final = 2.0**53
"""Below it every whole float is an integer of its own."""


def json_of(answer: Any) -> str:
    """An answer as JSON; arrays named Timestamps become whole epoch seconds, other arrays floats.

    What is named Datapoints holds no arrays.
    """
    if isinstance(answer, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_json_value(key, value)}" for key, value in answer.items()) + "}"
    if isinstance(answer, list):
        return "[" + ",".join(json_of(item) for item in answer) + "]"
    return json.dumps(answer)


def _json_value(key: str, value: Any) -> str:
    if key == "Datapoints":
        return json.dumps(value)
    if not isinstance(value, np.ndarray):
        return json_of(value)
    return _json_times(value.tobytes()) if key == "Timestamps" else _json_floats(value)


def _json_floats(values: FloatArray) -> str:
    """Whole numbers, as most sums are, are written as integers and given their `.0`, several times as fast."""
    if len(values) and bool((np.abs(values) < _EXACT).all()) and bool((values == np.floor(values)).all()):
        return "[" + _integers(values).replace(",", ".0,") + ".0]"
    return json.dumps(values.tolist())


@lru_cache(maxsize=16)
def _json_times(packed: bytes) -> str:
    """The series of one call mostly have the same timestamps."""
    return "[" + _integers(np.frombuffer(packed, dtype=np.float64)) + "]"


def _integers(values: FloatArray) -> str:
    return str(values.astype(np.int64).tolist())[1:-1].replace(" ", "")


_DOUBLE, _EPOCH, _UINT32 = 0xFB, 0xC1, 0x1A


def cbor_of(answer: Any) -> bytes:
    """An answer as CBOR; arrays named Timestamps and a number named Timestamp become epoch times, others doubles."""
    if isinstance(answer, dict):
        parts = [cbor2.dumps(key) + _cbor_value(key, value) for key, value in answer.items()]
        return _cbor_head(5, len(parts)) + b"".join(parts)
    if isinstance(answer, list):
        return _cbor_head(4, len(answer)) + b"".join(cbor_of(item) for item in answer)
    return cbor2.dumps(answer)


def _cbor_value(key: str, value: Any) -> bytes:
    if key == "Timestamp":
        return bytes([_EPOCH]) + cbor2.dumps(value)
    if not isinstance(value, np.ndarray):
        return cbor_of(value)
    return _cbor_times(value) if key == "Timestamps" else _cbor_doubles(value)


def _cbor_doubles(values: FloatArray) -> bytes:
    packed = np.empty(len(values), dtype=[("head", "u1"), ("value", ">f8")])
    packed["head"], packed["value"] = _DOUBLE, values
    return _cbor_head(4, len(values)) + packed.tobytes()


def _cbor_times(values: FloatArray) -> bytes:
    packed = np.empty(len(values), dtype=[("tag", "u1"), ("head", "u1"), ("value", ">u4")])
    packed["tag"], packed["head"], packed["value"] = _EPOCH, _UINT32, values
    return _cbor_head(4, len(values)) + packed.tobytes()


def _cbor_head(major: int, length: int) -> bytes:
    """The head of an array (major type 4) or a map (5) of that length (RFC 8949, section 3)."""
    if length < 24:
        return bytes([major << 5 | length])
    return bytes([major << 5 | 26]) + length.to_bytes(4, "big")
