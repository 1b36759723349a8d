"""Kept lines: a file of JSON that grows by a line for each thing that was paid for, each handed to the disk at once."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from plimsoll.domain.errors import BadInput
from plimsoll.writing import writable

Line = TypeVar("Line", bound=BaseModel)


def append_line(path: Path, text: str) -> None:
    """Adds a line; its folder is made. What was cut off at the end of the file stays a line of its own.

    BadInput where it cannot be written, DiskFull where there is no room.
    """
    with writable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _append(path, text.encode())


def _append(path: Path, text: bytes) -> None:
    with path.open("ab+") as into:
        into.seek(max(0, into.seek(0, os.SEEK_END) - 1))
        cut_off = into.read() not in (b"", b"\n")
        into.write(b"\n" * cut_off + text + b"\n")
        into.flush()
        os.fsync(into.fileno())


def lines_of(path: Path, kind: type[Line], name: str) -> Iterator[Line]:
    """The lines so far, oldest first, none where there is no file; BadInput for a damaged one, by what it should be."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as written:
        for number, line in enumerate(written, start=1):
            try:
                yield kind.model_validate_json(line)
            except ValidationError as error:
                raise BadInput(
                    f"line {number} of {path} is no {name} ({error.errors()[0]['msg']}): remove that line."
                ) from error
