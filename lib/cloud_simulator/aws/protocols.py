"""Protocols: a request read, and an answer or a refusal written, in the protocol that the client speaks.

Arrays of numbers are written at once, in JSON as in CBOR.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qsl
from xml.etree import ElementTree as ET

import cbor2
import numpy as np
from werkzeug.wrappers import Request, Response

from cloud_simulator.faults import Refused
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


_SCOPE: Final = re.compile(r"Credential=([^/]+)/\d+/([^/]+)/([^/]+)/aws4_request")
_CBOR_OPERATION: Final = re.compile(r"/service/\w+/operation/(\w+)$")
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A signed request: who signs it, for which service and region, what it asks, in which protocol."""

    access_key: str
    region: str
    service: str
    operation: str
    protocol: str
    signed_at: str | None
    form: Mapping[str, str]
    body: bytes

    def read(self) -> Any:
        """The request as plain data."""
        try:
            if self.protocol == "cbor":
                return cbor2.loads(self.body)
            if self.protocol == "json":
                return json.loads(self.body)
        except ValueError as error:
            raise Refused("SerializationException", "The request's body cannot be read.") from error
        raise Refused(
            "InvalidAction", "The simulator speaks CBOR and JSON here, not the query protocol: update the client."
        )


def call_of(request: Request) -> Call | None:
    """The call in a request; None for one that nobody signed."""
    scope = _SCOPE.search(request.headers.get("Authorization", ""))
    if scope is None:
        return None
    access_key, region, service = scope.groups()
    body = request.get_data(cache=True, parse_form_data=False)
    path, target = _CBOR_OPERATION.search(request.path), request.headers.get("X-Amz-Target", "")
    is_form = (request.headers.get("Content-Type") or "").startswith(_FORM)
    form = dict(parse_qsl(body.decode("utf-8", "replace"))) if is_form else {}
    if service == "rbin":
        protocol, operation = "json", "ListRules" if request.path == "/list-rules" else "GetRule"
        body = body or json.dumps({"Identifier": request.path.rpartition("/")[2]}).encode()
    elif path:
        protocol, operation = "cbor", path.group(1)
    elif target:
        protocol, operation = "json", target.rsplit(".", 1)[-1]
    else:
        protocol, operation = "query", form.get("Action", request.path)
    return Call(
        access_key=access_key,
        region=region,
        service=service,
        operation=operation,
        protocol=protocol,
        signed_at=request.headers.get("X-Amz-Date"),
        form=form,
        body=body,
    )


def reply(call: Call, answer: Mapping[str, Any], status: int = 200) -> Response:
    """An answer in the protocol of the call, CBOR or JSON."""
    if call.protocol == "cbor":
        response = Response(cbor_of(answer), status=status, content_type="application/cbor")
        response.headers["smithy-protocol"] = "rpc-v2-cbor"
        return response
    return Response(json_of(answer), status=status, content_type="application/x-amz-json-1.1")


def refusal(call: Call, refused: Refused) -> Response:
    """An error in the protocol of the call; EC2 has an XML of its own among the query services."""
    if call.protocol != "query":
        return reply(call, {"__type": refused.code, "message": refused.message}, refused.status)
    root = ET.Element("Response" if call.service == "ec2" else "ErrorResponse")
    outer = ET.SubElement(root, "Errors") if call.service == "ec2" else root
    error = ET.SubElement(outer, "Error")
    ET.SubElement(error, "Code").text = refused.code
    ET.SubElement(error, "Message").text = refused.message
    ET.SubElement(root, "RequestID" if call.service == "ec2" else "RequestId").text = "simulated"
    return Response(ET.tostring(root, encoding="utf-8"), status=refused.status, content_type="text/xml")
