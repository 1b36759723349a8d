"""Devices: simulated volumes as real block devices of this machine, held to their limits.

An attached volume is a loop device with the link by which its host finds it, and what a host runs is in a control group
that holds the device to the lower of the volume's and the host's published ceilings. Where the kernel or the user's
rights forbid it, a volume is a plain file and fio holds itself to the rate.
"""

import atexit
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path
from typing import Final

from moto.ec2.models.instance_types import INSTANCE_TYPES

from cloud_simulator.aws.fleet import SimulatedHost, SimulatedVolume
from cloud_simulator.devices import loop_devices
from cloud_simulator.devices.dead_simulators import clear, clear_dead, own_folder
from cloud_simulator.devices.io_throttle import Rates, Throttle
from plimsoll.clouds.aws.hosts import limits_of
from plimsoll.clouds.aws.limits import volume_types
from plimsoll.domain.ceiling import UNBOUNDED, Ceiling
from plimsoll.domain.host import Host
from plimsoll.domain.units import MIB

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
"""How much data a copy has; what is read beyond it are holes."""


@dataclass(slots=True)
class _Device:
    """A volume on a host: its file, and the loop device on it (None: the file itself stands for it)."""

    host_id: str
    image: Path
    ceiling: Ceiling
    loop: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a command on a host runs in: the control group of the host, or the file that stands for a device and the
    ceiling that fio has to hold itself to."""

    group: Path | None = None
    plain: Path | None = None
    ceiling: Ceiling = UNBOUNDED


def ceiling_of(volumes: Sequence[SimulatedVolume], host: SimulatedHost) -> Ceiling:
    """What volumes side by side carry on a host by the published limits of both, burst included."""
    kinds = volume_types()
    each = [kinds[one.spec.type].ceiling(one.spec) if one.spec.type in kinds else UNBOUNDED for one in volumes]
    found = INSTANCE_TYPES.get(host.type)
    limits = limits_of(found) if found else None
    on_host = Host(id=host.id, type=host.type, limits=limits).ceiling
    return reduce(add, each) & on_host


@dataclass(slots=True)
class Devices:
    """All devices of a simulator; nothing is touched before the first. `plain`: files alone, whatever is possible.

    `carried` says what volumes side by side carry on a host.
    """

    plain: bool = False
    carried: Callable[[Sequence[SimulatedVolume], SimulatedHost], Ceiling] = ceiling_of
    _folder: Path | None = field(default=None, repr=False)
    _throttle: Throttle | None = field(default=None, repr=False)
    _devices: dict[str, _Device] = field(default_factory=dict, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def attach(self, volume: SimulatedVolume, host: SimulatedHost) -> None:
        """Makes a volume's device and its link; a copy has data."""
        with self._lock:
            image = self._start() / f"{volume.id}{_IMAGE}"
            if not image.exists():
                most_gib = _MOST_GIB if volume.source is None else _MOST_OF_COPY_GIB
                _make_image(image, min(volume.spec.size_gib, most_gib), filled=volume.source is not None)
            device = _Device(host.id, image, self.carried([volume], host))
            self._devices[volume.id] = device
            self._loop(volume.id, device)

    def mount(self, volumes: Sequence[SimulatedVolume], host: SimulatedHost) -> None:
        """Makes the device of a volume that has been on its host for long, with a filesystem, when it is first asked
        for. Volumes that are one stripe are one device, which carries what they do together, and each links to it."""
        with self._lock:
            first = volumes[0]
            if first.id in self._devices:
                return
            folder = self._start()
            image = folder / f"{first.id}{_IMAGE}"
            _make_image(image, min(first.spec.size_gib * len(volumes), _MOST_IN_PLACE_GIB), filled=False)
            device = _Device(host.id, image, self.carried(volumes, host))
            self._devices.update((volume.id, device) for volume in volumes)
            self._loop(first.id, device)
            if device.loop is not None:
                for volume in volumes[1:]:
                    loop_devices.link(volume.id, device.loop)
                loop_devices.format_and_mount(device.loop, folder / "mounted" / first.id)

    def detach(self, volume_id: str) -> None:
        """Takes a volume's device and link away; its data stays."""
        with self._lock:
            device = self._devices.pop(volume_id, None)
            if device is not None and device.loop is not None:
                loop_devices.unlink(volume_id)
                loop_devices.remove(device.loop)

    def delete(self, volume_id: str) -> None:
        """Removes a volume's data."""
        with self._lock:
            if self._folder is not None:
                (self._folder / f"{volume_id}{_IMAGE}").unlink(missing_ok=True)

    def surroundings(self, host_id: str, volume_id: str, read_share: float | None) -> Surroundings:
        """What a command on a host that works on that volume runs in.

        The volume's device is held to its limits, split by the share of reads of a mixed workload (None: not mixed).
        """
        with self._lock:
            self._start()
            device = self._devices.get(volume_id)
            if device is not None and device.host_id != host_id:
                device = None
            if self._throttle is None:
                if device is None:
                    return Surroundings()
                return Surroundings(plain=device.image, ceiling=device.ceiling)
            if device is not None and device.loop is not None:
                self._throttle.hold(host_id, loop_devices.number(device.loop), Rates.of(device.ceiling, read_share))
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

    def _loop(self, volume_id: str, device: _Device) -> None:
        if self._throttle is None:
            return
        device.loop = loop_devices.make(device.image)
        loop_devices.link(volume_id, device.loop)
        self._throttle.hold(device.host_id, loop_devices.number(device.loop), Rates.of(device.ceiling, None))


def _throttle(name: str) -> Throttle | None:
    """The control group of this simulator; None where there are no loop devices or no right to either."""
    if not Path("/dev/loop-control").exists() or os.geteuid() != 0:
        return None
    try:
        return Throttle.named(name)
    except OSError:
        return None


def _make_image(image: Path, size_gib: int, *, filled: bool) -> None:
    with image.open("wb") as file:
        if filled:
            some = os.urandom(4 * MIB)
            for _ in range(_FILLED_MIB // 4):
                file.write(some)
        file.truncate(size_gib * 1024 * MIB)
