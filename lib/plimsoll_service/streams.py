"""Streams: the long files of a run as they come from the store, so that neither memory nor a disk holds them.

Errors are as of the store, and BadInput if a file is damaged.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from pydantic import BaseModel

from plimsoll.jobs.document import StoredDocument
from plimsoll.model.errors import BadInput
from plimsoll.ports import RunStore
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord

_BEGIN: Final = b"["
_END: Final = b"]"
_NAMED: Final = re.compile(rb'\{"account":"([^"\\]*)","region":"([^"\\]*)","volume_id":"([^"\\]*)"')
"""The beginning of a line of demand, as it is written."""

_Kind = TypeVar("_Kind", bound=BaseModel)


def join_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text in pieces, without their ends."""
    unfinished: list[bytes] = []
    for piece in pieces:
        first, *others = piece.split(b"\n")
        unfinished.append(first)
        for other in others:
            yield b"".join(unfinished)
            unfinished = [other]
    if last := b"".join(unfinished):
        yield last


def record_lines(store: RunStore, key: str) -> Iterator[bytes]:
    """The values of a list, for example recommendations, each as the JSON of its line; none if nothing is kept."""
    lines = join_lines(store.pieces(key))
    first = next(lines, None)
    if first is None:
        return
    if first != _BEGIN:
        raise _damage_error(key)
    for line in lines:
        if line == _END:
            return
        yield line.removesuffix(b",")
    raise _damage_error(key)


def put_items(store: RunStore, key: str, items: Iterable[BaseModel]) -> None:
    """Keeps a list, as a map of the state machine reads it."""
    store.put_pieces(key, json_array(item.model_dump_json().encode() for item in items))


def read_items(store: RunStore, key: str, kind: type[_Kind]) -> Iterator[_Kind]:
    """The items of a list; none if nothing is kept."""
    return map(StoredDocument(key, kind).parse, record_lines(store, key))


def records_in(store: RunStore, key: str, naming: Iterable[bytes] = ()) -> Iterator[RecommendationRecord]:
    """The recommendations of a report in whose text all of these words stand; the others are not parsed."""
    words = tuple(naming)
    lines = (line for line in record_lines(store, key) if all(word in line for word in words))
    return map(StoredDocument(key, RecommendationRecord).parse, lines)


def profiles_in(store: RunStore, key: str, shown: Callable[[str], bool]) -> Iterator[DemandProfileRecord]:
    """The demand of those volumes whose full names `shown` takes; the others are not parsed."""
    lines = (line for line in join_lines(store.pieces(key)) if shown(_name(line, key)))
    return map(StoredDocument(key, DemandProfileRecord).parse, lines)


def json_array(lines: Iterable[bytes]) -> Iterator[bytes]:
    """A list of JSON values in pieces, each value on a line of its own, as recommendations.json has it."""
    before = _BEGIN
    for line in lines:
        yield before + b"\n" + line
        before = b","
    yield (_BEGIN if before == _BEGIN else b"") + b"\n" + _END + b"\n"


def _name(line: bytes, key: str) -> str:
    match = _NAMED.match(line)
    if match is None:
        raise _damage_error(key)
    return b"/".join(match.groups()).decode()


def _damage_error(key: str) -> BadInput:
    return BadInput(f"the document {key} cannot be read: begin a new audit.")
