"""A folder of one machine, or of several that share it: its store, its claims, and files that grow by a line."""

import fcntl
import hashlib
import json
import os
import shutil
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from plimsoll.files import BESIDE, OWN_FILE, atomic_path, make_file, make_folder, writable
from plimsoll.model.errors import BadInput

_PIECE_BYTES: Final = 1 << 18
"""Bytes that are read of a file at once."""


@dataclass(frozen=True, slots=True)
class FolderStore:
    """Each key is a file under the folder, which is made when something is kept."""

    folder: Path

    def put(self, key: str, content: bytes) -> None:
        """Keeps content under a key, whole or not at all."""
        with atomic_path(self._path(key)) as beside:
            beside.write_bytes(content)

    def put_new(self, key: str, content: bytes) -> bool:
        """Keeps content under a new key, on the disk; False if something is there already, which stays."""
        path = self._path(key)
        with writable(path):
            make_folder(path.parent)
            beside = path.with_name(f"{BESIDE}{os.getpid()}-{os.urandom(8).hex()}")
            try:
                with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWN_FILE), "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.link(beside, path)  # of two processes that write the same, that of the first stands
            except FileExistsError:
                return False
            finally:
                beside.unlink(missing_ok=True)
        return True

    def get(self, key: str) -> bytes | None:
        """The content under a key; None if there is none."""
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None

    def keys(self, prefix: str) -> Iterator[str]:
        """The keys that begin with a prefix, in the order of their bytes."""
        found = (
            (Path(parent) / name).relative_to(self.folder).as_posix()
            for parent, _folders, names in os.walk(self._path(prefix.rpartition("/")[0]))
            for name in names
            if not name.startswith(BESIDE)
        )
        yield from sorted((key for key in found if key.startswith(prefix)), key=str.encode)

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """The keys, each with the bytes that are kept under it."""
        yield from ((key, self._path(key).stat().st_size) for key in self.keys(prefix))

    def pieces(self, key: str) -> Iterator[bytes]:
        """Yields the content under a key, piece after piece; nothing without one."""
        path = self._path(key)
        if path.is_file():
            with path.open("rb") as file:
                yield from iter(partial(file.read, _PIECE_BYTES), b"")

    def put_pieces(self, key: str, pieces: Iterable[bytes]) -> None:
        """Puts pieces under a key, one after another."""
        with atomic_path(self._path(key)) as beside, beside.open("wb") as file:
            file.writelines(pieces)

    def delete(self, key: str) -> None:
        """Keeps nothing under a key any more."""
        self._path(key).unlink(missing_ok=True)

    def put_file(self, key: str, path: Path) -> None:
        """Puts the content of a file under a key."""
        with atomic_path(self._path(key)) as beside:
            shutil.copyfile(path, beside)

    def get_file(self, key: str, path: Path) -> bool:
        """Brings what is kept into a file; False where nothing is."""
        kept = self._path(key)
        if not kept.is_file():
            return False
        with atomic_path(path) as beside:
            shutil.copyfile(kept, beside)
        return True

    def _path(self, key: str) -> Path:
        """The file of a key; BadInput for one that would lie outside the folder."""
        path = self.folder / key
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise BadInput(f"{key} is no key: it lies outside {self.folder}.")
        return path


LOCK: Final = ".lock"
"""The file by which of two claimants one is first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileClaims:
    """A file for each key that is claimed; the folder is made when something is.

    A claim ends with its time, or with the process that made it where that can be seen; one that is damaged is
    nobody's, because each is written whole. Raises BadInput where a claim's file cannot be read.
    """

    folder: Path

    def claim(self, key: str, holder: str, until: datetime, now: datetime) -> bool:
        """Takes a key for a holder, and for this process, until that time; False where another has it."""
        path = self._path(key)
        with self._alone():
            if _holder(path, now) not in (None, holder):
                return False
            with atomic_path(path) as beside:
                beside.write_text(
                    json.dumps({**_myself(), "key": key, "holder": holder, "until": until.isoformat()}),
                    encoding="utf-8",
                )
        return True

    def release(self, key: str, holder: str) -> None:
        """Gives a key up; another's stays."""
        path = self._path(key)
        with self._alone():
            if (_noted(path) or {}).get("holder") == holder:
                path.unlink()

    def holder(self, key: str, now: datetime) -> str | None:
        """Who has a key now, None where nobody has."""
        return _holder(self._path(key), now)

    def _path(self, key: str) -> Path:
        return self.folder / f"{shorten_key(key)}.json"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keeps every other claimant of the folder waiting; the lock goes with the process that has it."""
        make_folder(self.folder)
        make_file(self.folder / LOCK)
        with (self.folder / LOCK).open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def shorten_key(key: str) -> str:
    """Shortens a key to eight hexadecimal digits, so that it can be a part of a name."""
    return hashlib.sha256(key.encode()).hexdigest()[:8]


def _myself() -> dict[str, object]:
    return {"machine": socket.gethostname(), "pid": os.getpid()}


def _noted(path: Path) -> dict[str, str] | None:
    """The claim in a file; None if there is none or it is damaged."""
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    except OSError as error:
        raise BadInput(f"it cannot be seen who works there: {path} cannot be read ({error.strerror}).") from error
    return found if isinstance(found, dict) else None


def _holder(path: Path, now: datetime) -> str | None:
    """Whose claim stands: in time, and its process alive where it is on this machine."""
    found = _noted(path)
    try:
        if found is None or now >= datetime.fromisoformat(found["until"]):
            return None
        gone = found["machine"] == socket.gethostname() and not _is_alive(int(found["pid"]))
        return None if gone else str(found["holder"])
    except (ValueError, KeyError, TypeError):
        return None


def _is_alive(pid: int) -> bool:
    """A process with that id exists on this machine, whoever owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


Line = TypeVar("Line", bound=BaseModel)


def append_line(path: Path, text: str) -> None:
    """Adds a line; its folder is made. What was cut off at the end of the file stays a line of its own.

    BadInput where it cannot be written, DiskFull where there is no room.
    """
    with writable(path):
        make_folder(path.parent)
        make_file(path)
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
