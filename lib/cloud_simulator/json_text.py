"""JSON: the answers about metrics, with whole arrays of numbers and lists of points written at once."""

import json
from functools import lru_cache
from typing import Any, Final

import numpy as np

from plimsoll.domain.period import FloatArray

_EXACT: Final = 2.0**53
"""Below it every whole float is an integer of its own."""


def dumps(answer: Any) -> str:
    """An answer as JSON; arrays named Timestamps become whole epoch seconds, other arrays floats.

    What is named Datapoints holds no arrays.
    """
    if isinstance(answer, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_value(key, value)}" for key, value in answer.items()) + "}"
    if isinstance(answer, list):
        return "[" + ",".join(dumps(item) for item in answer) + "]"
    return json.dumps(answer)


def _value(key: str, value: Any) -> str:
    if key == "Datapoints":
        return json.dumps(value)
    if not isinstance(value, np.ndarray):
        return dumps(value)
    return _times(value.tobytes()) if key == "Timestamps" else _floats(value)


def _floats(values: FloatArray) -> str:
    """Whole numbers, as most sums are, are written as integers and given their `.0`, several times as fast."""
    if len(values) and bool((np.abs(values) < _EXACT).all()) and bool((values == np.floor(values)).all()):
        return "[" + _integers(values).replace(",", ".0,") + ".0]"
    return json.dumps(values.tolist())


@lru_cache(maxsize=16)
def _times(packed: bytes) -> str:
    """The series of one call mostly have the same timestamps."""
    return "[" + _integers(np.frombuffer(packed, dtype=np.float64)) + "]"


def _integers(values: FloatArray) -> str:
    return str(values.astype(np.int64).tolist())[1:-1].replace(" ", "")
