"""Targets on this machine that a benchmark may write to: an empty block device, or a directory with room.

A device that holds data or is in use is never a target.
"""

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from plimsoll.model.errors import BadInput
from plimsoll.model.units import KIB, MIB

EDGE_BYTES: Final = 4 * MIB
SAMPLES: Final = 256
SAMPLE_BYTES: Final = 4 * KIB

_TOOL_S: Final = 30


def find_claim(path: Path) -> str | None:
    """The reason why a block device is not free, as the end of a sentence. None if it is free."""
    reasons = (look(path) for look in (_mounts, _swaps, _partitions, _holders, _signatures))
    return next((reason for reason in reasons if reason is not None), None)


def data_at(descriptor: int, size_bytes: int) -> int | None:
    """The place of a byte that is not zero: at both ends, where formats keep signatures, or in samples between."""
    spans = [(0, EDGE_BYTES), (max(0, size_bytes - EDGE_BYTES), EDGE_BYTES)]
    step = max(SAMPLE_BYTES, size_bytes // SAMPLES // SAMPLE_BYTES * SAMPLE_BYTES)
    spans += [(place, SAMPLE_BYTES) for place in range(0, size_bytes, step)]
    return next((place for place, length in spans if any(os.pread(descriptor, length, place))), None)


def filesystem_of(path: Path) -> str | None:
    """The type of the filesystem that a path is on. None if the kernel does not tell."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        text = Path(f"/proc/self/fdinfo/{descriptor}").read_text(encoding="ascii")
    except FileNotFoundError:
        return None
    finally:
        os.close(descriptor)
    mount = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line).get("mnt_id")
    return next((line.kind for line in _mount_lines() if line.mount == mount), None)


def _number(path: Path) -> str:
    """A block device's major:minor."""
    device = path.stat().st_rdev
    return f"{os.major(device)}:{os.minor(device)}"


class _Mount(NamedTuple):
    """A mount: the kernel's number, the number of its device, its place, and the filesystem's type."""

    mount: str
    device: str
    place: str
    kind: str


def _mount_lines() -> Iterator[_Mount]:
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        yield _Mount(fields[0], fields[2], fields[4], after.split()[0])


def _mounts(path: Path) -> str | None:
    number = _number(path)
    place = next((line.place for line in _mount_lines() if line.device == number), None)
    return None if place is None else f"is mounted on {place}"


def _swaps(path: Path) -> str | None:
    names = [line.split()[0] for line in Path("/proc/swaps").read_text(encoding="utf-8").splitlines()[1:]]
    return "is swapped to" if str(path) in names else None


def _sysfs(path: Path) -> Path:
    """The kernel's folder of a block device. Raises BadInput if it has none."""
    folder = Path("/sys/dev/block") / _number(path)
    if not (folder / "holders").is_dir():
        raise BadInput(f"{folder} does not show what uses {path}: nothing was written. Mount sysfs on /sys.")
    return folder


def _partitions(path: Path) -> str | None:
    folder = _sysfs(path)
    parts = sorted(partition.parent.name for partition in folder.glob("*/partition"))
    return f"has partitions ({', '.join(parts)})" if parts else None


def _holders(path: Path) -> str | None:
    names = sorted(holder.name for holder in (_sysfs(path) / "holders").iterdir())
    return f"is part of {', '.join(names)} (RAID, LVM or a mapping)" if names else None


def _signatures(path: Path) -> str | None:
    """The signatures that wipefs or blkid recognize. None also if neither is installed: the data is read anyway."""
    names = (
        _wipefs_signatures(path) if shutil.which("wipefs") else _blkid_signatures(path) if shutil.which("blkid") else []
    )
    return f"has the signature of {', '.join(dict.fromkeys(names))}" if names else None


def _wipefs_signatures(path: Path) -> list[str]:
    done = _output("wipefs", "--no-act", "--json", str(path))
    try:
        listed: dict[str, Any] = json.loads(done) if done.strip() else {}
    except ValueError as error:
        raise BadInput(f"wipefs could not say whether {path} is empty ({error}): nothing was written.") from error
    return [str(signature["type"]) for signature in listed.get("signatures", ())]


def _blkid_signatures(path: Path) -> list[str]:
    lines = _output("blkid", "--probe", "--output", "export", str(path)).splitlines()
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    return [values[key] for key in ("TYPE", "PTTYPE") if key in values]


def _output(*words: str) -> str:
    """The output of a tool. blkid ends with 2 if it finds nothing, and if it could not look: then it says why."""
    try:
        done = subprocess.run(  # noqa: S603  # fixed words and a device's path
            words, capture_output=True, text=True, timeout=_TOOL_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(
            f"{words[0]} could not say whether {words[-1]} is empty ({error}): nothing was written."
        ) from error
    found_nothing = words[0] == "blkid" and done.returncode == 2 and not done.stdout and not done.stderr
    if done.returncode != 0 and not found_nothing:
        raise BadInput(f"{words[0]} could not read {words[-1]}: {done.stderr.strip()}. Run as root.")
    return done.stdout


GIB: Final = KIB * MIB
KEPT_SHARE: Final = 0.1
KEPT_BYTES: Final = GIB
"""The share and the least bytes of a filesystem that stay free."""

IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTarget:
    """A place that a benchmark may write to. `path` is the real one, behind links. `filesystem` is None of a device.

    `size_bytes` is the space for writes: the device's size, or the spare room of the directory.
    """

    path: Path
    is_device: bool
    size_bytes: int
    filesystem: str | None = None


def target_at(place: Path) -> BenchTarget:
    """The target behind a path. Raises BadInput if it is none, holds data, or is in use."""
    try:
        path = place.resolve(strict=True)
        mode = path.stat().st_mode
    except OSError as error:
        raise BadInput(f"{place} cannot be found: {error.strerror}. Give a directory or a block device.") from error
    if stat.S_ISDIR(mode):
        return _directory(path)
    if stat.S_ISBLK(mode):
        return _device(path)
    raise BadInput(f"{path} is no directory and no block device: give one of these, the file itself is left alone.")


def check_room(target: BenchTarget, needed_bytes: int) -> None:
    """Raises BadInput if a directory cannot spare the bytes."""
    if not target.is_device and needed_bytes > target.size_bytes:
        raise BadInput(
            f"{target.path} can spare {max(0, target.size_bytes) / GIB:,.1f} GiB (a tenth of its filesystem and 1 GiB "
            f"stay free), and the job needs {needed_bytes / GIB:,.1f}: take smaller files with --file-mib, or another "
            "directory."
        )


@contextmanager
def hold_device(target: BenchTarget) -> Iterator[None]:
    """Holds a device, so that nobody mounts or benchmarks it meanwhile. Raises BadInput if somebody does already."""
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
    if filesystem is None:
        raise BadInput(f"the filesystem of {path} is unknown: choose another directory, or a device.")
    if filesystem in IN_MEMORY:
        raise BadInput(f"{path} is in memory ({filesystem}), not on a volume: choose a directory on the volume.")
    room = os.statvfs(path)
    kept = max(KEPT_BYTES, int(KEPT_SHARE * room.f_blocks * room.f_frsize))
    spare = room.f_bavail * room.f_frsize - kept
    return BenchTarget(path=path, is_device=False, size_bytes=spare, filesystem=filesystem)


def _device(path: Path) -> BenchTarget:
    taken = find_claim(path)
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
            f"{path} cannot be opened exclusively: {error.strerror}. Stop what uses it, or give another."
        ) from error
