"""Files as they are read, and as they are written.

Read: only what is a file, of a bounded size, whatever stands in it.

Checksums, so that a changed file is named: a file of one JSON object, such as run.json, has its own within. Those of
other files stand beside them, in checksums.json. The folders of earlier versions have none: their files are read as
they are.

Written: whole or not at all, so that nobody ever reads half of one, and only files are written over. What is written
names volumes, accounts and money: new files and folders are their owner's alone; what is there already keeps its mode.
"""

import errno
import hashlib
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

from plimsoll.model.errors import BadInput, DiskFull
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
        size = os.fstat(file.fileno()).st_size
        content = file.read(min(size, most_bytes) + 1)  # what it asks for is allocated at once, used or not
        content += file.read(most_bytes + 1 - len(content)) if size < len(content) <= most_bytes else b""
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


CHECKSUMS: Final = "checksums.json"


_LOOKS: Final = 3
"""The times that a file and its checksum are compared: a process may be writing both."""


def note_checksums(folder: Path, names: Iterable[str]) -> None:
    """Notes what files are now, beside what was noted of others."""
    written = {**(noted_checksums(folder) or {}), **{name: _digest(folder / name) for name in names}}
    with atomic_path(folder / CHECKSUMS) as beside:
        beside.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


def is_as_written(path: Path, instead: bytes | None = None) -> bool:
    """True if a file is as it was written, or if nothing was noted of it. OSError if it is no file.

    `instead` is what it would be if it had kept its layout.
    """
    for _ in range(_LOOKS):
        noted = noted_checksums(path.parent)
        if noted is None or path.name not in noted:
            return noted is not None or not (path.parent / CHECKSUMS).exists()
        seen = path.stat()
        if instead is None:
            digest = _digest_at(path, seen.st_mtime_ns, seen.st_size, seen.st_ino)
        else:
            digest = hashlib.sha256(instead).hexdigest()
        if digest == noted[path.name]:
            return True
    return False


def noted_checksums(folder: Path) -> dict[str, Any] | None:
    """The noted checksums of a folder's files; None if there are none, or they cannot be read."""
    try:
        checksums = parse_json(read_bytes(folder / CHECKSUMS))
    except (OSError, ValueError):
        return None
    return checksums if isinstance(checksums, dict) else None


def _digest(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=64)
def _digest_at(path: Path, _changed_ns: int, _size: int, _inode: int) -> str:
    """The digest of a file that has not changed since: a page of `serve` asks for the same again and again."""
    return _digest(path)


BESIDE: Final = ".plimsoll-"
"""How the names of files begin that are being written, each beside the one that it becomes."""

NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
"""What the operating system says of a disk that is full, and of a quota that is used up."""

OWN_FILE: Final = 0o600
OWN_FOLDER: Final = 0o700
"""The modes of new files and folders."""


def make_folder(folder: Path) -> None:
    """Makes a folder, and those above it that are not there yet, for its owner alone."""
    for place in reversed([folder_above for folder_above in (folder, *folder.parents) if not folder_above.exists()]):
        place.mkdir(mode=OWN_FOLDER, exist_ok=True)
    folder.mkdir(mode=OWN_FOLDER, exist_ok=True)


def make_file(path: Path) -> None:
    """Makes an empty file for its owner alone, unless there is one."""
    path.touch(mode=OWN_FILE)


def make_private(folder: Path) -> None:
    """Takes a folder and the files in it away from everybody but their owner, where that is this process's user."""
    for place in (folder, *(file for file in folder.iterdir() if file.is_file() and not file.is_symlink())):
        file = place.stat()
        if file.st_uid == os.geteuid() and stat.S_IMODE(file.st_mode) & 0o077:
            place.chmod(stat.S_IMODE(file.st_mode) & OWN_FOLDER)


def write_lines(lines: Iterable[str], out: Path, encoding: str) -> None:
    """Writes a text file, whole or not at all."""
    with atomic_path(out) as beside, beside.open("w", encoding=encoding, newline="") as file:
        file.writelines(lines)


@contextmanager
def atomic_path(out: Path) -> Iterator[Path]:
    """A path beside the file to be written, which takes its place when the block ends well.

    If the block fails, the path is removed. A link is followed to its file, and a file that was there keeps its mode.
    BadInput where it cannot be written, or is a device, a pipe or a folder.
    """
    with writable(out):
        mode = _mode_of(out)
        file = Path(os.path.realpath(out))
        make_folder(file.parent)
        beside = file.with_name(f"{BESIDE}{os.getpid()}-{os.urandom(8).hex()}")
        beside.touch(mode=OWN_FILE, exist_ok=False)
        try:
            yield beside
            beside.chmod(OWN_FILE if mode is None else mode)  # what writes it may have put another file there
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)


def is_leftover(beside: Path) -> bool:
    """True if nobody writes the file any more, which is named like those that are being written."""
    writer = beside.name.removeprefix(BESIDE).partition("-")[0]
    if not writer.isdecimal() or "-" not in beside.name.removeprefix(BESIDE):
        return True  # of an earlier version
    try:
        os.kill(int(writer), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return int(writer) == os.getpid()


@contextmanager
def writable(out: Path) -> Iterator[None]:
    """BadInput where the writing within is not possible, DiskFull where there is no room for it."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise disk_full(out) from error
        raise BadInput(f"{out} cannot be written: {error.strerror or error}.") from error


def disk_full(out: Path) -> DiskFull:
    """The error that there is no room for a file, with what to do."""
    return DiskFull(
        f"{out} cannot be written: its disk is full. Earlier output is kept. Make room, then run the command "
        "again, an audit with --resume and its folder."
    )


def check_place(folder: Path) -> None:
    """BadInput where no file can be made in a folder, nor the folder itself where it is not there yet."""
    with writable(folder):
        nearest = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise BadInput(f"{folder} cannot be written: {nearest} is no folder. Give another place.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise BadInput(
            f"{folder} cannot be written: {nearest} is read-only. Give another place, or the right to write."
        )


def _mode_of(out: Path) -> int | None:
    """The mode of the file that is there, None where none is; BadInput where something else is."""
    try:
        mode = out.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise BadInput(f"{out} cannot be written: it is a device, a pipe or a folder and no file; name a file.")
    return stat.S_IMODE(mode)
