"""What a function may have on this machine: memory and processors by a control group, temporary disk by a file system
of its own size."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ROOT: Final = Path("/sys/fs/cgroup")
_VCPU_MIB: Final = 1769
"""Memory with which a function has one processor, of which all others have their share (AWS Lambda Developer Guide,
"Configure Lambda function memory", read 2026-11-21)."""

_PERIOD_US: Final = 100_000
_TRIES, _PAUSE_S = 50, 0.1
_NO_RIGHTS: Final = (
    "this needs root, and control groups and loop devices that it may make: run it in a machine or a container of its "
    "own, with --privileged."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What Lambda gives a function."""

    memory_mib: int
    tmp_mib: int
    timeout_s: float

    @property
    def processors(self) -> float:
        """The share of a processor that comes with the memory."""
        return self.memory_mib / _VCPU_MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The bounds of one process: it joins them itself, and its temporary files are to lie in `tmp`."""

    groups: tuple[Path, ...]
    tmp: Path

    @property
    def tmp_used_mib(self) -> float:
        """How much of the temporary disk is in use."""
        found = os.statvfs(self.tmp)
        return (found.f_blocks - found.f_bfree) * found.f_frsize / (1 << 20)


def control_groups() -> str:
    """Which control groups this machine has, as the page says it."""
    return "v2" if (_ROOT / "cgroup.controllers").exists() else "v1"


@contextmanager
def held(name: str, limits: Limits, folder: Path) -> Iterator[Held]:
    """Bounds under that name for as long as the block lasts. SystemExit where this machine lets nobody make them."""
    image, tmp = folder / f"{name}.disk", folder / f"{name}-tmp"
    groups = _groups(f"plimsoll-scale-{os.getpid()}-{name}", limits)
    tmp.mkdir()
    try:
        with image.open("wb") as file:
            file.truncate(limits.tmp_mib << 20)
        _run("mkfs.ext4", "-q", "-m", "0", str(image))
        _run("mount", "-o", "loop", str(image), str(tmp))
        try:
            yield Held(groups=groups, tmp=tmp)
        finally:
            _run("umount", str(tmp))
    finally:
        image.unlink(missing_ok=True)
        shutil.rmtree(tmp)
        for group in groups:
            _remove(group)


def _groups(name: str, limits: Limits) -> tuple[Path, ...]:
    quota_us, memory = str(int(limits.processors * _PERIOD_US)), str(limits.memory_mib << 20)
    if control_groups() == "v2":
        files = {_ROOT / name: {"memory.max": memory, "cpu.max": f"{quota_us} {_PERIOD_US}"}}
    else:
        files = {
            _ROOT / "memory" / name: {"memory.limit_in_bytes": memory},
            _ROOT / "cpu" / name: {"cpu.cfs_quota_us": quota_us},
        }
    try:
        for group, values in files.items():
            group.mkdir()
            for file, value in values.items():
                (group / file).write_text(value)
    except OSError as error:
        raise SystemExit(f"{error}: {_NO_RIGHTS}") from error
    return tuple(files)


def _remove(group: Path) -> None:
    """Removes a group whose last process is on its way out."""
    for left in range(_TRIES - 1, -1, -1):
        try:
            group.rmdir()
        except OSError:
            if not left:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603  # commands of this module
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}: {_NO_RIGHTS}")
