"""Dead simulators: the folders, devices, mounts and control groups that killed simulators left, and their removal.

A simulator's folder and control group are named for its process, so that the next one knows whose they are.
"""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from cloud_simulator.devices import loop_devices
from cloud_simulator.devices.io_throttle import end_groups, groups_named

_PREFIX: Final = "plimsoll-simulator-"


def own_folder() -> Path:
    """A new folder for this process's files, named for its id and, as ids are used again, for when it began."""
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-{_born(os.getpid())}-"))


def clear_dead() -> None:
    """Removes the folders, devices, links, mounts and control groups of simulators that are no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if not _lives(folder.name):
            end_groups(folder.name)
            clear(folder)
    for name in groups_named(f"{_PREFIX}*"):
        if not _lives(name):
            end_groups(name)


def clear(folder: Path) -> None:
    """Removes a simulator's folder with the mounts, links and devices that stand on it."""
    for place in loop_devices.mounts_in(folder):
        with contextlib.suppress(OSError):
            loop_devices.unmount(place)
    for device in loop_devices.of_folder(folder):
        with contextlib.suppress(OSError):
            loop_devices.unlink_all(device)
            loop_devices.remove(device)
    shutil.rmtree(folder, ignore_errors=True)


def _lives(name: str) -> bool:
    """Whether the process in a name still runs; one that waits to be reaped does not."""
    pid, _, rest = name.removeprefix(_PREFIX).partition("-")
    born = rest.partition("-")[0]
    state = _process_field(int(pid), _STATE) if pid.isdecimal() else None
    return state not in {None, "Z"} and _born(int(pid)) == born


def _born(pid: int) -> str:
    """When a process began, in the kernel's ticks since the machine did; 0 where it is unknown."""
    return _process_field(pid, _BORN) or "0"


_STATE, _BORN = 0, 19
"""Which of the fields of /proc/PID/stat after the process's name (proc(5))."""


def _process_field(pid: int, number: int) -> str | None:
    """A field of /proc/PID/stat; None where there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[number]
