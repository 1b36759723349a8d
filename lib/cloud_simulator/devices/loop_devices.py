"""Loop devices: block devices out of sparse files, with the link by which a volume's device is found on a host."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

BY_ID: Final = Path("/dev/disk/by-id")
_TOOL_S: Final = 60.0


def make(image: Path) -> Path:
    """A loop device of a file, past the page cache. OSError where the kernel or the user's rights forbid it."""
    return Path(run_tool("losetup", "--find", "--show", "--nooverlap", "--direct-io=on", str(image)).strip())


def number(device: Path) -> str:
    """The device's major and minor number, as the kernel's controllers name it."""
    return (Path("/sys/block") / device.name / "dev").read_text(encoding="ascii").strip()


def remove(device: Path) -> None:
    """Gives the device up, at once or as soon as nobody has it open."""
    run_tool("losetup", "--detach", str(device))


def of_folder(folder: Path) -> list[Path]:
    """The loop devices whose files are, or were, in a folder."""
    devices = []
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):
            if Path(backing.read_text(encoding="utf-8").strip()).is_relative_to(folder):
                devices.append(Path("/dev") / backing.parts[3])
    return devices


def link(name: str, device: Path) -> None:
    """Makes a link to a device under that name, as udev does."""
    BY_ID.mkdir(parents=True, exist_ok=True)
    unlink(name)
    (BY_ID / name).symlink_to(device)


def unlink(name: str) -> None:
    """Removes the link of that name, if there is one."""
    (BY_ID / name).unlink(missing_ok=True)


def unlink_all(device: Path) -> None:
    """Removes every link to a device."""
    for link in BY_ID.glob("*"):
        with contextlib.suppress(OSError):
            if link.readlink() == device:
                link.unlink()


def format_and_mount(device: Path, at: Path) -> None:
    """Makes an ext4 filesystem on a device and mounts it."""
    run_tool("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1", str(device))
    at.mkdir(parents=True)
    run_tool("mount", "-t", "ext4", str(device), str(at))


def mounts_in(folder: Path) -> list[Path]:
    """The places in a folder where something is mounted."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return []
    places = [Path(line.split()[1]) for line in mounts.read_text(encoding="utf-8").splitlines()]
    return [place for place in places if place.is_relative_to(folder)]


def run_tool(*words: str) -> str:
    """The output of a tool of the system. Raises OSError if it is missing or fails."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])  # root's PATH may lack them
    try:
        done = subprocess.run(  # noqa: S603  # our own words
            [shutil.which(words[0], path=path) or words[0], *words[1:]],
            capture_output=True,
            text=True,
            timeout=_TOOL_S,
            check=True,
        )
    except subprocess.SubprocessError as error:
        messages = getattr(error, "stderr", "") or str(error)
        raise OSError(f"{words[0]} failed: {messages}") from error
    return done.stdout
