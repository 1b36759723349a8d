"""Files as they are read: only what is a file, of a bounded size, whatever stands in it.

A file of one JSON object, such as run.json, has the checksum of its own content within.
"""

import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

from plimsoll.model.units import MIB

MOST_BYTES: Final = 64 * MIB
"""A file that a person writes, and a run.json of 17,000 accounts, is far smaller."""


@contextmanager
def open_file(path: Path) -> Iterator[BufferedReader]:
    """A file to be read. OSError if there is none, or a folder, a pipe or a device is in its place."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is a folder, a pipe or a device, and no file", str(path))
    with os.fdopen(descriptor, "rb") as file:
        yield file


def read_bytes(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """The content of a file. OSError if it is none, or larger than that."""
    with open_file(path) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(0, f"it has more than {most_bytes / MIB:,.0f} MiB", str(path))
    return content


def read_text(path: Path) -> str:
    """The text of a file. OSError as of `read_bytes`, UnicodeDecodeError if it is not UTF-8."""
    return read_bytes(path).decode("utf-8-sig")


def parse_json(text: str | bytes) -> Any:
    """The values in a text. ValueError if it is no JSON, or JSON that nests too deep to be read."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it nests too deep") from error


_SEAL: Final = "checksum"


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a JSON object with its own checksum in it."""
    plain = {name: value for name, value in content.items() if name != _SEAL}
    return {**plain, _SEAL: _checksum(json.loads(json.dumps(plain)))}  # keys and lists as they are read back


def unseal(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content without its checksum. Raises ValueError if that does not fit; earlier versions wrote none."""
    plain = {name: value for name, value in content.items() if name != _SEAL}
    if _SEAL in content and content[_SEAL] != _checksum(plain):
        raise ValueError("its checksum does not fit")
    return plain


def _checksum(plain: Mapping[str, Any]) -> str:
    """The CRC-32 of values as JSON, in whichever order and layout a file has them."""
    return f"{zlib.crc32(json.dumps(plain, sort_keys=True, separators=(',', ':')).encode()):08x}"
