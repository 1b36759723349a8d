"""Protocols: a request read, and an answer or a refusal written, in the protocol that the client speaks."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl
from xml.etree import ElementTree as ET

import cbor2
from werkzeug.wrappers import Request, Response

from cloud_simulator.aws.encodings import cbor_of, json_of
from cloud_simulator.faults import Refused

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
        """What is asked, as plain data."""
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
    if path:
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
