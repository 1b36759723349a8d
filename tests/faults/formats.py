"""Formats: an answer as plain data, and that data as an answer again, so that one mutator serves every format.

JSON and CBOR are plain data already. Of XML, an element with children is a dict, one whose children are all `item` or
`member` is a list, and any other is its text. Lists are changed in place: those of XML know the name of their elements.
Cloud Monitoring's answers (`proto`) are what protobuf says is their JSON.
"""

import json
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

import cbor2
from google.cloud import monitoring_v3
from google.protobuf import json_format

_TIME_SERIES = monitoring_v3.ListTimeSeriesResponse.pb()

LISTED = frozenset({"item", "member"})
"""What the elements of a list are called in XML."""


class Items(list):
    """A list of XML, whose elements are called `tag`."""

    def __init__(self, tag: str, values: list[Any]) -> None:
        super().__init__(values)
        self.tag = tag


@dataclass(slots=True)
class Decoded:
    """An answer's data, its format (json, cbor or xml) and, of XML, the root's tag with its namespace."""

    format: str
    tree: Any
    root: str = ""


def format_of(content_type: str) -> str | None:
    """The format that a content type names; None for any other."""
    names = {"cbor": "cbor", "json": "json", "xml": "xml", "proto": "proto"}
    return next((found for part, found in names.items() if part in content_type), None)


def decoded(kind: str, body: bytes) -> Decoded:
    """The data in an answer; ValueError where it is not in that format."""
    if kind == "json":
        return Decoded(kind, json.loads(body))
    if kind == "cbor":
        return Decoded(kind, cbor2.loads(body))
    if kind == "proto":
        return Decoded(kind, json_format.MessageToDict(_TIME_SERIES.FromString(body)))
    try:
        root = ET.fromstring(body)
    except ET.ParseError as error:
        raise ValueError(str(error)) from error
    return Decoded(kind, _data(root), root.tag)


def encoded(answer: Decoded) -> bytes:
    """The answer in its format again; ValueError where that has no such value."""
    if answer.format == "json":
        return json.dumps(answer.tree).encode()
    if answer.format == "cbor":
        return cbor2.dumps(answer.tree, datetime_as_timestamp=True)
    if answer.format == "proto":
        return _proto(answer.tree)
    namespace, _, tag = answer.root.rpartition("}")
    root = ET.Element(tag, {"xmlns": namespace.removeprefix("{")} if namespace else {})
    _fill(root, answer.tree)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _proto(tree: Any) -> bytes:
    try:
        return bytes(json_format.ParseDict(tree, _TIME_SERIES(), ignore_unknown_fields=True).SerializeToString())
    except (json_format.ParseError, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from error


def _data(element: ET.Element) -> Any:
    tags = [_plain(child.tag) for child in element]
    if not tags:
        return element.text or ""
    if set(tags) <= LISTED:
        return Items(tags[0], [_data(child) for child in element])
    return {tag: _data(child) for tag, child in zip(tags, element, strict=True)}


def _plain(tag: str) -> str:
    return tag.rpartition("}")[2]


def _fill(element: ET.Element, value: Any) -> None:
    if isinstance(value, dict):
        for key, one in value.items():
            _fill(ET.SubElement(element, key), one)
    elif isinstance(value, list):
        for one in value:
            _fill(ET.SubElement(element, getattr(value, "tag", "item")), one)
    elif value is not None:
        element.text = str(value)
