"""What a compiled library asks of the machine that loads it, as its ELF file says; nothing of it is run."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

AARCH64: Final = 183
_DYNAMIC, _VERSIONS_NEEDED = 6, 0x6FFFFFFE
_NEEDED: Final = 1


@dataclass(frozen=True)
class Library:
    """A library: its processor (e_machine), the libraries that it needs, and the versions of symbols in each."""

    machine: int
    needed: frozenset[str]
    versions: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class _Section:
    kind: int
    offset: int
    size: int
    link: int
    entries: int


def library(content: bytes) -> Library:
    """The library in a 64-bit ELF file of small-endian numbers; ValueError for any other file."""
    if content[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no 64-bit little-endian ELF file")
    (machine,) = struct.unpack_from("<H", content, 18)
    sections = list(_sections(content))
    needed, versions = set(), set()
    for section in sections:
        if section.kind == _DYNAMIC:
            needed |= {*_needed(content, section, sections[section.link].offset)}
        if section.kind == _VERSIONS_NEEDED:
            versions |= {*_versions(content, section, sections[section.link].offset)}
    return Library(machine, frozenset(needed), frozenset(versions))


def _sections(content: bytes) -> Iterator[_Section]:
    (table,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    for number in range(count):
        _name, kind, _flags, _address, offset, length, link, info = struct.unpack_from(
            "<IIQQQQII", content, table + number * size
        )
        yield _Section(kind, offset, length, link, info)


def _needed(content: bytes, section: _Section, texts: int) -> Iterator[str]:
    for place in range(section.offset, section.offset + section.size, 16):
        tag, value = struct.unpack_from("<QQ", content, place)
        if tag == _NEEDED:
            yield _text(content, texts + value)


def _versions(content: bytes, section: _Section, texts: int) -> Iterator[tuple[str, str]]:
    place = section.offset
    for _ in range(section.entries):
        _version, count, file, first, following = struct.unpack_from("<HHIII", content, place)
        within = place + first
        for _ in range(count):
            _hash, _flags, _other, name, after = struct.unpack_from("<IHHII", content, within)
            yield _text(content, texts + file), _text(content, texts + name)
            within += after
        place += following


def _text(content: bytes, place: int) -> str:
    return content[place : content.index(b"\0", place)].decode("ascii")
