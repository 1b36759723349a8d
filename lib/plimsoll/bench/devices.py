"""Devices: what a block device is used for, and what it holds, as the kernel and its tools tell it."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from plimsoll.domain.errors import BadInput
from plimsoll.domain.units import KIB, MIB

EDGE_BYTES: Final = 4 * MIB
SAMPLES: Final = 256
SAMPLE_BYTES: Final = 4 * KIB

_TOOL_S: Final = 30


def why_taken(path: Path) -> str | None:
    """What a block device is used for or recognized as, as the end of a sentence; None where it is neither."""
    found = (look(path) for look in (_mounts, _swaps, _partitions, _holders, _signatures))
    return next((reason for reason in found if reason is not None), None)


def data_at(descriptor: int, size_bytes: int) -> int | None:
    """The first byte found that is not zero: at both ends, where formats keep their signatures, and sampled between."""
    spans = [(0, EDGE_BYTES), (max(0, size_bytes - EDGE_BYTES), EDGE_BYTES)]
    step = max(SAMPLE_BYTES, size_bytes // SAMPLES // SAMPLE_BYTES * SAMPLE_BYTES)
    spans += [(place, SAMPLE_BYTES) for place in range(0, size_bytes, step)]
    return next((place for place, length in spans if any(os.pread(descriptor, length, place))), None)


def filesystem_of(path: Path) -> str | None:
    """The type of the filesystem that a path is on, None where the kernel does not tell."""
    device = path.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    return next((kind for mounted, _, kind in _mount_lines() if mounted == number), None)


def _number(path: Path) -> str:
    """A block device's major:minor."""
    device = path.stat().st_rdev
    return f"{os.major(device)}:{os.minor(device)}"


def _mount_lines() -> Iterator[tuple[str, str, str]]:
    """What is mounted: the device's number, where, and the filesystem's type."""
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        yield fields[2], fields[4], after.split()[0]


def _mounts(path: Path) -> str | None:
    number = _number(path)
    place = next((where for mounted, where, _ in _mount_lines() if mounted == number), None)
    return None if place is None else f"is mounted on {place}"


def _swaps(path: Path) -> str | None:
    names = [line.split()[0] for line in Path("/proc/swaps").read_text(encoding="utf-8").splitlines()[1:]]
    return "is swapped to" if str(path) in names else None


def _partitions(path: Path) -> str | None:
    folder = Path("/sys/dev/block") / _number(path)
    parts = sorted(one.parent.name for one in folder.glob("*/partition"))
    return f"has partitions ({', '.join(parts)})" if parts else None


def _holders(path: Path) -> str | None:
    folder = Path("/sys/dev/block") / _number(path) / "holders"
    names = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    return f"is part of {', '.join(names)} (RAID, LVM or a mapping)" if names else None


def _signatures(path: Path) -> str | None:
    """What wipefs or blkid recognize; None also where neither is installed: then the device is still read for data."""
    found = _by_wipefs(path) if shutil.which("wipefs") else _by_blkid(path) if shutil.which("blkid") else []
    return f"has the signature of {', '.join(dict.fromkeys(found))}" if found else None


def _by_wipefs(path: Path) -> list[str]:
    done = _output("wipefs", "--no-act", "--json", str(path))
    listed: dict[str, Any] = json.loads(done) if done.strip() else {}
    return [str(one["type"]) for one in listed.get("signatures", ())]


def _by_blkid(path: Path) -> list[str]:
    lines = _output("blkid", "--probe", "--output", "export", str(path)).splitlines()
    told = dict(line.split("=", 1) for line in lines if "=" in line)
    return [told[key] for key in ("TYPE", "PTTYPE") if key in told]


def _output(*words: str) -> str:
    """What a tool prints; blkid ends with 2 where it finds nothing."""
    try:
        done = subprocess.run(  # noqa: S603  # fixed words and a device's path
            words, capture_output=True, text=True, timeout=_TOOL_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(
            f"{words[0]} could not say whether {words[-1]} is empty ({error}): nothing was written."
        ) from error
    if done.returncode not in {0, 2}:
        raise BadInput(f"{words[0]} could not read {words[-1]}: {done.stderr.strip()}. Run as root.")
    return done.stdout
