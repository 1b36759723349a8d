"""GetMetricData on the wire: what is asked and answered, written and read whole.

botocore would walk its model of the operation for every field of each of 500 queries, and of every datapoint.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import cbor2
from botocore.model import OperationModel
from pydantic_core import from_json

from plimsoll.clouds.aws.metric_answers import PERMISSION
from plimsoll.clouds.common.answers import bad_answer

_OPERATION: Final = "cloudwatch.GetMetricData"
_QUERIES: Final = "MetricDataQueries"
_NO_QUERIES: Final = f'"{_QUERIES}": []'.encode()
_WRITTEN: Final = "json"
"""The protocol whose requests are written here; botocore writes those of others."""

_OK: Final = 200
_OTHER_PROTOCOL: Final = "text/xml"
_PROTOCOLS: Final[dict[str, tuple[Callable[[bytes], Any], bytes]]] = {
    "application/x-amz-json": (from_json, b"{}"),
    "application/cbor": (cbor2.loads, cbor2.dumps({})),
}
"""By the beginning of the content type: the decoder, and an empty answer."""


def without_models(client: Any, place: str) -> None:
    """Makes a CloudWatch client write the queries of GetMetricData, and decode its answers, whole.

    `epoch_s` reads the timestamps. An answer that is none, such as a page of a proxy, raises BadAnswer.
    """
    hooks = {"provide-client-params": _set_aside, "before-call": _write, "before-parse": partial(_decode, place)}
    for event, hook in hooks.items():
        client.meta.events.register(f"{event}.{_OPERATION}", hook, unique_id=f"plimsoll-{event}")


def _set_aside(
    params: Mapping[str, Any], model: OperationModel, context: dict[str, Any], **_others: object
) -> dict[str, Any] | None:
    """The request without its queries, which wait until the rest is written; None where botocore writes all of it."""
    if model.service_model.resolved_protocol != _WRITTEN:
        return None
    context[_QUERIES] = params[_QUERIES]
    return {**params, _QUERIES: []}


def _write(params: dict[str, Any], context: Mapping[str, Any], **_others: object) -> None:
    """Puts queries that wait in, before the request is signed."""
    if _QUERIES in context:
        written = f'"{_QUERIES}": {json.dumps(context[_QUERIES])}'
        params["body"] = params["body"].replace(_NO_QUERIES, written.encode(), 1)


def _decode(
    place: str, response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_others: object
) -> None:
    kind = response_dict["headers"].get("content-type", "")
    if response_dict["status_code"] != _OK or kind.startswith(_OTHER_PROTOCOL):
        return
    body = response_dict["body"]
    protocol = next((protocol for start, protocol in _PROTOCOLS.items() if kind.startswith(start)), None)
    try:
        decoded = None if protocol is None else protocol[0](body)
    except (ValueError, cbor2.CBORDecodeError):
        decoded = None
    if protocol is None or not isinstance(decoded, dict):
        what = f"the body, of type {kind or 'none'}, is no answer"
        raise bad_answer(what, body.decode(errors="replace"), call=PERMISSION, place=place)
    response_dict["body"] = protocol[1]
    customized_response_dict.update(decoded)
