"""Devices: simulated volumes as real block devices of this machine, held to their limits.

An attached volume is a loop device with the link by which its host finds it, and what a host runs is in a control group
that holds the device to the lower of the volume's and the host's published ceilings. Where the kernel or the user's
rights forbid it, a volume is a plain file and fio holds itself to the rate.
"""

import atexit
import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cloud_simulator.devices import loop_devices
from cloud_simulator.devices.io_throttle import Throttle, end_groups, find_groups
from cloud_simulator.published import UNBOUNDED, Ceiling
from cloud_simulator.units import MIB

SIMULATED_DEVICE: Final = "PLIMSOLL_SIMULATED_DEVICE"
"""The variable that names, to what runs on a host, the plain file that stands for a volume's device."""

_IMAGE: Final = ".img"
_MOST_GIB: Final = 15 * 1024
"""ext4 holds no larger file."""
_MOST_IN_PLACE_GIB: Final = 16
"""Of a volume that is measured in place, only a bounded file is ever written."""
_MOST_OF_COPY_GIB: Final = 1
"""A copy is read through before it is measured, at the volume's own rate."""
_FILLED_MIB: Final = 64
"""The data of a copy. Reads beyond it are of holes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A volume as a host sees it: the name of its link in /dev/disk/by-id, its size, and whether it is a copy."""

    id: str
    link: str
    size_gib: int
    copy: bool = False


@dataclass(slots=True)
class _Device:
    """A disk on a host: its file, and the loop device on it (None: the file itself stands for it)."""

    host_id: str
    image: Path
    ceiling: Ceiling
    links: tuple[str, ...]
    loop: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The surroundings of a command on a host: the host's control group, or a plain file.

    The file stands for a device, and fio holds itself to the ceiling.
    """

    group: Path | None = None
    plain: Path | None = None
    ceiling: Ceiling = UNBOUNDED


@dataclass(slots=True)
class Devices:
    """All devices of a simulator; nothing is touched before the first. `plain`: files alone, whatever is possible."""

    plain: bool = False
    _folder: Path | None = field(default=None, repr=False)
    _throttle: Throttle | None = field(default=None, repr=False)
    _devices: dict[str, _Device] = field(default_factory=dict, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def attach(self, disk: Disk, host_id: str, ceiling: Ceiling) -> None:
        """Makes a disk's device and its link, held to that ceiling; a copy has data."""
        with self._lock:
            image = self._start() / f"{disk.id}{_IMAGE}"
            if not image.exists():
                _make_image(image, min(disk.size_gib, _MOST_OF_COPY_GIB if disk.copy else _MOST_GIB), filled=disk.copy)
            self._devices[disk.id] = device = _Device(host_id, image, ceiling, (disk.link,))
            self._loop(device)

    def mount(self, disks: Sequence[Disk], host_id: str, ceiling: Ceiling) -> None:
        """Makes the device of a volume that is on its host already, with a filesystem, at its first use.

        Volumes that are one stripe are one device, which carries what they do together, and each links to it.
        """
        with self._lock:
            first = disks[0]
            if first.id in self._devices:
                return
            folder = self._start()
            image = folder / f"{first.id}{_IMAGE}"
            _make_image(image, min(first.size_gib * len(disks), _MOST_IN_PLACE_GIB), filled=False)
            device = _Device(host_id, image, ceiling, tuple(disk.link for disk in disks))
            self._devices.update((disk.id, device) for disk in disks)
            self._loop(device)
            if device.loop is not None:
                loop_devices.format_and_mount(device.loop, folder / "mounted" / first.id)

    def detach(self, disk_id: str) -> None:
        """Takes a disk's device and links away; its data stays."""
        with self._lock:
            device = self._devices.pop(disk_id, None)
            if device is not None and device.loop is not None:
                for link in device.links:
                    loop_devices.unlink(link)
                loop_devices.remove(device.loop)

    def delete(self, disk_id: str) -> None:
        """Removes a disk's data."""
        with self._lock:
            if self._folder is not None:
                (self._folder / f"{disk_id}{_IMAGE}").unlink(missing_ok=True)

    def surroundings(self, host_id: str, disk_id: str, read_share: float | None) -> Surroundings:
        """The surroundings of a command on a host that works on that disk.

        The disk's device is held to its limits, split by the share of reads of a mixed workload (None: not mixed).
        """
        with self._lock:
            self._start()
            device = self._devices.get(disk_id)
            if device is not None and device.host_id != host_id:
                device = None
            if self._throttle is None:
                if device is None:
                    return Surroundings()
                return Surroundings(plain=device.image, ceiling=device.ceiling)
            if device is not None and device.loop is not None:
                self._throttle.hold(host_id, loop_devices.number(device.loop), device.ceiling, read_share)
            return Surroundings(group=self._throttle.group(host_id))

    def folder(self) -> Path:
        """A folder that goes with the devices."""
        with self._lock:
            return self._start()

    def stop(self) -> None:
        """Takes every device away, and ends what still runs on the simulated hosts."""
        with self._lock:
            if self._throttle is not None:
                self._throttle.end()
            if self._folder is not None:
                clear(self._folder)
            self._folder = self._throttle = None
            self._devices.clear()

    def _start(self) -> Path:
        """Clears what dead simulators left, and makes this one's folder and control group."""
        if self._folder is None:
            clear_dead()
            self._folder = own_folder()
            atexit.register(self.stop)
            if not self.plain:
                self._throttle = _throttle(self._folder.name)
        return self._folder

    def _loop(self, device: _Device) -> None:
        """Makes a loop device of the file and its links, held to its ceiling, if the kernel allows it."""
        if self._throttle is None:
            return
        device.loop = loop_devices.make(device.image)
        for link in device.links:
            loop_devices.link(link, device.loop)
        self._throttle.hold(device.host_id, loop_devices.number(device.loop), device.ceiling)


def _throttle(name: str) -> Throttle | None:
    """The control group of this simulator; None where there are no loop devices or no right to either."""
    if not Path("/dev/loop-control").exists() or os.geteuid() != 0:
        return None
    try:
        return Throttle.create(name)
    except OSError:
        return None


def _make_image(image: Path, size_gib: int, *, filled: bool) -> None:
    with image.open("wb") as file:
        if filled:
            chunk = os.urandom(4 * MIB)
            for _ in range(_FILLED_MIB // 4):
                file.write(chunk)
        file.truncate(size_gib * 1024 * MIB)


_PREFIX: Final = "plimsoll-simulator-"


def own_folder() -> Path:
    """A new folder for this process's files, named for its id and start, as ids are used again."""
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-{_born(os.getpid())}-"))


def clear_dead() -> None:
    """Removes the folders, devices, links, mounts and control groups of simulators that are no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if not _lives(folder.name):
            end_groups(folder.name)
            clear(folder)
    for name in find_groups(f"{_PREFIX}*"):
        if not _lives(name):
            end_groups(name)


def clear(folder: Path) -> None:
    """Removes a simulator's folder with the mounts, links and devices that stand on it."""
    for place in loop_devices.mounts_in(folder):
        with contextlib.suppress(OSError):
            loop_devices.run_tool("umount", "--lazy", str(place))
    for device in loop_devices.of_folder(folder):
        with contextlib.suppress(OSError):
            loop_devices.unlink_all(device)
            loop_devices.remove(device)
    shutil.rmtree(folder, ignore_errors=True)


def _lives(name: str) -> bool:
    """The process in a name still runs. One that waits to be reaped does not."""
    pid, _, suffix = name.removeprefix(_PREFIX).partition("-")
    born = suffix.partition("-")[0]
    state = _process_field(int(pid), _STATE) if pid.isdecimal() else None
    return state not in {None, "Z"} and _born(int(pid)) == born


def _born(pid: int) -> str:
    """The start of a process in the kernel's ticks since the machine's. 0 if it is unknown."""
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
