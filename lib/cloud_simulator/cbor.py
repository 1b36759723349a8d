"""CBOR: the answers about metrics, with whole arrays of numbers written at once."""

from typing import Any

import cbor2
import numpy as np

from plimsoll.domain.period import FloatArray

_DOUBLE, _EPOCH, _UINT32 = 0xFB, 0xC1, 0x1A


def dumps(answer: Any) -> bytes:
    """An answer as CBOR; arrays named Timestamps and a number named Timestamp become epoch times, others doubles."""
    if isinstance(answer, dict):
        parts = [cbor2.dumps(key) + _value(key, value) for key, value in answer.items()]
        return _head(5, len(parts)) + b"".join(parts)
    if isinstance(answer, list):
        return _head(4, len(answer)) + b"".join(dumps(item) for item in answer)
    return cbor2.dumps(answer)


def _value(key: str, value: Any) -> bytes:
    if key == "Timestamp":
        return bytes([_EPOCH]) + cbor2.dumps(value)
    if not isinstance(value, np.ndarray):
        return dumps(value)
    return _times(value) if key == "Timestamps" else _doubles(value)


def _doubles(values: FloatArray) -> bytes:
    packed = np.empty(len(values), dtype=[("head", "u1"), ("value", ">f8")])
    packed["head"], packed["value"] = _DOUBLE, values
    return _head(4, len(values)) + packed.tobytes()


def _times(values: FloatArray) -> bytes:
    packed = np.empty(len(values), dtype=[("tag", "u1"), ("head", "u1"), ("value", ">u4")])
    packed["tag"], packed["head"], packed["value"] = _EPOCH, _UINT32, values
    return _head(4, len(values)) + packed.tobytes()


def _head(major: int, length: int) -> bytes:
    """The head of an array (major type 4) or a map (5) of that length (RFC 8949, section 3)."""
    if length < 24:
        return bytes([major << 5 | length])
    return bytes([major << 5 | 26]) + length.to_bytes(4, "big")
