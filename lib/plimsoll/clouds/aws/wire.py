"""The wire: GetMetricData's answers, decoded at C speed.

botocore walks an answer item by item in Python, some ten microseconds a datapoint, and an audit reads millions. Its
`before-parse` event lets a client hand over a parsed answer instead: the body is decoded whole, by json or cbor2, and
Timestamps stay what the wire has. Errors and other protocols are left to botocore.
"""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

import cbor2
import numpy as np

from plimsoll.domain.period import FloatArray

_EVENT: Final = "before-parse.cloudwatch.GetMetricData"
_OK: Final = 200
_PROTOCOLS: Final[dict[str, tuple[Callable[[bytes], Any], bytes]]] = {
    "application/x-amz-json": (json.loads, b"{}"),
    "application/cbor": (cbor2.loads, cbor2.dumps({})),
}
"""By the beginning of the content type: the decoder, and an empty answer."""


def decode_fast(client: Any) -> None:
    """Makes a CloudWatch client decode GetMetricData's answers whole; `epoch_s` reads their timestamps."""
    client.meta.events.register(_EVENT, _decode, unique_id="plimsoll-wire")


def epoch_s(stamps: Sequence[Any]) -> FloatArray:
    """Timestamps in epoch seconds, whether the wire had numbers or the decoder made times of them."""
    if stamps and isinstance(stamps[0], datetime):
        stamps = [stamp.timestamp() for stamp in stamps]
    return np.asarray(stamps, dtype=np.float64)


def _decode(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_others: object) -> None:
    kind = response_dict["headers"].get("content-type", "")
    found = next((found for start, found in _PROTOCOLS.items() if kind.startswith(start)), None)
    if response_dict["status_code"] != _OK or found is None:
        return
    decode, empty = found
    try:
        decoded = decode(response_dict["body"])
    except (ValueError, cbor2.CBORDecodeError):
        return  # botocore reads it again and raises what it raises for a broken answer
    if isinstance(decoded, dict):
        response_dict["body"] = empty
        customized_response_dict.update(decoded)
