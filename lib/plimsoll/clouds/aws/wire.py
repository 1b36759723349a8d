"""The wire: GetMetricData's answers, decoded at C speed.

botocore decodes CloudWatch's CBOR item by item in Python, several microseconds a datapoint; an audit reads millions.
Its `before-parse` event lets a client hand over a parsed answer instead, so cbor2 decodes the body. Answers in another
protocol, and errors, are left to botocore.
"""

from typing import Any, Final

import cbor2

_EVENT: Final = "before-parse.cloudwatch.GetMetricData"
_EMPTY: Final = cbor2.dumps({})


def decode_fast(client: Any) -> None:
    """Makes a CloudWatch client decode GetMetricData's answers with cbor2."""
    client.meta.events.register(_EVENT, _decode, unique_id="plimsoll-wire")


def _decode(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_others: object) -> None:
    headers = response_dict["headers"]
    if response_dict["status_code"] != 200 or headers.get("content-type") != "application/cbor":
        return
    try:
        decoded = cbor2.loads(response_dict["body"])
    except (cbor2.CBORDecodeError, ValueError):
        return
    if isinstance(decoded, dict):
        response_dict["body"] = _EMPTY
        customized_response_dict.update(decoded)
