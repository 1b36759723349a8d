"""The kernel's block-I/O controller: processes of a simulated host, held to so many operations and bytes a second.

Both generations of control groups are spoken: `blkio.throttle.*` of the first, `io.max` of the second. The kernel
limits each direction by itself, whereas EBS limits both together: see `rates`.
"""

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from math import isinf
from pathlib import Path
from typing import Final

from cloud_simulator.published import Ceiling
from cloud_simulator.units import MIB

GROUPS: Final = Path("/sys/fs/cgroup")
_PATIENCE_S: Final = 5.0


_FILES: Final = {"riops": "read_iops", "wiops": "write_iops", "rbps": "read_bps", "wbps": "write_bps"}
"""What the first generation calls each limit of the second."""


def rates(ceiling: Ceiling, read_share: float | None) -> dict[str, int | None]:
    """The most operations and bytes a second of each direction, by io.max's words; None: no end of it.

    A ceiling is split by the share of reads of a mixed workload, and whole in each direction of one that is not (None).
    """
    reads, writes = (read_share, 1 - read_share) if read_share is not None and 0 < read_share < 1 else (1.0, 1.0)
    bytes_s = ceiling.throughput_mib_s * MIB
    each = {
        "riops": ceiling.iops * reads,
        "wiops": ceiling.iops * writes,
        "rbps": bytes_s * reads,
        "wbps": bytes_s * writes,
    }
    return {word: None if isinf(rate) else max(1, round(rate)) for word, rate in each.items()}


@dataclass(frozen=True, slots=True)
class Throttle:
    """A control group with one group for each simulated host in it. Raises OSError where the kernel forbids it."""

    folder: Path
    second: bool

    @classmethod
    def create(cls, name: str) -> "Throttle":
        """A new group of that name; OSError where there is no controller or no right to it."""
        roots = _roots()
        if not roots:
            raise FileNotFoundError(f"{GROUPS} has no controller of block I/O")
        parent, second = roots[0]
        made = cls(parent / name, second)
        if second:
            _delegate(parent)
        made.folder.mkdir(exist_ok=True)
        if second:
            _delegate(made.folder)
        return made

    def group(self, host_id: str) -> Path:
        """The group of a host's processes."""
        folder = self.folder / host_id
        folder.mkdir(exist_ok=True)
        return folder

    def hold(self, host_id: str, device: str, ceiling: Ceiling, read_share: float | None = None) -> None:
        """Holds a host's processes to a ceiling (see `rates`) on a device: its major and minor number."""
        group, limits = self.group(host_id), rates(ceiling, read_share)
        if self.second:
            written = " ".join(f"{word}={'max' if rate is None else rate}" for word, rate in limits.items())
            (group / "io.max").write_text(f"{device} {written}", encoding="ascii")
            return
        for word, rate in limits.items():
            (group / f"blkio.throttle.{_FILES[word]}_device").write_text(f"{device} {rate or 0}", encoding="ascii")

    def end(self) -> None:
        """Kills what still runs in the groups, and removes them."""
        _end(self.folder)


def end_groups(name: str) -> None:
    """Ends the group of that name, whoever made it."""
    for parent, _ in _roots():
        if (parent / name).is_dir():
            _end(parent / name)


def find_groups(pattern: str) -> list[str]:
    """The names of all groups that match a pattern."""
    return [folder.name for parent, _ in _roots() for folder in parent.glob(pattern)]


def _roots() -> list[tuple[Path, bool]]:
    """The folders in which groups can be made, each True if it is of the second generation."""
    roots = []
    if (GROUPS / "blkio" / "blkio.throttle.read_iops_device").exists():
        roots.append((GROUPS / "blkio", False))
    controllers = GROUPS / "cgroup.controllers"
    if controllers.exists() and "io" in controllers.read_text(encoding="ascii").split():
        roots.append((GROUPS, True))
    return roots


def _delegate(folder: Path) -> None:
    control = folder / "cgroup.subtree_control"
    if "io" not in control.read_text(encoding="ascii").split():
        control.write_text("+io", encoding="ascii")


def _end(folder: Path) -> None:
    until = time.monotonic() + _PATIENCE_S
    inner = [child for child in folder.iterdir() if child.is_dir()]
    for group in (*inner, folder):
        while not _try_remove(group) and time.monotonic() < until:
            time.sleep(0.02)


def _try_remove(group: Path) -> bool:
    """Removes a group and kills its processes. False while they still end."""
    with contextlib.suppress(FileNotFoundError):
        for pid in (group / "cgroup.procs").read_text(encoding="ascii").split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
