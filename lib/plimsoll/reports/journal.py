"""The journal of a run: every answer, appended to one file, from which the run's other files are made.

A line is a JSON object with one entry and the CRC-32 of that entry's bytes:

    {"crc32":"9ae0daaf","n":17,"recommendation":{...}}

Lines are numbered, so that one that is there twice counts once; those of earlier versions are not.

A line is with the operating system when `append` returns: a killed process loses none. It is on the disk at the latest
SYNC_S seconds later: a machine that fails loses those of its last second. Lines at the end that were cut or spoiled by
that are cut off by who goes on. A spoiled line before whole ones costs itself: it is an entry of the kind DAMAGED.
"""

import fcntl
import json
import os
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import IO, Final, NamedTuple

from plimsoll.domain.errors import BadInput
from plimsoll.reading import open_file
from plimsoll.writing import OWN_FILE, writable

JOURNAL: Final = "journal.jsonl"


class EntryKind(StrEnum):
    """The kind of an entry."""

    OPENED = "opened"
    """A process began to write: its id, its host, and when."""
    BEGUN = "begun"
    """An audit began or went on: totals and volumes without an answer before this are asked for again."""
    SCOPE = "scope"
    """The places, each an account in a region, that a part of the run began with."""
    TOTALS = "totals"
    """What an outcome without a recommendation adds to the run's totals."""
    UNANSWERED = "unanswered"
    DEMAND = "demand"
    """The demand that the next recommendation rests on."""
    RECOMMENDATION = "recommendation"
    CHANGED = "changed"
    """A recommendation that takes the place of an earlier one of its volume."""
    WRITTEN = "written"
    """The run's other files hold everything before this."""
    DAMAGED = "damaged"
    """A line whose checksum does not fit; its content is its number in the file. Nobody writes such."""


NO_CONTENT: Final = b"{}"
"""The content of an entry that says nothing but its kind."""

SYNC_S: Final = 1.0
"""Seconds after which what was appended is on the disk: one write of the disk a second, however many volumes."""

_BEFORE: Final = b'{"crc32":"'
_BODY: Final = len(_BEFORE) + 8 + len(b'",')
_END: Final = b"}\n"
_NUMBER: Final = b'"n":'


class Entry(NamedTuple):
    """One entry: its kind, its content as JSON, where in the file its line ends, in bytes, and its number if it has
    one."""

    kind: EntryKind
    content: bytes
    end: int
    number: int | None = None


class Held(BadInput):
    """Another process is writing the run."""


def entries(path: Path) -> Iterator[Entry]:
    """The entries of a journal up to its last whole line, each once; BadInput if it is no file."""
    spoiled: list[Entry] = []
    last = -1
    with _open_journal(path) as file:
        end = 0
        for place, line in enumerate(file, start=1):
            end += len(line)
            entry = _entry(line, end)
            if entry is None:
                spoiled.append(Entry(EntryKind.DAMAGED, b"%d" % place, end))
                continue
            yield from spoiled
            spoiled.clear()
            if entry.number is not None and entry.number <= last:
                continue  # the line is there twice
            last = last if entry.number is None else entry.number
            yield entry


def damaged_lines(path: Path) -> list[int]:
    """The numbers of the lines of a journal that are damaged, before its last whole one."""
    return [int(entry.content) for entry in entries(path) if entry.kind is EntryKind.DAMAGED]


@contextmanager
def _open_journal(path: Path) -> Iterator[IO[bytes]]:
    try:
        with open_file(path) as file:
            yield file
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error


def is_in_force(path: Path) -> bool:
    """True if a process got as far as to write this journal, as far as can be read."""
    return path.exists() and any(entry.kind in {EntryKind.OPENED, EntryKind.DAMAGED} for entry in entries(path))


def ends_written(path: Path) -> bool:
    """True if the run's other files hold all of the journal."""
    with _open_journal(path) as file:
        file.seek(max(0, path.stat().st_size - _MOST_WRITTEN))
        last = file.read().splitlines(keepends=True)[-1:]
    entry = _entry(last[0], 0) if last else None
    return entry is not None and entry.kind is EntryKind.WRITTEN


_MOST_WRITTEN: Final = 100
"""Bytes of the line that says so, at most."""


@dataclass(slots=True)
class Journal:
    """A journal that this process alone may write; use as a context manager.

    Held where another process writes it: the kernel gives a journal free with the process that had it. BadInput where
    there can be no file, DiskFull where there is no room for a line: then none of it stays.
    """

    path: Path
    _file: int = field(init=False, repr=False)
    _thread: threading.Thread = field(init=False, repr=False)
    _ended: threading.Event = field(default_factory=threading.Event, init=False, repr=False)
    _unsynced: bool = field(default=False, init=False, repr=False)
    _failed: OSError | None = field(default=None, init=False, repr=False)
    _next: int = field(default=1, init=False, repr=False)

    def __enter__(self) -> "Journal":
        with writable(self.path):
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, OWN_FILE)
        try:
            self._lock()
            with writable(self.path):
                end = 0
                for entry in entries(self.path):
                    end, self._next = entry.end, max(self._next, (entry.number or 0) + 1)
                os.ftruncate(self._file, end)
        except BaseException:
            os.close(self._file)
            raise
        self._thread = threading.Thread(target=self._sync_each_second, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._ended.set()
        self._thread.join()
        try:
            self.sync()
        finally:
            os.close(self._file)

    def append(self, *added: tuple[EntryKind, bytes]) -> None:
        """Adds entries, each a kind and its content as JSON: all of them or none."""
        lines = b"".join(_line(entry, number) for number, entry in enumerate(added, start=self._next))
        with writable(self.path):
            self._raise_failed()
            size = os.fstat(self._file).st_size
            try:
                written = 0
                while written < len(lines):
                    written += os.write(self._file, lines[written:])
            except OSError:
                os.ftruncate(self._file, size)
                raise
        self._next += len(added)
        self._unsynced = True

    def clear(self) -> None:
        """Takes every entry away."""
        with writable(self.path):
            os.ftruncate(self._file, 0)

    def note_owner(self) -> None:
        """Notes that this process writes from here on."""
        owner = {
            "process": os.getpid(),
            "host": socket.gethostname(),
            "at": datetime.now(UTC).isoformat("T", "seconds"),
        }
        self.append((EntryKind.OPENED, json.dumps(owner).encode()))

    def sync(self) -> None:
        """Has what was appended written to the disk, and waits for that."""
        with writable(self.path):
            self._raise_failed()
            os.fsync(self._file)

    def _sync_each_second(self) -> None:
        while not self._ended.wait(SYNC_S):
            if self._unsynced and self._failed is None:
                self._unsynced = False
                try:
                    os.fsync(self._file)
                except OSError as error:
                    self._failed = error

    def _raise_failed(self) -> None:
        """Raises the error of an earlier write to the disk to the next caller that appends."""
        if self._failed is not None:
            raise self._failed

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Held(
                f"{self.path.parent} is being written by {_owner(self.path)}: wait until that has ended, or end it."
            ) from error
        except OSError as error:
            raise BadInput(
                f"{self.path.parent} cannot be kept to one process ({error.strerror}): give a folder on another disk."
            ) from error


def _owner(path: Path) -> str:
    """Who writes a journal, in words."""
    noted = [json.loads(entry.content) for entry in entries(path) if entry.kind is EntryKind.OPENED][-1:]
    return (
        "".join(f"process {process['process']} on {process['host']} since {process['at']}" for process in noted)
        or "another process"
    )


def _line(added: tuple[EntryKind, bytes], number: int) -> bytes:
    kind, content = added
    body = b'"n":%d,"%b":%b' % (number, kind.encode(), content)
    return b'%b%08x",%b%b' % (_BEFORE, zlib.crc32(body), body, _END)


def _entry(line: bytes, end: int) -> Entry | None:
    """The entry of a line; None where the line is not whole."""
    body = line[_BODY : -len(_END)]
    if line != b'%b%08x",%b%b' % (_BEFORE, zlib.crc32(body), body, _END):
        return None
    number = None
    if body.startswith(_NUMBER):
        digits, _, body = body.removeprefix(_NUMBER).partition(b",")
        number = int(digits)
    kind, _, content = body.partition(b":")
    name = kind.strip(b'"').decode("ascii", errors="replace")
    return Entry(EntryKind(name), content, end, number) if name in set(EntryKind) else None  # a later version's
