"""Targets: where on this machine a benchmark may write. An empty block device, or a directory with room; never a device
that holds anything or is in use."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plimsoll.bench.devices import data_at, filesystem_of, why_taken
from plimsoll.domain.errors import BadInput
from plimsoll.domain.units import KIB, MIB

GIB: Final = KIB * MIB
KEPT_SHARE: Final = 0.1
KEPT_BYTES: Final = GIB
"""What stays free in a directory: a tenth of its filesystem, and 1 GiB at least."""

IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTarget:
    """A place that was found fit to write to. `path` is the real one, behind links; `filesystem` is None of a device.

    `size_bytes` is how much may be written: the device's size, or what the directory can spare.
    """

    path: Path
    is_device: bool
    size_bytes: int
    filesystem: str | None = None


def target_at(given: Path) -> BenchTarget:
    """The target behind a path; BadInput where it is none, or holds something, or is in use."""
    try:
        path = given.resolve(strict=True)
        mode = path.stat().st_mode
    except OSError as error:
        raise BadInput(f"{given} cannot be found: {error.strerror}. Give a directory or a block device.") from error
    if stat.S_ISDIR(mode):
        return _directory(path)
    if stat.S_ISBLK(mode):
        return _device(path)
    raise BadInput(f"{path} is no directory and no block device: give one of these, the file itself is left alone.")


def check_room(target: BenchTarget, needed_bytes: int) -> None:
    """BadInput where a directory cannot spare so much."""
    if not target.is_device and needed_bytes > target.size_bytes:
        raise BadInput(
            f"{target.path} can spare {max(0, target.size_bytes) / GIB:,.1f} GiB (a tenth of its filesystem and 1 GiB "
            f"stay free), and the job needs {needed_bytes / GIB:,.1f}: take smaller files with --file-mib, or another "
            "directory."
        )


@contextmanager
def claimed(target: BenchTarget) -> Iterator[None]:
    """Holds a device, so that nobody mounts it or benchmarks it meanwhile; BadInput where somebody does already."""
    if not target.is_device:
        yield
        return
    held = _open(target.path, os.O_RDWR | os.O_EXCL)
    try:
        yield
    finally:
        os.close(held)


def _directory(path: Path) -> BenchTarget:
    if not os.access(path, os.W_OK | os.X_OK):
        raise BadInput(f"{path} cannot be written to: run as a user who may, or choose another directory.")
    filesystem = filesystem_of(path)
    if filesystem in IN_MEMORY:
        raise BadInput(f"{path} is in memory ({filesystem}), not on a volume: choose a directory on the volume.")
    room = os.statvfs(path)
    kept = max(KEPT_BYTES, int(KEPT_SHARE * room.f_blocks * room.f_frsize))
    spare = room.f_bavail * room.f_frsize - kept
    return BenchTarget(path=path, is_device=False, size_bytes=spare, filesystem=filesystem)


def _device(path: Path) -> BenchTarget:
    taken = why_taken(path)
    if taken is not None:
        raise BadInput(
            f"{path} {taken}: a benchmark writes over what is there. Give an empty device, or a directory on it."
        )
    descriptor = _open(path, os.O_RDONLY | os.O_EXCL)
    try:
        size_bytes = os.lseek(descriptor, 0, os.SEEK_END)
        place = data_at(descriptor, size_bytes)
    finally:
        os.close(descriptor)
    if place is not None:
        raise BadInput(
            f"{path} is not empty: there is data at byte {place:,}. If nobody needs it, empty the device first "
            f"(blkdiscard -z {path})."
        )
    return BenchTarget(path=path, is_device=True, size_bytes=size_bytes)


def _open(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags)
    except PermissionError as error:
        raise BadInput(
            f"{path} cannot be opened: a block device needs root. Run as root, or give a directory."
        ) from error
    except OSError as error:
        raise BadInput(
            f"{path} cannot be had for itself: {error.strerror}. Stop what uses it, or give another."
        ) from error
